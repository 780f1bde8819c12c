//! Who asks, established once for a command: by the processes above it. Nothing here believes a variable that would add rights.

use std::error::Error;
use std::str::FromStr;

use handoff_core::caller::Role;
use handoff_core::{Action, Caller, SessionId};
use handoff_session::environment;
use handoff_session::side::Side;

use crate::ambient::Ambient;
use crate::failure::Failure;

/// Who asks: by the processes above this one. The environment can only take rights away.
pub fn caller(ambient: &Ambient) -> Result<Caller, Failure> {
    if ambient.variable(environment::CHECK).is_some() {
        return Ok(Caller::Check);
    }
    match ambient.side() {
        Side::Check => Ok(Caller::Check),
        Side::Unknown => Ok(Caller::Unknown),
        Side::Outside => said_caller(ambient),
        Side::Session(member) => Ok(match said_role(ambient) {
            Ok(Some(Role::SubTask)) => Caller::Session {
                session: member.session,
                role: Role::SubTask,
                task: member.task,
            },
            Ok(_) | Err(_) => member.caller(),
        }),
    }
}

/// Who a process outside of all sessions says that it is: a session in a tab has no holder above it.
fn said_caller(ambient: &Ambient) -> Result<Caller, Failure> {
    let Some(session) = variable::<SessionId>(ambient, environment::SESSION)? else {
        return Ok(Caller::Person);
    };
    Ok(Caller::Session {
        session,
        role: said_role(ambient)?.unwrap_or(Role::Main),
        task: variable(ambient, environment::TASK_ID)?,
    })
}

fn said_role(ambient: &Ambient) -> Result<Option<Role>, Failure> {
    let Some(word) = ambient.text(environment::ROLE) else {
        return Ok(None);
    };
    let role = word.parse().map_err(|error| {
        let name = environment::ROLE;
        Failure::usage(format!("{name} has the unknown value {word:?}")).because(&error)
    })?;
    Ok(Some(role))
}

/// Refuses a caller that may not decide what is for a person alone: to trust, and to approve at a gate.
pub fn require_person(action: Action, ambient: &Ambient) -> Result<(), Failure> {
    Ok(caller(ambient)?.may(action)?)
}

fn variable<T: FromStr<Err: Error + 'static>>(
    ambient: &Ambient,
    name: &str,
) -> Result<Option<T>, Failure> {
    let value = ambient.text(name).map(str::parse).transpose();
    value.map_err(|error| Failure::usage(format!("{name} has no valid value")).because(&error))
}
