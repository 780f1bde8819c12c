//! What a sub-task may run.

use std::ffi::OsString;

use crate::verdict::{Ground, Verdict, refused};

/// They only look, whatever their arguments; what they write goes where they are told by name.
const LOOKING: [&str; 46] = [
    "annotate",
    "blame",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-mailmap",
    "check-ref-format",
    "cherry",
    "column",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "fsck",
    "get-tar-commit-id",
    "grep",
    "help",
    "interpret-trailers",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge-base",
    "merge-tree",
    "name-rev",
    "patch-id",
    "range-diff",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-branch",
    "show-index",
    "show-ref",
    "status",
    "stripspace",
    "unpack-file",
    "var",
    "verify-commit",
    "verify-pack",
    "verify-tag",
    "version",
    "whatchanged",
];
/// They look or change, by their arguments.
const BOTH: [&str; 11] = [
    "branch",
    "config",
    "notes",
    "reflog",
    "remote",
    "reset",
    "stash",
    "submodule",
    "symbolic-ref",
    "tag",
    "worktree",
];
/// They change the tree and the index, and nothing else.
const OF_THE_TREE: [&str; 8] = [
    "add",
    "apply",
    "checkout-index",
    "clean",
    "mv",
    "restore",
    "rm",
    "update-index",
];
/// They change what is shared.
const CHANGING: [&str; 47] = [
    "am",
    "archive",
    "backfill",
    "bisect",
    "bundle",
    "checkout",
    "cherry-pick",
    "clone",
    "commit",
    "commit-graph",
    "commit-tree",
    "daemon",
    "fast-export",
    "fast-import",
    "fetch",
    "fetch-pack",
    "filter-branch",
    "format-patch",
    "gc",
    "hash-object",
    "http-push",
    "init",
    "maintenance",
    "merge",
    "mergetool",
    "mktag",
    "mktree",
    "multi-pack-index",
    "pack-objects",
    "pack-refs",
    "prune",
    "pull",
    "push",
    "read-tree",
    "rebase",
    "receive-pack",
    "refs",
    "repack",
    "replace",
    "rerere",
    "revert",
    "send-pack",
    "sparse-checkout",
    "switch",
    "update-ref",
    "write-tree",
    "send-email",
];

const COMMIT: &str = "`handoff safe-commit -m … -- PATHS` commits exactly your files on a branch of your own; elsewhere the one who brings the results together commits";
const LEAVE: &str = "leave branches, tags and remotes to the one who brings the results together";
const CONFIGURATION: &str =
    "leave the configuration as it is; `-c user.name=…` and the like are for one command";
const NO_STAGING: &str = "there is no need to stage: name the files when they are committed";
const NOT_YOURS: &str =
    "others work in this tree too: edit your own files, and leave the rest as it is";

const OPTION: &str = "leave the option out: what only looks writes no file and starts no program; `>` puts what it prints into a file of yours";
const PRINT: &str = "`git diff` and `git show` print it, and `>` puts it into a file of yours";
const UPKEEP: &str = "leave the upkeep of the repository to its people; your task does not need it";
const HERE: &str = "work with the repository that is here";

pub(super) fn is_known(name: &str) -> bool {
    [&LOOKING[..], &BOTH, &OF_THE_TREE, &CHANGING]
        .iter()
        .any(|list| list.contains(&name))
}

