//! What came of a batch, as its fan-in proved it.

use crate::task::{Evidence, LeftOut};
use crate::{CommitId, Task, TaskState};

/// What came of a batch whose fan-in is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The commit with its result; none if nothing was changed by anybody.
    pub result: Option<CommitId>,
    /// The parts that the tool could not bring together with the others.
    pub left_out: Vec<LeftOut>,
    /// Whether the session of the fan-in changed something besides: what was left out may be in the result by its hand.
    pub has_more: bool,
}

impl Outcome {
    /// None while the fan-in is not done.
    pub fn of(fan_in: &Task) -> Option<Self> {
        let TaskState::Done { .. } = fan_in.state else {
            return None;
        };
        let newest = || fan_in.evidence.iter().rev();
        let result = newest().find_map(Evidence::commit);
        let gathered = newest().find_map(Evidence::gathered);
        let has_more = gathered.is_some_and(|it| result.is_some_and(|result| *result != it.tip));
        Some(Self {
            result: result.cloned(),
            left_out: gathered.map_or_else(Vec::new, |it| it.left_out.clone()),
            has_more,
        })
    }
}
