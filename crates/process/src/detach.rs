//! Starting a program that outlives us.
//!
//! It leads a session of its own, so that closing our terminal does not reach it. All it shares with us is
//! its standard output, on which it reports once whether it came up.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, kill_process_group, setsid};

use crate::child::group;
use crate::clock;
use crate::launch::{StartError, bare};
use crate::program::Program;

/// A program that will outlive us. Dropping this leaves it alone.
#[derive(Debug)]
pub struct Detached {
    process: std::process::Child,
    report: File,
}

/// What a detached program said of its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// All that it wrote until it closed its standard output.
    Said(Vec<u8>),
    /// Nothing complete in time.
    TimedOut,
}

/// A report is a line or two.
const LONGEST_REPORT: usize = 64 * 1024;

/// Starts a program that outlives us. Its input is empty and its complaints are dropped.
pub fn detach(program: &Program) -> Result<Detached, StartError> {
    let failed = |source| StartError::Start {
        name: program.name.clone(),
        cwd: program.cwd.clone(),
        source,
    };
    let mut process = command(program)?.spawn().map_err(failed)?;
    let stdout = process.stdout.take().expect("standard output is piped");
    Ok(Detached {
        process,
        report: OwnedFd::from(stdout).into(),
    })
}

impl Detached {
    /// Waits for what it says of its start, for at most this long.
    pub fn report(&mut self, timeout: Duration) -> io::Result<Report> {
        let deadline = clock::awake().saturating_add(timeout);
        let mut said = vec![];
        loop {
            let remaining = deadline.saturating_sub(clock::awake());
            let time = Timespec::try_from(remaining).ok();
            let mut fds = [PollFd::new(&self.report, PollFlags::IN)];
            match poll(&mut fds, time.as_ref()) {
                Ok(0) => return Ok(Report::TimedOut),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            let mut buffer = [0; 4096];
            match self.report.read(&mut buffer)? {
                0 => return Ok(Report::Said(said)),
                length if said.len() < LONGEST_REPORT => said.extend_from_slice(&buffer[..length]),
                _ => {}
            }
        }
    }

    /// Ends it after all, with its group: it did not come up.
    pub fn end(mut self) -> io::Result<()> {
        // Unreaped, so the number is still its own.
        kill_process_group(group(self.process.id()), Signal::KILL)?;
        self.process.wait().map(drop)
    }
}

fn command(program: &Program) -> Result<Command, StartError> {
    let mut command = bare(program)?;
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    #[expect(
        unsafe_code,
        reason = "std has no safe way to start a program in a session of its own"
    )]
    // SAFETY: between fork and exec only `setsid` is called, as a plain system call: no allocation, no
    // lock, nothing that another thread may have held at the fork.
    unsafe {
        command.pre_exec(|| Ok(setsid().map(drop)?));
    }
    Ok(command)
}
