//! Being told that something has changed: in the ledger, of a session or a worker of a project, in a directory. Whoever follows
//! something waits here, and looks again when it is told. Only where the kernel has no watches left one looks every two seconds.
//!
//! Order: [`ChangeWaiter::arm`] before the look, [`ChangeWaiter::wait`] after it. What changes in between wakes the wait.

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use handoff_api::ExitCode;
use handoff_core::ProjectId;
use handoff_engine::Places;
use handoff_files::{Dir, Watch, WatchError};
use handoff_session::{catalogue, place};
use handoff_store::{Ring, StoreKind, sqlite};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::failure::Failure;
use crate::project::{Project, project_here};
use crate::workplace::Workplace;

/// What is written in several steps is one change to whoever looks: so long after the first of them the next one is waited for.
const SETTLE: Duration = Duration::from_millis(15);
/// Somebody who never stops writing delays nobody for longer than so many of these.
const SETTLE_ROUNDS: u32 = 3;
/// How often to look where the kernel has no watches left.
const POLL: Duration = Duration::from_secs(2);
/// How long a server's notifications are waited for at a time. A bell that is waited for longer rings now and then by itself.
const LISTEN: Duration = Duration::from_millis(1500);

/// One who is told of changes.
pub struct ChangeWaiter {
    /// None where the repository is no project yet.
    project: Option<ProjectId>,
    places: Places,
    /// The file that each change of an embedded ledger closes.
    ledger: PathBuf,
    server: Option<Listener>,
    watch: Option<Watch>,
}

/// One who listens to the ledger's server.
struct Listener {
    /// What it hears comes here, a byte for each change.
    heard: PipeReader,
    thread: JoinHandle<Result<(), Failure>>,
}

/// Whether there is anything new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    Something,
    /// Nothing in the time that was given.
    Nothing,
}

impl ChangeWaiter {
    /// Of everything in the project that one stands in. A ledger that cannot be opened now keeps nobody from the rest.
    pub fn at(here: &Workplace) -> Result<Self, Failure> {
        let home = here.home()?;
        let mut waiter = Self {
            project: None,
            ledger: sqlite::bell_file(&home),
            places: Places::new(home),
            server: None,
            watch: None,
        };
        waiter.find_project(here);
        Ok(waiter)
    }

    fn find_project(&mut self, here: &Workplace) {
        // Whoever looks says what is wrong with the repository or the ledger; here it is only not heard of.
        self.project = project_here(here).unwrap_or_default();
        if self.project.is_some()
            && let Ok(Some(project)) = Project::peek(here)
            && project.store.info().kind == StoreKind::Postgres
        {
            self.server = listen(here).ok();
        }
    }

    /// From now on, whatever happens wakes the next wait: in the ledger, to sessions and workers, and in these directories. Called before
    /// each look, because sessions come and go.
    pub fn arm(&mut self, directories: &[&Path], here: &Workplace) {
        if self.project.is_none() {
            self.find_project(here);
        }
        // A directory may go just now; until the next look one looks without being told.
        self.watch = self.watch_all(directories).ok();
    }

    fn watch_all(&self, directories: &[&Path]) -> Result<Watch, WatchError> {
        let sessions = self.places.of_sessions();
        let own = self
            .project
            .map(|id| [sessions.names(id), self.places.workers(id)]);
        let own: Vec<PathBuf> = own.into_iter().flatten().collect();
        // Where nothing was ever started there is no directory; it is made so that its first entry is heard of.
        let own = own.iter().filter(|path| Dir::create_private(path).is_ok());
        let given = directories.iter().copied().filter(|path| path.is_dir());
        let all: Vec<&Path> = own.map(PathBuf::as_path).chain(given).collect();
        let watch = Watch::on_directories(&all)?;
        if self.ledger.exists() {
            watch.add(&self.ledger)?;
        }
        let living = self.project.map(|id| catalogue::living(&sessions, id));
        // Who they are is found out again at the next look.
        for known in living.and_then(Result::ok).unwrap_or_default() {
            match watch.add(&place::journal(&known.directory)) {
                // One that went meanwhile is told by the directory of names.
                Ok(()) | Err(WatchError::Watch(..)) => {}
                Err(error @ (WatchError::Exhausted(..) | WatchError::Wait(..))) => {
                    return Err(error);
                }
            }
        }
        Ok(watch)
    }

    /// Waits for news since [`Self::arm`], and until what is written in several steps is whole.
    pub fn wait(&mut self, patience: Option<Duration>) -> Result<News, Failure> {
        if self.listen_for(patience)? == News::Nothing {
            return Ok(News::Nothing);
        }
        for _ in 0..SETTLE_ROUNDS {
            if self.listen_for(Some(SETTLE))? == News::Nothing {
                break;
            }
        }
        Ok(News::Something)
    }

