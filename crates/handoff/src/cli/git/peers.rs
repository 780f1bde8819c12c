//! Who else works in a tree.

use std::path::Path;

use handoff_git::Repository;
use handoff_session::catalogue::{self, Standing};
use handoff_session::environment;
use handoff_session::place::Places;

use crate::context::Context;

/// The other sessions that live in this tree, by name; none where that cannot be found out: that nobody is there gives rights.
pub(super) fn peers(ctx: &Context, repository: &Repository) -> Option<Vec<String>> {
    let own = ctx.ambient.text(environment::SESSION);
    let known = catalogue::all(&Places::new(ctx.home().ok()?)).ok()?;
    let is_here = |cwd: &Path| {
        let at = Repository::discover(cwd).ok();
        at.is_some_and(|at| at.worktree_root() == repository.worktree_root())
    };
    let others = known.into_iter().filter(|it| {
        it.standing == Standing::Live && Some(it.record.id.to_string().as_str()) != own
    });
    let others = others.filter(|it| is_here(&it.record.cwd));
    Some(others.map(|it| it.record.name.to_string()).collect())
}
