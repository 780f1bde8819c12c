//! `handoff package export`.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use handoff_api::ExitCode;
use handoff_core::package::{PackageCommand, Recipient};
use handoff_core::{Fence, PackageId};
use handoff_engine::depot::Stored;
use handoff_files::{Dir, Mode, WriteError, atomic};
use handoff_operations::{Failure, Project};
use handoff_package::bundle::Bundle;

use super::grasp::Grasp;
use super::{desk_for, life, send, tell};
use crate::cli::queue::KeyArg;
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which.
    package: PackageId,
    /// To this file; without it, or with `-`, to standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// It goes to another store, which decides about it from now on: here it counts as transferred.
    #[arg(long, value_name = "RECIPIENT")]
    transfer_to: Option<Recipient>,
}

pub(crate) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = desk_for(args.package, ctx)?;
    let right = match &args.transfer_to {
        Some(_) => {
            can_leave(args.package, &mut desk)?;
            let grasp = Grasp::take(args.package, &mut desk)?;
            let fence = grasp.claim(&mut desk)?;
            Some((grasp, fence))
        }
        None => None,
    };
    let written = bundled(args.package, &mut desk, |bundle| {
        match args.output.as_ref().filter(|path| path.as_os_str() != "-") {
            Some(path) => write_file(path, bundle),
            None => Ok(io::copy(bundle, &mut Stdout(ctx)).map(drop)?),
        }
    });
    if let Err(failure) = written {
        if let Some((grasp, fence)) = right {
            grasp.give_back(fence, &mut desk);
        }
        return Err(failure);
    }
    let Some(to) = args.transfer_to.clone() else {
        if args.output.is_some() {
            ctx.out.note(format!("{} is written", args.package))?;
        }
        return Ok(ExitCode::Done);
    };
    // Written first: if this fails, two stores have it, and this one still says so.
    let fence = right.as_ref().map(|(_, fence)| *fence);
    let record = transferred(args.package, to, fence, &mut desk)?;
    if args.output.is_some() {
        return tell(&mut desk, &record, vec![], ctx);
    }
    ctx.out.note(format!("{} is transferred", args.package))?;
    Ok(ExitCode::Done)
}

/// Writes it to a file for another store, and records that.
pub(crate) fn to_file(
    package: PackageId,
    output: &Path,
    to: Recipient,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let mut desk = desk_for(package, ctx)?;
    can_leave(package, &mut desk)?;
    let grasp = Grasp::take(package, &mut desk)?;
    let fence = grasp.claim(&mut desk)?;
    let written = bundled(package, &mut desk, |bundle| write_file(output, bundle));
    if let Err(failure) = written {
        grasp.give_back(fence, &mut desk);
        return Err(failure);
    }
    let record = transferred(package, to, Some(fence), &mut desk)?;
    send::tell(&record, ctx)
}

/// Refuses a batch that can go on only where it was opened: what another store would have to know of it is not in its package.
pub(super) fn can_leave(id: PackageId, desk: &mut Project) -> Result<(), Failure> {
    let batch = desk.depot().find(id)?.opened.package.payload.batch;
    let Some(batch) = batch.filter(|it| it.whole.is_none()) else {
        return Ok(());
    };
    let text = format!(
        "batch `{}` can go on only here: it goes on from another task, or a run waits for it",
        batch.name
    );
    Err(Failure::new(ExitCode::Conflict, text)
        .hint(format!("go on with it here: `handoff resume {id}`")))
}

/// Records that another store has it.
pub(super) fn transferred(
    id: PackageId,
    to: Recipient,
    fence: Option<Fence>,
    desk: &mut Project,
) -> Result<handoff_core::PackageRecord, Failure> {
    let command = PackageCommand::Transfer { to, fence };
    life::change(desk, id, command, KeyArg { key: None })
}

/// Hands out a package with its attachments, verified while it is read.
pub(super) fn bundled<T>(
    id: PackageId,
    desk: &mut Project,
    take: impl FnOnce(&mut dyn Read) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut depot = desk.depot();
    let Stored { opened, bytes, .. } = depot.find(id)?;
    let mut blobs = depot.blobs();
    let bundle = Bundle::new(bytes, &opened, &mut *blobs);
    let mut bundle = bundle.map_err(|error| {
        Failure::new(ExitCode::Damaged, "an attachment is not there").because(&error)
    })?;
    take(&mut bundle)
}

/// Standard output, as something to copy to.
pub(super) struct Stdout<'a>(pub(super) &'a mut Context);

impl Write for Stdout<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.out.raw(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Refuses a file that could not be written to, before anything is done for it.
pub(crate) fn can_be_written(path: &Path) -> Result<(), Failure> {
    target(path)?;
    if path.symlink_metadata().is_ok() {
        let text = format!("there is something at `{}` already", path.display());
        return Err(Failure::new(ExitCode::Conflict, text));
    }
    Ok(())
}

fn target(path: &Path) -> Result<(Dir, &str), Failure> {
    let unusable = || Failure::usage(format!("`{}` is not a file to write to", path.display()));
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(unusable)?;
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let dir = Dir::open(folder.unwrap_or_else(|| Path::new(".")));
    let dir = dir.map_err(|error| unusable().because(&error))?;
    Ok((dir, name))
}

pub(super) fn write_file(path: &Path, bundle: &mut dyn Read) -> Result<(), Failure> {
    let (dir, name) = target(path)?;
    let written = atomic::create_new_from(&dir, name, bundle, Mode::Private);
    written.map(drop).map_err(|error| {
        let is_there = matches!(error, WriteError::AlreadyExists(_));
        let code = if is_there {
            ExitCode::Conflict
        } else {
            ExitCode::Failed
        };
        Failure::new(code, "the file is not written").because(&error)
    })
}
