//! `handoff package verify`.

use handoff_api::{ExitCode, VerificationDocument};
use handoff_core::package::Origin;
use handoff_core::{ContextScope, PackageId};
use handoff_operations::Failure;

use super::desk_for;
use super::probe::{Here, Prober, commands};
use super::tree_look::TreeLook;
use super::verdict::Grounds;
use crate::context::Context;
use crate::output::{Tone, one_line};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which.
    package: PackageId,
    /// Run the commands that its claims name. They come out of the package: read them first.
    #[arg(long)]
    run_probes: bool,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = desk_for(args.package, ctx)?;
    let commands = commands(args.run_probes, ctx)?;
    let stored = desk.depot().find(args.package)?;
    let grounds = Grounds::find(&stored, &mut desk, ctx)?;
    let here = Here::read(ContextScope::Project(desk.id), &mut desk)?;
    let prober = Prober::new(
        &desk.repository,
        TreeLook::begin(&desk.repository, ctx)?.end()?,
        commands,
        here,
        ctx,
    );
    let found = grounds.verification(&stored, &prober);
    let has_failed = found.claims.iter().any(|claim| claim.outcome == "failed");
    let code = if !found.is_acceptable || has_failed {
        ExitCode::CheckFailed
    } else {
        ExitCode::Done
    };
    if ctx.out.is_json() {
        ctx.out.document(VerificationDocument::SCHEMA, found)?;
        return Ok(code);
    }
    show(&found, ctx)?;
    Ok(code)
}

/// Where the content comes from, if its sealer does not vouch for it.
pub(super) fn source_in_words(found: &VerificationDocument) -> Option<String> {
    let text = match (found.origin, &found.provenance) {
        (Origin::Made | Origin::Imported, _) => return None,
        (Origin::Unsealed, Some(provenance)) => {
            format!("a file without a seal, nobody vouches for it: {provenance}")
        }
        (Origin::Unsealed, None) => "a file without a seal, nobody vouches for it".to_owned(),
    };
    Some(text)
}

/// What was found, for a person.
pub(super) fn show(found: &VerificationDocument, ctx: &mut Context) -> Result<(), Failure> {
    let signer = match &found.signer.name {
        Some(name) => format!("{} ({})", found.signer.id, one_line(name)),
        None => format!("{} ({})", found.signer.id, found.signer.standing),
    };
    ctx.out
        .line(format!("{}  {}", found.id, found.state.word()))?;
    ctx.out.line(format!(
        "bytes, signature and content are sound; sealed by {signer}"
    ))?;
    if let Some(source) = source_in_words(found) {
        let heading = ctx.out.styled(Tone::Attention, "origin:");
        ctx.out.line(format!("{heading} {}", one_line(&source)))?;
    }
    ctx.out.line(format!("code: {}", found.drift))?;
    if let Some(point) = &found.resume_point {
        let why = found.unresolved.as_ref();
        let why = why.map_or_else(String::new, |why| {
            format!(" (unresolved: {})", one_line(why))
        });
        ctx.out
            .line(format!("goes on at: {}{why}", one_line(point)))?;
    }
    for claim in &found.claims {
        let (tone, word) = match claim.outcome {
            "held" => (Tone::Good, "true"),
            "failed" => (Tone::Bad, "NOT true"),
            _ => (Tone::Attention, "not known"),
        };
        let word = ctx.out.styled(tone, word);
        let why = claim.why.as_ref();
        let why = why.map_or_else(String::new, |why| format!(" ({})", one_line(why)));
        ctx.out
            .line(format!("{word}: {}{why}", one_line(&claim.text)))?;
        if let Some(probe) = claim.probe.as_ref().filter(|_| claim.outcome == "not_run") {
            ctx.out.line(format!("    probe: {}", one_line(probe)))?;
        }
    }
    for objection in &found.objections {
        let heading = ctx.out.styled(Tone::Bad, "against it:");
        ctx.out.line(format!("{heading} {}", one_line(objection)))?;
    }
    Ok(())
}
