//! A package before it is sealed: what the options say, and what is found out without them.

use std::collections::BTreeSet;
use std::time::Duration;

use handoff_core::context::{ContextPattern, Entry};
use handoff_core::package::{
    Actor, Audience, Label, PackageKind, PhaseName, PipelineVersion, ResumePoint, SessionRef,
    SubjectId,
};
use handoff_core::task::{AdoptedTask, Reason, Summary};
use handoff_core::{Caller, ContextKey, ContextScope, PackageId, Task, Timestamp, TreeState};
use handoff_operations::config::PackageConfig;
use handoff_operations::{Failure, Project, Span};
use handoff_package::payload::{
    BatchState, Checkpoint, CheckpointStatus, Claim, Metadata, PausedRun, PayloadVersion,
    SerializedContext, SessionState,
};
use handoff_package::resumption::{PLAN, SESSION, TASK};
use handoff_package::{Package, Payload};
use handoff_session::Known;
use handoff_store::{contexts, packages, read, tasks};

use super::surroundings::PlanState;
use super::tree_look::TreeLook;

/// How long a package lives when nobody says otherwise, anywhere.
const DEFAULT_TTL: Duration = Duration::from_secs(7 * 24 * 3600);

/// What can be said about a package, however it is made.
#[derive(Debug, Clone, Default, PartialEq, clap::Args)]
pub(crate) struct DraftArgs {
    /// What it is about: a customer, a ticket, a clone.
    #[arg(long, value_name = "ID")]
    subject: Option<SubjectId>,
    /// The session it comes from; inside a session, that one.
    #[arg(long = "from-session", value_name = "ID")]
    from_session: Option<SessionRef>,
    /// The phase that ended.
    #[arg(long, value_name = "PHASE")]
    source_phase: Option<PhaseName>,
    /// The phase that is to go on; without it, the one that ended.
    #[arg(long, value_name = "PHASE")]
    target_phase: Option<PhaseName>,
    /// How many steps of the phase are done, and how many it has, as `2/5`.
    #[arg(long, value_name = "STEP/TOTAL", value_parser = parse_step)]
    step: Option<(u32, u32)>,
    /// Why the work stopped there.
    #[arg(long, value_enum, default_value_t = Status::Paused)]
    status: Status,
    /// Where to go on, in words that the next session can act on.
    #[arg(long, value_name = "TEXT")]
    resume_point: Option<ResumePoint>,
    /// Why it is made.
    #[arg(long, value_name = "TEXT")]
    reason: Option<Reason>,
    /// Who makes it.
    #[arg(long, value_name = "NAME")]
    created_by: Option<Actor>,
    /// The version of the pipeline; without it what `[package] pipeline_version` of your configuration says.
    #[arg(long, value_name = "VERSION")]
    pipeline_version: Option<PipelineVersion>,
    /// How long it can be received, such as `12h` or `3d`; without it what `[package] ttl` of your configuration says, else a
    /// week. `0s` is for ever.
    #[arg(long, value_name = "TIME", conflicts_with = "expires_at")]
    ttl: Option<Span>,
    /// Until when it can be received, such as `2026-12-24T18:00:00Z`.
    #[arg(long, value_name = "TIME")]
    expires_at: Option<Timestamp>,
    /// Who may receive it: the id of a key, a project or a store; may be given several times. Without it, everybody.
    #[arg(long = "for", value_name = "ID")]
    audience: Vec<Audience>,
    /// Let it be received more than once.
    #[arg(long)]
    reusable: bool,
    /// What was done, in a few words: a claim, not a proof.
    #[arg(long, value_name = "TEXT")]
    summary: Option<Summary>,
    /// A decision, with its reason; may be given several times.
    #[arg(long = "decision", value_name = "TEXT")]
    decisions: Vec<Reason>,
    /// Something that was tried and does not work; may be given several times.
    #[arg(long = "dead-end", value_name = "TEXT")]
    dead_ends: Vec<Reason>,
    /// A key that must be in it; may be given several times.
    #[arg(long = "require", value_name = "KEY")]
    required: Vec<ContextKey>,
    /// Only keys like this go into it.
    #[arg(long, value_name = "PATTERN")]
    only: Option<ContextPattern>,
}

