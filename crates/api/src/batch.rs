//! Batches as JSON.

use std::time::Duration;

use handoff_core::Timestamp;
use handoff_core::batch::{
    Basis, Batch, BatchState, Calibration, Estimate, Expected, Factor, Kind, Measured, Plan,
    Report, Stint, StintEnd,
};
use handoff_core::task::{Omission, Phase, View};
use handoff_core::{Task, TaskState};
use schemars::JsonSchema;
use serde::Serialize;

/// A batch with its tasks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BatchDocument {
    /// Its identity.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// `open`, `fan-in`, `done`, `failed`, `blocked` or `cancelled`.
    pub state: &'static str,
    /// Whether a hold lies over it.
    pub is_held: bool,
    /// The commit that every part begins with.
    pub base: String,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// The package that it is paused with.
    pub paused_with: Option<String>,
    /// Who has it, if it was handed over to another store.
    pub handed_to: Option<String>,
    /// Why it was called off.
    pub reason: Option<String>,
    /// How many parts are done.
    pub done: usize,
    /// Its parts, in the order in which their results are merged.
    pub parts: Vec<BatchPartDocument>,
    /// The task that brings them together.
    pub fan_in: BatchPartDocument,
    /// What comes after.
    pub next: Option<String>,
    /// The commit with its result, if it is done and there is one.
    pub result: Option<String>,
    /// Parts that the tool could not bring together with the others.
    pub left_out: Vec<LeftOutDocument>,
    /// Whether the session of the fan-in changed something besides: what was left out may be in the result by its hand.
    pub has_more: bool,
    /// How long all of it will still take, as far as anybody can tell.
    pub left_seconds: Option<f64>,
}

/// A part that is not in the result of its batch.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LeftOutDocument {
    /// Which.
    pub part: String,
    /// `conflict`, `failed_check`, `built_on_failed` or `not_done`.
    pub why: Omission,
}

/// A part of a batch, or its fan-in.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BatchPartDocument {
    /// What it is called in the batch.
    pub part: String,
    /// The id of its task.
    pub id: String,
    /// The name of its task.
    pub task: String,
    /// Its state.
    pub state: Phase,
    /// How often it was claimed.
    pub attempts: u64,
    /// The session that works on it.
    pub session: Option<String>,
    /// Who is to do it.
    pub agent: Option<String>,
    /// How long it will take, as people guessed.
    pub estimate_seconds: Option<f64>,
    /// What the attempt took that counts, so far.
    pub took_seconds: Option<f64>,
    /// What is expected of it: the guess, corrected by experience; without one, what the other parts took.
    pub expected_seconds: Option<f64>,
    /// How much of that is left, while somebody works on it.
    pub left_seconds: Option<f64>,
    /// What is done for it in this moment, where its session is on this machine.
    pub step: Option<&'static str>,
    /// Every attempt.
    pub stints: Vec<StintDocument>,
    /// What was said when it ended.
    pub said: Option<String>,
}

/// One attempt at a task.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StintDocument {
    /// When it was claimed.
    pub from: Timestamp,
    /// When it ended; now, if it has not.
    pub to: Timestamp,
    /// How.
    pub end: StintEnd,
}

/// What is known of a task of a batch.
#[derive(Debug)]
pub struct PartFacts<'a> {
    /// What it is called in the batch.
    pub part: String,
    /// The task.
    pub task: &'a Task,
    /// What was measured of it.
    pub measured: &'a Measured,
    /// What is expected of it.
    pub expected: Expected,
    /// What is done for it in this moment.
    pub step: Option<&'static str>,
}

