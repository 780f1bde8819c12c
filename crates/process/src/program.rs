//! A program to run, described completely.
//!
//! Describing starts nothing. What is not said here the program does not get: no variable and no
//! input of ours is inherited.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::Errno;

use crate::capture::Bound;
use crate::sandbox::Sandbox;

/// Where programs are looked for without a PATH, as the C library has it.
const USUAL_PATH: &str = "/bin:/usr/bin";

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
    /// What holds it, from its first instruction on.
    pub sandbox: Option<Sandbox>,
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
            sandbox: None,
        }
    }

    /// The file that a name stands for: the first in the PATH of the environment that can be run. A PATH that is relative to
    /// wherever one stands is passed over. A name that stands for none is never taken for a file of the directory where the
    /// program is to start.
    pub(crate) fn file(&self) -> io::Result<Cow<'_, Path>> {
        let name = Path::new(&self.name);
        if self.name.as_encoded_bytes().contains(&b'/') {
            return Ok(name.into());
        }
        let path = self.environment.get(OsStr::new("PATH"));
        let files = env::split_paths(path.map_or(OsStr::new(USUAL_PATH), OsString::as_os_str))
            .filter(|dir| dir.is_absolute())
            .map(|dir| dir.join(name));
        let mut refusal = Errno::NOENT;
        for file in files {
            if can_be_run(&file) {
                return Ok(file.into());
            }
            if file.exists() {
                refusal = Errno::ACCESS;
            }
        }
        Err(refusal.into())
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
        let only_data = data.clone();
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
        assert_eq!(program.file().unwrap(), first.join("tool"));
        program.name = "./tool".into();
        assert_eq!(program.file().unwrap(), Path::new("./tool"));
        let refusal = |program: &Program| program.file().unwrap_err().kind();
        program.name = "unknown".into();
        assert_eq!(refusal(&program), io::ErrorKind::NotFound);
        program.name = "tool".into();
        program.environment.insert("PATH".into(), only_data.into());
        assert_eq!(refusal(&program), io::ErrorKind::PermissionDenied);
        program.environment.clear();
        assert_eq!(refusal(&program), io::ErrorKind::NotFound);
        program.name = "sh".into();
        assert_eq!(program.file().unwrap(), Path::new("/bin/sh"));
    }
}