/// Whether this changes nothing, wherever it is run. A name that git does not know may be an alias for anything.
pub(super) fn only_looks(name: &str, rest: &[OsString]) -> bool {
    let words: Vec<_> = rest.iter().map(|it| it.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    // Git prints how it is used, and ends.
    let is_question = || words == ["-h"] && is_known(name);
    let is_looking = || LOOKING.contains(&name) && !does_more(name, &words);
    is_looking() || (BOTH.contains(&name) && lists_or_shows(name, &words)) || is_question()
}

pub(super) fn judge(ground: Ground, name: &str, rest: &[OsString]) -> Verdict {
    if only_looks(name, rest) {
        return Verdict::Allowed;
    }
    let words: Vec<_> = rest.iter().map(|it| it.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let is_own = ground == Ground::Own;
    let changes_own_tree = OF_THE_TREE.contains(&name)
        || (name == "checkout" && is_checkout_of_files(&words))
        || (name == "reset" && is_reset_of_tree(&words));
    if is_own && changes_own_tree {
        return Verdict::Allowed;
    }
    refused(&shown(name, &words), instead(name))
}

fn shown(name: &str, words: &[&str]) -> String {
    match words.first() {
        Some(first) => format!("{name} {first}"),
        None => name.to_owned(),
    }
}

fn instead(name: &str) -> &'static str {
    match name {
        "commit" | "commit-tree" | "merge" | "cherry-pick" | "revert" | "am" | "rebase"
        | "hash-object" | "mktree" | "write-tree" => COMMIT,
        "add" | "rm" | "mv" | "update-index" => NO_STAGING,
        "stash" | "checkout" | "checkout-index" | "restore" | "reset" | "clean" | "switch"
        | "apply" | "read-tree" | "sparse-checkout" => NOT_YOURS,
        "config" => CONFIGURATION,
        "archive" | "bundle" | "fast-export" | "format-patch" | "send-email" => PRINT,
        "backfill" | "commit-graph" | "gc" | "maintenance" | "multi-pack-index"
        | "pack-objects" | "pack-refs" | "prune" | "repack" | "rerere" => UPKEEP,
        "clone" | "daemon" | "init" => HERE,
        _ if LOOKING.contains(&name) => OPTION,
        _ => LEAVE,
    }
}

/// `git diff --output=x` writes x, `git grep -Ox` runs x, `git ls-remote --upload-pack=x` runs x, and trailers are put into a
/// file in place. Git takes each of them by a part of its name as well.
fn does_more(name: &str, words: &[&str]) -> bool {
    let options = || words.iter().take_while(|it| **it != "--");
    let is = |full: &str, least: usize| {
        options().any(|word| {
            let word = word.split('=').next().unwrap_or_default();
            word.len() >= least && full.starts_with(word)
        })
    };
    let has_short = |letter: char| {
        let is_short = |it: &&&str| it.starts_with('-') && !it.starts_with("--");
        options().filter(is_short).any(|it| it.contains(letter))
    };
    match name {
        "grep" => is("--open-files-in-pager", 4) || has_short('O'),
        "ls-remote" => is("--upload-pack", 4) || is("--exec", 4),
        "interpret-trailers" => is("--in-place", 4),
        // `--output-indicator-new` and the like say how lines begin.
        _ => is("--output", 4),
    }
}

/// Files after `--`, and before it nothing but HEAD: any other name, and any option, could be for a branch.
fn is_checkout_of_files(words: &[&str]) -> bool {
    let place = words.iter().position(|it| *it == "--");
    place.is_some_and(|place| {
        let (before, after) = (&words[..place], &words[place + 1..]);
        let is_plain = |it: &&str| matches!(*it, "HEAD" | "-q" | "--quiet" | "-f" | "--force");
        before.iter().all(is_plain) && !after.is_empty()
    })
}

/// HEAD stays where it is: only files and index are put back.
fn is_reset_of_tree(words: &[&str]) -> bool {
    let (options, names): (Vec<&str>, Vec<&str>) = words
        .iter()
        .take_while(|it| **it != "--")
        .partition(|it| it.starts_with('-'));
    let is_plain = |it: &&str| matches!(*it, "--hard" | "--mixed" | "-q" | "--quiet");
    options.iter().all(is_plain) && names.iter().all(|name| *name == "HEAD")
}

fn lists_or_shows(name: &str, words: &[&str]) -> bool {
    let first = words.first().copied();
    let is_one_of = |allowed: &[&str]| first.is_none_or(|it| allowed.contains(&it));
    match name {
        "branch" => lists(words, &BRANCH_LISTS),
        "tag" => lists(words, &TAG_LISTS),
        "config" => reads_config(words),
        "notes" => is_one_of(&["list", "show", "get-ref"]),
        "reflog" => is_one_of(&["show", "list", "exists"]) || first.is_some_and(is_option),
        "remote" => {
            let mut names = words.iter().filter(|it| !is_option(it));
            names
                .next()
                .is_none_or(|it| matches!(*it, "show" | "get-url"))
        }
        "stash" => matches!(first, Some("list" | "show")),
        "submodule" => is_one_of(&["status", "summary"]),
        "symbolic-ref" => {
            let is_plain = |it: &&str| matches!(*it, "-q" | "--quiet" | "--short");
            let (options, names): (Vec<&str>, Vec<&str>) =
                words.iter().partition(|it| is_option(it));
            names.len() == 1 && options.iter().all(is_plain)
        }
        "worktree" => matches!(first, Some("list")),
        _ => false,
    }
}

fn is_option(word: &str) -> bool {
    word.starts_with('-')
}

/// Options of `branch` and `tag` with which they list; each of the first group makes names patterns.
const BRANCH_LISTS: [&str; 20] = [
    "--list",
    "-l",
    "--contains",
    "--no-contains",
    "--merged",
    "--no-merged",
    "--points-at",
    "-a",
    "--all",
    "-r",
    "--remotes",
    "-v",
    "-vv",
    "--verbose",
    "--show-current",
    "--sort",
    "--format",
    "--column",
    "--no-column",
    "--abbrev",
];
const TAG_LISTS: [&str; 14] = [
    "--list",
    "-l",
    "--contains",
    "--no-contains",
    "--merged",
    "--no-merged",
    "--points-at",
    "-n",
    "-i",
    "--ignore-case",
    "--sort",
    "--format",
    "--column",
    "--no-column",
];
/// How many of those make names patterns.
const MAKE_PATTERNS: usize = 7;

fn lists(words: &[&str], allowed: &[&str]) -> bool {
    let bare = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
    let mut options = words.iter().filter(|it| is_option(it));
    let has_names = words.iter().any(|it| !is_option(it));
    let makes_patterns = words
        .iter()
        .any(|it| allowed[..MAKE_PATTERNS].contains(&bare(it).as_str()));
    options.all(|it| allowed.contains(&bare(it).as_str()) || is_count(it))
        && (!has_names || makes_patterns)
}

/// `-n3`
fn is_count(word: &str) -> bool {
    word.strip_prefix("-n")
        .is_some_and(|rest| rest.bytes().all(|it| it.is_ascii_digit()))
}

/// Options with which `config` still reads.
const READING: [&str; 19] = [
    "--list",
    "-l",
    "--local",
    "--global",
    "--system",
    "--worktree",
    "--show-origin",
    "--show-scope",
    "--name-only",
    "--includes",
    "--null",
    "-z",
    "--type",
    "--bool",
    "--int",
    "--path",
    "--default",
    "--all",
    "--regexp",
];

/// `config --get x`, `config get x`, `config --list`, and a lone name, which is read.
fn reads_config(words: &[&str]) -> bool {
    // Only what is known to read: git takes an option by any part of its name that is clear.
    let is_known = |it: &&str| {
        let name = it.split('=').next().unwrap_or_default();
        name.starts_with("--get") || READING.contains(&name)
    };
    if !words.iter().filter(|it| is_option(it)).all(is_known) {
        return false;
    }
    let reads = |it: &&str| it.starts_with("--get") || matches!(*it, "--list" | "-l");
    let names: Vec<_> = words.iter().filter(|it| !is_option(it)).collect();
    words.iter().any(reads)
        || matches!(names.first(), Some(&&("get" | "list")))
        || names.len() == 1 && !matches!(*names[0], "set" | "unset" | "edit")
}
