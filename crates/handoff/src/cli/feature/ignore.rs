//! `handoff ignore`.

use handoff_api::{ExclusionDocument, ExitCode};
use handoff_files::atomic::{self, Mode};
use handoff_files::{Dir, DirError};
use handoff_workspace::exclude::{self, Exclusion};

use super::site::Site;
use super::trouble;
use crate::context::Context;
use crate::failure::Failure;

const FOLDER: &str = "info";
const FILE: &str = "exclude";
const LIMIT: u64 = 4 * 1024 * 1024;

pub(super) fn run(ctx: &mut Context) -> Result<ExitCode, Failure> {
    let site = Site::find_to_change(ctx)?;
    let repository = site.repository.as_ref().ok_or_else(|| {
        Failure::new(
            ExitCode::NotFound,
            "there is no git repository here, and so nothing that would track the workspace",
        )
    })?;
    let lock = site.lock()?;
    let info = Dir::open(repository.common_dir())
        .and_then(|common| common.make_dir(FOLDER))
        .map_err(|error| unreadable(&error))?;
    let (text, exclusion) = exclude::toggled(&read(&info)?);
    atomic::replace(&info, FILE, text.as_bytes(), Mode::Shared)
        .map_err(|error| trouble::unwritten(&error))?;
    lock.release();
    report(exclusion, &info, ctx)
}

fn read(info: &Dir) -> Result<String, Failure> {
    match info.read_to_string(FILE, LIMIT) {
        Ok(text) => Ok(text),
        Err(error) if error.is_not_found() => Ok(String::new()),
        Err(error) => Err(unreadable(&error)),
    }
}

fn unreadable(error: &DirError) -> Failure {
    Failure::failed("cannot use the list of ignored files in the git directory").because(error)
}

fn report(exclusion: Exclusion, info: &Dir, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let path = info.path().join(FILE);
    if ctx.out.is_json() {
        let document = ExclusionDocument {
            is_excluded: exclusion == Exclusion::Excluded,
            path: path.display().to_string(),
        };
        ctx.out.document(ExclusionDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let path = path.display();
    ctx.out.line(match exclusion {
        Exclusion::Excluded => format!("git ignores `.handoff/` now, by a line in `{path}`."),
        Exclusion::Included => {
            format!("git does not ignore `.handoff/` any more: the line in `{path}` is gone.")
        }
    })?;
    Ok(ExitCode::Done)
}
