//! Which paths a caller declares: on the command line, on standard input, or in the environment.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use handoff_api::ExitCode;
use handoff_git::{PathRefusal, TreePath};
use handoff_operations::Failure;

use crate::context::Context;

/// What may be committed at most, where the caller was told: a file with a path a line, or paths separated by colons.
/// They are relative to the root of the tree.
pub(super) const EXPECTED: &str = "HANDOFF_EXPECTED_FILES";
/// A list of a million paths fits.
const LIMIT: u64 = 256 * 1024 * 1024;

#[derive(Debug, clap::Args)]
pub(super) struct PathArgs {
    /// Take paths from standard input too, each ended by NUL.
    #[arg(short = 'z', long = "null")]
    null: bool,
    /// The files, as they are called here: new, changed or gone.
    #[arg(value_name = "PATH")]
    paths: Vec<OsString>,
}

impl PathArgs {
    pub(super) fn is_from_stdin(&self) -> bool {
        self.null
    }

    /// The declared paths, each once; where none is named, those that the environment expects.
    pub(super) fn read(&self, root: &Path, ctx: &Context) -> Result<Vec<TreePath>, Failure> {
        let cwd = ctx.cwd()?.canonicalize().map_err(|error| {
            Failure::failed("the working directory cannot be found").because(&error)
        })?;
        let mut given = self.paths.clone();
        if self.null {
            given.extend(from_stdin()?);
        }
        let expected = expected(root, ctx)?;
        let located = given.iter().map(|path| TreePath::locate(root, &cwd, path));
        let declared: Result<BTreeSet<_>, _> = located.collect();
        let declared = declared.map_err(|refusal| unfit(&refusal))?;
        match expected {
            Some(expected) if given.is_empty() => Ok(expected.into_iter().collect()),
            Some(expected) => within(declared, &expected),
            None if declared.is_empty() => Err(Failure::usage("no paths are named")
                .hint("name each file that belongs to the commit, after `--`")),
            None => Ok(declared.into_iter().collect()),
        }
    }
}

fn from_stdin() -> Result<Vec<OsString>, Failure> {
    let mut bytes = vec![];
    std::io::stdin()
        .take(LIMIT)
        .read_to_end(&mut bytes)
        .map_err(|error| {
            Failure::failed("cannot read paths from standard input").because(&error)
        })?;
    Ok(words(&bytes, 0))
}

pub(super) fn expected(root: &Path, ctx: &Context) -> Result<Option<BTreeSet<TreePath>>, Failure> {
    let Some(value) = ctx.ambient.variable(EXPECTED) else {
        return Ok(None);
    };
    let path = Path::new(value);
    let names = if path.is_absolute() && path.is_file() {
        let bytes = std::fs::read(path)
            .map_err(|error| Failure::failed(format!("cannot read {EXPECTED}")).because(&error))?;
        let separator = if bytes.contains(&0) { 0 } else { b'\n' };
        words(&bytes, separator)
    } else if !value.is_empty() && root.join(path).symlink_metadata().is_ok() {
        // A name with a colon in it is a name where there is such a file.
        vec![value.to_owned()]
    } else {
        words(value.as_bytes(), b':')
    };
    let located = names.iter().map(|name| TreePath::locate(root, root, name));
    let located: Result<BTreeSet<_>, _> = located.collect();
    located.map(Some).map_err(|refusal| unfit(&refusal))
}

fn words(bytes: &[u8], separator: u8) -> Vec<OsString> {
    let words = bytes.split(|&byte| byte == separator);
    words
        .filter(|word| !word.is_empty())
        .map(|word| OsStr::from_bytes(word).to_owned())
        .collect()
}

fn within(
    declared: BTreeSet<TreePath>,
    expected: &BTreeSet<TreePath>,
) -> Result<Vec<TreePath>, Failure> {
    match declared.iter().find(|path| !expected.contains(path)) {
        None => Ok(declared.into_iter().collect()),
        Some(other) => Err(Failure::new(
            ExitCode::Forbidden,
            format!("`{other}` is not among the files that {EXPECTED} names"),
        )),
    }
}

fn unfit(refusal: &PathRefusal) -> Failure {
    let code = match refusal {
        PathRefusal::GitDirectory { .. } => ExitCode::Forbidden,
        PathRefusal::Outside { .. }
        | PathRefusal::Root { .. }
        | PathRefusal::BeyondLink { .. }
        | PathRefusal::OtherRepository { .. } => ExitCode::Usage,
    };
    Failure::new(code, refusal.to_string())
}