/// Why the work stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Status {
    #[default]
    Paused,
    Completed,
    Error,
}

fn parse_step(text: &str) -> Result<(u32, u32), String> {
    let wrong = || "write how many are done of how many, such as `2/5`".to_owned();
    let (step, total) = text.split_once('/').ok_or_else(wrong)?;
    let number = |text: &str| {
        text.parse()
            .map_err(|_unread: std::num::ParseIntError| wrong())
    };
    let (step, total) = (number(step)?, number(total)?);
    if step > total {
        return Err(format!("step {step} of {total} is no step"));
    }
    Ok((step, total))
}

/// What the draft is made of besides its options.
pub(crate) struct Material {
    /// What it will be called.
    pub(crate) id: PackageId,
    pub(crate) kind: PackageKind,
    /// What a person set for all packages.
    pub(crate) settings: PackageConfig,
    pub(crate) scope: ContextScope,
    pub(crate) claims: Vec<Claim>,
    /// Where the code stands. Git says so while the context is read.
    pub(crate) tree: TreeLook,
    /// The task whose work it carries.
    pub(crate) task: Option<Task>,
    /// The session that is paused.
    pub(crate) session: Option<SessionState>,
    /// The batch that is paused.
    pub(crate) batch: Option<BatchState>,
    /// The run that is paused.
    pub(crate) run: Option<PausedRun>,
    /// What goes into its context though it is in no context yet.
    pub(crate) more: Vec<Entry>,
    /// How far the plan of the current feature is.
    pub(crate) plan: Option<PlanState>,
}

impl Material {
    /// Nothing but a context, and where the code stands.
    pub(crate) const fn of(
        (id, kind): (PackageId, PackageKind),
        scope: ContextScope,
        tree: TreeLook,
        settings: PackageConfig,
    ) -> Self {
        Self {
            id,
            kind,
            settings,
            scope,
            claims: vec![],
            tree,
            task: None,
            session: None,
            batch: None,
            run: None,
            more: vec![],
            plan: None,
        }
    }

    /// The task for a store that does not know it, if it is paused with this package. A part goes with its batch, and an attempt at
    /// a phase with its run.
    fn carried(&self) -> Option<AdoptedTask> {
        let is_pause = matches!(self.kind, PackageKind::Pause | PackageKind::Transfer);
        let task = self
            .task
            .as_ref()
            .filter(|_| is_pause && self.run.is_none());
        task.and_then(|task| AdoptedTask::alone(task, self.id))
    }
}

impl DraftArgs {
    /// What nobody said about where to go on, for a task that is stopped in the middle.
    pub(crate) fn or_resuming(mut self, task: &Task, reason: &str) -> Self {
        let (name, fence) = (&task.spec.name, task.fence);
        let point = format!("task {name}, after attempt {fence}");
        self.resume_point = self.resume_point.or_else(|| point.parse().ok());
        self.source_phase = self.source_phase.or_else(|| TASK.parse().ok());
        self.reason = self.reason.or_else(|| reason.parse().ok());
        self
    }

    /// Whether anybody said anything.
    pub(crate) fn is_silent(&self) -> bool {
        *self == Self::default()
    }

    /// What was said of a batch, for one of its parts: it is to be received as long, and by the same, and whoever goes on with the
    /// part is to know what was decided. What must be in the package, and how far it is, is about the whole.
    pub(crate) fn of_part(&self) -> Self {
        Self {
            step: None,
            status: Status::default(),
            required: vec![],
            reusable: false,
            subject: None,
            ..self.clone()
        }
    }

    /// What nobody said about where to go on, for a batch that is stopped in the middle.
    pub(crate) fn or_resuming_batch(mut self, batch: &BatchState, reason: &str) -> Self {
        let (name, count) = (&batch.name, batch.parts.len());
        let parts = if count == 1 { "part" } else { "parts" };
        let point = format!("batch {name}, with {count} {parts} paused");
        self.resume_point = self.resume_point.or_else(|| point.parse().ok());
        self.source_phase = self.source_phase.or_else(|| TASK.parse().ok());
        self.reason = self.reason.or_else(|| reason.parse().ok());
        self.subject = self.subject.or_else(|| batch.name.as_str().parse().ok());
        self
    }

