//! The git of this machine, and how each call of it is begun.
//!
//! Every call is built here and in `call`, so that none forgets a precaution. Success is exit code 0; what a
//! failed call printed never becomes a result, only a sanitised line of the error.

mod call;
mod distrust;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use handoff_core::CommitId;
use handoff_core::ownership::RepoPathError;
use handoff_guard::shim;
use handoff_process::{Bound, Exit, RunError};

pub(crate) use self::call::{Begun, Call};
use crate::repository::Repository;

/// What repository configuration must not decide. Each line would otherwise run a program, refuse
/// our work, or let a file be passed over.
const SETTINGS: [&str; 13] = [
    // Programs.
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    // `dirty` would start git in each submodule.
    "diff.ignoreSubmodules=dirty",
    // A cache that is wrong hides a change.
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.trustctime=true",
    "core.checkStat=default",
    // Line ends that cannot be brought back are the user's business, and no reason to lose work.
    "core.safecrlf=false",
    "i18n.commitEncoding=UTF-8",
    // What a row of the ledger names must survive a power cut.
    "core.fsync=objects,reference",
];

const VARIABLES: [(&str, &str); 5] = [
    ("LC_ALL", "C"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // A partial clone fetches what is missing with programs that its configuration names.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
];

/// They choose the user's own configuration, not the repository's.
const KEPT: [&str; 3] = [
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
];

/// What a commit of the user's own needs besides: who they are, and when it is.
const OF_THE_USER: [&str; 6] = [
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
];

/// What must not be left to chance where the user's own configuration decides: no work in the
/// background, no second index, and what was acknowledged survives a power cut.
const USER_SETTINGS: [&str; 7] = [
    "core.fsmonitor=false",
    "core.splitIndex=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "core.logAllRefUpdates=true",
    "core.fsync=objects,reference",
];

/// A listing of a million paths fits.
const ANSWER: Bound = Bound::Whole(256 * 1024 * 1024);
const COMPLAINT: Bound = Bound::Last(64 * 1024);
/// A checkout of a large repository takes minutes; a filter that hangs takes for ever.
const TIMEOUT: Duration = Duration::from_secs(1800);

const PATH: &str = "PATH";

/// The git of this machine, run with a given environment.
#[derive(Debug, Clone)]
pub struct Git {
    /// For what the user asked for by name: their language, their hooks, their identity. What all else gets is made of it for
    /// each call: most commands never make one.
    user_environment: BTreeMap<OsString, OsString>,
    /// When commits are made, if that is not now.
    date: Option<String>,
    /// Where programs are, without a guard. Found out when git is called: most commands never do, and it costs as many looks
    /// as there are directories.
    path: OnceLock<Option<OsString>>,
}

/// A call of git that did not do its work.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// It could not be run to its end.
    #[error("cannot run `git {call}` in `{}`", .dir.display())]
    Run {
        /// Which command of git.
        call: &'static str,
        /// Where.
        dir: PathBuf,
        /// What happened.
        #[source]
        source: RunError,
    },
    /// It ended with a complaint.
    #[error("`git {call}` in `{}` ended with {exit}: {complaint}", .dir.display())]
    Failed {
        /// Which command of git.
        call: &'static str,
        /// Where.
        dir: PathBuf,
        /// How it ended.
        exit: Exit,
        /// The line in which it says why, without control characters.
        complaint: String,
    },
    /// It said something that we do not understand.
    #[error("`git {call}` in `{}` gave an answer of an unknown form", .dir.display())]
    Answer {
        /// Which command of git.
        call: &'static str,
        /// Where.
        dir: PathBuf,
    },
    /// There is no tree to work on.
    #[error("`{}` has no working tree here", .0.display())]
    NoWorktree(PathBuf),
    /// A path that no task can own: not UTF-8, or inside a `.git`.
    #[error("cannot name the path `{path}`")]
    Path {
        /// The path, as far as it can be shown.
        path: String,
        /// What is wrong, if it is UTF-8.
        #[source]
        source: Option<RepoPathError>,
    },
}

impl GitError {
    /// Whether somebody killed it, or the machine had no room to run it: it says nothing of the repository.
    pub const fn is_cut_short(&self) -> bool {
        match self {
            Self::Run { .. } => true,
            Self::Failed { exit, .. } => matches!(exit, Exit::Signal(_)),
            Self::Answer { .. } | Self::NoWorktree(_) | Self::Path { .. } => false,
        }
    }
}

