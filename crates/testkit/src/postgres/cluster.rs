//! A PostgreSQL server of our own: private directory, unix socket only, gone with its owner.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use tempfile::TempDir;

use super::installation::{Installation, ServerUser, die_with_parent};
use crate::{ambient, other_uid};

/// Generous: a loaded machine takes seconds, a broken server ends at once.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Whether a server waits for its disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disk {
    /// As PostgreSQL does by default: for figures, and for tests of crashes.
    Synced,
    /// What is lost is lost with the machine, and then nobody asks any more. The tests of a busy machine wait for its disk
    /// longer than for anything else, most of all when a database is dropped.
    Unsynced,
}

/// A running server, stopped and removed on drop.
///
/// What `initdb` writes is never synced: the data lives as long as the server.
#[derive(Debug)]
pub struct Cluster {
    server: Child,
    log: Option<JoinHandle<io::Result<()>>>,
    installation: Installation,
    user: ServerUser,
    directory: TempDir,
}

impl Cluster {
    /// Creates a cluster and waits until it takes connections.
    ///
    /// The server ends with the thread that calls this, even when that is killed. So call it from
    /// a thread that lives as long as the cluster is needed.
    ///
    /// # Errors
    /// When PostgreSQL is not installed, or fails to start; the message has its log.
    pub fn start(disk: Disk) -> io::Result<Self> {
        let not_found = |what| io::Error::new(io::ErrorKind::NotFound, what);
        let installation =
            Installation::find().ok_or_else(|| not_found("PostgreSQL is not installed"))?;
        let user = ServerUser::choose()
            .ok_or_else(|| not_found("there is neither a user `postgres` nor a user `nobody`"))?;
        // Not the temporary directory of the environment: socket paths end at 107 bytes.
        let directory = tempfile::Builder::new()
            .prefix("handoff-pg-")
            .tempdir_in("/tmp")?;
        if let ServerUser::Other { uid, gid } = user {
            other_uid::chown_all(directory.path(), uid, gid)?;
        }
        initialise(&installation, user, directory.path())?;

        let mut server = start_server(&installation, user, directory.path(), disk)?;
        let stderr = server.stderr.take().expect("stderr is piped");
        let (ready_sender, ready) = mpsc::channel();
        let log_path = directory.path().join("log");
        let log = std::thread::spawn(move || keep_log(stderr, &log_path, &ready_sender));

        // From here on a failure drops the cluster, which stops the server.
        let cluster = Self {
            server,
            log: Some(log),
            installation,
            user,
            directory,
        };
        if ready.recv_timeout(START_TIMEOUT).is_err() {
            let log = std::fs::read_to_string(cluster.directory.path().join("log"))?;
            return Err(io::Error::other(format!(
                "PostgreSQL does not start:\n{log}"
            )));
        }
        Ok(cluster)
    }

    /// The URL of the database `postgres`, for the variable of the test run.
    #[must_use]
    pub fn url(&self) -> String {
        format!(
            "postgres:///postgres?host={}&user=postgres",
            self.directory.path().display()
        )
    }

    /// The server's main process, for tests that kill it.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.server.id()
    }

    fn stop(&mut self) -> io::Result<()> {
        let pg_ctl = self.installation.program("pg_ctl");
        let mut command = as_user(self.user, &pg_ctl, self.directory.path());
        let stopped =
            ambient::run(command.args(["stop", "--silent", "--mode=immediate", "--pgdata=data"]));
        // A server that never came up, or died, has no pid file: then it is our child to end.
        if stopped.is_err() {
            self.server.kill()?;
        }
        self.server.wait()?;
        self.log.take().map_or(Ok(()), |log| {
            log.join().expect("copying lines does not panic")
        })
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            ambient::say(&format!("cannot stop PostgreSQL: {error}"));
        }
    }
}

fn initialise(installation: &Installation, user: ServerUser, directory: &Path) -> io::Result<()> {
    let mut initdb = as_user(user, &installation.program("initdb"), directory);
    initdb.args(["--no-sync", "--auth=trust", "--username=postgres"]);
    initdb.args(["--encoding=UTF8", "--locale=C.UTF-8", "--pgdata=data"]);
    ambient::run(&mut initdb).map(drop)
}

fn start_server(
    installation: &Installation,
    user: ServerUser,
    directory: &Path,
    disk: Disk,
) -> io::Result<Child> {
    let prefix = user.prefix().around(die_with_parent());
    let mut command = prefix.command(installation.program("postgres"));
    command
        .current_dir(directory)
        .args(["-D", "data", "-c", "listen_addresses="])
        // A hundred who race have one connection each, beside those of whoever looks on.
        .args(["-c", "max_connections=200"]);
    command
        .arg("-c")
        .arg(format!("unix_socket_directories={}", directory.display()));
    match disk {
        Disk::Synced => {}
        Disk::Unsynced => drop(command.args(["-c", "fsync=off", "-c", "full_page_writes=off"])),
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
}

fn as_user(user: ServerUser, program: &PathBuf, directory: &Path) -> Command {
    let mut command = user.prefix().command(program);
    // The user may not be allowed to be where we are.
    command.current_dir(directory);
    command
}

/// Copies the server's log into a file for as long as it runs, and tells when it is ready. A
/// server that ends before drops the sender, which ends the wait as well.
fn keep_log(stderr: ChildStderr, path: &Path, ready: &mpsc::Sender<()>) -> io::Result<()> {
    let mut file = File::create(path)?;
    for line in BufReader::new(stderr).lines() {
        let line = line?;
        writeln!(file, "{line}")?;
        if line.contains("database system is ready to accept connections") {
            // Nobody waits any more once the start has timed out.
            ready.send(()).ok();
        }
    }
    Ok(())
}
