//! What a session leaves that was paused: found out from outside, without a word from its agent.

use handoff_core::package::{Actor, SubjectId};
use handoff_core::task::Reason;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A session as it stood when it was paused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionState {
    /// What it was called.
    pub name: SubjectId,
    /// Which agent it was. Whoever goes on starts their own of that name, never a command out of a package.
    pub agent: Actor,
    /// What the agent calls its own record of the conversation, where it keeps one.
    pub conversation: Option<SubjectId>,
    /// How many turns it had.
    pub turns: u64,
    /// What it said last, the oldest first.
    pub answers: Vec<Reason>,
    /// What was said to it, and had not reached it.
    pub inbox: Vec<Reason>,
    /// What its terminal showed.
    pub screen: Option<Reason>,
}
