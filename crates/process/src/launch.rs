//! Starting a program, bound to the life of its starter.
//!
//! The program gets a process group of its own and exactly what its description says. When the
//! *thread* that started it ends, the kernel kills it, whatever became of us: start and wait on the
//! same thread.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::getpid;

use crate::birth::{Birth, Bond, Stdio, die_with};
use crate::child::{Child, Watch};
use crate::identity::Identity;
use crate::image::Image;
use crate::pipe::Pipe;
use crate::process::Process;
use crate::program::{Program, Stdin};
use crate::sandbox::{Prepared, Sandbox, SandboxError};

/// Reads as empty, and takes everything.
pub(crate) const NOTHING: &str = "/dev/null";

/// A program could not be started. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its input could not be put in place.
    #[error("cannot prepare the input of `{}`", .0.display())]
    Input(OsString, #[source] io::Error),
    /// There is no such program or directory, or it may not be run.
    #[error("cannot start `{}` in `{}`", .name.display(), .cwd.display())]
    Start {
        /// The program.
        name: OsString,
        /// Where it was to start.
        cwd: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// There is no sandbox for it, and without one it must not run.
    #[error("cannot put `{}` into its sandbox", .0.display())]
    Sandbox(OsString, #[source] Box<SandboxError>),
    /// It started, but could not be watched, and was ended.
    #[error("cannot watch `{}`", .0.display())]
    Watch(OsString, #[source] io::Error),
}

impl StartError {
    pub(crate) fn of(program: &Program, source: io::Error) -> Self {
        Self::Start {
            name: program.name.clone(),
            cwd: program.cwd.clone(),
            source,
        }
    }
}

/// Starts a program.
pub fn start(program: &Program) -> Result<Child, StartError> {
    let failed = |error| StartError::of(program, error);
    let stdin = stdin(&program.stdin).map_err(|e| StartError::Input(program.name.clone(), e))?;
    let (our_stdout, stdout) = pipe().map_err(failed)?;
    let (our_stderr, stderr) = pipe().map_err(failed)?;
    let stdio = Stdio::new(stdin, stdout, stderr).map_err(failed)?;
    let process = bear(program, stdio, Bond::Life)?;
    match watch(&process, program, our_stdout, our_stderr) {
        Ok(watch) => Ok(Child::new(process, watch)),
        Err(source) => {
            // A failure here leaves it to the kernel.
            process.kill_group().and_then(|()| process.reap()).ok();
            Err(StartError::Watch(program.name.clone(), source))
        }
    }
}

/// Starts it with these connections. Our copies of them are closed.
pub(crate) fn bear(program: &Program, stdio: Stdio, bond: Bond) -> Result<Process, StartError> {
    let failed = |error| StartError::of(program, error);
    let birth = Birth {
        image: Image::of(program).map_err(failed)?,
        stdio,
        bond,
        sandbox: sandbox(program)?,
    };
    birth.start().map_err(failed)
}

/// Where we read, and where the program prints.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(pipe_with(PipeFlags::CLOEXEC)?)
}

fn sandbox(program: &Program) -> Result<Option<Prepared>, StartError> {
    let prepared = program.sandbox.as_ref().map(Sandbox::prepare).transpose();
    prepared.map_err(|error| StartError::Sandbox(program.name.clone(), Box::new(error)))
}

/// What a program is, whoever starts it and whatever it is connected to.
pub(crate) fn bare(program: &Program) -> Result<Command, StartError> {
    let file = { program.file() }.map_err(|error| StartError::of(program, error))?;
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where programs are started"
    )]
    let mut command = Command::new(file.as_os_str());
    command
        .arg0(&program.name)
        .args(&program.arguments)
        .current_dir(&program.cwd)
        .env_clear()
        .envs(&program.environment);
    if let Some(sandbox) = sandbox(program)? {
        confine(&mut command, sandbox);
    }
    Ok(command)
}

/// Puts the program into a sandbox before it is the program.
fn confine(command: &mut Command, sandbox: Prepared) {
    #[expect(
        unsafe_code,
        reason = "std has no safe way to put a program into a sandbox"
    )]
    // SAFETY: between fork and exec only `prctl` and `landlock_restrict_self` are called, as plain system calls: no
    // allocation, no lock, nothing that another thread may have held at the fork.
    unsafe {
        command.pre_exec(move || sandbox.enter());
    }
}

/// The bytes lie in memory that the program reads as a file: a pipe would need somebody who
/// writes while the program prints.
pub(crate) fn stdin(stdin: &Stdin) -> io::Result<OwnedFd> {
    match stdin {
        Stdin::Empty => Ok(File::open(NOTHING)?.into()),
        Stdin::Bytes(bytes) => {
            let mut file = File::from(memfd_create("stdin", MemfdFlags::CLOEXEC)?);
            file.write_all(bytes)?;
            file.rewind()?;
            Ok(file.into())
        }
        Stdin::File(path) => Ok(File::open(path)?.into()),
    }
}

/// Asks the kernel to kill the program when the thread that starts it ends.
pub(crate) fn die_with_starter(command: &mut Command) {
    let starter = getpid();
    let bind = move || Ok(die_with(starter)?);
    #[expect(
        unsafe_code,
        reason = "std has no safe way to ask for a signal at the parent's death"
    )]
    // SAFETY: between fork and exec only `prctl` and `getppid` are called, both as plain system
    // calls: no allocation, no lock, nothing that another thread may have held at the fork.
    unsafe {
        command.pre_exec(bind);
    }
}

fn watch(
    process: &Process,
    program: &Program,
    stdout: OwnedFd,
    stderr: OwnedFd,
) -> io::Result<Watch> {
    Ok(Watch {
        identity: Identity::read(process.pid)?,
        stdout: Pipe::new(stdout, program.stdout)?,
        stderr: Pipe::new(stderr, program.stderr)?,
    })
}
