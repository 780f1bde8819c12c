//! What the commands of a feature say about its plan.

use schemars::JsonSchema;
use serde::Serialize;

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// It is done.
    Done,
    /// It is marked as the one in work.
    Current,
    /// It is to be done.
    Pending,
    /// It cannot go on.
    Blocked,
    /// Its box cannot be read; it is not done.
    Unknown,
}

/// What can be done with a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanVerdict {
    /// It has to be put right first.
    Invalid,
    /// There is no step.
    NotInitialised,
    /// Every step is done.
    NothingRemaining,
    /// Only blocked steps remain.
    Blocked,
    /// One step is current.
    Ready,
}

/// One step.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StepDocument {
    /// Counted from one over all steps of the plan.
    pub number: usize,
    /// Its line in `STATE.md`.
    pub line: usize,
    /// How many steps it is nested in.
    pub depth: usize,
    /// How far it is.
    pub state: StepState,
    /// What is to be done.
    pub title: String,
    /// Why it is blocked, if it is and that is said.
    pub reason: Option<String>,
    /// The lines below that belong to it.
    pub notes: Vec<String>,
}

/// A plan in short.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanDocument {
    /// What can be done with it.
    pub verdict: PlanVerdict,
    /// How many steps are done.
    pub done: usize,
    /// How many there are.
    pub total: usize,
    /// The current step, of a plan that is ready.
    pub current: Option<StepDocument>,
}

/// What the commands of `step` say.
#[derive(Debug, Serialize)]
pub struct StepReceipt {
    /// The feature.
    pub feature: String,
    /// The step as it is now.
    pub step: StepDocument,
    /// Whether it was so already and nothing was changed.
    pub is_repeat: bool,
    /// The plan as it is now.
    pub plan: PlanDocument,
}

impl StepReceipt {
    /// The schema of `step`.
    pub const SCHEMA: &str = "handoff.step/1";
}

/// What `next` says.
#[derive(Debug, Serialize)]
pub struct NextDocument {
    /// The feature.
    pub feature: String,
    /// What to do, in a sentence.
    pub action: String,
    /// The command that goes with it, if there is one.
    pub command: Option<String>,
    /// The plan.
    pub plan: PlanDocument,
    /// The steps that are blocked.
    pub blocked: Vec<StepDocument>,
}

impl NextDocument {
    /// The schema of `next`.
    pub const SCHEMA: &str = "handoff.next/1";
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemSeverity {
    /// Worth knowing.
    Warning,
    /// The work cannot go on.
    Error,
}

/// Something wrong in a workspace.
#[derive(Debug, Serialize)]
pub struct ProblemDocument {
    /// The file, from the root of the repository.
    pub file: String,
    /// The line, where there is one.
    pub line: Option<usize>,
    /// How bad it is.
    pub severity: ProblemSeverity,
    /// What is wrong.
    pub problem: String,
}

/// What `validate` says.
#[derive(Debug, Serialize)]
pub struct ValidateDocument {
    /// The features that were looked at.
    pub features: Vec<String>,
    /// Whether there is no error.
    pub is_valid: bool,
    /// All problems.
    pub problems: Vec<ProblemDocument>,
}

impl ValidateDocument {
    /// The schema of `validate`.
    pub const SCHEMA: &str = "handoff.validate/1";
}

/// What `note` and `decide` say.
#[derive(Debug, Serialize)]
pub struct NoteReceipt {
    /// The feature.
    pub feature: String,
    /// The section of `SESSION.md` it is in.
    pub section: String,
    /// What was written there.
    pub entry: String,
    /// Whether it was there already and nothing was changed.
    pub is_repeat: bool,
}

impl NoteReceipt {
    /// The schema of `note` and `decide`.
    pub const SCHEMA: &str = "handoff.note/1";
}
