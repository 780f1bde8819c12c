//! Parts that a second process has to play: this test binary runs itself again, told by an
//! environment variable which part is its own.

use handoff_files::atomic::{Mode, WriteError, create_new, replace};
use handoff_files::{Access, Dir, Lock, Watch, WatchError};
use rustix::fs::{CWD, Mode as Perm, OFlags};
use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

const PART: &str = "HANDOFF_FILES_TEST_PART";
const PLACE: &str = "HANDOFF_FILES_TEST_PLACE";

pub(crate) const FILE: &str = "subject";
pub(crate) const LOCK: &str = "lock";
pub(crate) const CONTENDER_ROUNDS: usize = 400;

/// Longer than a page, so that a torn write would show.
pub(crate) fn new_content() -> Vec<u8> {
    b"new content\n".repeat(1000)
}

/// How the part ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Done = 0,
    Failed = 40,
    AlreadyExists = 41,
    OutOfSpace = 42,
    OutcomeUnknown = 43,
    Exhausted = 44,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    CreateNew,
    Replace,
    /// Holds the lock until it is killed.
    Hold,
    /// The same, with a child that outlives it.
    HoldWithChild,
    Contend,
    /// Makes one of everything under a umask that forbids nothing.
    MakeUnderOpenUmask,
    Watch,
}

impl Part {
    const ALL: [Self; 7] = [
        Self::CreateNew,
        Self::Replace,
        Self::Hold,
        Self::HoldWithChild,
        Self::Contend,
        Self::MakeUnderOpenUmask,
        Self::Watch,
    ];

    /// The arguments and variables that make this binary play the part in `place`.
    pub(crate) fn command(self, place: &Path) -> Command {
        self.command_under(&[], place)
    }

    /// The same, started by `wrapper`.
    pub(crate) fn command_under(self, wrapper: &[String], place: &Path) -> Command {
        let binary = std::env::current_exe().unwrap();
        let mut words = wrapper
            .iter()
            .cloned()
            .chain([binary.display().to_string()]);
        let mut command = start(&words.next().unwrap());
        command
            .args(words)
            .args(["--exact", "child::plays_its_part", "--ignored"])
            .args(["--nocapture", "--test-threads=1"])
            // Cargo's is long, and the loader would look for every library in each place.
            .env_remove("LD_LIBRARY_PATH")
            .env(PART, self.to_string())
            .env(PLACE, place)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command
    }

    fn play(self, place: &Path) -> Verdict {
        match self {
            Self::CreateNew => write(place, create_new),
            Self::Replace => write(place, replace),
            Self::Hold => hold(place, None),
            Self::HoldWithChild => hold(place, Some(&mut start("cat"))),
            Self::Contend => contend(place),
            Self::MakeUnderOpenUmask => make_under_open_umask(place),
            Self::Watch => match Watch::on(&place.join(LOCK)) {
                Ok(_) => Verdict::Done,
                Err(WatchError::Exhausted(..)) => Verdict::Exhausted,
                Err(WatchError::Watch(..) | WatchError::Wait(..)) => Verdict::Failed,
            },
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "these tests are about what other processes do and how they die"
)]
fn start(program: &str) -> Command {
    Command::new(program)
}

#[test]
#[ignore = "the part of a second process, started by other tests"]
#[expect(
    clippy::disallowed_methods,
    clippy::exit,
    reason = "the part comes in by the environment and its verdict goes out by the exit code"
)]
fn plays_its_part() {
    let Some(part) = std::env::var_os(PART) else {
        return;
    };
    let place = PathBuf::from(std::env::var_os(PLACE).unwrap());
    let part = Part::ALL
        .into_iter()
        .find(|known| *part == *known.to_string());
    std::process::exit(part.unwrap().play(&place) as i32);
}

/// The words that start a program under `strace` with further `options`.
pub(crate) fn strace(options: impl IntoIterator<Item = String>) -> Vec<String> {
    let words = ["strace", "-f", "-qq", "-o", "/dev/null"].map(str::to_owned);
    words.into_iter().chain(options).collect()
}

/// How often the thread of the operation has made each call of [`make_calls_of_start_up`] before
/// the operation begins.
pub(crate) const CALLS_BEFORE_OPERATION: usize = 30;

