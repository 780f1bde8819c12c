//! `handoff package receive`.

use handoff_api::{ExitCode, ReceivedDocument, VerificationDocument};
use handoff_core::caller::Action;
use handoff_core::context::{Fate, KeyFate, Policy};
use handoff_core::package::{Origin, PackageStanding, PackageState};
use handoff_core::{ContextScope, Fence, PackageId, PackageRecord, RunId, SessionId, Task};
use handoff_engine::depot::{Acceptance, Stored};
use handoff_operations::project::{Recorded, require_person};
use handoff_operations::{Failure, Project};
use handoff_package::KeyStanding;
use handoff_store::queue::{Change, Receiving, would_receive};
use handoff_store::read;

use super::grasp::Grasp;
use super::probe::{Here, Prober, commands};
use super::tree_look::TreeLook;
use super::verdict::Grounds;
use super::verify::source_in_words;
use super::{desk_for, prompt};
use crate::cli::context::ScopeArg;
use crate::cli::queue::KeyArg;
use crate::context::Context;
use crate::output::{one_line, plain};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which.
    package: PackageId,
    /// What becomes of keys that are there with other values.
    #[arg(long, value_enum, default_value_t = PolicyArg::Refuse)]
    policy: PolicyArg,
    /// Run the commands that its claims name. They come out of the package: read them first.
    #[arg(long)]
    run_probes: bool,
    /// Refuse it if a claim is not true, or the code has moved.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    leniency: LeniencyArgs,
    /// Into the context of this.
    #[command(flatten)]
    scope: ScopeArg,
    #[command(flatten)]
    key: KeyArg,
}

/// What a person says need not be as it should.
#[derive(Debug, Default, clap::Args)]
struct LeniencyArgs {
    /// Take it though nobody vouches for it: signed by a key that nobody trusts, or never sealed.
    #[arg(long)]
    untrusted: bool,
    /// Take it though it comes from another version of the pipeline than `[package] pipeline_version` says.
    #[arg(long)]
    any_version: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PolicyArg {
    Refuse,
    Replace,
    KeepOurs,
    TakeTheirs,
}

impl From<PolicyArg> for Policy {
    fn from(policy: PolicyArg) -> Self {
        match policy {
            PolicyArg::Refuse => Self::Refuse,
            PolicyArg::Replace => Self::Replace,
            PolicyArg::KeepOurs => Self::KeepOurs,
            PolicyArg::TakeTheirs => Self::TakeTheirs,
        }
    }
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = desk_for(args.package, ctx)?;
    let grasp = Grasp::take(args.package, &mut desk)?;
    let received = receive(args, &grasp, &mut desk, ctx)?;
    received.show(args, ctx)
}

impl Args {
    /// Into the context of a session.
    pub(crate) fn into_session(package: PackageId, session: SessionId, policy: PolicyArg) -> Self {
        Self::into_scope(package, ScopeArg::of_session(session), policy)
    }

    /// Into the context of a run.
    pub(crate) fn into_run(package: PackageId, run: RunId, policy: PolicyArg) -> Self {
        Self::into_scope(package, ScopeArg::of_run(run), policy)
    }

    fn into_scope(package: PackageId, scope: ScopeArg, policy: PolicyArg) -> Self {
        Self {
            package,
            policy,
            run_probes: false,
            strict: false,
            leniency: LeniencyArgs::default(),
            scope,
            key: KeyArg { key: None },
        }
    }

