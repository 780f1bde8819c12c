//! Tasks, leases and holds as JSON.

use handoff_core::hold::{Hold, HoldScope};
use handoff_core::lease::Tenure;
use handoff_core::ownership::PathPattern;
use handoff_core::rest::Trouble;
use handoff_core::task::{Evidence, Part, Phase, View};
use handoff_core::{Lease, Moment, Ownership, Rest, Task, TaskState, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

/// A task.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaskDocument {
    /// Its identity.
    pub id: String,
    /// Where it belongs.
    pub project: String,
    /// What people call it.
    pub name: String,
    /// `waiting`, `held`, `resting`, `queued`, `leased`, `running`, `done`, `failed`, `blocked` or `cancelled`.
    pub state: Phase,
    /// Higher goes first.
    pub priority: i16,
    /// What is to be done.
    pub brief: String,
    /// The paths it may change.
    pub owns: Vec<String>,
    /// What proves the work.
    pub verify: Option<String>,
    /// The agent that it asks for; none leaves that to the worker.
    pub agent: Option<String>,
    /// The batch that it is a part of.
    pub batch: Option<String>,
    /// The tasks it still waits for.
    pub waiting_for: Vec<String>,
    /// When it was added.
    pub created_at: Timestamp,
    /// How often it was claimed; the number of the newest lease.
    pub attempts: u64,
    /// Who works on it.
    pub lease: Option<LeaseDocument>,
    /// The hold on this very task.
    pub hold: Option<HoldDocument>,
    /// The rest that it takes now.
    pub rest: Option<RestDocument>,
    /// The attempts that trouble ended, through no fault of the task.
    pub setbacks: u64,
    /// What was said when it ended.
    pub said: Option<String>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// What the tool itself proved.
    pub evidence: Vec<Evidence>,
    /// The number of its last event.
    pub version: u64,
}

impl TaskDocument {
    /// The schema of a task.
    pub const SCHEMA: &str = "handoff.task/1";

    /// A task as it looks now.
    pub fn of(task: &Task, view: View<'_>) -> Self {
        let (ended_at, said) = ending(&task.state);
        let patterns = task.spec.owns.iter().flat_map(Ownership::patterns);
        Self {
            id: task.id.to_string(),
            project: task.project.to_string(),
            name: task.spec.name.to_string(),
            state: task.phase(&view),
            priority: task.spec.priority.level(),
            brief: task.spec.brief.to_string(),
            owns: patterns.map(PathPattern::to_string).collect(),
            verify: task.spec.verify.as_ref().map(ToString::to_string),
            agent: task.spec.agent.as_ref().map(ToString::to_string),
            batch: task
                .spec
                .part
                .and_then(Part::batch)
                .map(|batch| batch.to_string()),
            waiting_for: task.pending.iter().map(|it| it.task.to_string()).collect(),
            created_at: task.created_at,
            attempts: task.leases(),
            lease: task
                .state
                .lease()
                .map(|lease| LeaseDocument::of(lease, view.now)),
            hold: task.hold.as_ref().map(HoldDocument::of),
            rest: task.resting(view.now).map(RestDocument::of),
            setbacks: task.setbacks,
            said,
            ended_at,
            evidence: task.evidence.clone(),
            version: task.version,
        }
    }
}

fn ending(state: &TaskState) -> (Option<Timestamp>, Option<String>) {
    match state {
        TaskState::Done { at, summary } => (Some(*at), summary.as_ref().map(ToString::to_string)),
        TaskState::Failed { at, reason } | TaskState::Blocked { at, reason } => {
            (Some(*at), Some(reason.to_string()))
        }
        TaskState::Cancelled { at, reason } => {
            (Some(*at), reason.as_ref().map(ToString::to_string))
        }
        TaskState::Waiting
        | TaskState::Queued
        | TaskState::Leased { .. }
        | TaskState::Running { .. } => (None, None),
    }
}

/// A lease.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LeaseDocument {
    /// Show this to report on the task.
    pub fence: u64,
    /// Who has it.
    pub owner: String,
    /// How long it lasts without a heartbeat; none for one that lasts as long as its session.
    pub ttl_seconds: Option<f64>,
    /// How much of that is left.
    pub left_seconds: Option<f64>,
    /// The session whose holder keeps it alive.
    pub session: Option<String>,
}

impl LeaseDocument {
    fn of(lease: &Lease, now: &Moment) -> Self {
        let (term, session) = match &lease.tenure {
            Tenure::Timed(term) => (Some(term), None),
            Tenure::Anchored { session } => (None, Some(session.to_string())),
        };
        let left = term
            .filter(|term| term.timeline == now.timeline)
            .map(|term| term.expires.since(now.elapsed));
        Self {
            fence: lease.fence.number(),
            owner: lease.owner.to_string(),
            ttl_seconds: term.map(|term| term.ttl.as_secs_f64()),
            left_seconds: left.map(|left| left.as_secs_f64()),
            session,
        }
    }
}