    fn listen_for(&mut self, patience: Option<Duration>) -> Result<News, Failure> {
        let Some(watch) = &mut self.watch else {
            let span = patience.map_or(POLL, |it| it.min(POLL));
            let span = Timespec::try_from(span).ok();
            // Nothing is waited for but the time; whatever cuts it short, one looks.
            poll(&mut [], span.as_ref()).ok();
            return Ok(News::Something);
        };
        let span = patience.and_then(|it| Timespec::try_from(it).ok());
        let (heard_file, heard_server) = {
            let mut sources = vec![PollFd::from_borrowed_fd(watch.as_fd(), PollFlags::IN)];
            sources.extend(
                self.server
                    .as_ref()
                    .map(|it| PollFd::from_borrowed_fd(it.heard.as_fd(), PollFlags::IN)),
            );
            match poll(&mut sources, span.as_ref()) {
                Ok(_) => {}
                Err(Errno::INTR) => return Ok(News::Something),
                Err(errno) => {
                    return Err(Failure::failed("cannot wait for changes").because(&errno));
                }
            }
            let is_ready =
                |source: Option<&PollFd<'_>>| source.is_some_and(|it| !it.revents().is_empty());
            (is_ready(sources.first()), is_ready(sources.get(1)))
        };
        if heard_file {
            // It says what kind of news it is; whatever it is, one looks.
            drop(watch.wait(Some(Duration::ZERO)));
        }
        if heard_server {
            self.hear_server()?;
        }
        Ok(if heard_file || heard_server {
            News::Something
        } else {
            News::Nothing
        })
    }

    /// Takes what the listener has said so far. Nothing at all means that it has given up, which is said once.
    fn hear_server(&mut self) -> Result<(), Failure> {
        let Some(mut server) = self.server.take() else {
            return Ok(());
        };
        let mut said = [0; 64];
        match server.heard.read(&mut said) {
            Ok(0) => match server.thread.join() {
                Ok(ended) => ended,
                Err(_) => Err(Failure::new(
                    ExitCode::Internal,
                    "whoever listened to the ledger's server is gone",
                )),
            },
            Ok(_) => {
                self.server = Some(server);
                Ok(())
            }
            Err(error) => Err(Failure::failed("cannot wait for changes").because(&error)),
        }
    }
}

/// Listens to the ledger's server on a connection of its own, and says a byte for each change, and one when it begins. It ends when nobody
/// reads any more.
fn listen(here: &Workplace) -> io::Result<Listener> {
    let (heard, mut told) = io::pipe()?;
    let ambient = here.ambient.clone();
    let listening = move || -> Result<(), Failure> {
        let mut here = Workplace::new(ambient);
        here.stay();
        let store = here.open_store()?;
        let mut bell = store.bell()?;
        let mut ring = Ring::Rung;
        loop {
            if ring == Ring::Rung && told.write_all(b".").is_err() {
                return Ok(());
            }
            if is_deaf(&told) {
                return Ok(());
            }
            ring = bell.wait(LISTEN)?;
        }
    };
    let thread = thread::Builder::new().name("ledger listener".to_owned());
    let thread = thread.spawn(listening)?;
    Ok(Listener { heard, thread })
}

/// Whether nobody reads what is told.
fn is_deaf(told: &PipeWriter) -> bool {
    let mut end = [PollFd::new(told, PollFlags::OUT)];
    let asked = poll(&mut end, Some(&Timespec::default()));
    asked.is_ok() && end[0].revents().contains(PollFlags::ERR)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use handoff_testkit::TestEnv;

    use super::*;
    use crate::Ambient;

    /// In a repository without a project.
    fn workplace(env: &TestEnv) -> Workplace {
        let environment = [("HANDOFF_HOME".into(), env.handoff_home().into())];
        let cwd = env.repo("repo").path().to_owned();
        Workplace::new(Ambient::new(environment.into(), Some(cwd), None))
    }

    fn is_told(waiter: &mut ChangeWaiter) -> bool {
        // What happened is in the queue already.
        waiter.wait(Some(Duration::ZERO)).unwrap() == News::Something
    }

    #[test]
    fn one_is_told_of_the_ledger_of_sessions_and_of_documents_and_of_nothing_else() {
        let env = TestEnv::without_binary();
        let here = workplace(&env);
        let project = Project::open(&here).unwrap();
        let documents = env.work();
        let mut waiter = ChangeWaiter::at(&here).unwrap();
        let names = waiter.places.of_sessions().names(project.id);
        waiter.arm(&[&documents], &here);
        assert!(!is_told(&mut waiter));
        // A session begins: its name is locked.
        fs::write(names.join("one.lock"), "").unwrap();
        assert!(is_told(&mut waiter));
        assert!(!is_told(&mut waiter));
        fs::write(documents.join("STATE.md"), "").unwrap();
        assert!(is_told(&mut waiter));
        // Whoever changes the ledger closes this file after it.
        fs::write(sqlite::bell_file(&env.handoff_home()), "").unwrap();
        assert!(is_told(&mut waiter));
        fs::write(env.handoff_home().join("other"), "").unwrap();
        assert!(!is_told(&mut waiter));
    }

    #[test]
    fn what_changes_between_the_look_and_the_wait_is_told() {
        let env = TestEnv::without_binary();
        let here = workplace(&env);
        let documents = env.work();
        let mut waiter = ChangeWaiter::at(&here).unwrap();
        waiter.arm(&[&documents, Path::new("/no/such/directory")], &here);
        fs::write(documents.join("STATE.md"), "").unwrap();
        // Without end: it would not come back if it had missed that.
        assert_eq!(waiter.wait(None).unwrap(), News::Something);
    }
}
