//! A home, a temporary directory and a set of variables that belong to one test.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::{GitRepo, Normalizer, Output, Prefix, ambient};

const GIT_CONFIG: &str = "\
[user]
	name = Test
	email = test@example.org
[init]
	defaultBranch = main
# A repack in the background would outlive the test and its directory.
[gc]
	auto = 0
[maintenance]
	auto = false
";

/// A temporary directory with everything a program under test may look at, removed on drop.
///
/// Programs see the variables listed here and PATH, nothing else of the developer's machine.
#[derive(Debug)]
pub struct TestEnv {
    // Held for its `Drop`; `root` is the same directory with symbolic links resolved.
    _directory: TempDir,
    root: PathBuf,
    binary: Option<PathBuf>,
    variables: Variables,
    normalizer: Normalizer,
}

/// The whole environment of a program under test.
#[derive(Clone, Debug)]
pub(crate) struct Variables(BTreeMap<OsString, OsString>);

impl Variables {
    pub(crate) fn apply(&self, command: &mut Command) {
        command.env_clear().envs(&self.0);
    }
}

impl TestEnv {
    /// An environment whose [`handoff`](Self::handoff) runs `binary`: give it
    /// `env!("CARGO_BIN_EXE_handoff")`.
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        Self::create(Some(binary.into()))
    }

    /// An environment for tests below the binary: files, git, processes.
    #[must_use]
    pub fn without_binary() -> Self {
        Self::create(None)
    }

    fn create(binary: Option<PathBuf>) -> Self {
        // The prefix is short because sockets live below it, and their paths end at 108 bytes.
        let directory = tempfile::Builder::new()
            .prefix("ho-")
            .tempdir()
            .expect("a temporary directory can be created");
        let root = directory
            .path()
            .canonicalize()
            .expect("the directory was just created");
        // Other users may enter: what a permission test finds closed, the program has closed.
        set_mode(&root, 0o755);
        for name in ["home", "state", "config", "run", "tmp", "work"] {
            fs::create_dir(root.join(name)).expect("the directory is empty");
        }
        set_mode(&root.join("run"), 0o700);
        fs::write(root.join("gitconfig"), GIT_CONFIG).expect("the directory is writable");

        let normalizer = Normalizer::new([
            (root.join("home"), "$HOME"),
            (root.clone(), "$TEMP"),
            (directory.path().to_owned(), "$TEMP"),
        ]);
        let variables = variables_below(&root);
        Self {
            _directory: directory,
            root,
            binary,
            variables,
            normalizer,
        }
    }

    /// The directory that holds all others; `$TEMP` in snapshots.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Where commands run unless told otherwise; not a git repository.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// HANDOFF_HOME, which the program under test creates.
    #[must_use]
    pub fn handoff_home(&self) -> PathBuf {
        self.root.join("state/handoff")
    }

    #[must_use]
    pub fn config_home(&self) -> PathBuf {
        self.root.join("config")
    }

    #[must_use]
    pub fn runtime_dir(&self) -> PathBuf {
        self.root.join("run")
    }

    /// Adds a variable for all commands that follow.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> &mut Self {
        self.variables.0.insert(name.into(), value.into());
        self
    }

    /// A program with this environment and nothing else, to run in [`work`](Self::work).
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        self.command_under(&Prefix::none(), program)
    }

    /// The same behind the words of a fault or another user.
    pub fn command_under(&self, prefix: &Prefix, program: impl AsRef<OsStr>) -> Command {
        let mut command = prefix.command(program);
        self.variables.apply(&mut command);
        command.current_dir(self.work());
        command
    }

    /// The path given to [`new`](Self::new).
    ///
    /// # Panics
    /// When the environment was made without a binary.
    #[must_use]
    #[track_caller]
    pub fn binary(&self) -> &Path {
        self.binary
            .as_deref()
            .expect("the environment was made with `TestEnv::new(binary)`")
    }

    /// Runs the binary in [`work`](Self::work), without input.
    #[track_caller]
    pub fn handoff<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Output {
        self.handoff_in(self.work(), args)
    }

    /// Runs the binary in `cwd`, without input.
    #[track_caller]
    pub fn handoff_in<A: AsRef<OsStr>>(
        &self,
        cwd: impl AsRef<Path>,
        args: impl IntoIterator<Item = A>,
    ) -> Output {
        let mut command = self.command(self.binary());
        command.current_dir(cwd).args(args);
        self.run(command)
    }

    /// Runs a prepared command to its end, without input.
    #[track_caller]
    pub fn run(&self, mut command: Command) -> Output {
        match command.stdin(Stdio::null()).output() {
            Ok(output) => Output::new(&command, output, self.normalizer.clone()),
            Err(error) => panic!("cannot start {command:?}: {error}"),
        }
    }

    /// Runs a prepared command to its end and feeds it `input`, as far as it reads it.
    ///
    /// # Panics
    /// When the program cannot be started.
    #[track_caller]
    pub fn run_with_input(&self, mut command: Command, input: &[u8]) -> Output {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => panic!("cannot start {command:?}: {error}"),
        };
        let mut stdin = child.stdin.take().expect("stdin is piped");
        let output = std::thread::scope(|scope| {
            // On a thread of its own, as the program may fill its output before it reads on.
            let writer = scope.spawn(move || stdin.write_all(input));
            let output = child
                .wait_with_output()
                .expect("the child was just started");
            match writer.join().expect("writing does not panic") {
                // It may well fail on its arguments before it reads.
                Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                    panic!("cannot write to {command:?}: {error}")
                }
                Ok(()) | Err(_) => output,
            }
        });
        Output::new(&command, output, self.normalizer.clone())
    }

    /// A git repository `name` with one commit on `main`, beside [`work`](Self::work).
    pub fn repo(&self, name: &str) -> GitRepo {
        GitRepo::create(self.root.join(name), self.variables.clone())
    }

    /// A text as it may stand in a snapshot; ids keep their number for the life of this value.
    #[must_use]
    pub fn normalize(&self, text: &str) -> String {
        self.normalizer.normalize(text)
    }
}

fn variables_below(root: &Path) -> Variables {
    let below = |name: &str| root.join(name).into_os_string();
    let text = |value: &str| OsString::from(value);
    let variables = [
        ("HOME", below("home")),
        ("XDG_STATE_HOME", below("state")),
        ("XDG_CONFIG_HOME", below("config")),
        ("XDG_RUNTIME_DIR", below("run")),
        ("TMPDIR", below("tmp")),
        ("HANDOFF_HOME", below("state/handoff")),
        ("GIT_CONFIG_GLOBAL", below("gitconfig")),
        ("GIT_CONFIG_NOSYSTEM", text("1")),
        ("GIT_CEILING_DIRECTORIES", root.as_os_str().to_owned()),
        (
            "PATH",
            ambient::variable("PATH").unwrap_or_else(|| text("/usr/bin:/bin")),
        ),
        ("LC_ALL", text("C.UTF-8")),
        ("TZ", text("UTC")),
        ("COLUMNS", text("100")),
        ("NO_COLOR", text("1")),
    ];
    Variables(variables.map(|(name, value)| (name.into(), value)).into())
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the directory is ours");
}