/// A time in which a task is not handed out, because its agent is in trouble.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RestDocument {
    /// `limit`, `network`, `error` or `start`.
    pub trouble: Trouble,
    /// The agent.
    pub agent: Option<String>,
    /// Whether all tasks for that agent wait with it.
    pub is_of_agent: bool,
    /// What was seen.
    pub reason: String,
    /// Which one in a row it is.
    pub number: u32,
    /// When it ends.
    pub until: Timestamp,
}

impl RestDocument {
    /// A rest as it is.
    pub fn of(rest: &Rest) -> Self {
        Self {
            trouble: rest.trouble,
            agent: rest.agent.as_ref().map(ToString::to_string),
            is_of_agent: rest.of_agent().is_some(),
            reason: rest.reason.to_string(),
            number: rest.number,
            until: rest.until,
        }
    }
}

/// A hold.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HoldDocument {
    /// What is held: `everything`, a project's, a batch's id; none for the hold of a task, which stands with the task.
    pub scope: Option<String>,
    /// Whether work is handed out.
    pub is_held: bool,
    /// Why not.
    pub reason: Option<String>,
    /// Who said so.
    pub by: Option<String>,
    /// Since when.
    pub since: Option<Timestamp>,
}

/// The answer to a change of a hold.
#[derive(Debug, Serialize)]
pub struct HoldReceipt {
    /// The hold right after the change.
    #[serde(flatten)]
    pub hold: HoldDocument,
    /// The key under which the change is recorded.
    pub key: String,
    /// Whether it had been carried out before.
    pub is_repeat: bool,
}

impl HoldDocument {
    /// The schema of a hold.
    pub const SCHEMA: &str = "handoff.hold/1";

    /// The hold on a task.
    fn of(hold: &Hold) -> Self {
        Self {
            scope: None,
            is_held: true,
            reason: hold.reason.as_ref().map(ToString::to_string),
            by: Some(hold.by.to_string()),
            since: Some(hold.since),
        }
    }

    /// What holds a scope, if anything does.
    pub fn on(scope: HoldScope, hold: Option<&Hold>) -> Self {
        let scope = Some(scope.to_string());
        match hold {
            Some(hold) => Self {
                scope,
                ..Self::of(hold)
            },
            None => Self {
                scope,
                is_held: false,
                reason: None,
                by: None,
                since: None,
            },
        }
    }
}

/// The answer to a change of one task.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Receipt {
    /// The task right after the change.
    pub task: TaskDocument,
    /// The key under which the change is recorded; repeating with it is harmless.
    pub key: String,
    /// Whether it had been carried out before.
    pub is_repeat: bool,
}

impl Receipt {
    /// The schema of a receipt.
    pub const SCHEMA: &str = "handoff.receipt/1";
}

/// The answer to a claim.
#[derive(Debug, Serialize)]
pub struct ClaimDocument {
    /// The task, with its lease; none when nothing is ready.
    pub task: Option<TaskDocument>,
    /// The key under which the claim is recorded.
    pub key: String,
    /// Whether it had been carried out before.
    pub is_repeat: bool,
}

impl ClaimDocument {
    /// The schema of a claim.
    pub const SCHEMA: &str = "handoff.claim/1";
}

/// What came of a task that a worker took.
#[derive(Debug, Serialize)]
pub struct WalkedDocument<'a> {
    /// Its name; none when nothing was ready.
    pub task: Option<&'a str>,
    /// `done`, `failed`, `blocked`, `called_off`, `given_back`, `resting` or `nothing_ready`.
    pub ending: &'static str,
    /// Why it is not done.
    pub reason: Option<&'a str>,
}

impl WalkedDocument<'_> {
    /// The schema of a walk.
    pub const SCHEMA: &'static str = "handoff.walked/1";
}

/// What a watchdog saw and put right.
#[derive(Debug, Serialize)]
pub struct WatchdogDocument {
    /// What was put right, in this order.
    pub repairs: Vec<RepairDocument>,
    /// How many tasks of them were given back.
    pub given_back: usize,
    /// How many worktrees of them were saved and removed.
    pub retired: usize,
    /// Worktrees that stay, and why.
    pub stuck: Vec<String>,
    /// Tasks whose sessions had finished, and that were judged.
    pub judged: Vec<String>,
    /// Tasks whose worktrees somebody removed; their sessions were ended, and they are in the queue again.
    pub bereft: Vec<String>,
    /// Tasks whose sessions live, and that no worker attends to.
    pub unattended: Vec<String>,
    /// What is to be said of leases that have to be renewed and were not.
    pub leases: Vec<String>,
}

