//! A program with everything that it starts, wherever that goes: it can be killed as a whole, in one moment.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result};
use handoff_testkit::Prefix;
use rustix::process::{Pid, Signal, kill_process};

use handoff_chores::processor_time::pause;

/// Between two looks.
const MOMENT: Duration = Duration::from_millis(2);

/// The first process of a namespace: the kernel kills all others when it ends.
pub(super) struct World {
    /// Ends when nothing is left inside.
    keeper: Child,
}

impl World {
    /// The words in front of the program. The shell collects what others leave.
    pub(super) fn prefix() -> Prefix {
        let inner = r#""$0" "$@""#;
        Prefix::of([
            "unshare",
            "--pid",
            "--fork",
            "--mount-proc",
            "--kill-child",
            "--",
        ])
        .around(Prefix::of(["sh", "-c", inner]))
    }

    pub(super) fn begin(mut command: Command, input: Stdio) -> Result<Self> {
        command
            .stdin(input)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let keeper = command.spawn().context("cannot begin")?;
        Ok(Self { keeper })
    }

    pub(super) fn is_alive(&mut self) -> Result<bool> {
        Ok(self.keeper.try_wait()?.is_none())
    }

    /// Lets it be for a while; says whether it still lives then.
    pub(super) fn lives_for(&mut self, span: Duration) -> Result<bool> {
        let mut waited = Duration::ZERO;
        while waited < span {
            if !self.is_alive()? {
                return Ok(false);
            }
            pause(MOMENT);
            waited += MOMENT;
        }
        self.is_alive()
    }

    /// Kills all of it, and returns when it is gone.
    pub(super) fn kill(&mut self) -> Result<()> {
        let keeper = self.keeper.id();
        let children = format!("/proc/{keeper}/task/{keeper}/children");
        let first = std::fs::read_to_string(children).unwrap_or_default();
        match first.split_whitespace().next() {
            Some(first) => {
                let first = Pid::from_raw(first.parse()?).context("a process has a number")?;
                // It may have ended by itself just now.
                kill_process(first, Signal::KILL).ok();
            }
            // It has not even forked.
            None => self.keeper.kill().context("cannot kill")?,
        }
        self.wait()
    }

    /// Waits until nothing of it is left.
    pub(super) fn wait(&mut self) -> Result<()> {
        self.keeper.wait().context("cannot wait")?;
        Ok(())
    }
}
