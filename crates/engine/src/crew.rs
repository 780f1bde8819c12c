//! A crew: one who looks for work and several hands that take it down the road, each in a thread with a workshop of its own.
//!
//! The one who looks claims and hands out; so nobody claims for nothing, and the limits are kept in one place. It sleeps until
//! the ledger changes, another worker comes or dies, or a hand is done. Dying is safe at any moment: what a hand was at is
//! taken over by the next worker, and its agents do not notice.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use handoff_core::{Cursor, Task, TaskId};
use handoff_files::{Dir, Lock, Watch};
use handoff_store::{StoreError, events, read};

use crate::adoption::adoptable;
use crate::error::EngineError;
use crate::reconcile::{self, Repaired};
use crate::road::{Walk, Walked};
use crate::workshop::Workshop;

/// Leases run out and locks fall free without a word: so often all of it is looked at anyway.
const ROUND: Duration = Duration::from_secs(30);
/// The kernel tells that a lock file was closed a moment before it lets go of the lock.
const A_MOMENT: Duration = Duration::from_millis(100);

/// Where hands find what they need.
pub trait Site: Send + Sync + 'static {
    /// What can go wrong there.
    type Error: Send + 'static;

    /// Takes a task to its end, with a workshop of its own.
    fn walk(&self, walk: Walk) -> Result<Walked, Self::Error>;

    /// Calls `heard` whenever the ledger may have changed, until that says that nobody listens any more.
    fn listen(&self, heard: &mut dyn FnMut() -> bool) -> Result<(), Self::Error>;
}

/// How long a crew works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    /// One task, then it goes home.
    Once,
    /// Until nothing is ready and nothing runs.
    UntilEmpty,
    /// Until it is ended.
    Always,
}

/// What a crew has to tell.
#[derive(Debug)]
pub enum News<E> {
    /// Something was put right.
    Repaired(Repaired),
    /// A hand begins with a task.
    Begun(Box<Task>),
    /// A hand goes on with what a dead worker had begun.
    TakenOver(Box<Task>),
    /// A hand is done.
    Ended(Walked),
    /// A hand had to give up; the task is back in the queue.
    GivenUp(E),
    /// Nothing is ready.
    Idle,
}

/// A crew.
pub struct Crew<S: Site> {
    site: Arc<S>,
    slots: usize,
    shift: Shift,
    hands: BTreeSet<TaskId>,
    door: Receiver<Knock<S::Error>>,
    bell: Sender<Knock<S::Error>>,
    /// The newest event when nothing was ready.
    seen: Option<Cursor>,
    patience: Duration,
    is_idle: bool,
}

enum Knock<E> {
    /// The ledger may have changed.
    Ledger,
    /// Another worker came or died.
    Worker,
    /// A hand is done with a task.
    Hand(TaskId, Result<Walked, E>),
}

impl<S: Site> Crew<S> {
    /// A crew of so many hands.
    pub fn new(site: S, slots: usize, shift: Shift) -> Self {
        let (bell, door) = channel();
        Self {
            site: Arc::new(site),
            slots,
            shift,
            hands: BTreeSet::new(),
            door,
            bell,
            seen: None,
            patience: ROUND,
            is_idle: false,
        }
    }

