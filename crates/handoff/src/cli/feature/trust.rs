//! `handoff trust`: lets the commands of this repository run, as they are now.

use handoff_api::{CheckDocument, ExitCode, TrustDocument};
use handoff_core::Digest;
use handoff_core::caller::Action;
use handoff_workspace::config::Check;
use handoff_workspace::trust::{self, Trust, TrustError};

use super::site::Site;
use crate::context::Context;
use crate::desk;
use crate::failure::Failure;
use crate::output::{Tone, one_line};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only say what there is and whether it is trusted.
    #[arg(long, conflicts_with = "revoke")]
    show: bool,
    /// Take the trust back.
    #[arg(long)]
    revoke: bool,
}

/// The checks of a workspace, and whether they may run.
pub(super) struct Guard {
    trust: Trust,
    pub(super) digest: Digest,
    pub(super) is_trusted: bool,
}

impl Guard {
    pub(super) fn over(site: &Site, checks: &[Check], ctx: &Context) -> Result<Self, Failure> {
        let trust = Trust::below(&ctx.home()?);
        let digest = trust::digest(&site.root, checks);
        let is_trusted = trust.covers(&digest)?;
        Ok(Self {
            trust,
            digest,
            is_trusted,
        })
    }
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let site = Site::find(ctx)?;
    let checks = site.config()?.checks;
    let mut guard = Guard::over(&site, &checks, ctx)?;
    if !args.show {
        desk::caller(&ctx.ambient)?.may(Action::Trust)?;
        guard.is_trusted = decide(args, &guard, &checks)?;
    }
    let document = TrustDocument {
        is_trusted: guard.is_trusted,
        digest: guard.digest.to_string(),
        checks: checks.iter().map(document).collect(),
    };
    if ctx.out.is_json() {
        ctx.out.document(TrustDocument::SCHEMA, document)?;
    } else {
        show(&document, ctx)?;
    }
    Ok(ExitCode::Done)
}

fn decide(args: &Args, guard: &Guard, checks: &[Check]) -> Result<bool, Failure> {
    if args.revoke {
        guard.trust.revoke(&guard.digest)?;
        return Ok(false);
    }
    if checks.is_empty() {
        return Err(nothing());
    }
    let lines = checks
        .iter()
        .map(|check| format!("{}: {}\n", check.name, check.command));
    guard
        .trust
        .grant(&guard.digest, &lines.collect::<String>())?;
    Ok(true)
}

pub(super) fn nothing() -> Failure {
    Failure::new(
        ExitCode::NotFound,
        "this workspace has no checks that could be trusted",
    )
    .hint("name them in `.handoff/config.toml`: a table `[checks]` with lines such as `test = \"make test\"`")
}

fn show(document: &TrustDocument, ctx: &mut Context) -> Result<(), Failure> {
    for check in &document.checks {
        let name = ctx.out.styled(Tone::Strong, &check.name);
        ctx.out
            .line(format!("{name}: {}", one_line(&check.command)))?;
    }
    let said = match (document.is_trusted, document.checks.is_empty()) {
        (true, _) => {
            "These commands may run here, as they are now. A change of any of them ends that."
        }
        (false, true) => "There are no checks.",
        (false, false) => "These commands may not run until a person says `handoff trust`.",
    };
    ctx.out.note(said)?;
    Ok(())
}

pub(super) fn document(check: &Check) -> CheckDocument {
    CheckDocument {
        name: check.name.to_string(),
        command: check.command.to_string(),
    }
}

impl From<TrustError> for Failure {
    fn from(error: TrustError) -> Self {
        Self::new(ExitCode::Unavailable, "cannot tell what is trusted").because(&error)
    }
}
