//! `handoff upgrade`: the newest release in the place of this program.

mod refusal;
mod source;

use std::path::PathBuf;

use handoff_api::{ExitCode, UpgradeDocument, UpgradeOutcome};
use handoff_core::Action;
use handoff_operations::project::caller;
use handoff_operations::{Ambient, Failure, Span};
use handoff_store::StoreError;

use crate::context::Context;
use crate::output::Tone;
use crate::upgrade::Upgrade;
use crate::upgrade::release::{Decision, Platform, Release};
use crate::upgrade::version::Version;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only say whether there is a newer release.
    #[arg(long)]
    check: bool,
    /// What tells the newest release, in the form of GitHub's `releases/latest`; else HANDOFF_RELEASE_URL, else `url` in
    /// `[upgrade]` of the configuration.
    #[arg(long, value_name = "URL")]
    release_url: Option<String>,
    /// Give up a download after this long.
    #[arg(long, value_name = "SPAN", default_value = "5m")]
    timeout: Span,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let caller = caller(&ctx.ambient)?;
    caller.may(Action::Upgrade).map_err(StoreError::from)?;
    let upgrade = prepare(args, ctx)?;
    let (release, decision) = upgrade.look()?;
    let outcome = match decision {
        Decision::Current => UpgradeOutcome::Current,
        Decision::Ahead => UpgradeOutcome::Ahead,
        Decision::Newer(_) if args.check => UpgradeOutcome::Available,
        Decision::Newer(offer) => {
            let place = upgrade.claim()?;
            if !ctx.out.is_json() {
                ctx.out
                    .note(format!("Fetching {} from {} …", offer.file, offer.program))?;
            }
            upgrade.install(&place, &release.version, &offer)?;
            UpgradeOutcome::Upgraded
        }
    };
    show(outcome, &release, &upgrade, ctx)?;
    Ok(ExitCode::Done)
}

fn prepare(args: &Args, ctx: &Context) -> Result<Upgrade, Failure> {
    let nowhere = || Failure::failed("cannot find the file of this program");
    Ok(Upgrade {
        address: source::address(args.release_url.as_deref(), ctx)?,
        timeout: args.timeout.duration(),
        program: ctx.ambient.program.clone().ok_or_else(nowhere)?,
        cargo_homes: cargo_homes(&ctx.ambient),
        environment: ctx.ambient.environment.clone(),
    })
}

fn cargo_homes(ambient: &Ambient) -> Vec<PathBuf> {
    let named = ambient.directory("CARGO_HOME").map(PathBuf::from);
    let usual = ambient.directory("HOME").map(|home| home.join(".cargo"));
    let homes = named.into_iter().chain(usual);
    // The path of the program is without links, so these must be too.
    homes
        .map(|home| home.canonicalize().unwrap_or(home))
        .collect()
}

fn show(
    outcome: UpgradeOutcome,
    release: &Release,
    upgrade: &Upgrade,
    ctx: &mut Context,
) -> Result<(), Failure> {
    let installed = Version::installed();
    if ctx.out.is_json() {
        let document = UpgradeDocument {
            outcome,
            installed: installed.to_string(),
            newest: release.version.to_string(),
            platform: Platform::here().as_str(),
            program: upgrade.program.to_string_lossy().into_owned(),
        };
        return Ok(ctx.out.document(UpgradeDocument::SCHEMA, document)?);
    }
    let newest = ctx.out.styled(Tone::Strong, &release.version.to_string());
    ctx.out.line(match outcome {
        UpgradeOutcome::Current => format!("This is the newest release: handoff {newest}"),
        UpgradeOutcome::Ahead => {
            format!("This is handoff {installed}, newer than the newest release: {newest}")
        }
        UpgradeOutcome::Available => format!("This is handoff {installed}; there is {newest}"),
        UpgradeOutcome::Upgraded => format!("handoff {installed} is now {newest}"),
    })?;
    if outcome == UpgradeOutcome::Available {
        let way = upgrade
            .keeper()
            .map_or("`handoff upgrade`", |it| it.advice());
        ctx.out.note(format!("Get it: {way}"))?;
    }
    Ok(())
}
