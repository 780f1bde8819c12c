//! Putting an agent behind its walls.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use handoff_process::{Sandbox, sandbox};

use super::errands::Outside;
use super::opening::{OpenError, Opening};
use super::socket::Socket;
use crate::confinement::{self, Confinement};
use crate::{environment, private_state, toolchain};

/// What programs call the directory for temporary files.
const TEMPORARY: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];

/// Where something is done for a session that cannot do it itself: in the environment that it would have without walls, and
/// with the way to the ledger.
pub(super) fn outside(opening: &mut Opening) -> Option<Outside> {
    let ledger = std::mem::take(&mut opening.ledger);
    if opening.bounds.is_none() && ledger.is_empty() {
        return None;
    }
    let variables = &mut opening.program.environment;
    let mut environment = variables.clone();
    if !ledger.is_empty() {
        variables.insert(environment::LEDGER.into(), "holder".into());
        environment.extend(ledger);
    }
    Some(Outside {
        bounds: opening.bounds.clone(),
        program: opening.own_program.clone(),
        environment,
    })
}

/// Puts the agent behind its walls, with what it needs there and without what leads around them.
pub(super) fn confine(opening: &mut Opening, socket: &Socket) -> Result<(), OpenError> {
    let Some(bounds) = opening.bounds.clone() else {
        return Ok(());
    };
    let private = confinement::make_private(&opening.places, opening.id);
    let private = private.map_err(OpenError::Private)?;
    let temporary = private.join("tmp");
    furnish(opening, &bounds.scratch, &private).map_err(OpenError::Private)?;
    let variables = &mut opening.program.environment;
    for helper in sandbox::HELPERS {
        variables.remove(OsStr::new(helper));
    }
    let word = Confinement::Worktree.word();
    variables.insert(environment::SANDBOX.into(), word.into());
    for name in TEMPORARY {
        variables.insert(name.into(), temporary.clone().into());
    }
    let held = &opening.agent.adapter.sandbox;
    for (name, value) in &held.environment {
        let value = value.replace("{tmp}", &temporary.to_string_lossy());
        variables.insert(name.into(), value.into());
    }
    let arguments = &mut opening.program.arguments;
    let own = opening.agent.adapter.launch.command.len();
    let own = own.saturating_sub(1).min(arguments.len());
    arguments.splice(own..own, held.arguments.iter().map(OsString::from));
    let writable = [bounds.root, private].into_iter();
    let writable = writable.chain(bounds.scratch);
    let walls = Sandbox::new(writable).with_socket(socket.path());
    opening.program.sandbox = Some(walls);
    Ok(())
}

/// Makes what the agent and its tools have of their own: temporary files, configuration, caches.
fn furnish(opening: &mut Opening, scratch: &[PathBuf], private: &Path) -> io::Result<()> {
    for name in ["tmp", "agent", "cache"] {
        std::fs::create_dir(private.join(name))?;
    }
    let program = &mut opening.program;
    let variables = &mut program.environment;
    let caches = toolchain::furnish(variables, scratch, &private.join("cache"))?;
    let agent = private.join("agent");
    let own = opening.agent.adapter.sandbox.private.as_ref();
    if let Some(own) = own {
        let cwd = program.cwd.canonicalize()?;
        private_state::furnish(own, variables, &cwd, &own.within(&agent))?;
    }
    for (name, place) in caches {
        variables.insert(name.into(), place.into());
    }
    if let Some(own) = own {
        variables.insert(own.variable.clone().into(), agent.into());
    }
    Ok(())
}
