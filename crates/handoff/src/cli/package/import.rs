//! `handoff package import`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::PathBuf;

use handoff_api::ExitCode;
use handoff_core::package::{ForeignFormat, Label, Origin, PackageKind, Provenance};
use handoff_core::{Digest, IdempotencyKey, PackageId, PackageRecord};
use handoff_operations::{Failure, Project, fresh_key};
use handoff_package::payload::{Metadata, PayloadVersion};
use handoff_package::protocol::{self, Unsealed};
use handoff_package::{KeyStanding, Package, Payload, bundle};
use handoff_store::{packages, read};

use super::scrub::{self, Secrets};
use super::tell;
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// From this file; `-` is standard input.
    file: PathBuf,
    /// In a package without a seal, replace what looks like a secret by a mark, instead of refusing.
    #[arg(long)]
    redact: bool,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut input = open(args)?;
    let mut desk = Project::open(ctx)?;
    desk.caller.may(handoff_core::Action::Receive)?;
    let first = input.fill_buf().map_err(|error| unreadable(args, &error))?;
    let is_sealed = first.starts_with(b"{\"format\":");
    let (record, notes) = if is_sealed {
        sealed(&mut *input, &mut desk)?
    } else {
        unsealed(args, &mut *input, &mut desk)?
    };
    tell(&mut desk, &record, notes, ctx)
}

fn unreadable(args: &Args, error: &io::Error) -> Failure {
    let text = format!("cannot read `{}`", args.file.display());
    Failure::new(ExitCode::NotFound, text).because(error)
}

fn open(args: &Args) -> Result<Box<dyn BufRead>, Failure> {
    if args.file.as_os_str() == "-" {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = File::open(&args.file).map_err(|error| unreadable(args, &error))?;
    Ok(Box::new(BufReader::new(file)))
}

const UNTRUSTED: &str = "Look at it, and receive it with `--untrusted`.";

type Imported = (PackageRecord, Vec<String>);

/// As it was sealed: the same bytes, the same id, the same signature.
fn sealed(input: &mut dyn BufRead, desk: &mut Project) -> Result<Imported, Failure> {
    let refused = |error: bundle::BundleError| {
        Failure::new(ExitCode::Damaged, "the package is not taken in").because(&error)
    };
    let unpacked = bundle::read_package(input).map_err(refused)?;
    let caller = desk.caller.clone();
    let label = &unpacked.opened.package.label;
    let key: IdempotencyKey = format!("import/{}", label.id)
        .parse()
        .expect("an id makes a key");
    let key = key.in_project(desk.id);
    let mut depot = desk.depot();
    bundle::read_attachments(input, &unpacked.opened, &mut *depot.blobs()).map_err(refused)?;
    let standing = depot.keyring().standing(&unpacked.opened.signer)?;
    let record = depot.adopt(&unpacked.opened, &unpacked.bytes, &caller, &key)?;
    let signer = unpacked.opened.signer.id();
    let mut notes = match standing {
        KeyStanding::Own | KeyStanding::Trusted(_) => vec![],
        KeyStanding::Revoked => vec![format!("It is signed by {signer}, which was revoked.")],
        KeyStanding::Unknown => vec![format!(
            "It is signed by {signer}, which nobody trusts here: it can be looked at, not received."
        )],
    };
    if unpacked.opened.package.is_foreign() {
        let provenance = unpacked.opened.package.label.provenance.as_ref();
        let source = provenance.map_or_else(String::new, |it| format!(": {it}"));
        notes.push(format!(
            "Its content comes from a file without a seal{source}. Nobody vouches for it. {UNTRUSTED}"
        ));
    }
    Ok((record, notes))
}

/// A package of the Handoff Protocol: sealed here as what it is, with nobody vouching for its content.
fn unsealed(args: &Args, input: &mut dyn BufRead, desk: &mut Project) -> Result<Imported, Failure> {
    let mut bytes = vec![];
    let limit = protocol::LIMIT;
    let read = input.take(limit + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(args, &error))?;
    if bytes.len() as u64 > limit {
        let text = format!("the file has more than {limit} bytes");
        return Err(Failure::new(ExitCode::Damaged, text));
    }
    let foreign = protocol::read(&bytes).map_err(|error| {
        let text = format!("`{}` is not a package", args.file.display());
        Failure::new(ExitCode::Damaged, text).because(&error)
    })?;
    let provenance = Provenance {
        format: ForeignFormat::HandoffProtocol,
        id: foreign.id.clone(),
        sha256: Digest::of(&bytes),
        imported_by: desk.depot().own_key()?.public().id(),
    };
    let package = package_of(foreign, provenance, desk)?;
    let (package, mut notes) = scrub::clean(package, Secrets::of(args.redact))?;
    let caller = desk.caller.clone();
    let key = fresh_key().in_project(desk.id);
    let record = desk
        .depot()
        .keep(&package, Origin::Unsealed, &caller, &key)?;
    notes.push(format!(
        "It came without a seal: nobody vouches for it. {UNTRUSTED}"
    ));
    Ok((record, notes))
}

fn package_of(
    foreign: Unsealed,
    provenance: Provenance,
    desk: &mut Project,
) -> Result<Package, Failure> {
    let now = read(&mut *desk.store, packages::clock)?;
    let reason = foreign.reason.parse();
    let reason = reason.map_err(|error| {
        Failure::new(ExitCode::Damaged, "`metadata.reason` cannot be used").because(&error)
    })?;
    let label = Label {
        id: PackageId::from_uuid(handoff_process::mint()),
        kind: PackageKind::Manual,
        created_at: foreign.created_at.min(now),
        expires_at: foreign.expires_at,
        project: desk.id,
        session_id: Some(foreign.session),
        subject_id: foreign.subject,
        task: None,
        feature: None,
        source_phase: Some(foreign.source_phase),
        target_phase: Some(foreign.target_phase),
        commit: None,
        audience: vec![],
        single_use: true,
        provenance: Some(provenance),
    };
    let payload = Payload {
        context: foreign.context,
        checkpoint: Some(foreign.checkpoint),
        metadata: Metadata {
            version: PayloadVersion::One,
            pipeline_version: foreign.pipeline_version,
            created_by: foreign.created_by,
            reason,
            foreign_id: Some(foreign.id),
        },
        tree: None,
        task_name: None,
        fence: None,
        task: None,
        brief: None,
        summary: None,
        session: None,
        batch: None,
        run: None,
        decisions: vec![],
        dead_ends: vec![],
        proofs: vec![],
        claims: vec![],
        required: vec![],
        attachments: vec![],
    };
    Ok(Package { label, payload })
}
