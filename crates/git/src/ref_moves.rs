//! Which refs a role may move: a pure decision on what the `reference-transaction` hook is told.
//!
//! | ref | sub-task | main, fan-in |
//! |---|---|---|
//! | of a worktree alone (`ORIG_HEAD`, `refs/bisect/…`) | in one with a `handoff/` branch | yes |
//! | `HEAD` there | with its branch, and not away from it | yes |
//! | of another worktree (`worktrees/…`, `main-worktree/…`) | no | yes |
//! | the `handoff/` branch that is checked out here | yes | yes |
//! | `refs/stash`: it takes everybody's edits away | no | no |
//! | `refs/handoff/…`: what was saved and proved | no | no |
//! | all others | no | yes |

use handoff_core::caller::Role;

/// Where `git stash` puts things aside, for all trees.
pub const STASH: &str = "refs/stash";

/// One line of the hook: a ref that is about to move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefMove {
    /// Where it was; zeros if it was nowhere.
    pub old: String,
    /// Where it goes; zeros if it goes away.
    pub new: String,
    /// Its full name.
    pub name: String,
}

impl RefMove {
    /// Whether the ref is nowhere afterwards.
    #[must_use]
    pub fn goes_away(&self) -> bool {
        self.new.bytes().all(|digit| digit == b'0')
    }
}

/// Reads what the hook gets on standard input. A line of another form is left out: git of the future may have more to say.
#[must_use]
pub fn parse(input: &str) -> Vec<RefMove> {
    let line = |line: &str| {
        let mut words = line.splitn(3, ' ');
        Some(RefMove {
            old: words.next()?.to_owned(),
            new: words.next()?.to_owned(),
            name: words.next()?.to_owned(),
        })
    };
    input.lines().filter_map(line).collect()
}

/// The first ref that this role may not move, if its worktree is on `branch`.
#[must_use]
pub fn forbidden<'a>(
    role: Role,
    branch: Option<&str>,
    moves: &'a [RefMove],
) -> Option<&'a RefMove> {
    moves.iter().find(|it| !may_move(role, branch, it, moves))
}

fn may_move(role: Role, branch: Option<&str>, it: &RefMove, all: &[RefMove]) -> bool {
    let name = it.name.as_str();
    if name == STASH || name.starts_with("refs/handoff/") {
        return false;
    }
    // Git says zeros for an old place that nobody asked for, so two zeros are a ref that goes away.
    if it.old == it.new && !it.goes_away() {
        return true;
    }
    match role {
        Role::Main | Role::FanIn => true,
        Role::SubTask => branch.is_some_and(|branch| {
            branch.starts_with("refs/heads/handoff/")
                && (name == branch
                    || name == "HEAD" && stays_on(branch, it, all)
                    || is_of_this_worktree(name))
        }),
    }
}

/// Whether HEAD goes where its branch goes. Git says that a link moves by naming its new end.
fn stays_on(branch: &str, head: &RefMove, all: &[RefMove]) -> bool {
    head.new.strip_prefix("ref:") == Some(branch)
        || all.iter().any(|it| it.name == branch && it.new == head.new)
}

/// Names with a slash outside of `refs/` are of other worktrees.
fn is_of_this_worktree(name: &str) -> bool {
    let own = ["refs/bisect/", "refs/worktree/", "refs/rewritten/"];
    let is_plain = !name.contains('/') && name != "HEAD";
    is_plain || own.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_what_its_comment_says() {
        let branch = Some("refs/heads/handoff/fix-1");
        let table = [
            ("HEAD", false, true),
            ("worktrees/other/HEAD", false, true),
            ("main-worktree/HEAD", false, true),
            ("ORIG_HEAD", true, true),
            ("refs/bisect/bad", true, true),
            ("refs/heads/handoff/fix-1", true, true),
            ("refs/heads/handoff/other-1", false, true),
            ("refs/heads/main", false, true),
            ("refs/tags/v1", false, true),
            ("refs/remotes/origin/main", false, true),
            ("refs/notes/commits", false, true),
            ("refs/stash", false, false),
            ("refs/handoff/quarantine/fix-1", false, false),
        ];
        for (name, sub_task, main) in table {
            let moves = parse(&format!("0000 1111 {name}\n"));
            let may = |role| forbidden(role, branch, &moves).is_none();
            assert_eq!(may(Role::SubTask), sub_task, "{name}");
            assert_eq!(may(Role::Main), main, "{name}");
            assert_eq!(may(Role::FanIn), main, "{name}");
        }
        let sub_task = |moves: &str| forbidden(Role::SubTask, branch, &parse(moves)).is_none();
        assert!(sub_task("0 1 HEAD\n0 1 refs/heads/handoff/fix-1\n"));
        assert!(!sub_task("0 2 HEAD\n0 1 refs/heads/handoff/fix-1\n"));
        assert!(sub_task("0 ref:refs/heads/handoff/fix-1 HEAD\n"));
        assert!(!sub_task("0 ref:refs/heads/handoff/other-1 HEAD\n"));
        let deleted = parse("0000 0000 refs/heads/main\n");
        assert!(forbidden(Role::SubTask, branch, &deleted).is_some());
        for name in ["refs/heads/main", "HEAD"] {
            let elsewhere = parse(&format!("0 1 {name}\n"));
            assert!(forbidden(Role::SubTask, Some("refs/heads/main"), &elsewhere).is_some());
        }
    }
}
