//! What a sub-task may run.

use std::ffi::OsString;

use super::{Ground, Verdict, refused};

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
const NO_STAGING: &str = "there is no need to stage: name the files when they are committed";
const NOT_YOURS: &str =
    "others work in this tree too: edit your own files, and leave the rest as it is";

pub(super) fn is_known(name: &str) -> bool {
    [&LOOKING[..], &BOTH, &OF_THE_TREE, &CHANGING]
        .iter()
        .any(|list| list.contains(&name))
}

pub(super) fn judge(ground: Ground, name: &str, rest: &[OsString]) -> Verdict {
    let words: Vec<_> = rest.iter().map(|it| it.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let is_own = ground == Ground::Own;
    if LOOKING.contains(&name) && !writes_a_file(&words) {
        return Verdict::Allowed;
    }
    if BOTH.contains(&name) && only_looks(name, &words) {
        return Verdict::Allowed;
    }
    let changes_own_tree = OF_THE_TREE.contains(&name)
        || (name == "checkout" && words.contains(&"--"))
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
        "commit" | "commit-tree" | "merge" | "cherry-pick" | "revert" | "am" | "rebase" => COMMIT,
        "add" | "rm" | "mv" | "update-index" => NO_STAGING,
        "stash" | "checkout" | "restore" | "reset" | "clean" | "switch" | "apply" | "read-tree" => {
            NOT_YOURS
        }
        _ => LEAVE,
    }
}

/// `git diff --output=x` and `git log --output=x` write x.
fn writes_a_file(words: &[&str]) -> bool {
    words.iter().any(|it| it.starts_with("--output"))
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

fn only_looks(name: &str, words: &[&str]) -> bool {
    let first = words.first().copied();
    let is_one_of = |allowed: &[&str]| first.is_none_or(|it| allowed.contains(&it));
    match name {
        "branch" => lists(words, &BRANCH_LISTS),
        "tag" => lists(words, &TAG_LISTS),
        "config" => reads_config(words),
        "notes" => is_one_of(&["list", "show", "get-ref"]),
        "reflog" => is_one_of(&["show", "list", "exists"]) || first.is_some_and(is_option),
        "remote" => is_one_of(&["-v", "--verbose", "show", "get-url"]),
        "stash" => matches!(first, Some("list" | "show")),
        "submodule" => is_one_of(&["status", "summary"]),
        "symbolic-ref" => {
            words.iter().filter(|it| !is_option(it)).count() == 1 && !has(words, "-d")
        }
        "worktree" => matches!(first, Some("list")),
        _ => false,
    }
}

fn is_option(word: &str) -> bool {
    word.starts_with('-')
}

fn has(words: &[&str], word: &str) -> bool {
    words.contains(&word) || words.contains(&"--delete")
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

/// `config --get x`, `config get x`, `config --list`, and a lone name, which is read.
fn reads_config(words: &[&str]) -> bool {
    let writes = |it: &&str| {
        let long = [
            "--add",
            "--unset",
            "--unset-all",
            "--replace-all",
            "--rename-section",
            "--remove-section",
            "--edit",
            "-e",
        ];
        long.contains(it)
    };
    if words.iter().any(writes) {
        return false;
    }
    let reads = |it: &&str| it.starts_with("--get") || matches!(*it, "--list" | "-l");
    let names: Vec<_> = words.iter().filter(|it| !is_option(it)).collect();
    words.iter().any(reads)
        || matches!(names.first(), Some(&&("get" | "list")))
        || names.len() == 1 && !matches!(*names[0], "set" | "unset" | "edit")
}
