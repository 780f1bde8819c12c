//! What every operation has: a request that can be read from JSON, a document as its answer, and who may ask for it.

use handoff_api::Body;
use handoff_core::{Action, Caller, Relation};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::caller::caller;
use crate::failure::Failure;
use crate::workplace::Workplace;

/// A use case. The request is the type itself; its doc comment is what people and agents read of it.
pub trait Operation: DeserializeOwned + JsonSchema {
    /// What is answered.
    type Response: Body;

    /// What doors call it.
    const NAME: &'static str;
    /// Whether anything is different afterwards.
    const EFFECT: Effect;
    /// What the caller must be allowed to do.
    const NEEDS: Needs;
    /// How long it may take.
    const TAKES: Takes;
    /// For which sessions their holder has it done, because they cannot do it themselves.
    const FORWARDED: Forwarded = Forwarded::Never;

    /// Does it. Doors go through [`call`], which asks first whether the caller may.
    fn perform(self, here: &Workplace) -> Result<Self::Response, Failure>;
}

/// Whether an operation changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only looks.
    Reads,
    /// Something is different afterwards. Where the request takes a key, once for each.
    Changes,
}

/// What a caller must be allowed to do. What depends on the request besides is decided by the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// This, whatever the request is about.
    Action(Action),
    /// To answer the dialog of the session that the request names: that depends on what the session is to the caller.
    AnswerOfSession,
}

/// How long an operation may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// It waits for nothing.
    Moment,
    /// It waits for an agent or for git, for as long as the request says at most.
    Waits,
}

/// For which sessions an operation is done by their holder, outside: what is done for one is done for those before it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Forwarded {
    /// For none.
    Never,
    /// For those that do not know the way to the ledger's server.
    WithoutLedger,
    /// For those too that are in a sandbox.
    FromSandbox,
}

impl Needs {
    /// Refuses a caller that may not, as far as that can be told without the request.
    fn check(self, caller: &Caller) -> Result<(), Failure> {
        match self {
            Self::Action(action) => Ok(caller.may(action)?),
            Self::AnswerOfSession => Ok(()),
        }
    }

    /// Whether a caller may, in the best case: a session may answer those that it started, where a person allowed that.
    #[must_use]
    pub fn admits(self, caller: &Caller) -> bool {
        let action = match self {
            Self::Action(action) => action,
            Self::AnswerOfSession => Action::Answer {
                relation: Relation::Started,
                is_granted: true,
            },
        };
        caller.may(action).is_ok()
    }
}

/// Does what is asked for, if the caller may.
pub fn call<O: Operation>(operation: O, here: &Workplace) -> Result<O::Response, Failure> {
    permit::<O>(here)?;
    operation.perform(here)
}

/// Refuses a caller that may not ask for this, whatever the request is.
pub fn permit<O: Operation>(here: &Workplace) -> Result<(), Failure> {
    O::NEEDS.check(&caller(&here.ambient)?)
}
