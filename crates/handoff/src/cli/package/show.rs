//! `handoff package show`.

use handoff_api::{ExitCode, IntegrityDocument, PackageDocument};
use handoff_core::{PackageId, StreamId};
use handoff_engine::depot::Stored;
use handoff_operations::{Failure, Project};
use handoff_package::Payload;
use handoff_store::{events, read};

use super::desk_for;
use super::verdict::{Grounds, origin_in_words, signer};
use crate::context::Context;
use crate::output::{Tone, cut, event_line, one_line};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which.
    package: PackageId,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = desk_for(args.package, ctx)?;
    let stored = desk.depot().find(args.package)?;
    let grounds = Grounds::find(&stored, &mut desk, ctx)?;
    let document = PackageDocument {
        state: stored.standing,
        origin: stored.origin(),
        signer: signer(&stored, &grounds.acceptance),
        integrity: IntegrityDocument {
            algorithm: "sha256",
            checksum: stored.opened.payload_digest.to_string(),
            valid: true,
        },
        size: stored.opened.size,
        label: stored.record.label.clone(),
        payload: serde_json::to_value(&stored.opened.package.payload).unwrap_or_default(),
    };
    if ctx.out.is_json() {
        ctx.out.document(PackageDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    facts(&stored, &document, ctx)?;
    for objection in grounds.objections(&stored) {
        let heading = ctx.out.styled(Tone::Attention, "mind:");
        ctx.out
            .line(format!("{heading} {}", one_line(&objection)))?;
    }
    history(&mut desk, args.package, ctx)?;
    Ok(ExitCode::Done)
}

fn facts(stored: &Stored, document: &PackageDocument, ctx: &mut Context) -> Result<(), Failure> {
    let (label, payload) = (&document.label, &stored.opened.package.payload);
    let id = ctx.out.styled(Tone::Strong, &label.id.to_string());
    ctx.out.line(format!("{id}  {}\n", document.state.word()))?;
    let text = |it: Option<String>| it.unwrap_or_default();
    let checkpoint = payload.checkpoint.as_ref();
    let rows = [
        ("kind", label.kind.word().to_owned()),
        ("created", label.created_at.to_string()),
        ("expires", text(label.expires_at.map(|it| it.to_string()))),
        (
            "signer",
            format!("{} ({})", document.signer.id, document.signer.standing),
        ),
        ("origin", origin_in_words(stored)),
        (
            "session",
            text(label.session_id.as_ref().map(ToString::to_string)),
        ),
        (
            "subject",
            text(label.subject_id.as_ref().map(ToString::to_string)),
        ),
        (
            "task",
            text(payload.task_name.as_ref().map(ToString::to_string)),
        ),
        (
            "feature",
            text(label.feature.as_ref().map(ToString::to_string)),
        ),
        (
            "phase",
            text(label.source_phase.as_ref().map(ToString::to_string)),
        ),
        (
            "goes on",
            text(checkpoint.map(|it| it.resume_point.to_string())),
        ),
        (
            "commit",
            text(label.commit.as_ref().map(ToString::to_string)),
        ),
        ("reason", payload.metadata.reason.to_string()),
        (
            "summary",
            text(payload.summary.as_ref().map(ToString::to_string)),
        ),
        ("sha256", document.integrity.checksum.clone()),
    ];
    for (name, text) in rows.iter().filter(|(_, text)| !text.is_empty()) {
        let name = ctx.out.styled(Tone::Faint, &format!("{name:<10}"));
        ctx.out.line(format!("{name} {}", one_line(text)))?;
    }
    for (name, text) in contents(payload) {
        let name = ctx.out.styled(Tone::Faint, &format!("{name:<10}"));
        let text = cut(&one_line(&text), 200);
        ctx.out.line(format!("{name} {text}"))?;
    }
    Ok(())
}

/// What is in it, a line each.
fn contents(payload: &Payload) -> Vec<(&'static str, String)> {
    let claims = payload.claims.iter().map(|claim| {
        let probe = claim.probe.as_ref();
        let probe = probe.map_or_else(String::new, |probe| format!("  [{probe}]"));
        ("claims", format!("{}{probe}", claim.text))
    });
    let entries = payload.context.entries.iter();
    let entries = entries.map(|it| ("context", format!("{} = {}", it.key, it.value)));
    let attached = payload.attachments.iter();
    let attached = attached.map(|it| ("attached", format!("{} ({} bytes)", it.name, it.size)));
    let commands = payload.commands().into_iter();
    let commands = commands.map(|it| ("proved by", it.to_string()));
    let all = claims.chain(commands).chain(entries).chain(attached);
    all.collect()
}

fn history(desk: &mut Project, id: PackageId, ctx: &mut Context) -> Result<(), Failure> {
    let stream = StreamId::Package(id);
    let events = read(&mut *desk.store, |tx| events::history(tx, stream, u64::MAX))?;
    ctx.out.line("")?;
    for envelope in events {
        ctx.out.line(event_line(&envelope, Some("")))?;
    }
    Ok(())
}