impl Git {
    /// Runs the `git` that is found in the PATH of `environment`, passing over a guard. Of its
    /// `GIT_` variables only those are kept that choose the user's own configuration.
    pub fn new(environment: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let is_kept = |name: &OsStr| {
            let kept = KEPT.iter().chain(&OF_THE_USER);
            !name.as_encoded_bytes().starts_with(b"GIT_") || kept.into_iter().any(|it| name == *it)
        };
        let user_environment: BTreeMap<OsString, OsString> = environment
            .into_iter()
            .filter(|(name, _)| is_kept(name))
            .collect();
        Self {
            user_environment,
            date: None,
            path: OnceLock::new(),
        }
    }

    /// What git gets where the user did not ask for it by name.
    fn environment(&self) -> BTreeMap<OsString, OsString> {
        let mut environment = self.user_environment.clone();
        environment.retain(|name, _| !OF_THE_USER.iter().any(|it| name == *it));
        environment.extend(VARIABLES.map(|(name, value)| (name.into(), value.into())));
        if let Some(date) = &self.date {
            let dates = ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"];
            environment.extend(dates.map(|name| (name.into(), date.into())));
        }
        environment
    }

    /// With a variable more, in every call.
    pub(crate) fn set(&mut self, name: &str, value: &OsStr) {
        self.user_environment.insert(name.into(), value.into());
    }

    fn path(&self) -> Option<&OsString> {
        let given = || self.user_environment.get(OsStr::new(PATH));
        let path = || given().map(|path| shim::without_shims(path));
        self.path.get_or_init(path).as_ref()
    }

    /// The same at a given time, for whoever must make the same commit again.
    pub(crate) fn dated(&self, date: &str) -> Self {
        Self {
            date: Some(date.to_owned()),
            ..self.clone()
        }
    }

