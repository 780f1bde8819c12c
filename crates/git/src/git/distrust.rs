//! Git for a tree in which somebody worked whom we do not trust.
//!
//! The git directory is the one on record, whatever the `.git` in the tree says by now. Filters that the repository's own
//! configuration names run as ever (without them a repository with large-file storage would get the wrong content), except
//! those whose command names something in the tree: whoever works there could have put anything in its place. What such a
//! filter would have made of a file is not made; the file is taken as it is.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use super::Git;
use crate::repository::Repository;

/// A filter of the configuration: `filter.<name>.<key> = <command>`.
struct Filter {
    name: Vec<u8>,
    command: Vec<u8>,
}

/// What of a filter runs, or makes git fail because it did not.
const KEYS: [&str; 4] = ["clean", "smudge", "process", "required"];

impl Git {
    /// The same, held to the git directory that `at` names, and without filters out of its tree.
    #[must_use]
    pub fn bound_to(&self, at: &Repository) -> Self {
        let mut git = self.clone();
        let root = at.any_place();
        let filters = self.filters(at).into_iter();
        let mut blanked: Vec<_> = filters
            .filter(|it| names_something_in(root, &it.command))
            .map(|it| it.name)
            .collect();
        blanked.dedup();
        let environment = &mut git.user_environment;
        environment.insert("GIT_DIR".into(), at.git_dir().into());
        environment.insert("GIT_WORK_TREE".into(), root.into());
        environment.extend(blanks(&blanked));
        git
    }

    /// All filters, sorted by name. A configuration that git cannot read makes every later call fail too.
    fn filters(&self, at: &Repository) -> Vec<Filter> {
        if self.configuration_lacks(at, &["filter"]) {
            return vec![];
        }
        let pattern = r"^filter\..*\.(clean|smudge|process)$";
        let call = self
            .call("config", at.common_dir())
            .variable("GIT_DIR", at.git_dir());
        let answer = call.arguments(["-z", "--get-regexp", pattern]).ask();
        let mut found = parse(&answer.ok().flatten().unwrap_or_default());
        found.sort_by(|one, other| one.name.cmp(&other.name));
        found
    }
}

/// `filter.<name>.<key> LF <command> NUL`, repeated.
fn parse(answer: &[u8]) -> Vec<Filter> {
    let entries = answer.split(|&byte| byte == 0);
    let filter = |entry: &[u8]| {
        let end = entry.iter().position(|&byte| byte == b'\n')?;
        let (key, command) = (&entry[..end], &entry[end + 1..]);
        let dot = key.iter().rposition(|&byte| byte == b'.')?;
        Some(Filter {
            name: key[..dot].strip_prefix(b"filter.")?.to_owned(),
            command: command.to_owned(),
        })
    };
    entries.filter_map(filter).collect()
}

/// Whether a word of a command is a path that is not absolute, lies in the tree, or is the name of something at its root.
fn names_something_in(root: &Path, command: &[u8]) -> bool {
    let is_between = |byte: &u8| b" \t\n'\"=;|&()<>`".contains(byte);
    let words = command.split(is_between).filter(|word| !word.is_empty());
    let names = |word: &[u8]| {
        let path = Path::new(std::ffi::OsStr::from_bytes(word));
        if path.is_absolute() {
            return path.starts_with(root);
        }
        word.contains(&b'/') || root.join(path).is_file()
    };
    { words }.any(names)
}

/// Settings that make nothing of these filters, by the variables that git reads them from.
fn blanks(names: &[Vec<u8>]) -> Vec<(OsString, OsString)> {
    let keys = names.iter().flat_map(|name| KEYS.map(|key| (name, key)));
    let mut variables = vec![];
    for (number, (name, key)) in keys.enumerate() {
        let setting = [b"filter.", name.as_slice(), b".", key.as_bytes()].concat();
        let value = if key == "required" { "false" } else { "" };
        variables.push((
            format!("GIT_CONFIG_KEY_{number}").into(),
            OsString::from_vec(setting),
        ));
        variables.push((format!("GIT_CONFIG_VALUE_{number}").into(), value.into()));
    }
    let count = variables.len() / 2;
    variables.push(("GIT_CONFIG_COUNT".into(), count.to_string().into()));
    variables
}

#[cfg(test)]
mod tests {
    use handoff_testkit::TestEnv;

    use super::*;

    #[test]
    fn a_command_that_names_something_in_the_tree_is_found() {
        let env = TestEnv::without_binary();
        let root = env.work();
        std::fs::write(root.join("clean.py"), "").unwrap();
        let inside = format!("{}/tool %f", root.display());
        for command in [
            "./tool",
            "tools/x --clean",
            "python3 clean.py",
            "sh -c 'a;./b'",
            &inside,
        ] {
            assert!(names_something_in(&root, command.as_bytes()), "{command}");
        }
        for command in ["git-lfs clean -- %f", "/bin/sh -c cat", "cat", ""] {
            assert!(!names_something_in(&root, command.as_bytes()), "{command}");
        }
    }
}
