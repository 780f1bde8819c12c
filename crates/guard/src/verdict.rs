//! What a sub-task may run: a pure decision on a command line.
//!
//! It is an allow list. A sub-task may look at everything and change nothing that is shared; in a
//! worktree of its own it may also change the tree and the index, which are its own there. This layer
//! teaches: who wants to get around it, can; hooks and the kernel are what holds.

use std::ffi::OsString;

use crate::allow_list;
use crate::command_line::CommandLine;

/// Where a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// A tree that others use too.
    Shared,
    /// A linked worktree on a branch of ours.
    Own,
}

/// What the guard says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Go on.
    Allowed,
    /// No.
    Refused {
        /// What is refused, in git's words.
        what: String,
        /// What to do instead.
        instead: &'static str,
    },
}

/// Longest chain of aliases that is followed.
const DEPTH: u8 = 8;

/// Whether every role may run git with these arguments, wherever it stands: it only looks.
#[must_use]
pub fn is_for_everybody(arguments: &[OsString]) -> bool {
    let line = CommandLine::parse(arguments);
    let is_plain = line.forbidden_setting().is_none();
    is_plain
        && line
            .command()
            .is_none_or(|name| allow_list::only_looks(name, line.rest()))
}

/// Decides whether a sub-task may run git with these arguments. `alias` says what a name stands for in
/// the configuration; it is asked only for names that git itself does not know.
pub fn judge(
    ground: Ground,
    arguments: &[OsString],
    alias: &mut dyn FnMut(&str) -> Option<String>,
) -> Verdict {
    let mut arguments = arguments.to_vec();
    for _ in 0..DEPTH {
        let line = CommandLine::parse(&arguments);
        if let Some(setting) = line.forbidden_setting() {
            return refused(&setting, "leave the configuration as it is");
        }
        let Some(name) = line.command() else {
            return Verdict::Allowed;
        };
        if allow_list::is_known(name) {
            return allow_list::judge(ground, name, line.rest());
        }
        match alias(name) {
            None => return refused(name, "use a command that only looks"),
            Some(text) if text.starts_with('!') => {
                return refused(name, "write out what the alias runs; it starts a shell");
            }
            Some(text) => arguments = line.expanded(&text),
        }
    }
    refused("an alias of an alias", "write the command out")
}