/// Something that was put right.
#[derive(Debug, Serialize)]
pub struct RepairDocument {
    /// `session_lost`, `lease_expired`, `pause_undone`, `commit_finished`, `commit_forgotten`, `commit_set_aside`,
    /// `baseline_shown`, `run_shown`, `tree_relinked` or `tree_retired`.
    pub kind: &'static str,
    /// The task, or the path of the worktree.
    pub what: Option<String>,
}

impl WatchdogDocument {
    /// The schema of what a watchdog saw.
    pub const SCHEMA: &str = "handoff.watchdog/1";
}

/// What the notify command is told. What is not known, or does not apply, is null.
#[derive(Debug, Serialize)]
pub struct SummonsDocument {
    /// `handoff.summons/1`.
    pub schema: &'static str,
    /// `answer` (the agent asks something), `help` (it cannot go on), `look` (it did not work) or `agree` (a gate).
    pub need: &'static str,
    /// What is asked, needed or wrong.
    pub detail: String,
    /// The command that shows a person what to do.
    pub command: String,
    /// The id of the project.
    pub project: String,
    /// Where its repository is: the command is for there.
    pub repository: String,
    /// The name of the task.
    pub task: Option<String>,
    /// Its id.
    pub task_id: Option<String>,
    /// Which attempt at it.
    pub attempt: Option<u64>,
    /// The batch that it belongs to.
    pub batch: Option<String>,
    /// Tasks that did not begin because of it.
    pub behind: Vec<String>,
    /// The run that waits.
    pub run: Option<String>,
    /// The phase that it is in.
    pub phase: Option<String>,
    /// The session that asks.
    pub session: Option<String>,
    /// What it asks, in its own words.
    pub question: Option<String>,
    /// What can be answered, in order: `handoff answer --choose N`.
    pub choices: Vec<String>,
}

impl SummonsDocument {
    /// The schema of a summons.
    pub const SCHEMA: &'static str = "handoff.summons/1";
}

/// What became of the file that keeps a worker alive.
#[derive(Debug, Serialize)]
pub struct UnitDocument<'a> {
    /// Where it is, was, or would be.
    pub path: String,
    /// `written`, `removed` or `printed`.
    pub outcome: &'a str,
    /// The command that starts it.
    pub start_by: &'a str,
    /// The command that stops it.
    pub stop_by: &'a str,
    /// What is in it, where it was only to be shown.
    pub text: Option<&'a str>,
}

impl UnitDocument<'_> {
    /// The schema of such a file.
    pub const SCHEMA: &'static str = "handoff.unit/1";
}

/// The workers of a project.
#[derive(Debug, Serialize)]
pub struct WorkersDocument {
    /// Those that live.
    pub workers: Vec<WorkerDocument>,
    /// What keeps ready tasks waiting.
    pub rests: Vec<RestDocument>,
}

/// A worker that lives.
#[derive(Debug, Serialize)]
pub struct WorkerDocument {
    /// What it is called: `handoff worker stop ID`.
    pub id: String,
    /// What it prints, if it works in the background.
    pub log: Option<String>,
    /// Its process, once it has signed in.
    pub pid: Option<u32>,
}

impl WorkerDocument {
    /// The schema of a worker that was started in the background.
    pub const SCHEMA: &str = "handoff.worker/1";
}

/// Workers that were told to stop.
#[derive(Debug, Serialize)]
pub struct StoppedWorkersDocument {
    /// Those that have.
    pub stopped: Vec<String>,
    /// Those that had not, in the time that they got.
    pub left: Vec<String>,
}

impl StoppedWorkersDocument {
    /// The schema of workers that were told to stop.
    pub const SCHEMA: &str = "handoff.workers-stopped/1";
}

impl WorkersDocument {
    /// The schema of workers.
    pub const SCHEMA: &str = "handoff.workers/1";
}

/// A page of a project's queue.
#[derive(Debug, Serialize)]
pub struct QueueDocument {
    /// Which project.
    pub project: String,
    /// The hold that lies over all of it.
    pub hold: Option<HoldDocument>,
    /// What keeps ready tasks waiting, each task's own and those of agents.
    pub rests: Vec<RestDocument>,
    /// The tasks.
    pub tasks: Vec<TaskDocument>,
    /// Whether there are more than the page has.
    pub has_more: bool,
}

impl QueueDocument {
    /// The schema of a queue.
    pub const SCHEMA: &str = "handoff.queue/1";
}