    /// Into the context of the task that a package comes from.
    pub(crate) fn into_task(package: PackageId, task: &Task, policy: PolicyArg) -> Self {
        Self {
            package,
            policy,
            run_probes: false,
            strict: false,
            leniency: LeniencyArgs::default(),
            scope: ScopeArg::of_task(task.id),
            key: KeyArg { key: None },
        }
    }
}

/// A package that was taken in.
pub(crate) struct Received {
    stored: Stored,
    found: VerificationDocument,
    record: PackageRecord,
    recorded: Recorded,
}

/// Takes a package in: all of it, or nothing.
pub(crate) fn receive(
    args: &Args,
    grasp: &Grasp,
    desk: &mut Project,
    ctx: &Context,
) -> Result<Received, Failure> {
    desk.caller.may(Action::Receive)?;
    let commands = commands(args.run_probes, ctx)?;
    let into = args.scope.resolve(desk)?;
    let stored = desk.depot().find(args.package)?;
    let grounds = accept(args, &stored, desk, ctx)?;
    let mut tree = TreeLook::begin(&desk.repository, ctx)?;
    let here = Here::read(into, desk)?;
    let fence = right(args, &stored, grasp, desk)?;
    let taken = tree.end().and_then(|tree| {
        let prober = Prober::new(&desk.repository, tree, commands, here, ctx);
        let found = grounds.verification(&stored, &prober);
        strictly(args, &found)?;
        let recorded = take(args, &stored, fence, into, desk)?;
        Ok((found, recorded))
    });
    let is_new = matches!(&taken, Ok((_, recorded)) if !recorded.receipt.is_repeat);
    if !is_new {
        // Nothing was received by it.
        grasp.give_back(fence, desk);
    }
    let (found, recorded) = taken?;
    let record = recorded.receipt.answer.clone().into_package();
    let record =
        record.ok_or_else(|| Failure::new(ExitCode::Internal, "the answer is not a package"))?;
    Ok(Received {
        stored,
        found,
        record,
        recorded,
    })
}

/// Refuses what could not be taken in now, before anything is claimed. Whoever takes in several in one act asks this of each first.
pub(crate) fn could_receive(args: &Args, desk: &mut Project, ctx: &Context) -> Result<(), Failure> {
    desk.caller.may(Action::Receive)?;
    let into = args.scope.resolve(desk)?;
    let stored = desk.depot().find(args.package)?;
    accept(args, &stored, desk, ctx)?;
    let machine = desk.depot().own_key()?.public().id();
    let receiving = receiving(args, &stored, stored.record.fence, into, desk);
    let by = desk.caller.clone();
    Ok(read(&mut *desk.store, |tx| {
        would_receive(tx, &receiving, &machine, &by)
    })?)
}

/// The right to receive it. Whoever repeats a command by its key needs none: the ledger has the receipt, or refuses.
fn right(
    args: &Args,
    stored: &Stored,
    grasp: &Grasp,
    desk: &mut Project,
) -> Result<Fence, Failure> {
    let is_over = stored.standing == PackageStanding::Consumed;
    if is_over && args.key.key.is_some() {
        return Ok(stored.record.fence);
    }
    grasp.claim(desk)
}

/// Refuses what may not be received into anything, before anything is claimed.
pub(crate) fn acceptable(
    stored: &Stored,
    desk: &mut Project,
    ctx: &Context,
) -> Result<(), Failure> {
    let asked = Args::into_scope(
        stored.record.label.id,
        ScopeArg::default(),
        PolicyArg::Refuse,
    );
    accept(&asked, stored, desk, ctx).map(drop)
}

/// Refuses what may not be received, before anything is claimed.
fn accept(
    args: &Args,
    stored: &Stored,
    desk: &mut Project,
    ctx: &Context,
) -> Result<Grounds, Failure> {
    let mut grounds = Grounds::find(stored, desk, ctx)?;
    if args.leniency.any_version {
        grounds = grounds.whatever_the_version();
    }
    let mut acceptance = grounds.acceptance.clone();
    if args.leniency.untrusted {
        require_person(Action::Trust, &ctx.ambient)?;
        acceptance = without_vouching(acceptance);
    }
    let against = grounds.of_content(stored, &acceptance);
    if against.is_empty() {
        // Whether it is too late, or somebody else's, the ledger says.
        return Ok(grounds);
    }
    let code = if acceptance.is_given() {
        ExitCode::CheckFailed
    } else {
        ExitCode::Forbidden
    };
    let mut failure = Failure::new(code, "the package is not received");
    failure.causes = against;
    let id = stored.record.label.id;
    Err(failure.hint(format!(
        "look at it: `handoff package show {id}`; a person can trust a key: `handoff keys trust`"
    )))
}

/// What is left to object when a person says that nobody needs to vouch for it.
fn without_vouching(mut acceptance: Acceptance) -> Acceptance {
    if acceptance.signer == KeyStanding::Unknown {
        acceptance.signer = KeyStanding::Own;
    }
    if acceptance.origin == Origin::Unsealed {
        acceptance.origin = Origin::Imported;
    }
    acceptance
}

fn strictly(args: &Args, found: &VerificationDocument) -> Result<(), Failure> {
    let untrue: Vec<_> = found
        .claims
        .iter()
        .filter(|claim| claim.outcome == "failed")
        .map(|claim| format!("not true: {}", claim.text))
        .collect();
    let has_moved = !found.drift.starts_with("current");
    if !args.strict || (untrue.is_empty() && !has_moved) {
        return Ok(());
    }
    let mut failure = Failure::new(ExitCode::CheckFailed, "the package is not received");
    failure.causes = untrue;
    failure.causes.push(format!("the code is {}", found.drift));
    Err(failure)
}

fn take(
    args: &Args,
    stored: &Stored,
    fence: Fence,
    into: ContextScope,
    desk: &mut Project,
) -> Result<Recorded, Failure> {
    let receiving = receiving(args, stored, fence, into, desk);
    desk.submit(Change::Receive(receiving), args.key.key.clone())
}

fn receiving(
    args: &Args,
    stored: &Stored,
    fence: Fence,
    into: ContextScope,
    desk: &Project,
) -> Receiving {
    Receiving {
        id: args.package,
        fence,
        project: desk.id,
        into,
        policy: args.policy.into(),
        entries: stored.opened.package.payload.context.to_entries(),
    }
}

impl Received {
    /// What to tell the next session.
    pub(crate) fn prompt(&self) -> String {
        prompt::of(&self.stored, &self.found)
    }

