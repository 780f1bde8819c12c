//! This program as `git`: it decides by role, and then becomes the real one.
//!
//! The guard of `handoff-guard` comes first, and asks here only for what is not everybody's right.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use handoff_api::ExitCode;
use handoff_git::guard::{CommandLine, Ground, Verdict, judge};
use handoff_git::{Git, Repository};
use handoff_guard::shim::real_git;
use handoff_operations::{Ambient, Failure};
use handoff_process::{Input, Program, replace};

use crate::ambient::Invocation;
use crate::membership::Membership;
use crate::output::{Format, Output};

/// Whether we were called as `git`.
pub(crate) fn is_called(arguments: &[OsString]) -> bool {
    let name = arguments.first().map(Path::new).and_then(Path::file_name);
    name == Some(OsStr::new("git"))
}

/// Decides, and becomes git or says no.
pub(crate) fn run(invocation: &Invocation) -> std::process::ExitCode {
    let ambient = &invocation.ambient;
    let arguments = invocation.arguments.get(1..).unwrap_or_default();
    let failure = match Membership::find(ambient) {
        Some(membership) => match verdict(ambient, &membership, arguments) {
            Verdict::Allowed => become_git(ambient, arguments),
            Verdict::Refused { what, instead } => refusal(&what, instead),
        },
        None => become_git(ambient, arguments),
    };
    Output::new(invocation, Format::Text).failure(&failure);
    failure.code.number().into()
}

/// What the guard says to these arguments of git, here.
pub(crate) fn verdict(
    ambient: &Ambient,
    membership: &Membership,
    arguments: &[OsString],
) -> Verdict {
    let cwd = directory(ambient, arguments);
    let repository = cwd.and_then(|cwd| Repository::discover(&cwd).ok());
    let ground = match &repository {
        Some(repository) if !names_another(ambient, arguments) => ground(repository),
        Some(_) | None => Ground::Shared,
    };
    let mut alias = |name: &str| {
        let git = Git::new(ambient.environment.clone());
        let repository = repository.as_ref()?;
        git.alias(repository, name).ok().flatten()
    };
    judge(membership.role, ground, arguments, &mut alias)
}

/// What makes git use another tree, index or repository than the one it stands in.
const ELSEWHERE: [&str; 5] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
];

fn names_another(ambient: &Ambient, arguments: &[OsString]) -> bool {
    let is_set = |name: &&str| ambient.variable(name).is_some();
    ELSEWHERE.iter().any(is_set) || CommandLine::parse(arguments).names_repository()
}

/// A linked worktree on a branch of ours belongs to whoever works there.
pub(crate) fn ground(repository: &Repository) -> Ground {
    let branch = repository.read_head().ok().and_then(|head| head.branch);
    let is_ours = branch.is_some_and(|branch| branch.starts_with("refs/heads/handoff/"));
    if repository.is_linked() && is_ours {
        Ground::Own
    } else {
        Ground::Shared
    }
}

/// Where git will look for a repository, as far as `-C` says.
fn directory(ambient: &Ambient, arguments: &[OsString]) -> Option<PathBuf> {
    let cwd = ambient.cwd.clone()?;
    let steps = CommandLine::parse(arguments).directories();
    Some(steps.iter().fold(cwd, |cwd, step| cwd.join(step)))
}

pub(crate) fn refusal(what: &str, instead: &str) -> Failure {
    Failure::new(
        ExitCode::Guarded,
        format!("`git {what}` is not for a sub-task"),
    )
    .hint(instead)
}

fn become_git(ambient: &Ambient, arguments: &[OsString]) -> Failure {
    let path = ambient.variable("PATH").unwrap_or_default();
    let Some(real) = real_git(path) else {
        return Failure::new(ExitCode::NotFound, "there is no other git in PATH");
    };
    let mut program = Program::new(real, ambient.cwd.clone().unwrap_or_else(|| "/".into()));
    program.arguments = arguments.to_vec();
    program.environment = ambient.environment.clone();
    let error = replace(&program, Input::Ours);
    Failure::failed("cannot run git").because(&error)
}
