//! `handoff package attachment`.

use std::io;
use std::path::PathBuf;

use handoff_api::{AttachmentDocument, ExitCode};
use handoff_core::PackageId;
use handoff_operations::Failure;
use handoff_package::Payload;
use handoff_package::blobs::Content;
use handoff_package::payload::Attachment;

use super::desk_for;
use super::export::{Stdout, write_file};
use crate::context::Context;
use crate::output::one_line;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Of which package.
    package: PackageId,
    /// Which: its name, or its digest where two have the same name.
    name: String,
    /// To this file, which is not there yet; `-` is standard output.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = desk_for(args.package, ctx)?;
    let mut depot = desk.depot();
    let stored = depot.find(args.package)?;
    let attachment = choose(&stored.opened.package.payload, &args.name)?;
    let mut blobs = depot.blobs();
    let mut content = Content::new(&mut *blobs, attachment.clone());
    if args.output.as_os_str() == "-" {
        io::copy(&mut content, &mut Stdout(ctx))?;
        return Ok(ExitCode::Done);
    }
    write_file(&args.output, &mut content)?;
    let document = AttachmentDocument {
        package: args.package.to_string(),
        name: attachment.name.to_string(),
        sha256: attachment.sha256.to_string(),
        size: attachment.size,
        path: args.output.display().to_string(),
    };
    if ctx.out.is_json() {
        ctx.out.document(AttachmentDocument::SCHEMA, document)?;
    } else {
        let (path, size) = (one_line(&document.path), document.size);
        ctx.out.line(format!("{path}: {size} bytes"))?;
    }
    Ok(ExitCode::Done)
}

/// The attachment that is meant. Its name never says where to write it.
fn choose<'a>(payload: &'a Payload, name: &str) -> Result<&'a Attachment, Failure> {
    let all = payload.attachments.iter();
    let is_meant = |it: &&Attachment| it.name.as_str() == name || it.sha256.as_str() == name;
    let found: Vec<_> = all.filter(is_meant).collect();
    match *found.as_slice() {
        [only] => Ok(only),
        [first, ..] if found.iter().all(|it| it.sha256 == first.sha256) => Ok(first),
        [] => {
            let text = format!("the package has no attachment {name:?}");
            let names = payload
                .attachments
                .iter()
                .map(|it| one_line(it.name.as_str()));
            let names: Vec<_> = names.collect();
            Err(Failure::new(ExitCode::NotFound, text)
                .hint(format!("it has these: {}", names.join(", "))))
        }
        [_, ..] => {
            let digests: Vec<_> = found.iter().map(|it| it.sha256.to_string()).collect();
            let text = format!("{} attachments are called {name:?}", found.len());
            Err(Failure::usage(text)
                .hint(format!("say which by its digest: {}", digests.join(", "))))
        }
    }
}
