//! `handoff ignore`.

use handoff_api::{ExclusionDocument, ExitCode};
use handoff_files::atomic::{self, Mode};
use handoff_files::{Dir, DirError};
use handoff_git::{IgnoreRule, Ignoring};
use handoff_operations::feature::FeatureSite;
use handoff_operations::{Failure, failure};
use handoff_workspace::exclude::{self, Exclusion};

use crate::context::Context;
use crate::output::plain;

const FOLDER: &str = "info";
const FILE: &str = "exclude";
const LIMIT: u64 = 4 * 1024 * 1024;

pub(super) fn run(ctx: &mut Context) -> Result<ExitCode, Failure> {
    let site = FeatureSite::find_to_change(ctx)?;
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
        .map_err(|error| failure::unwritten(&error))?;
    lock.release();
    // What was asked for is done; what it is worth may not be known.
    let ignoring = site.git(ctx).ignoring(repository).ok();
    report(exclusion, ignoring.as_ref(), &info, ctx)
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

fn report(
    exclusion: Exclusion,
    ignoring: Option<&Ignoring>,
    info: &Dir,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let path = info.path().join(FILE);
    if ctx.out.is_json() {
        let document = ExclusionDocument {
            is_excluded: exclusion == Exclusion::Excluded,
            path: path.display().to_string(),
            is_ignored: ignoring.map(Ignoring::is_ignored),
            tracked: ignoring.map(|it| it.tracked),
        };
        ctx.out.document(ExclusionDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let path = plain(&path.display().to_string());
    let Some(ignoring) = ignoring else {
        ctx.out.line(unasked(exclusion, &path))?;
        return Ok(ExitCode::Done);
    };
    ctx.out.line(in_words(exclusion, ignoring, &path))?;
    if exclusion == Exclusion::Excluded && ignoring.tracked > 0 {
        let tracked = ignoring.tracked;
        ctx.out.note(format!(
            "git goes on tracking what it tracks already: {tracked} of its files. `git rm -r --cached .handoff` ends that and keeps them."
        ))?;
    }
    Ok(ExitCode::Done)
}

fn unasked(exclusion: Exclusion, path: &str) -> String {
    let done = match exclusion {
        Exclusion::Excluded => "There is a line for `.handoff/`",
        Exclusion::Included => "There is no line for `.handoff/` any more",
    };
    format!("{done} in `{path}`. git could not be asked what it makes of that.")
}

/// What git really does: other files have rules too, and some are stronger than ours.
fn in_words(exclusion: Exclusion, ignoring: &Ignoring, path: &str) -> String {
    let other = ignoring.rule.as_ref().filter(|it| !is_own(it));
    match (exclusion, other) {
        (Exclusion::Excluded, None) if !ignoring.is_ignored() => {
            format!("There is a line in `{path}` now, but git does not ignore `.handoff/`.")
        }
        (Exclusion::Excluded, None) => {
            format!("git ignores `.handoff/` now, by a line in `{path}`.")
        }
        (Exclusion::Included, None) => {
            format!("git does not ignore `.handoff/` any more: the line in `{path}` is gone.")
        }
        (Exclusion::Excluded, Some(rule)) if !rule.is_ignoring() => format!(
            "There is a line in `{path}` now, but git does not ignore `.handoff/`: {} is stronger.",
            named(rule)
        ),
        (Exclusion::Excluded, Some(rule)) => format!(
            "git ignores `.handoff/` already, by {}; a line in `{path}` says so too now.",
            named(rule)
        ),
        (Exclusion::Included, Some(rule)) if !rule.is_ignoring() => {
            format!("git does not ignore `.handoff/`: the line in `{path}` is gone.")
        }
        (Exclusion::Included, Some(rule)) => format!(
            "The line in `{path}` is gone, but git ignores `.handoff/` still, by {}.",
            named(rule)
        ),
    }
}

fn is_own(rule: &IgnoreRule) -> bool {
    rule.file.ends_with("info/exclude")
}

fn named(rule: &IgnoreRule) -> String {
    format!(
        "`{}` in line {} of `{}`",
        rule.pattern, rule.line, rule.file
    )
}
