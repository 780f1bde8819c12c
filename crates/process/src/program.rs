//! A program to run, described completely.
//!
//! Describing starts nothing. What is not said here the program does not get: no variable and no
//! input of ours is inherited.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::capture::Bound;
use crate::sandbox::Sandbox;

/// How much of what a program prints is kept when nobody says otherwise.
pub const DEFAULT_BOUND: Bound = Bound::Last(64 * 1024);

/// A program, its arguments and everything it finds when it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// A path, or a name to be looked for in the PATH of `environment`.
    pub name: OsString,
    /// What follows the name.
    pub arguments: Vec<OsString>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// All its variables.
    pub environment: BTreeMap<OsString, OsString>,
    /// What it reads.
    pub stdin: Stdin,
    /// How much of its standard output is kept.
    pub stdout: Bound,
    /// How much of its standard error is kept.
    pub stderr: Bound,
    /// What becomes of it when we are killed.
    pub fate: Fate,
    /// What holds it, from its first instruction on.
    pub sandbox: Option<Sandbox>,
}

/// What becomes of a program when the one who started it is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The kernel kills it too.
    Shared,
    /// It goes on to its own end. Only for what reads and soon ends: it is quicker to start, because nothing has to be
    /// done between fork and exec.
    Own,
}

/// What a program reads from its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// The end, at once.
    Empty,
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// What is in this file, which need not fit into memory.
    File(PathBuf),
}

impl Program {
    /// A program without arguments, variables and input.
    pub fn new(name: impl Into<OsString>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            name: name.into(),
            arguments: Vec::new(),
            cwd: cwd.into(),
            environment: BTreeMap::new(),
            stdin: Stdin::Empty,
            stdout: DEFAULT_BOUND,
            stderr: DEFAULT_BOUND,
            fate: Fate::Shared,
            sandbox: None,
        }
    }

    /// The file that a name stands for: the first in the PATH of the environment that can be run. Without one the name
    /// stays, and starting it says what is wrong. A PATH that is relative to wherever one stands is passed over.
    ///
    /// The library would look for it after the fork, and could not start it without copying our memory.
    pub(crate) fn file(&self) -> Cow<'_, Path> {
        let name = Path::new(&self.name);
        let path = self.environment.get(OsStr::new("PATH"));
        let is_file = self.name.as_encoded_bytes().contains(&b'/');
        let found = path.filter(|_| !is_file).and_then(|path| {
            let files = env::split_paths(path)
                .filter(|dir| dir.is_absolute())
                .map(|dir| dir.join(name));
            { files }.find(|file| can_be_run(file))
        });
        found.map_or(Cow::Borrowed(name), Cow::Owned)
    }

    /// The same program with more arguments.
    #[must_use]
    pub fn with_arguments<A: AsRef<OsStr>>(
        mut self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        self.arguments.extend(
            arguments
                .into_iter()
                .map(|argument| argument.as_ref().to_owned()),
        );
        self
    }
}

fn can_be_run(file: &Path) -> bool {
    file.is_file() && access(file, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_name_stands_for_the_first_file_that_can_be_run() {
        let root = tempfile::tempdir().unwrap();
        let place = |dir: &str, mode| {
            let dir = root.path().join(dir);
            fs::create_dir(&dir).unwrap();
            fs::write(dir.join("tool"), "").unwrap();
            fs::set_permissions(dir.join("tool"), fs::Permissions::from_mode(mode)).unwrap();
            dir
        };
        let (data, first) = (place("data", 0o644), place("first", 0o755));
        fs::create_dir_all(root.path().join("folder/tool")).unwrap();
        let mut program = Program::new("tool", "/");
        let dirs = [
            "".into(),
            root.path().join("none"),
            root.path().join("folder"),
        ];
        let dirs = dirs
            .into_iter()
            .chain([data, first.clone(), place("second", 0o755)]);
        let path = env::join_paths(dirs).unwrap();
        program.environment.insert("PATH".into(), path);
        assert_eq!(program.file(), first.join("tool"));
        program.name = "unknown".into();
        assert_eq!(program.file(), Path::new("unknown"));
        program.name = "./tool".into();
        assert_eq!(program.file(), Path::new("./tool"));
    }
}