    /// Where to go on with a run that is stopped in the middle.
    pub(crate) fn resuming_run(run: &PausedRun) -> Self {
        let (name, next, proved) = (&run.name, &run.next, run.proved.len());
        let point = format!("run {name}, phase {next}, after {proved} proofs");
        let last = run.proved.last().map_or(next, |it| &it.phase);
        Self {
            resume_point: point.parse().ok(),
            source_phase: last.as_str().parse().ok(),
            target_phase: next.as_str().parse().ok(),
            reason: "paused".parse().ok(),
            subject: name.as_str().parse().ok(),
            ..Self::default()
        }
    }

    /// What nobody said about where to go on, for a session that is stopped in the middle.
    pub(crate) fn or_resuming_session(mut self, known: &Known, turns: u64, reason: &str) -> Self {
        let name = &known.record.name;
        let point = format!("session {name}, after turn {turns}");
        self.resume_point = self.resume_point.or_else(|| point.parse().ok());
        self.source_phase = self.source_phase.or_else(|| SESSION.parse().ok());
        self.reason = self.reason.or_else(|| reason.parse().ok());
        let id = known.record.id.to_string();
        self.from_session = self.from_session.or_else(|| id.parse().ok());
        self
    }

    /// What nobody said about where to go on, in the middle of the plan of a feature.
    fn or_planned(mut self, plan: &PlanState) -> Self {
        let next = plan.next.as_ref().and_then(|it| it.parse().ok());
        self.resume_point = self.resume_point.or(next);
        if self.source_phase.is_none() {
            self.source_phase = PLAN.parse().ok();
            self.step = self.step.or(Some((plan.done, plan.total)));
        }
        self
    }

    /// Puts a package together. Nothing is sealed yet.
    pub(crate) fn package(
        mut self,
        mut material: Material,
        desk: &mut Project,
    ) -> Result<Package, Failure> {
        if let Some(plan) = &material.plan {
            self = self.or_planned(plan);
        }
        let (scope, pattern) = (material.scope, self.only.as_ref());
        let (mut entries, now) = read(&mut *desk.store, |tx| {
            let found = contexts::matching(tx, scope, pattern)?;
            let entries: Vec<Entry> = found.into_values().map(|(_, it)| it).collect();
            Ok((entries, packages::clock(tx)?))
        })?;
        add(&mut entries, std::mem::take(&mut material.more));
        let context = SerializedContext::of(entries);
        let tree = material.tree.end()?;
        let label = self.label(&material, tree.as_ref(), desk, now)?;
        let payload = self.payload(material, context, tree, desk);
        Ok(Package { label, payload })
    }

    fn label(
        &self,
        material: &Material,
        tree: Option<&TreeState>,
        desk: &Project,
        now: Timestamp,
    ) -> Result<Label, Failure> {
        let session = match &desk.caller {
            Caller::Session { session, .. } => session.to_string().parse().ok(),
            Caller::Person
            | Caller::Worker
            | Caller::Reconciler
            | Caller::Check
            | Caller::Unknown => None,
        };
        let task = match material.scope {
            ContextScope::Task(task) => Some(task),
            ContextScope::Project(_) | ContextScope::Session(_) | ContextScope::Run(_) => None,
        };
        let source_phase = self.source_phase.clone();
        Ok(Label {
            id: material.id,
            kind: material.kind,
            created_at: now,
            expires_at: self.expiry(now, material.settings.ttl)?,
            project: desk.id,
            session_id: self.from_session.clone().or(session),
            subject_id: self.subject.clone(),
            task: material.task.as_ref().map(|task| task.id).or(task),
            feature: material.plan.as_ref().map(|plan| plan.feature.clone()),
            target_phase: self.target_phase.clone().or_else(|| source_phase.clone()),
            source_phase,
            commit: tree.and_then(|tree| tree.commit.clone()),
            audience: self.audience.clone(),
            single_use: !self.reusable,
            provenance: None,
        })
    }