/// `strace` counts each kind of call in each thread by itself. This thread makes those that the
/// start of a program makes too, so often that a number beyond them is reached here only.
fn make_calls_of_start_up() {
    for _ in 0..CALLS_BEFORE_OPERATION {
        let null = rustix::fs::openat(CWD, "/dev/null", OFlags::WRONLY, Perm::empty()).unwrap();
        rustix::fs::fstat(&null).unwrap();
        rustix::io::write(&null, b"x").unwrap();
        rustix::rand::getrandom(&mut [0], rustix::rand::GetRandomFlags::empty()).unwrap();
    }
}

fn write(
    place: &Path,
    operation: fn(&Dir, &str, &[u8], Mode) -> Result<(), WriteError>,
) -> Verdict {
    let content = new_content();
    make_calls_of_start_up();
    let written = Dir::open(place).map(|dir| operation(&dir, FILE, &content, Mode::Private));
    match written {
        Ok(Ok(())) => Verdict::Done,
        Ok(Err(WriteError::AlreadyExists(_))) => Verdict::AlreadyExists,
        Ok(Err(error)) if error.is_outcome_unknown() => Verdict::OutcomeUnknown,
        Ok(Err(error)) if error.is_out_of_space() => Verdict::OutOfSpace,
        Err(error) if error.is_out_of_space() => Verdict::OutOfSpace,
        Ok(Err(_)) | Err(_) => Verdict::Failed,
    }
}

fn hold(place: &Path, child: Option<&mut Command>) -> Verdict {
    let lock = Lock::acquire(&place.join(LOCK), "a test's holder").unwrap();
    let child = child.map(|child| child.stdout(Stdio::null()).spawn().unwrap());
    println!("{HOLDING} {}", child.map_or(0, |child| child.id()));
    loop {
        std::thread::park();
        assert!(Lock::is_held(&place.join(LOCK)).unwrap(), "{lock:?}");
    }
}

const HOLDING: &str = "holding";

/// A process that holds the lock, and what it started.
#[derive(Debug)]
pub(crate) struct HoldingProcess {
    process: Child,
    /// The part's own child; it ends when its standard input, which is ours, is closed.
    pub(crate) child: Option<rustix::process::Pid>,
}

impl HoldingProcess {
    /// Returns once the lock is held.
    pub(crate) fn start(part: Part, place: &Path) -> Self {
        let mut process = part.command(place).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let child = output
            .lines()
            .find_map(|line| Some(line.unwrap().split_once(HOLDING)?.1.trim().parse().unwrap()))
            .unwrap();
        Self {
            process,
            child: rustix::process::Pid::from_raw(child),
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Returns once it is dead. Its standard input stays open.
    pub(crate) fn kill(&mut self) {
        let input = self.process.stdin.take();
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.process.stdin = input;
    }
}

impl Drop for HoldingProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

fn contend(place: &Path) -> Verdict {
    let inside = place.join("inside");
    for _ in 0..CONTENDER_ROUNDS {
        let lock = Lock::acquire(&place.join(LOCK), "a contender").unwrap();
        if std::fs::File::create_new(&inside).is_err() {
            return Verdict::AlreadyExists;
        }
        std::thread::yield_now();
        std::fs::remove_file(&inside).unwrap();
        lock.release();
    }
    Verdict::Done
}

fn make_under_open_umask(place: &Path) -> Verdict {
    rustix::process::umask(rustix::fs::Mode::empty());
    let dir = Dir::create_private(&place.join("a/b/c")).unwrap();
    create_new(&dir, "created", b"", Mode::Private).unwrap();
    replace(&dir, "replaced", b"", Mode::default()).unwrap();
    create_new(&dir, "program", b"", Mode::PrivateProgram).unwrap();
    replace(&dir, "shared", b"", Mode::Shared).unwrap();
    dir.open_beneath("appended", Access::Append).unwrap();
    Lock::acquire(&dir.path().join(LOCK), "").unwrap().release();
    Verdict::Done
}

/// What an exit status says, or the signal that ended the process.
pub(crate) fn verdict(status: ExitStatus) -> Result<Verdict, Option<i32>> {
    use std::os::unix::process::ExitStatusExt;
    let verdicts = [
        Verdict::Done,
        Verdict::Failed,
        Verdict::AlreadyExists,
        Verdict::OutOfSpace,
        Verdict::OutcomeUnknown,
        Verdict::Exhausted,
    ];
    let Some(code) = status.code() else {
        return Err(status.signal());
    };
    Ok(verdicts
        .into_iter()
        .find(|verdict| *verdict as i32 == code)
        .unwrap_or_else(|| panic!("the part ended with {status}")))
}
