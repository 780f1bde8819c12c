//! Starting a program that outlives us.
//!
//! It leads a session of its own, so that closing our terminal does not reach it. All it shares with us is
//! its standard output, on which it reports once whether it came up.

use std::fs::File;
use std::io::{self, Read as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::birth::{Bond, Stdio};
use crate::clock;
use crate::launch::{NOTHING, StartError, bear, pipe};
use crate::process::Process;
use crate::program::Program;

/// A program that will outlive us. Dropping this leaves it alone.
#[derive(Debug)]
pub struct Detached {
    process: Arc<Process>,
    report: File,
}

/// Those that were started here. One that ends before us stays in the kernel's table until we ask how it ended: whoever starts
/// the next one does that for all that were left alone.
static STARTED: Mutex<Vec<Arc<Process>>> = Mutex::new(vec![]);

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
    let connected = connect().map_err(|error| StartError::of(program, error));
    let (report, stdio) = connected?;
    let process = Arc::new(bear(program, stdio, Bond::Nothing)?);
    // Nobody leaves it half changed.
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    // One that somebody still holds on to is theirs to end.
    started.retain(|it| Arc::strong_count(it) > 1 || !it.bury());
    started.push(Arc::clone(&process));
    Ok(Detached { process, report })
}

/// Where we read its report, and what it is connected to.
fn connect() -> io::Result<(File, Stdio)> {
    let nothing = File::options().read(true).write(true).open(NOTHING)?;
    let (report, stdout) = pipe()?;
    let stdio = Stdio::new(nothing.try_clone()?.into(), stdout, nothing.into())?;
    Ok((report.into(), stdio))
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
    pub fn end(self) -> io::Result<()> {
        self.process.kill_group()?;
        self.process.reap().map(drop)
    }
}