    fn expiry(&self, now: Timestamp, usual: Option<Span>) -> Result<Option<Timestamp>, Failure> {
        if let Some(expires) = self.expires_at {
            if expires <= now {
                let text = format!("`--expires-at` is in the past: it is {now}");
                return Err(Failure::usage(text));
            }
            return Ok(Some(expires));
        }
        let ttl = self.ttl.or(usual).map_or(DEFAULT_TTL, Span::duration);
        if ttl.is_zero() {
            return Ok(None);
        }
        let expires = now.checked_add(ttl);
        expires
            .map(Some)
            .map_err(|error| Failure::usage("`--ttl` is too long").because(&error))
    }

    fn payload(
        self,
        material: Material,
        context: SerializedContext,
        tree: Option<TreeState>,
        desk: &Project,
    ) -> Payload {
        let required = self.required(&material);
        let carried = material.carried();
        let task = material.task;
        let reason = || "manual".parse().expect("a word is a reason");
        let by = desk.caller.to_string();
        Payload {
            context,
            checkpoint: self.checkpoint(),
            metadata: Metadata {
                version: PayloadVersion::One,
                pipeline_version: self.pipeline_version.or(material.settings.pipeline_version),
                created_by: self
                    .created_by
                    .unwrap_or_else(|| by.parse().expect("a caller is a word or an id")),
                reason: self.reason.unwrap_or_else(reason),
                foreign_id: None,
            },
            tree,
            task_name: task.as_ref().map(|task| task.spec.name.clone()),
            fence: task.as_ref().map(|task| task.fence),
            task: carried,
            brief: task.as_ref().map(|task| task.spec.brief.clone()),
            summary: self.summary,
            session: material.session,
            batch: material.batch,
            run: material.run,
            decisions: self.decisions,
            dead_ends: self.dead_ends,
            proofs: task.map_or_else(Vec::new, |task| task.evidence),
            claims: material.claims,
            required,
            attachments: vec![],
        }
    }

    /// The keys that the options name, and those that the configuration does.
    fn required(&self, material: &Material) -> Vec<ContextKey> {
        let phase = self.target_phase.as_ref().or(self.source_phase.as_ref());
        let mut keys = material.settings.required.of(material.kind, phase);
        keys.extend(self.required.iter().cloned());
        keys.into_iter().collect()
    }

    /// None if nobody said anything about where to go on.
    fn checkpoint(&self) -> Option<Checkpoint> {
        let resume_point = self.resume_point.clone()?;
        let (step, total_steps) = self.step.unwrap_or((0, 0));
        let phase = || "work".parse().expect("a word is the name of a phase");
        Some(Checkpoint {
            phase: self.source_phase.clone().unwrap_or_else(phase),
            step,
            total_steps,
            status: match self.status {
                Status::Paused => CheckpointStatus::Paused,
                Status::Completed => CheckpointStatus::Completed,
                Status::Error => CheckpointStatus::Error,
            },
            resume_point,
        })
    }
}

/// Adds entries, in the order of keys. They are what the tool itself knows now: what the context says under the same keys is older,
/// or somebody's claim.
fn add(entries: &mut Vec<Entry>, more: Vec<Entry>) {
    let newer: BTreeSet<_> = more.iter().map(|it| it.key.clone()).collect();
    entries.retain(|it| !newer.contains(&it.key));
    entries.extend(more);
    entries.sort_by(|one, other| one.key.cmp(&other.key));
}

/// The task of a scope, if it is one's.
pub(super) fn task_of(scope: ContextScope, desk: &mut Project) -> Result<Option<Task>, Failure> {
    match scope {
        ContextScope::Task(id) => Ok(Some(read(&mut *desk.store, |tx| tasks::get(tx, id))?)),
        ContextScope::Project(_) | ContextScope::Session(_) | ContextScope::Run(_) => Ok(None),
    }
}
