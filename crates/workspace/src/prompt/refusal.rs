//! When a prompt is not made.

/// Why a prompt is not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no goal to work for.
    #[error("`FEATURE.md` is missing or empty, so there is no goal to plan for")]
    NoGoal,
    /// The goal is still the questions of the scaffold.
    #[error("`FEATURE.md` is as it was made: nobody has written down what is wanted")]
    UntouchedGoal,
    /// The plan contradicts itself.
    #[error("the plan in `STATE.md` is invalid")]
    Invalid,
    /// The plan is carried out.
    #[error("all steps of the plan are done")]
    NothingRemaining,
    /// Nothing can be done without an answer.
    #[error("all steps that remain are blocked")]
    Blocked,
}
