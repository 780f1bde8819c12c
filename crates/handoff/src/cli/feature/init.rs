//! `handoff init`.

mod report;

use handoff_api::{ExitCode, InitDocument};
use handoff_core::FeatureName;
use handoff_operations::Failure;
use handoff_operations::feature::FeatureSite;
use handoff_operations::feature::clerk::Clerk;
use handoff_workspace::{
    Config, ContextScan, Current, Document, Made, Scaffold, Templates, Workspace,
};

use super::delivery::in_words;
use crate::context::Context;
use crate::output::{Reply, one_line};
use report::Report;

/// What a feature is called that nobody named.
const DEFAULT_NAME: &str = "current";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to call it, such as `user-login`.
    feature: Option<FeatureName>,
    /// Make it the current feature without asking, whatever is current now.
    #[arg(long)]
    force: bool,
}

/// What becomes of `current`.
#[derive(Debug, PartialEq, Eq)]
enum Choice {
    /// It names the feature already.
    Same,
    /// It will name the feature.
    Switch,
    /// It goes on naming another one.
    Leave(FeatureName),
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let site = FeatureSite::find_to_change(ctx)?;
    let existing = Workspace::open(&site.root)?;
    let current = match &existing {
        Some(workspace) => workspace.current()?,
        None => Current::None,
    };
    let name = match (args.feature, &current) {
        (Some(name), _) => name,
        (None, Current::Feature(name)) if has_folder(existing.as_ref(), name)? => {
            return nothing_to_do(&site, name, ctx);
        }
        (None, Current::Feature(name)) => name.clone(),
        (None, Current::None | Current::Unknown(_)) => {
            DEFAULT_NAME.parse().expect("the name is a plain word")
        }
    };
    let context = ContextScan::of(&site.root);
    let (templates, config) = setting(existing.as_ref())?;
    let scaffold = Scaffold::render(&templates, &name, &config.language, &context)?;
    let choice = choose(current, &name, args.force, ctx)?;
    let workspace = Workspace::create(&site.root)?;
    let lock = site.lock()?;
    let made = workspace.make_feature(&name, &scaffold)?;
    if made.documents.len() == Document::ALL.len() {
        Clerk::of_known_project(&site, ctx)?.put_away(&name)?;
    }
    let displaced = match choice {
        Choice::Switch => workspace.switch(&name, ctx.stamp()?)?.displaced,
        Choice::Same | Choice::Leave(_) => None,
    };
    lock.release();
    let report = Report {
        site: &site,
        name,
        made,
        choice,
        displaced,
        context,
    };
    report.show(ctx)?;
    for notice in &config.notices {
        ctx.out.note(one_line(&in_words(notice)))?;
    }
    Ok(ExitCode::Done)
}

fn has_folder(workspace: Option<&Workspace>, name: &FeatureName) -> Result<bool, Failure> {
    Ok(match workspace {
        Some(workspace) => workspace.feature(name)?.is_some(),
        None => false,
    })
}

/// Read, and the documents rendered, before anything is made: a broken template or a mistake in the settings leaves no
/// trace.
fn setting(existing: Option<&Workspace>) -> Result<(Templates, Config), Failure> {
    Ok(match existing {
        Some(workspace) => (Templates::open(workspace)?, Config::load(workspace)?),
        None => (Templates::embedded(), Config::default()),
    })
}

fn choose(
    current: Current,
    name: &FeatureName,
    is_forced: bool,
    ctx: &mut Context,
) -> Result<Choice, Failure> {
    let other = match current {
        Current::None | Current::Unknown(_) => return Ok(Choice::Switch),
        Current::Feature(other) if other == *name => return Ok(Choice::Same),
        Current::Feature(other) => other,
    };
    if is_forced {
        return Ok(Choice::Switch);
    }
    if !ctx.can_ask() {
        return Ok(Choice::Leave(other));
    }
    let question = format!("`{other}` is the current feature. Make `{name}` current instead?");
    Ok(match ctx.out.ask(&question)? {
        Reply::Yes => Choice::Switch,
        Reply::No => Choice::Leave(other),
    })
}

fn nothing_to_do(
    site: &FeatureSite,
    name: &FeatureName,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let report = Report {
        site,
        name: name.clone(),
        made: Made { documents: vec![] },
        choice: Choice::Same,
        displaced: None,
        context: ContextScan::of(&site.root),
    };
    if ctx.out.is_json() {
        ctx.out.document(InitDocument::SCHEMA, report.document())?;
        return Ok(ExitCode::Done);
    }
    ctx.out.line(format!(
        "The feature `{name}` is current already, so nothing was changed. For another one: `handoff init <feature>`."
    ))?;
    Ok(ExitCode::Done)
}