    /// Whether no configuration that git reads here has any of these words, which are in small letters, or names further files. It
    /// saves a process to ask git.
    pub(crate) fn configuration_lacks(&self, at: &Repository, words: &[&str]) -> bool {
        let words: Vec<_> = words.iter().chain(&["include"]).collect();
        let lacks = |file: &PathBuf| match fs::read(file) {
            Ok(bytes) => {
                let text = bytes.to_ascii_lowercase();
                let has = |word: &&&str| text.windows(word.len()).any(|it| it == word.as_bytes());
                !words.iter().any(has)
            }
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        let files = self.configuration_files(at);
        files.is_some_and(|files| files.iter().all(lacks))
    }

    /// Every file that git would read its configuration from here; none if that is not known.
    pub(crate) fn configuration_files(&self, at: &Repository) -> Option<Vec<PathBuf>> {
        let global = match self.variable("GIT_CONFIG_GLOBAL") {
            Some(file) => vec![file.into()],
            None => vec![
                self.user_directory()?.join("config"),
                PathBuf::from(self.variable("HOME")?).join(".gitconfig"),
            ],
        };
        let system = match (
            self.variable("GIT_CONFIG_NOSYSTEM"),
            self.variable("GIT_CONFIG_SYSTEM"),
        ) {
            (Some(word), _) if is_yes(word) => vec![],
            (_, Some(file)) => vec![file.into()],
            (_, None) => self.system_files("gitconfig")?,
        };
        let own = [
            at.common_dir().join("config"),
            at.git_dir().join("config.worktree"),
        ];
        Some(global.into_iter().chain(system).chain(own).collect())
    }

    /// Every file outside of the tree that may say what git makes of a file's bytes, if no configuration names one; none if that
    /// is not known.
    pub(crate) fn attribute_files(&self, at: &Repository) -> Option<Vec<PathBuf>> {
        let mut files = self.system_files("gitattributes")?;
        files.push(self.user_directory()?.join("attributes"));
        files.push(at.common_dir().join("info/attributes"));
        Some(files)
    }

    fn variable(&self, name: &str) -> Option<&OsString> {
        self.user_environment.get(OsStr::new(name))
    }

    /// Where files of the user's about git lie.
    fn user_directory(&self) -> Option<PathBuf> {
        // One that is empty counts as none.
        let config = self.variable("XDG_CONFIG_HOME");
        let config = config.filter(|it| !it.is_empty()).map(PathBuf::from);
        let usual = || Some(PathBuf::from(self.variable("HOME")?).join(".config"));
        Some(config.or_else(usual)?.join("git"))
    }

    /// A file of the system's lies beside where git is installed, or where the link to it is, as Homebrew has it; `/usr` has its in
    /// `/etc`.
    fn system_files(&self, name: &str) -> Option<Vec<PathBuf>> {
        let path = self.path()?;
        let git = std::env::split_paths(path)
            .map(|directory| directory.join("git"))
            .find(|git| git.is_file())?;
        let beside = |git: &Path| Some(git.parent()?.parent()?.join("etc").join(name));
        let real = git.canonicalize().ok()?;
        let usual = Path::new("/etc").join(name);
        Some(vec![usual, beside(&git)?, beside(&real)?])
    }

    /// What the git that we run says of itself.
    pub fn version(&self) -> Result<String, GitError> {
        let answer = self.call("version", Path::new("/")).run()?;
        Ok(printable(String::from_utf8_lossy(&answer).trim_end()))
    }

    /// `name`, to be run where `dir` is.
    pub(crate) fn call(&self, name: &'static str, dir: &Path) -> Call {
        self.past_guards(Call::new(name, dir, self.environment(), &SETTINGS))
    }

    /// The same as the user would run it: with their configuration, their hooks and their language.
    /// Only for what they asked for by name, and for what runs nothing.
    pub(crate) fn user_call(&self, name: &'static str, dir: &Path) -> Call {
        let environment = self.user_environment.clone();
        self.past_guards(Call::new(name, dir, environment, &USER_SETTINGS))
    }

    fn past_guards(&self, call: Call) -> Call {
        match self.path() {
            Some(path) => call.variable(PATH, path),
            None => call,
        }
    }

    /// `name`, to be run in the tree with root `root`, whatever `core.worktree` says.
    pub(crate) fn call_in_tree(&self, name: &'static str, root: &Path) -> Call {
        self.call(name, root).variable("GIT_WORK_TREE", root)
    }
}

/// As git reads a yes or no in its environment.
fn is_yes(word: &OsStr) -> bool {
    let no = ["", "0", "no", "off", "false"];
    !no.iter().any(|it| word.eq_ignore_ascii_case(it))
}

impl GitError {
    fn exit(&self) -> Option<Exit> {
        match self {
            Self::Failed { exit, .. } => Some(*exit),
            Self::Run { .. } | Self::Answer { .. } | Self::NoWorktree(_) | Self::Path { .. } => {
                None
            }
        }
    }
}

pub(crate) fn commit_id(answer: &[u8]) -> Option<CommitId> {
    str::from_utf8(answer)
        .ok()?
        .trim_end_matches('\n')
        .parse()
        .ok()
}

/// The line that says why: the first one that claims to, or else the first one.
fn complaint(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let says_why = |line: &&str| line.starts_with("fatal:") || line.starts_with("error:");
    let line = text
        .lines()
        .find(says_why)
        .or_else(|| text.lines().next())
        .unwrap_or_default();
    printable(line)
}

/// The text with whatever could move a cursor or turn a line around shown as its code.
pub(crate) fn printable(text: &str) -> String {
    let escape = |character: char| {
        let is_plain = matches!(character, '\'' | '"' | '\\');
        if is_plain {
            character.to_string()
        } else {
            character.escape_debug().to_string()
        }
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_complaint_is_one_harmless_line() {
        let table: [(&[u8], &str); 5] = [
            (b"", ""),
            (b"warning: a\nfatal: b\nfatal: c\n", "fatal: b"),
            (b"just this\nand that\n", "just this"),
            (b"error: \x1b[31m'red'\r\n", r"error: \u{1b}[31m'red'"),
            (
                "error: a\u{202e}b \u{fc}".as_bytes(),
                "error: a\\u{202e}b \u{fc}",
            ),
        ];
        for (stderr, line) in table {
            assert_eq!(complaint(stderr), line);
        }
    }

    #[test]
    fn no_system_configuration_is_a_yes_or_no() {
        for (word, expected) in [("1", true), ("yes", true), ("0", false), ("False", false)] {
            assert_eq!(is_yes(OsStr::new(word)), expected, "{word}");
        }
    }

    #[test]
    fn of_gits_variables_only_those_of_the_users_configuration_are_kept() {
        let given = [
            "PATH",
            "GIT_DIR",
            "GIT_CONFIG_GLOBAL",
            "GIT_CONFIG_PARAMETERS",
        ];
        let git = Git::new(given.map(|name| (name.into(), "given".into())));
        let kept: Vec<_> = given
            .into_iter()
            .filter(|name| git.environment().contains_key(OsStr::new(name)))
            .collect();
        assert_eq!(kept, ["PATH", "GIT_CONFIG_GLOBAL"]);
    }
}