impl BatchPartDocument {
    /// A part as it looks now.
    pub fn of(facts: &PartFacts<'_>, view: &View<'_>) -> Self {
        let PartFacts {
            part,
            task,
            measured,
            expected,
            step,
        } = facts;
        Self {
            part: part.clone(),
            id: task.id.to_string(),
            task: task.spec.name.to_string(),
            state: task.phase(view),
            attempts: task.leases(),
            session: session(&task.state),
            agent: task.spec.agent.as_ref().map(ToString::to_string),
            estimate_seconds: measured.estimate.map(seconds_of),
            took_seconds: measured.last().map(|it| it.took().as_secs_f64()),
            expected_seconds: expected.takes.map(|it| it.as_secs_f64()),
            left_seconds: expected.left.map(|it| it.as_secs_f64()),
            step: *step,
            stints: measured.stints.iter().map(StintDocument::of).collect(),
            said: said(&task.state),
        }
    }
}

impl StintDocument {
    fn of(stint: &Stint) -> Self {
        Self {
            from: stint.from,
            to: stint.to,
            end: stint.end,
        }
    }
}

fn seconds_of(estimate: Estimate) -> f64 {
    estimate.span().as_secs_f64()
}

fn session(state: &TaskState) -> Option<String> {
    match state {
        TaskState::Running { session, .. } => Some(session.to_string()),
        TaskState::Waiting
        | TaskState::Queued
        | TaskState::Leased { .. }
        | TaskState::Done { .. }
        | TaskState::Failed { .. }
        | TaskState::Blocked { .. }
        | TaskState::Cancelled { .. } => None,
    }
}

fn said(state: &TaskState) -> Option<String> {
    match state {
        TaskState::Done { summary, .. } => summary.as_ref().map(ToString::to_string),
        TaskState::Failed { reason, .. } | TaskState::Blocked { reason, .. } => {
            Some(reason.to_string())
        }
        TaskState::Cancelled { reason, .. } => reason.as_ref().map(ToString::to_string),
        TaskState::Waiting
        | TaskState::Queued
        | TaskState::Leased { .. }
        | TaskState::Running { .. } => None,
    }
}

impl BatchDocument {
    /// The schema of a batch.
    pub const SCHEMA: &str = "handoff.batch/1";

    /// Why it was called off, if it was.
    pub fn reason_of(batch: &Batch) -> Option<String> {
        match &batch.state {
            BatchState::Cancelled { reason, .. } => reason.as_ref().map(ToString::to_string),
            BatchState::Open | BatchState::FanIn { .. } | BatchState::Ended { .. } => None,
        }
    }
}

/// A line of the list of batches.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BatchRow {
    /// Its identity.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Where it is.
    pub state: &'static str,
    /// How many parts it has.
    pub parts: usize,
    /// How many of them are done.
    pub done: usize,
    /// How many ended otherwise.
    pub trouble: usize,
    /// When it was opened.
    pub opened_at: Timestamp,
}

/// The batches of a project, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BatchesDocument {
    /// The batches.
    pub batches: Vec<BatchRow>,
    /// Whether there are more than the page has.
    pub has_more: bool,
}

impl BatchesDocument {
    /// The schema of a list of batches.
    pub const SCHEMA: &str = "handoff.batches/1";
}

/// The answer to a change of a batch.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BatchReceipt {
    /// The batch right after the change.
    pub batch: BatchDocument,
    /// The key under which the change is recorded; repeating with it is harmless.
    pub key: String,
    /// Whether it had been carried out before.
    pub is_repeat: bool,
}

impl BatchReceipt {
    /// The schema of a receipt for a batch.
    pub const SCHEMA: &str = "handoff.batch-receipt/1";
}

/// How a batch would run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BatchPlanDocument {
    /// Its name.
    pub name: String,
    /// How many parts can run at the same time.
    pub slots: usize,
    /// What can run side by side.
    pub waves: Vec<Vec<String>>,
    /// Each part with its time, in the order in which they begin.
    pub parts: Vec<PlannedPart>,
    /// What bringing them together takes.
    pub fan_in_seconds: f64,
    /// What all would take one after the other.
    pub serial_seconds: f64,
    /// What it takes on the wall.
    pub wall_seconds: f64,
    /// How many times faster that is.
    pub speed_up: f64,
    /// What no schedule on these slots can beat (Amdahl).
    pub bound: f64,
}

