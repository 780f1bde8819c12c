//! `safe-commit` for a session in a sandbox, done outside of it.

use handoff_api::{CommitDocument, ExitCode, IndexWord};
use handoff_engine::Counter;
use handoff_git::{CommitRequest, Repository, TreePath, Version};
use handoff_operations::Failure;

use super::refusal;
use super::safe_commit::{name, right, waiting};
use crate::context::Context;
use crate::output::plain;

pub(super) fn run(
    repository: &Repository,
    paths: &[TreePath],
    message: &str,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let right = right(ctx)?;
    let mut store = right.lease.map(|_| ctx.open_store()).transpose()?;
    let who = format!("safe-commit of {}", name(ctx, &right.caller));
    let git = ctx.git(repository);
    let parent = git.head(repository).ok();
    let request = CommitRequest {
        paths,
        message,
        version: Version::Tree,
        peers: Some(&[]),
        at: ctx.clock()?.now().wall,
    };
    let mut counter = Counter {
        git: &git,
        repository,
        store: store.as_deref_mut().map(|store| store as _),
        right: &right,
        who: &who,
    };
    let mut unsaid = None;
    let made = counter.commit_held(&request, &mut |holder| {
        unsaid = ctx.out.note(waiting(holder)).err();
    });
    let commit = made.map_err(refusal::of)?.to_string();
    let branch = repository.read_head().ok().and_then(|head| head.branch);
    let branch = branch.map(|it| it.strip_prefix("refs/heads/").unwrap_or(&it).to_owned());
    report(
        CommitDocument {
            commit,
            parent: parent.map(|it| it.to_string()),
            branch,
            paths: paths.iter().map(ToString::to_string).collect(),
            index: IndexWord::Current,
            hooks_said: String::new(),
        },
        message,
        ctx,
    )
}

fn report(document: CommitDocument, message: &str, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        ctx.out.document(CommitDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let subject = message.lines().next().unwrap_or_default();
    let branch = document.branch.as_deref().unwrap_or("detached HEAD");
    let count = document.paths.len();
    let files = if count == 1 { "file" } else { "files" };
    let id = document.commit.get(..10).unwrap_or(&document.commit);
    let (branch, subject) = (plain(branch), plain(subject));
    ctx.out
        .line(format!("{id} on {branch}: {count} {files}, {subject}"))?;
    ctx.out
        .note("Hooks of the repository do not run for a session in a sandbox.")?;
    Ok(ExitCode::Done)
}