    /// All of it, for a program.
    pub(crate) fn document(&self, args: &Args) -> ReceivedDocument {
        let (into, report) = self.outcome();
        ReceivedDocument {
            prompt: prompt::of(&self.stored, &self.found),
            verification: self.found.clone(),
            into,
            policy: args.policy.into(),
            report,
        }
    }

    /// Where it went, and what became of each key. One that can be received again keeps no receipt in its row.
    fn outcome(&self) -> (String, Vec<KeyFate>) {
        match &self.record.state {
            PackageState::Consumed { receipt, .. } => {
                (receipt.into.to_string(), receipt.report.clone())
            }
            PackageState::Created
            | PackageState::Claimed { .. }
            | PackageState::Transferred { .. }
            | PackageState::Cancelled { .. }
            | PackageState::Expired { .. } => (String::new(), vec![]),
        }
    }

    fn show(self, args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
        let told = self.tell(args, ctx);
        told.map_err(|failure| self.recorded.untold(failure))
    }

    fn tell(&self, args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
        if ctx.out.is_json() {
            let document = self.document(args);
            ctx.out.document(ReceivedDocument::SCHEMA, document)?;
            return Ok(ExitCode::Done);
        }
        self.tell_of_drift(ctx)?;
        ctx.out.note(summary(&self.outcome().1))?;
        ctx.out
            .line(plain(&prompt::of(&self.stored, &self.found)))?;
        Ok(ExitCode::Done)
    }

    /// How far the code has moved since, and what is not true any more.
    pub(crate) fn tell_of_drift(&self, ctx: &mut Context) -> Result<(), Failure> {
        if let Some(source) = source_in_words(&self.found) {
            ctx.out.note(format!("origin: {}", one_line(&source)))?;
        }
        ctx.out.note(format!("code: {}", self.found.drift))?;
        if let Some(why) = &self.found.unresolved {
            let why = one_line(why);
            ctx.out
                .note(format!("where to go on is not resolved: {why}"))?;
        }
        for claim in self.found.claims.iter().filter(|it| it.outcome == "failed") {
            let (text, why) = (&claim.text, claim.why.as_deref().unwrap_or_default());
            let line = format!("NOT true: {} ({})", one_line(text), one_line(why));
            ctx.out.note(line)?;
        }
        Ok(())
    }
}

/// How many keys came to what.
fn summary(report: &[KeyFate]) -> String {
    let count = |fate: Fate| report.iter().filter(|it| it.fate == fate).count();
    let words = [
        (Fate::Added, "added"),
        (Fate::Replaced, "replaced"),
        (Fate::Same, "the same"),
        (Fate::Kept, "kept"),
        (Fate::Removed, "removed"),
    ];
    let parts: Vec<_> = words
        .into_iter()
        .filter(|(fate, _)| count(*fate) > 0)
        .map(|(fate, word)| format!("{} {word}", count(fate)))
        .collect();
    if parts.is_empty() {
        return "Received; there was no context in it.".to_owned();
    }
    format!("Received; keys: {}.", parts.join(", "))
}