pub(crate) fn refused(what: &str, instead: &'static str) -> Verdict {
    Verdict::Refused {
        what: what.to_owned(),
        instead,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: [&str; 32] = [
        "commit -h",
        "config --local --get user.name",
        "config --list --show-origin",
        "remote show origin",
        "symbolic-ref --short HEAD",
        "grep -n -- -O",
        "diff --output-indicator-new=x",
        "",
        "--version",
        "status",
        "status -s",
        "-C sub --no-pager log -1",
        "-c color.ui=always diff HEAD~1",
        "--git-dir=.git show HEAD:a",
        "st",
        "branch",
        "branch -a -v",
        "branch --show-current",
        "tag --list v*",
        "stash list",
        "stash show -p",
        "remote -v",
        "config --get user.name",
        "config get user.name",
        "config user.name",
        "worktree list",
        "symbolic-ref HEAD",
        "reflog",
        "help commit",
        "grep -n commit",
        "log --grep=push",
        "submodule status",
    ];
    const REFUSED: [&str; 65] = [
        "remote -v add evil /x",
        "remote -v update",
        "symbolic-ref --del HEAD",
        "config --local --unse a.b",
        "diff --outp=F",
        "grep -Otouch a",
        "grep -nOtouch a",
        "ls-remote --upload-pack=x .",
        "interpret-trailers --in-place a",
        "commit",
        "commit -m x",
        "-C . commit",
        "-c a.b=c commit",
        "--no-pager commit",
        "-p commit",
        "--git-dir=.git commit",
        "--exec-path=/tmp status",
        "-c alias.x=commit x",
        "-c core.hooksPath=/dev/null status",
        "--config-env=core.hooksPath=X status",
        "-c core.fsmonitor=/tmp/x status",
        "ci",
        "-C . ci",
        "sh",
        "a",
        "nonsense",
        "push",
        "push --dry-run",
        "pull",
        "fetch",
        "fetch x y:z",
        "merge side",
        "rebase",
        "cherry-pick x",
        "revert x",
        "am",
        "tag v1",
        "tag -d v1",
        "branch new",
        "branch -D old",
        "branch -f main HEAD~1",
        "update-ref refs/heads/main x",
        "symbolic-ref HEAD refs/heads/x",
        "commit-tree x",
        "fast-import",
        "send-pack",
        "stash",
        "stash -u",
        "stash pop",
        "switch main",
        "switch -c new",
        "worktree add x",
        "notes add",
        "filter-branch",
        "config user.name x",
        "config --unset a.b",
        "config --global core.hooksPath /dev/null",
        "remote add x y",
        "reflog expire --all",
        "gc",
        "prune",
        "replace a b",
        "bisect start",
        "submodule update",
        "reset --hard",
    ];

    fn split(words: &str) -> Vec<OsString> {
        words.split_whitespace().map(Into::into).collect()
    }

    fn verdict(ground: Ground, words: &str) -> Verdict {
        let arguments = split(words);
        let mut alias = |name: &str| match name {
            "ci" => Some("commit -v".to_owned()),
            "st" => Some("status -s".to_owned()),
            "sh" => Some("!git commit".to_owned()),
            "a" => Some("b".to_owned()),
            "b" => Some("a".to_owned()),
            _ => None,
        };
        judge(ground, &arguments, &mut alias)
    }

    #[test]
    fn a_sub_task_looks_and_changes_nothing_that_is_shared() {
        for words in ALLOWED {
            assert_eq!(verdict(Ground::Shared, words), Verdict::Allowed, "{words}");
            assert_eq!(verdict(Ground::Own, words), Verdict::Allowed, "{words}");
            // What an alias stands for is not known without a look at the configuration.
            assert_eq!(is_for_everybody(&split(words)), words != "st", "{words}");
        }
        for words in REFUSED {
            assert!(!is_for_everybody(&split(words)), "{words}");
            for ground in [Ground::Shared, Ground::Own] {
                let verdict = verdict(ground, words);
                assert!(
                    matches!(verdict, Verdict::Refused { .. }) || is_own(ground, words),
                    "{ground:?} {words}"
                );
            }
        }
    }

    #[test]
    fn what_to_do_instead_fits_what_was_tried() {
        for (words, part) in [
            ("commit -m x", "safe-commit"),
            ("add a", "no need to stage"),
            ("stash", "others work in this tree"),
            ("push", "remotes"),
            ("log --output=x", "leave the option out"),
            ("grep -Ox a", "leave the option out"),
            ("format-patch -1", "print it"),
            ("gc", "upkeep"),
            ("clone x", "repository that is here"),
            ("config a.b c", "the configuration"),
            ("branch new", "branches"),
        ] {
            let Verdict::Refused { instead, .. } = verdict(Ground::Shared, words) else {
                panic!("{words}");
            };
            assert!(instead.contains(part), "{words}: {instead}");
        }
    }

    /// What is allowed where the tree is one's own.
    fn is_own(ground: Ground, words: &str) -> bool {
        ground == Ground::Own && words.starts_with("reset")
    }

    #[test]
    fn a_tree_of_ones_own_may_be_changed() {
        for words in [
            "add a",
            "add -A",
            "rm a",
            "mv a b",
            "restore .",
            "checkout -- a",
            "clean -fdx",
            "reset --hard",
            "apply x.patch",
        ] {
            assert_eq!(verdict(Ground::Own, words), Verdict::Allowed, "{words}");
            assert!(
                matches!(verdict(Ground::Shared, words), Verdict::Refused { .. }),
                "{words}"
            );
        }
        for words in [
            "checkout main",
            "checkout -b new",
            "checkout main --",
            "checkout -B handoff/other-1 --",
            "reset HEAD~1",
        ] {
            let verdict = verdict(Ground::Own, words);
            assert!(matches!(verdict, Verdict::Refused { .. }), "{words}");
        }
    }
}
