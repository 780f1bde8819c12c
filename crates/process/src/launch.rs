//! Starting a program, bound to the life of its starter.
//!
//! The program gets a process group of its own and exactly what its description says. When the
//! *thread* that started it ends, the kernel kills it, whatever became of us: start and wait on the
//! same thread.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use rustix::process::{
    PidfdFlags, Signal, getpid, getppid, pidfd_open, set_parent_process_death_signal,
};

use crate::child::{Child, Watch, group};
use crate::identity::Identity;
use crate::pipe::Pipe;
use crate::program::{Fate, Program, Stdin};
use crate::sandbox::{Prepared, SandboxError};

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

/// Starts a program.
pub fn start(program: &Program) -> Result<Child, StartError> {
    let mut process = command(program)?
        .spawn()
        .map_err(|source| StartError::Start {
            name: program.name.clone(),
            cwd: program.cwd.clone(),
            source,
        })?;
    match watch(&mut process, program) {
        Ok(watch) => Ok(Child::new(process, watch)),
        Err(source) => {
            // Unreaped, so the number is still its own; a failure here leaves it to the kernel.
            process.kill().and_then(|()| process.wait()).ok();
            Err(StartError::Watch(program.name.clone(), source))
        }
    }
}

/// What a program is, whoever starts it and whatever it is connected to.
pub(crate) fn bare(program: &Program) -> Result<Command, StartError> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where programs are started"
    )]
    let mut command = Command::new(program.file().as_os_str());
    command
        .arg0(&program.name)
        .args(&program.arguments)
        .current_dir(&program.cwd)
        .env_clear()
        .envs(&program.environment);
    if let Some(sandbox) = &program.sandbox {
        let prepared = sandbox.prepare();
        let prepared =
            prepared.map_err(|error| StartError::Sandbox(program.name.clone(), Box::new(error)))?;
        confine(&mut command, prepared);
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

fn command(program: &Program) -> Result<Command, StartError> {
    let mut command = bare(program)?;
    command
        .stdin(stdin(&program.stdin).map_err(|e| StartError::Input(program.name.clone(), e))?)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    match program.fate {
        Fate::Shared => die_with_starter(&mut command),
        Fate::Own => {}
    }
    Ok(command)
}

/// The bytes lie in memory that the program reads as a file: a pipe would need somebody who
/// writes while the program prints.
pub(crate) fn stdin(stdin: &Stdin) -> io::Result<Stdio> {
    match stdin {
        Stdin::Empty => Ok(Stdio::null()),
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
    let bind = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // If the starter died before the line above, nobody would ever send that signal.
        if getppid() == Some(starter) {
            Ok(())
        } else {
            Err(Errno::SRCH.into())
        }
    };
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

fn watch(process: &mut std::process::Child, program: &Program) -> io::Result<Watch> {
    let stdout = process.stdout.take().expect("standard output is piped");
    let stderr = process.stderr.take().expect("standard error is piped");
    Ok(Watch {
        pidfd: pidfd_open(group(process.id()), PidfdFlags::empty())?,
        identity: Identity::read(process.id())?,
        stdout: Pipe::new(stdout.into(), program.stdout)?,
        stderr: Pipe::new(stderr.into(), program.stderr)?,
    })
}
