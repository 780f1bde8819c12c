//! `handoff verify`: what proves the work, how it came out, and with `--run` the proof itself.

use handoff_api::{CheckStanding, ExitCode, VerifiedCheck, VerifyDocument};
use handoff_core::feature::{CheckName, CheckRun};
use handoff_core::{FeatureEvent, FeatureRecord};
use handoff_engine::check::Checker;
use handoff_engine::without_secrets;
use handoff_operations::feature::FeatureSite;
use handoff_operations::feature::clerk::Clerk;
use handoff_operations::feature::standing::{is_passed, standing};
use handoff_operations::feature::survey::Survey;
use handoff_operations::{Failure, Span, sandbox_policy};
use handoff_workspace::config::Check;

use super::choice::FeatureArg;
use super::standing::word;
use super::trust::{Guard, nothing};
use crate::context::Context;
use crate::output::{Tone, one_line};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these checks.
    #[arg(value_name = "CHECK")]
    checks: Vec<CheckName>,
    /// Run them, and keep what they show.
    #[arg(long)]
    run: bool,
    /// How long each may take, such as `90s` or `10m`.
    #[arg(long, value_name = "TIME", requires = "run")]
    timeout: Option<Span>,
    #[command(flatten)]
    feature: FeatureArg,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let site = FeatureSite::find(ctx)?;
    let mut survey = Survey::take(&site, &args.feature.choice(), ctx)?;
    let guard = Guard::over(&site, &survey.config.checks, ctx)?;
    let checks = chosen(&survey.config.checks, &args.checks)?;
    if args.run {
        refuse_untrusted(&guard, &checks, ctx)?;
        for check in &checks {
            let run = perform(&site, check, args.timeout, ctx)?;
            survey.record = keep(&site, &survey, run, ctx)?.or(survey.record);
        }
        survey.code = site.look(ctx)?;
    }
    let document = VerifyDocument {
        feature: survey.feature.name.to_string(),
        is_trusted: guard.is_trusted,
        checks: checks
            .iter()
            .map(|check| standing(&survey, check))
            .collect(),
    };
    show(document, args.run, ctx)
}

fn chosen(all: &[Check], wanted: &[CheckName]) -> Result<Vec<Check>, Failure> {
    if let Some(unknown) = wanted
        .iter()
        .find(|name| all.iter().all(|check| check.name != **name))
    {
        let message = format!("there is no check `{unknown}`");
        return Err(
            Failure::new(ExitCode::NotFound, message).hint("see which there are: `handoff verify`")
        );
    }
    let is_wanted = |check: &&Check| wanted.is_empty() || wanted.contains(&check.name);
    Ok(all.iter().filter(is_wanted).cloned().collect())
}

/// Commands that come out of the repository are shown before they may run.
fn refuse_untrusted(guard: &Guard, checks: &[Check], ctx: &mut Context) -> Result<(), Failure> {
    if guard.is_trusted {
        return Ok(());
    }
    for check in checks {
        ctx.out.note(format!(
            "{}: {}",
            check.name,
            one_line(check.command.as_str())
        ))?;
    }
    if checks.is_empty() {
        return Err(nothing());
    }
    let message = "these commands come from the repository, and nobody has allowed them to run";
    Err(Failure::new(ExitCode::Forbidden, message)
        .hint("a person who has read them says `handoff trust`"))
}

fn perform(
    site: &FeatureSite,
    check: &Check,
    timeout: Option<Span>,
    ctx: &mut Context,
) -> Result<CheckRun, Failure> {
    let Some(at) = &site.repository else {
        return Err(Failure::failed(
            "a check proves something about a commit, and there is no git repository here",
        )
        .hint("make one: `git init`"));
    };
    if !ctx.out.is_json() {
        ctx.out.note(format!(
            "running {}: {}",
            check.name,
            one_line(check.command.as_str())
        ))?;
    }
    let mut policy = sandbox_policy::check_policy(at, ctx)?;
    if let Some(timeout) = timeout {
        policy.limits.time = timeout.duration();
    }
    let checker = Checker {
        at,
        git: &site.git(ctx),
        clock: &*ctx.clock()?,
        environment: without_secrets(ctx.ambient.environment.clone()),
        policy,
    };
    Ok(checker.run(check.name.clone(), check.command.clone())?)
}

fn keep(
    site: &FeatureSite,
    survey: &Survey,
    run: CheckRun,
    ctx: &Context,
) -> Result<Option<FeatureRecord>, Failure> {
    let mut clerk = Clerk::open(site, ctx)?;
    clerk.record(ctx, &survey.feature, |mark| FeatureEvent::Checked {
        run,
        mark,
    })
}

fn show(document: VerifyDocument, has_run: bool, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let all_passed = document
        .checks
        .iter()
        .all(|check| is_passed(check.standing));
    let code = if has_run && !all_passed {
        ExitCode::CheckFailed
    } else {
        ExitCode::Done
    };
    if ctx.out.is_json() {
        ctx.out.document(VerifyDocument::SCHEMA, document)?;
        return Ok(code);
    }
    for check in &document.checks {
        show_check(check, has_run, ctx)?;
    }
    if document.checks.is_empty() {
        ctx.out.note(
            "There are no checks. Name them in `.handoff/config.toml`, in a table `[checks]`.",
        )?;
    } else if !has_run && !document.is_trusted {
        ctx.out.note(
            "They come from the repository and may not run until a person says `handoff trust`.",
        )?;
    }
    Ok(code)
}

fn show_check(check: &VerifiedCheck, has_run: bool, ctx: &mut Context) -> Result<(), Failure> {
    let (tone, word) = word(check);
    let name = ctx.out.styled(Tone::Strong, &check.check.name);
    let word = ctx.out.styled(tone, &word);
    ctx.out.line(format!(
        "{name}: {word} ({})",
        one_line(&check.check.command)
    ))?;
    if has_run
        && check.standing == CheckStanding::Failed
        && let Some(run) = &check.last
    {
        for line in run.output.lines() {
            ctx.out.note(format!("    {}", one_line(line)))?;
        }
    }
    Ok(())
}