    /// Works until the shift is over, and tells what happens.
    pub fn work(
        mut self,
        workshop: &mut Workshop<'_>,
        mut tell: impl FnMut(News<S::Error>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let _signed_in = sign_in(workshop)?;
        self.listen_to_ledger();
        self.listen_to_workers(workshop)?;
        self.repair(workshop, &mut tell)?;
        let mut began = 0;
        loop {
            began += self.hand_out(workshop, began, &mut tell)?;
            let was_idle = std::mem::replace(&mut self.is_idle, self.hands.is_empty());
            match self.shift {
                Shift::Once | Shift::UntilEmpty if self.is_idle => return Ok(()),
                Shift::Always if self.is_idle && !was_idle => tell(News::Idle)?,
                Shift::Once | Shift::UntilEmpty | Shift::Always => {}
            }
            self.wait(workshop, &mut tell)?;
        }
    }

    /// Gives every free hand something to do, and says how many got something.
    fn hand_out(
        &mut self,
        workshop: &mut Workshop<'_>,
        began: usize,
        tell: &mut impl FnMut(News<S::Error>) -> Result<(), EngineError>,
    ) -> Result<usize, EngineError> {
        let mut count = 0;
        // What runs already needs somebody, however many hands are busy.
        for task in adoptable(workshop)? {
            if let Some(walk) = Walk::take_over(workshop, &task)? {
                tell(News::TakenOver(Box::new(walk.task().clone())))?;
                self.start(walk);
                count += 1;
            }
        }
        while self.hands.len() < self.slots && self.wants_more(began + count) {
            let newest = read(workshop.store, events::newest)?;
            if self.seen == Some(newest) {
                break;
            }
            match claim(workshop)? {
                Some(walk) => {
                    tell(News::Begun(Box::new(walk.task().clone())))?;
                    self.start(walk);
                    count += 1;
                }
                None => self.seen = Some(newest),
            }
        }
        Ok(count)
    }

    fn wants_more(&self, began: usize) -> bool {
        match self.shift {
            Shift::Once => began == 0,
            Shift::UntilEmpty | Shift::Always => true,
        }
    }

    fn start(&mut self, walk: Walk) {
        let id = walk.task().id;
        self.hands.insert(id);
        let (site, bell) = (Arc::clone(&self.site), self.bell.clone());
        thread::spawn(move || {
            let walked = site.walk(walk);
            // Nobody at the door: the crew has gone home.
            bell.send(Knock::Hand(id, walked)).ok();
        });
    }

    /// Waits for something to happen, and takes in all that has.
    fn wait(
        &mut self,
        workshop: &mut Workshop<'_>,
        tell: &mut impl FnMut(News<S::Error>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        match self.door.recv_timeout(self.patience) {
            Ok(knock) => self.open(knock, tell)?,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                (self.seen, self.patience) = (None, ROUND);
                self.repair(workshop, tell)?;
            }
        }
        while let Ok(knock) = self.door.try_recv() {
            self.open(knock, tell)?;
        }
        Ok(())
    }

    fn open(
        &mut self,
        knock: Knock<S::Error>,
        tell: &mut impl FnMut(News<S::Error>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        match knock {
            Knock::Ledger => Ok(()),
            Knock::Worker => {
                self.patience = A_MOMENT;
                Ok(())
            }
            Knock::Hand(id, walked) => {
                self.hands.remove(&id);
                match walked {
                    Ok(walked) => tell(News::Ended(walked)),
                    Err(error) => tell(News::GivenUp(error)),
                }
            }
        }
    }

    fn repair(
        &self,
        workshop: &mut Workshop<'_>,
        tell: &mut impl FnMut(News<S::Error>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let repaired = reconcile::all(workshop)?;
        if repaired.is_nothing() {
            return Ok(());
        }
        tell(News::Repaired(repaired))
    }

    fn listen_to_ledger(&self) {
        let (site, bell) = (Arc::clone(&self.site), self.bell.clone());
        thread::spawn(move || {
            // If it cannot be heard, the rounds are what is left.
            site.listen(&mut || bell.send(Knock::Ledger).is_ok()).ok();
        });
    }

    fn listen_to_workers(&self, workshop: &Workshop<'_>) -> Result<(), EngineError> {
        let directory = workshop.places.workers(workshop.project);
        let mut watch = Watch::on_directories(&[&directory]).map_err(EngineError::Watch)?;
        let bell = self.bell.clone();
        thread::spawn(
            move || {
                while watch.wait(None).is_ok() && bell.send(Knock::Worker).is_ok() {}
            },
        );
        Ok(())
    }
}

/// Whatever holds the queue, nothing is claimed.
fn claim(workshop: &mut Workshop<'_>) -> Result<Option<Walk>, EngineError> {
    match Walk::claim(workshop) {
        Err(EngineError::Store(StoreError::Held { .. })) => Ok(None),
        claimed => claimed,
    }
}

/// The lock that says that a worker lives. Those of dead ones are cleared away.
fn sign_in(workshop: &Workshop<'_>) -> Result<Lock, EngineError> {
    let directory = workshop.places.workers(workshop.project);
    let dir = Dir::create_private(&directory)?;
    for name in dir.names()? {
        let path = directory.join(name);
        if let Some(free) = Lock::try_acquire(&path, "gone")? {
            std::fs::remove_file(&path).ok();
            drop(free);
        }
    }
    let path = directory.join(format!("{}.lock", handoff_process::mint().simple()));
    Lock::try_acquire(&path, "worker")?.ok_or(EngineError::Taken(path))
}
