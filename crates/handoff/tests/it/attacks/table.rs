//! The attacks, and how each ends.

/// How an attack ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing of others has changed.
    Refused,
    /// Something has, and the next command says so.
    Detected,
    /// Something has, and nobody notices.
    NotCovered,
}

use End::{Detected, NotCovered, Refused};

/// From where it is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Shared,
    Worktree,
    Landlock,
}

pub(super) struct Attack {
    pub(super) name: &'static str,
    /// For `sh`, begun in the attacker's tree: `$REPO` is the victim, `$GIT` the real git, `$MINE` the attacker's tree.
    pub(super) script: &'static str,
    pub(super) shared: End,
    pub(super) worktree: End,
}

const fn attack(name: &'static str, script: &'static str, shared: End, worktree: End) -> Attack {
    Attack {
        name,
        script,
        shared,
        worktree,
    }
}

/// The last column is not in the table: the kernel refuses all of them.
pub(super) const ATTACKS: &[Attack] = &[
    attack("`git commit`", "git commit -m x", Refused, Refused),
    attack(
        "`command git commit`",
        "command git commit -m x",
        Refused,
        Refused,
    ),
    attack(
        "`git -C . commit`",
        "git -C . commit -m x",
        Refused,
        Refused,
    ),
    attack(
        "`git -c k=v commit`",
        "git -c a.b=c commit -m x",
        Refused,
        Refused,
    ),
    attack(
        "`git --no-pager commit`",
        "git --no-pager commit -m x",
        Refused,
        Refused,
    ),
    attack("`git -p commit`", "git -p commit -m x", Refused, Refused),
    attack(
        "`git --git-dir=… commit`",
        "git --git-dir=.git commit -m x",
        Refused,
        Refused,
    ),
    attack(
        "`git --exec-path=… commit`",
        "git --exec-path=\"$(\"$GIT\" --exec-path)\" commit -m x",
        Refused,
        Refused,
    ),
    attack("an alias", "git -c alias.x=commit x -m x", Refused, Refused),
    attack(
        "an alias with a shell",
        "git -c 'alias.x=!git commit -m x' x",
        Refused,
        Refused,
    ),
    attack(
        "an alias that runs git by its path",
        "git -c \"alias.x=!'$GIT' commit -m x\" x",
        Refused,
        Refused,
    ),
    attack(
        "an alias of the user's configuration",
        "\"$GIT\" config --global alias.ci commit; git ci -m x",
        Refused,
        Refused,
    ),
    attack(
        "an alias from the environment",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.ci GIT_CONFIG_VALUE_0=commit git ci -m x",
        Refused,
        Refused,
    ),
    attack("git by its path", "\"$GIT\" commit -m x", Refused, Refused),
    attack(
        "git by its exec path",
        "\"$(\"$GIT\" --exec-path)/git\" commit -m x",
        Refused,
        Refused,
    ),
    attack(
        "a PATH without the guard",
        "PATH=\"$(dirname \"$GIT\"):/usr/bin:/bin\"; git commit -m x",
        Refused,
        Refused,
    ),
    attack(
        "the guard taken away",
        "G=$(dirname \"$(command -v git)\"); mv \"$G\" \"$G.gone\"; PATH=\"$PATH:$(dirname \"$GIT\")\" git commit -m x; mv \"$G.gone\" \"$G\"",
        Refused,
        Refused,
    ),
    attack(
        "`env -i git commit`",
        "env -i HOME=\"$HOME\" \"$GIT\" -c user.name=x -c user.email=x commit -m x",
        Refused,
        Refused,
    ),
    attack(
        "without its role",
        "env -u HANDOFF_ROLE -u HANDOFF_SESSION \"$GIT\" commit -m x",
        Refused,
        Refused,
    ),
    attack(
        "with another role",
        "HANDOFF_ROLE=fan-in \"$GIT\" commit -m x",
        Refused,
        Refused,
    ),
    attack(
        "with an empty role",
        "HANDOFF_ROLE= \"$GIT\" commit -m x",
        Refused,
        Refused,
    ),
    attack(
        "with a role and a space",
        "HANDOFF_ROLE=\"main \" \"$GIT\" commit -m x",
        Refused,
        Refused,
    ),
    attack(
        "`commit --no-verify`",
        "\"$GIT\" commit --no-verify -m x",
        Refused,
        Refused,
    ),
    attack(
        "`commit --amend`",
        "\"$GIT\" commit --no-verify --amend -m x",
        Refused,
        Refused,
    ),
    attack(
        "`commit-tree` and `update-ref`",
        "\"$GIT\" update-ref refs/heads/main $(\"$GIT\" commit-tree -p HEAD -m x $(\"$GIT\" write-tree))",
        Refused,
        Refused,
    ),
    attack(
        "`update-ref -d`",
        "\"$GIT\" update-ref -d refs/heads/side",
        Refused,
        Refused,
    ),
    attack(
        "`fast-import`",
        "printf 'commit refs/heads/new\\ncommitter x <x> 0 +0000\\ndata 1\\nx\\n' | \"$GIT\" fast-import --quiet",
        Refused,
        Refused,
    ),
    attack("a new branch", "\"$GIT\" branch new", Refused, Refused),
    attack(
        "a branch moved",
        "\"$GIT\" branch -f side HEAD^",
        Refused,
        Refused,
    ),
    attack(
        "a branch deleted",
        "\"$GIT\" branch -D side",
        Refused,
        Refused,
    ),
    attack("a tag", "\"$GIT\" tag v1", Refused, Refused),
    attack("`notes`", "\"$GIT\" notes add -m x", Refused, Refused),
    attack(
        "`fetch` into a branch",
        "\"$GIT\" fetch --quiet . main:stolen",
        Refused,
        Refused,
    ),
    attack("`merge`", "\"$GIT\" merge side", Refused, Refused),
    attack(
        "`cherry-pick`",
        "\"$GIT\" cherry-pick side",
        Refused,
        Refused,
    ),
    attack(
        "`revert`",
        "\"$GIT\" revert --no-edit HEAD",
        Refused,
        Refused,
    ),
    attack("`rebase`", "\"$GIT\" rebase side", Refused, Refused),
    attack(
        "`am`",
        "\"$GIT\" format-patch -1 side --stdout | \"$GIT\" am",
        Refused,
        Refused,
    ),
    attack("`pull`", "\"$GIT\" pull --quiet . side", Refused, Refused),
    attack(
        "`filter-branch`",
        "cd \"$MINE\"; FILTER_BRANCH_SQUELCH_WARNING=1 \"$GIT\" filter-branch -f --msg-filter \"sed s/^/x/\" -- side",
        Refused,
        Refused,
    ),
    attack(
        "`switch -c`",
        "\"$GIT\" switch --quiet -c new",
        Refused,
        Refused,
    ),
    attack(
        "`symbolic-ref`",
        "\"$GIT\" symbolic-ref HEAD refs/heads/side",
        Refused,
        Refused,
    ),
    attack("`stash` by name", "git stash", Refused, Refused),
    attack("`stash` by path", "\"$GIT\" stash", Refused, Refused),
    attack("`stash -u` by path", "\"$GIT\" stash -u", Refused, Refused),
    attack(
        "`worktree add`",
        "\"$GIT\" worktree add --quiet -b new ../stolen",
        Refused,
        Refused,
    ),
    attack(
        "`worktree add --detach`, and a commit there",
        "\"$GIT\" worktree add --quiet --detach ../there && cd ../there && \"$GIT\" commit --allow-empty -m x",
        Refused,
        Refused,
    ),
    attack(
        "`push`",
        "\"$GIT\" push --quiet \"$ELSEWHERE\" main:stolen",
        Refused,
        Refused,
    ),
    attack(
        "`send-pack` by name",
        "git send-pack \"$ELSEWHERE\" main:refs/heads/stolen",
        Refused,
        Refused,
    ),
    attack(
        "`send-pack` by path, to a directory",
        "\"$GIT\" send-pack --quiet \"$ELSEWHERE\" main:refs/heads/stolen",
        NotCovered,
        NotCovered,
    ),
    attack(
        "hooks turned off",
        "\"$GIT\" -c core.hooksPath=/dev/null commit -m x",
        Detected,
        Detected,
    ),
    attack(
        "a ref written by hand",
        "\"$GIT\" rev-parse HEAD^ > .git/refs/heads/side",
        Detected,
        Detected,
    ),
    attack(
        "a ref written by Python",
        "python3 -c \"import os; open('.git/refs/heads/new', 'w').write(os.popen('\\\"$GIT\\\" rev-parse HEAD').read())\"",
        Detected,
        Detected,
    ),
    attack(
        "HEAD written by hand",
        "echo \"ref: refs/heads/side\" > .git/HEAD",
        Detected,
        Detected,
    ),
    attack(
        "the configuration",
        "\"$GIT\" config core.hooksPath /dev/null",
        Detected,
        Detected,
    ),
    attack(
        "the HEAD of another tree, as a link",
        "cd \"$MINE\"; \"$GIT\" --git-dir=\"$REPO/.git\" symbolic-ref HEAD refs/heads/evil",
        Refused,
        Refused,
    ),
    attack(
        "the HEAD of another tree, detached",
        "cd \"$MINE\"; \"$GIT\" --git-dir=\"$REPO/.git\" update-ref --no-deref HEAD side",
        Refused,
        Refused,
    ),
    attack(
        "another's branch by one's own HEAD",
        "cd \"$MINE\"; \"$GIT\" symbolic-ref HEAD refs/heads/handoff/other-1 && \"$GIT\" commit --allow-empty -m x",
        Refused,
        Refused,
    ),
    attack(
        "the branch of the main tree by one's own HEAD",
        "cd \"$MINE\"; \"$GIT\" symbolic-ref HEAD refs/heads/main && \"$GIT\" commit --allow-empty -m x",
        Refused,
        Refused,
    ),
    attack(
        "another's branch from a repository beside it",
        "mkdir \"$MINE/beside\"; cd \"$MINE/beside\"; \"$GIT\" init -q -b handoff/other-1; \"$GIT\" --git-dir=\"$REPO/.git\" update-ref refs/heads/handoff/other-1 side; cd ..; rm -rf beside",
        Refused,
        Refused,
    ),
    attack(
        "a hook within `safe-commit`",
        "H=.git/hooks/pre-commit; printf '#!/bin/sh\\n\"$GIT\" update-ref refs/heads/side main; \"$GIT\" tag evil; \"$GIT\" push -q \"$ELSEWHERE\" main:stolen\\n' > $H; chmod +x $H; cd \"$MINE\"; echo x > mine.txt; \"$HANDOFF\" safe-commit -m x -- mine.txt; rm -f mine.txt \"$REPO/$H\"",
        Refused,
        Refused,
    ),
    attack(
        "`safe-commit` of another's file",
        "\"$HANDOFF\" safe-commit -m x -- edited",
        Refused,
        Refused,
    ),
    attack(
        "`safe-commit` with another home",
        "HANDOFF_HOME=\"$MINE/home\" \"$HANDOFF\" safe-commit -m x -- edited; rm -rf \"$MINE/home\"",
        Refused,
        Refused,
    ),
    attack(
        "options among the paths of `safe-commit`",
        "\"$HANDOFF\" safe-commit -m x edited --no-verify --amend -- edited",
        Refused,
        Refused,
    ),
    attack(
        "`reset --hard` with `--git-dir`",
        "cd \"$MINE\"; git --git-dir=\"$REPO/.git\" --work-tree=\"$REPO\" reset --hard",
        Refused,
        Refused,
    ),
    attack(
        "`restore` with `--work-tree`",
        "cd \"$MINE\"; git --work-tree=\"$REPO\" restore edited",
        Refused,
        Refused,
    ),
    attack(
        "`checkout --` with `GIT_WORK_TREE`",
        "cd \"$MINE\"; GIT_WORK_TREE=\"$REPO\" git checkout -- edited",
        Refused,
        Refused,
    ),
    attack(
        "`clean -fdx` with `--work-tree`",
        "cd \"$MINE\"; git --work-tree=\"$REPO\" clean -fdxq",
        Refused,
        Refused,
    ),
    attack("staging", "git add --all", Refused, Refused),
    attack(
        "staging by path",
        "\"$GIT\" add --all",
        NotCovered,
        NotCovered,
    ),
    attack(
        "`rm --cached` by path",
        "\"$GIT\" rm --quiet --cached theirs",
        NotCovered,
        NotCovered,
    ),
    attack(
        "`reset --hard` by name",
        "git reset --hard",
        Refused,
        Refused,
    ),
    attack("`restore` by name", "git restore .", Refused, Refused),
    attack(
        "`checkout --` by name",
        "git checkout -- .",
        Refused,
        Refused,
    ),
    attack("`clean -fdx` by name", "git clean -fdxq", Refused, Refused),
    attack(
        "`rebase --autostash` by name",
        "git rebase --autostash side",
        Refused,
        Refused,
    ),
    attack(
        "`reset --hard` by path",
        "\"$GIT\" reset --hard",
        NotCovered,
        NotCovered,
    ),
    attack(
        "`restore` by path",
        "\"$GIT\" restore .",
        NotCovered,
        NotCovered,
    ),
    attack(
        "`checkout --` by path",
        "\"$GIT\" checkout -- .",
        NotCovered,
        NotCovered,
    ),
    attack(
        "`clean -fdx` by path",
        "\"$GIT\" clean -fdxq",
        NotCovered,
        NotCovered,
    ),
    attack(
        "`rebase --autostash` by path",
        "\"$GIT\" rebase --autostash side",
        NotCovered,
        NotCovered,
    ),
    attack("another's file", "echo x > edited", NotCovered, NotCovered),
    attack(
        "by `/proc/self/cwd`",
        "echo x > /proc/self/cwd/edited",
        NotCovered,
        NotCovered,
    ),
    attack(
        "another's file cut short",
        "python3 -c \"import os; os.truncate('edited', 0)\"",
        NotCovered,
        NotCovered,
    ),
    attack(
        "another's file by a link",
        "ln -s \"$REPO/edited\" \"$MINE/link\"; echo x > \"$MINE/link\"; rm \"$MINE/link\"",
        NotCovered,
        NotCovered,
    ),
    attack(
        "another's file by a second name for it",
        "ln edited \"$MINE/second\"; echo x > \"$MINE/second\"; rm -f \"$MINE/second\"",
        NotCovered,
        NotCovered,
    ),
    attack(
        "a file brought in by a move",
        "echo x > \"$MINE/moved\"; mv \"$MINE/moved\" edited; rm -f \"$MINE/moved\"",
        NotCovered,
        NotCovered,
    ),
    attack(
        "a file carried off",
        "mv edited \"$MINE/carried-off\"",
        NotCovered,
        NotCovered,
    ),
];

/// By a library that knows nothing of hooks, from the Python that has it.
pub(super) const BY_LIBGIT2: &[Attack] = &[
    attack(
        "libgit2: a commit",
        "/usr/bin/python3 -c \"
import pygit2
repo, who = pygit2.Repository('.'), pygit2.Signature('x', 'x@x')
repo.create_commit('refs/heads/main', who, who, 'x', repo.head.peel().tree_id, [repo.head.target])
\"",
        Detected,
        Detected,
    ),
    attack(
        "libgit2: a branch",
        "/usr/bin/python3 -c \"
import pygit2
repo = pygit2.Repository('.')
repo.references.create('refs/heads/new', repo.head.target)
\"",
        Detected,
        Detected,
    ),
    attack(
        "libgit2: staging",
        "/usr/bin/python3 -c \"
import pygit2
index = pygit2.Repository('.').index
index.add_all(); index.write()
\"",
        NotCovered,
        NotCovered,
    ),
    attack(
        "libgit2: a checkout over everything",
        "/usr/bin/python3 -c \"
import pygit2
pygit2.Repository('.').checkout_head(strategy=2)
\"",
        NotCovered,
        NotCovered,
    ),
];