/// A part in its place.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlannedPart {
    /// Which.
    pub part: String,
    /// When it begins.
    pub starts_seconds: f64,
    /// How long it takes.
    pub takes_seconds: f64,
    /// Whether anybody guessed that.
    pub is_assumed: bool,
}

impl BatchPlanDocument {
    /// The schema of a plan.
    pub const SCHEMA: &str = "handoff.batch-plan/1";

    /// A plan with the names of its parts.
    pub fn of(name: String, plan: &Plan) -> Self {
        let name_of = |place: &usize| {
            let part = plan.parts.iter().find(|it| it.place == *place);
            part.map(|it| it.name.to_string()).unwrap_or_default()
        };
        let wave = |places: &Vec<usize>| places.iter().map(name_of).collect();
        let part = |it: &handoff_core::batch::Placed| PlannedPart {
            part: it.name.to_string(),
            starts_seconds: it.starts.as_secs_f64(),
            takes_seconds: it.takes.as_secs_f64(),
            is_assumed: it.basis == Basis::Assumed,
        };
        Self {
            name,
            slots: plan.slots.get(),
            waves: plan.waves.iter().map(wave).collect(),
            parts: plan.parts.iter().map(part).collect(),
            fan_in_seconds: plan.fan_in.as_secs_f64(),
            serial_seconds: plan.serial().as_secs_f64(),
            wall_seconds: plan.wall().as_secs_f64(),
            speed_up: plan.speed_up(),
            bound: plan.bound(),
        }
    }
}

/// What a batch took.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BatchReportDocument {
    /// The batch with every attempt.
    pub batch: BatchDocument,
    /// From the first claim to the last end.
    pub wall_seconds: f64,
    /// The attempts that count of all parts, one after the other.
    pub parts_seconds: f64,
    /// The same of the fan-in.
    pub fan_in_seconds: f64,
    /// What attempts took that came to nothing and were repeated.
    pub repeated_seconds: f64,
    /// While exactly one thing was worked on.
    pub serial_seconds: f64,
    /// While several were.
    pub parallel_seconds: f64,
    /// While nothing was.
    pub idle_seconds: f64,
    /// The most that were worked on at the same time.
    pub width: usize,
    /// How many times faster it was than its measured parts one after the other.
    pub speed_up: f64,
    /// The share of all work that was done while nothing else was.
    pub serial_share: f64,
    /// What nobody could beat on that width with that share (Amdahl).
    pub bound: f64,
    /// How well guesses fit, over the history of the project.
    pub calibration: Vec<CalibrationRow>,
}

/// How well guesses fit for one agent and kind of work.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CalibrationRow {
    /// What kind of work.
    pub kind: Kind,
    /// Who did it; none where nobody was asked for.
    pub agent: Option<String>,
    /// What work took, as a multiple of the guess.
    #[serde(flatten)]
    pub factor: Factor,
}

impl CalibrationRow {
    /// All that is known.
    pub fn all(calibration: &Calibration) -> Vec<Self> {
        let row = |(kind, agent, factor): (Kind, Option<&handoff_core::AgentName>, Factor)| Self {
            kind,
            agent: agent.map(ToString::to_string),
            factor,
        };
        calibration.rows().map(row).collect()
    }
}

impl BatchReportDocument {
    /// The schema of a report.
    pub const SCHEMA: &str = "handoff.batch-report/1";

    /// A report on a batch.
    pub fn of(batch: BatchDocument, report: &Report, calibration: &Calibration) -> Self {
        let seconds = Duration::as_secs_f64;
        Self {
            batch,
            wall_seconds: seconds(&report.wall),
            parts_seconds: seconds(&report.parts),
            fan_in_seconds: seconds(&report.fan_in),
            repeated_seconds: seconds(&report.repeated),
            serial_seconds: seconds(&report.serial),
            parallel_seconds: seconds(&report.parallel),
            idle_seconds: seconds(&report.idle),
            width: report.width,
            speed_up: report.speed_up(),
            serial_share: report.serial_share(),
            bound: report.bound(),
            calibration: CalibrationRow::all(calibration),
        }
    }
}
