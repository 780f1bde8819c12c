//! `handoff checkpoint`: where things stand, written down without the agent's help.

use handoff_api::{CheckpointDocument, ExitCode, TreeDocument};
use handoff_core::FeatureEvent;
use handoff_core::feature::StepTitle;
use handoff_core::task::Reason;
use handoff_git::Repository;
use handoff_operations::Failure;
use handoff_operations::feature::FeatureSite;
use handoff_operations::feature::clerk::Clerk;
use handoff_operations::feature::pen::read;
use handoff_workspace::{Document, Plan};

use super::choice::FeatureArg;
use crate::context::Context;
use crate::output::one_line;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Why, such as `before a risky merge`.
    #[arg(long, short, value_name = "TEXT")]
    reason: Option<Reason>,
    #[command(flatten)]
    feature: FeatureArg,
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let site = FeatureSite::find(ctx)?;
    let feature = args.feature.choice().find(&site)?;
    let Some(repository) = &site.repository else {
        return Err(Failure::failed(
            "a checkpoint says where the code stands, and there is no git repository here",
        )
        .hint("make one: `git init`"));
    };
    let plan = Plan::parse(&read(&feature, Document::State)?.unwrap_or_default());
    let step = plan
        .current()
        .and_then(|step| step.title.parse::<StepTitle>().ok());
    let changes = changes(&site, repository, ctx)?;
    let mut clerk = Clerk::open(&site, ctx)?;
    let record = clerk.record(ctx, &feature, |mark| FeatureEvent::Checkpointed {
        step: step.clone(),
        changes: changes.clone(),
        reason: args.reason.clone(),
        mark,
    })?;
    let mark = record.and_then(|record| record.mark);
    let document = CheckpointDocument {
        feature: feature.name.to_string(),
        step: step.map(String::from),
        changes,
        reason: args.reason.map(String::from),
        tree: mark.map(|marked| TreeDocument::from(&marked.mark.tree)),
    };
    show(document, ctx)
}

/// What is not committed, new files too; git's own words are about tracked ones only.
fn changes(site: &FeatureSite, repository: &Repository, ctx: &Context) -> Result<String, Failure> {
    let tree = site.look(ctx)?.map(|status| status.tree);
    let files = tree
        .as_ref()
        .and_then(|tree| tree.dirty.as_ref())
        .map_or(0, |dirty| dirty.files);
    let count = match files {
        0 => return Ok("nothing uncommitted".to_owned()),
        1 => "1 file not committed".to_owned(),
        files => format!("{files} files not committed"),
    };
    if tree.is_none_or(|tree| tree.commit.is_none()) {
        return Ok(count);
    }
    let stat = site
        .git(ctx)
        .shortstat(repository)
        .map_err(|error| Failure::failed("cannot tell how much is changed").because(&error))?;
    Ok(match stat.as_str() {
        "" => count,
        stat => format!("{count} ({stat})"),
    })
}

fn show(document: CheckpointDocument, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        ctx.out.document(CheckpointDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let commit = document.tree.and_then(|tree| tree.commit);
    let commit = commit.map_or_else(
        || "before the first commit".to_owned(),
        |commit| format!("at {}", &commit[..10]),
    );
    let reason = document
        .reason
        .as_deref()
        .map_or_else(String::new, |reason| format!(" ({})", one_line(reason)));
    let changes = &document.changes;
    let step = document.step.as_deref().unwrap_or("no current step");
    ctx.out.line(format!(
        "checkpoint of {} {commit}{reason}: {changes}; {}",
        document.feature,
        one_line(step)
    ))?;
    Ok(ExitCode::Done)
}
