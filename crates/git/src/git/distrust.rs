//! Git for a tree in which somebody worked whom we do not trust.
//!
//! The git directory is the one on record, whatever the `.git` in the tree says by now. Filters that the repository's own
//! configuration names run as ever (without them a repository with large-file storage would get the wrong content), except
//! those whose command names something in the tree: whoever works there could have put anything in its place. What such a
//! filter would have made of a file is not made; the file is taken as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io;
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

/// Scopes of configuration that belong to the user or the machine, not to the repository.
const USERS: [&[u8]; 2] = [b"system", b"global"];

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

    /// The same for a look at the tree, without filters that the repository's own configuration names: whoever looks has not
    /// asked for them to run. Those of the user's own configuration run. A file whose filter does not run may be found edited
    /// though it is not.
    pub(crate) fn without_own_filters(&self, at: &Repository) -> Self {
        let own = [
            at.common_dir().join("config"),
            at.git_dir().join("config.worktree"),
        ];
        if own.iter().all(|file| lacks(file, &["filter", "include"])) {
            return self.clone();
        }
        let call = self
            .call("config", at.common_dir())
            .variable("GIT_DIR", at.git_dir())
            .arguments(["-z", "--show-scope", "--get-regexp", r"^filter\..*"]);
        // A configuration that git cannot read makes every later call fail too.
        let answer = call.ask().ok().flatten().unwrap_or_default();
        let mut git = self.clone();
        git.user_environment
            .extend(variables(&users_values(&answer)));
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

/// `<scope> NUL filter.<name>.<key> LF <value> NUL`, repeated: each key that the repository sets, with the value that it would
/// have without that.
fn users_values(answer: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let fields: Vec<_> = answer.split(|&byte| byte == 0).collect();
    let mut users: BTreeMap<&[u8], &[u8]> = BTreeMap::new();
    let mut own = BTreeSet::new();
    for entry in fields.chunks_exact(2) {
        let [scope, setting] = entry else { continue };
        let end = setting.iter().position(|&byte| byte == b'\n');
        // A key alone means yes.
        let (key, value) = end.map_or((*setting, b"true".as_slice()), |end| {
            (&setting[..end], &setting[end + 1..])
        });
        if USERS.contains(scope) {
            users.insert(key, value);
        } else {
            own.insert(key);
        }
    }
    let nothing = |key: &[u8]| match key.ends_with(b".required") {
        true => b"false".as_slice(),
        false => b"",
    };
    let value = |key: &[u8]| users.get(key).copied().unwrap_or_else(|| nothing(key));
    own.into_iter()
        .map(|key| (key.to_owned(), value(key).to_owned()))
        .collect()
}

/// Whether a file has none of these words, which are in small letters; one that is not there has none.
fn lacks(file: &Path, words: &[&str]) -> bool {
    match fs::read(file) {
        Ok(bytes) => {
            let text = bytes.to_ascii_lowercase();
            let has = |word: &&str| text.windows(word.len()).any(|it| it == word.as_bytes());
            !words.iter().any(has)
        }
        Err(error) => error.kind() == io::ErrorKind::NotFound,
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
    let setting = |(name, key): (&Vec<u8>, &str)| {
        let value = if key == "required" { "false" } else { "" };
        let setting = [b"filter.", name.as_slice(), b".", key.as_bytes()].concat();
        (setting, value.as_bytes().to_vec())
    };
    variables(&keys.map(setting).collect::<Vec<_>>())
}

/// Settings as git reads them from its environment.
fn variables(settings: &[(Vec<u8>, Vec<u8>)]) -> Vec<(OsString, OsString)> {
    let mut variables = vec![];
    for (number, (setting, value)) in settings.iter().enumerate() {
        let name = |kind: &str| OsString::from(format!("GIT_CONFIG_{kind}_{number}"));
        variables.push((name("KEY"), OsString::from_vec(setting.clone())));
        variables.push((name("VALUE"), OsString::from_vec(value.clone())));
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
