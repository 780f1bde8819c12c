//! Which session a holder is started from, and what is above it: looked at once, before the agent runs.

use handoff_process::{Identity, ancestry, whole_ancestry};

use super::opening::{OpenError, Opening};
use crate::sender;
use crate::side::{Member, Side};

/// The session that this one is started from; none from outside of all sessions. A check starts none.
pub(super) fn starter(opening: &Opening) -> Result<Option<Member>, OpenError> {
    let above = sender::starter_side(&opening.places);
    match above {
        Side::Outside => Ok(None),
        Side::Session(member) if opening.answers_children && !member.may_answer => {
            Err(OpenError::Grant)
        }
        Side::Session(member) => Ok(Some(member)),
        Side::Check | Side::Unknown => Err(OpenError::Starter),
    }
}

/// This process and those above it.
pub(super) fn own_chain() -> Vec<Identity> {
    let pid = std::process::id();
    let chain = whole_ancestry(pid).unwrap_or_else(|| ancestry(pid));
    chain.iter().map(|it| it.identity).collect()
}
