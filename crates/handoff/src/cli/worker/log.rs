//! What a worker in the background prints: `$HANDOFF_HOME/logs/<project>/<worker>.log`, kept small, and until the next one begins.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use handoff_core::ProjectId;
use handoff_engine::Places;
use handoff_files::{Dir, Lock};
use handoff_operations::Failure;

/// A worker that tells more than this has told it long ago.
const LONGEST: u64 = 1024 * 1024;

/// Between its first line and its lock a worker takes less than this.
const SIGNING_IN_TAKES: Duration = Duration::from_secs(10);

/// A log that is written to.
pub(super) struct Log {
    file: File,
}

impl Log {
    /// Opens it. Those of dead workers go.
    pub(super) fn open(path: &Path, project: ProjectId, home: &Path) -> Result<Self, Failure> {
        let cannot = || Failure::failed("cannot write a log");
        let directory = path.parent().ok_or_else(cannot)?;
        let dir = Dir::create_private(directory).map_err(|error| cannot().because(&error))?;
        let workers = Places::new(home.to_owned()).workers(project);
        for name in dir.names().unwrap_or_default() {
            let lock = workers.join(&name).with_extension("lock");
            let written = fs::metadata(directory.join(&name)).and_then(|it| it.modified());
            // One that has just begun is about to sign in. Not knowing is no reason to remove anything.
            let is_old = written.is_ok_and(|it| it.elapsed().is_ok_and(|it| it > SIGNING_IN_TAKES));
            if is_old && !Lock::is_held(&lock).unwrap_or(true) {
                dir.remove(&name).ok();
            }
        }
        let options = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path);
        let file = options.map_err(|error| cannot().because(&error))?;
        Ok(Self { file })
    }

    /// Makes it what this process prints.
    pub(super) fn take_over(&self) -> Result<(), Failure> {
        let printed = rustix::stdio::dup2_stdout(&self.file)
            .and_then(|()| rustix::stdio::dup2_stderr(&self.file))
            .map_err(std::io::Error::from);
        printed.map_err(|error| Failure::failed("cannot write a log").because(&error))
    }

    /// Begins anew when it has become long. What cannot be cut now is cut later.
    pub(super) fn keep_short(&mut self) {
        let is_long = self.file.metadata().is_ok_and(|it| it.len() > LONGEST);
        if is_long && self.file.set_len(0).is_ok() {
            self.file
                .write_all(b"(what was here before was cut)\n")
                .ok();
        }
    }
}
