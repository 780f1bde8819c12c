//! A crew: one who looks for work and several hands that take it down the road, each in a thread with a workshop of its own.
//!
//! The one who looks claims and hands out; so nobody claims for nothing, and the limits are kept in one place. It sleeps until
//! the ledger changes, another worker comes or dies, or a hand is done. Dying is safe at any moment: what a hand was at is
//! taken over by the next worker, and its agents do not notice.

mod hand;
mod listening;
mod stocking;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use handoff_core::time::Nanos;
use handoff_core::{Cursor, Rest, SessionId, Task, TaskName};
use handoff_store::queue::Agents;
use handoff_store::{StoreError, events, read, tasks};

use self::hand::Knock;
use self::listening::{Hearing, Presence};
use self::stocking::Stocking;
use crate::adoption::adoptable;
use crate::error::EngineError;
use crate::reconcile::{self, Repaired};
use crate::road::{Milestone, Walk, Walked};
use crate::rota::{Capacity, Rota, Turn};
use crate::workshop::Workshop;

/// Leases run out and locks fall free without a word: so often all of it is looked at anyway.
const ROUND: Duration = Duration::from_secs(30);
/// The same where the kernel has no watches left to tell of other workers.
const SHORT_ROUND: Duration = Duration::from_secs(2);
/// The kernel tells that a lock file was closed a moment before it lets go of the lock.
const A_MOMENT: Duration = Duration::from_millis(100);

/// The shortest wait.
const AN_INSTANT: Duration = Duration::from_millis(1);

/// Where hands find what they need.
pub trait Site: Send + Sync + 'static {
    /// What can go wrong there.
    type Error: Send + 'static;

    /// Takes a task to its end, with a workshop of its own. `passed` hears how far it has come.
    fn walk(&self, walk: Walk, passed: &mut dyn FnMut(Milestone)) -> Result<(), Self::Error>;

    /// Makes trees ahead, until there are so many.
    fn lay_in(&self, wanted: usize) -> Result<(), Self::Error>;

    /// Removes the trees that were made ahead.
    fn clear_stock(&self) -> Result<(), Self::Error>;

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
    /// A hand begins with a task, in a session.
    Begun(Box<Task>, SessionId),
    /// A hand goes on with what a dead worker had begun.
    TakenOver(Box<Task>, SessionId),
    /// Somebody is at work, and time passes; only for a crew that ticks.
    Passing,
    /// A hand is done.
    Ended(Walked),
    /// A hand had to give up. The lease is still there, and is taken over or given back by the reconcilers.
    GivenUp(TaskName, E),
    /// Nothing is ready; these rests keep something waiting.
    Idle(Vec<Rest>),
    /// The kernel has no watches left: it looks every few seconds instead of being told.
    Deaf,
    /// Somebody told it to stop: it does nothing more, and its agents go on.
    Stopped,
}

/// A crew.
pub struct Crew<S: Site> {
    /// What it signs in as.
    id: String,
    /// That it has. Its hands share it: as long as one of them has a session, the worker lives.
    presence: Option<Arc<Presence>>,
    site: Arc<S>,
    rota: Rota,
    /// How many hands are not done, if only with tidying up.
    hands: usize,
    /// Sessions whose agents are about to begin.
    starting: BTreeSet<SessionId>,
    /// Hands that let those go first. They go on when this is dropped.
    waiting: Vec<Sender<Infallible>>,
    stocking: Stocking,
    shift: Shift,
    door: Receiver<Knock<S::Error>>,
    bell: Sender<Knock<S::Error>>,
    /// The newest event when nothing was ready.
    seen: Option<Cursor>,
    /// How often all of it is looked at anyway.
    round: Duration,
    /// When that is next.
    next_round: Nanos,
    /// Another worker came or died: the next round is soon.
    is_urgent: bool,
    /// How often whoever listens wants to hear that time passes.
    tick: Option<Duration>,
    /// When something may be claimed although nothing has happened.
    due: Option<Nanos>,
    /// What keeps ready tasks waiting, the first to end first.
    rests: Vec<Rest>,
    /// Whether something may run that nobody attends to: another worker died, or a hand of ours gave up.
    may_adopt: bool,
    /// A hand that gave up, until the others rest because of it.
    gave_up: Option<SessionId>,
    is_idle: bool,
}

impl<S: Site> Crew<S> {
    /// A crew that takes on so much.
    pub fn new(site: S, capacity: Capacity, shift: Shift) -> Self {
        let (bell, door) = channel();
        Self {
            id: handoff_process::mint().simple().to_string(),
            presence: None,
            site: Arc::new(site),
            rota: Rota::new(capacity),
            hands: 0,
            starting: BTreeSet::new(),
            waiting: vec![],
            stocking: Stocking::Enough,
            shift,
            door,
            bell,
            seen: None,
            round: ROUND,
            next_round: Nanos(0),
            is_urgent: false,
            tick: None,
            due: None,
            rests: vec![],
            may_adopt: true,
            gave_up: None,
            is_idle: false,
        }
    }

    /// What it signs in as.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Tells so often that time passes, while somebody is at work.
    #[must_use]
    pub fn ticking(self, tick: Option<Duration>) -> Self {
        Self { tick, ..self }
    }

    /// Signs in before it works: from here on it is listed and can be told to stop.
    pub fn signed_in(self, workshop: &Workshop<'_>) -> Result<Self, EngineError> {
        let presence = Some(Arc::new(Presence::sign_in(workshop, &self.id)?));
        Ok(Self { presence, ..self })
    }

    /// Works until the shift is over, and tells what happens.
    pub fn work(
        mut self,
        workshop: &mut Workshop<'_>,
        mut tell: impl FnMut(News<S::Error>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        if self.presence.is_none() {
            self = self.signed_in(workshop)?;
        }
        self.listen_to_ledger(workshop)?;
        if self.listen_to_workers(workshop)? == Hearing::Deaf {
            self.round = SHORT_ROUND;
            tell(News::Deaf)?;
        }
        self.make_round(workshop, &mut tell)?;
        let (mut began, mut was_quiet) = (0, false);
        loop {
            began += self.hand_out(workshop, began, &mut tell)?;
            if self.starting.is_empty() {
                self.waiting.clear();
                self.lay_in(workshop)?;
            }
            let is_quiet = self.is_quiet();
            if is_quiet && !was_quiet {
                // What stays is cleared away by the next worker.
                self.site.clear_stock().ok();
            }
            was_quiet = is_quiet;
            let is_idle = is_quiet && self.stocking != Stocking::UnderWay;
            let was_idle = std::mem::replace(&mut self.is_idle, is_idle);
            if self.is_over() {
                return Ok(());
            }
            if { self.presence.as_ref() }.is_some_and(|it| it.is_to_stop()) {
                return tell(News::Stopped);
            }
            if self.is_idle && !was_idle {
                tell(News::Idle(self.rests.clone()))?;
            }
            self.wait(workshop, &mut tell)?;
        }
    }

    /// Whether nothing is left to do. What rests is left to do, for whoever wants it all done.
    fn is_over(&self) -> bool {
        let is_enough = match self.shift {
            Shift::Once => true,
            Shift::UntilEmpty => self.rests.is_empty(),
            Shift::Always => false,
        };
        self.is_idle && is_enough
    }

    /// Whether nobody works and nobody is about to begin.
    fn is_quiet(&self) -> bool {
        let is_about_to_begin = self.due.is_some() && self.rests.is_empty();
        self.rota.is_empty() && self.hands == 0 && !is_about_to_begin
    }

    /// Gives every free hand something to do, and says how many got something.
    fn hand_out(
        &mut self,
        workshop: &mut Workshop<'_>,
        began: usize,
        tell: &mut impl FnMut(News<S::Error>) -> Result<(), EngineError>,
    ) -> Result<usize, EngineError> {
        let now = workshop.clock.now().moment.awake;
        if let Some(session) = self.gave_up.take() {
            // The end of an id is random.
            let (_, dice) = session.as_uuid().as_u64_pair();
            self.rota
                .give_up(now, u32::try_from(dice >> 32).unwrap_or_default());
        }
        if let Some(left) = self.rota.rest(now) {
            self.due = Some(now.after(left));
            return Ok(0);
        }
        let mut count = self.adopt(workshop, tell)?;
        while self.wants_more(began + count)
            && let Some(walk) = self.claim(workshop)?
        {
            let (task, session) = (Box::new(walk.task().clone()), walk.session());
            let now = workshop.clock.now().moment.awake;
            self.rota.begin(session, &task, now);
            self.starting.insert(session);
            self.stocking.runs_short();
            self.start(walk);
            count += 1;
            // What it waited for has ended, and is told first.
            self.answer_door(tell)?;
            tell(News::Begun(task, session))?;
        }
        Ok(count)
    }

    /// What runs already needs somebody, however many hands are busy.
    fn adopt(
        &mut self,
        workshop: &mut Workshop<'_>,
        tell: &mut impl FnMut(News<S::Error>) -> Result<(), EngineError>,
    ) -> Result<usize, EngineError> {
        if !std::mem::take(&mut self.may_adopt) {
            return Ok(0);
        }
        // Whoever took something over here would give up at once, and be counted.
        workshop.require_repository()?;
        let mut count = 0;
        for task in adoptable(workshop)? {
            if let Some(walk) = Walk::take_over(workshop, &task)? {
                let (task, session) = (Box::new(walk.task().clone()), walk.session());
                self.rota.join(session, &task);
                self.start(walk);
                count += 1;
                tell(News::TakenOver(task, session))?;
            }
        }
        Ok(count)
    }

    /// Something to do for a free hand, if there is room, something is ready, and the last start is long enough ago.
    fn claim(&mut self, workshop: &mut Workshop<'_>) -> Result<Option<Walk>, EngineError> {
        let now = workshop.clock.now().moment.awake;
        let agents = match self.rota.turn(now) {
            Turn::Claim(agents) => agents,
            Turn::After(span) => {
                self.due = Some(now.after(span));
                return Ok(None);
            }
            Turn::Full => return Ok(None),
        };
        let newest = read(workshop.store, events::newest)?;
        if self.seen == Some(newest) {
            return Ok(None);
        }
        (self.due, self.rests) = (None, vec![]);
        let walk = claim(workshop, agents.clone())?;
        if walk.is_some() {
            return Ok(walk);
        }
        self.seen = Some(newest);
        self.see_rests(workshop)?;
        if self.rests.is_empty() {
            // A rest may have ended between the two looks, and nobody rings a bell then.
            return claim(workshop, agents);
        }
        Ok(None)
    }

    /// What rests comes back by itself: nobody rings a bell then.
    fn see_rests(&mut self, workshop: &mut Workshop<'_>) -> Result<(), EngineError> {
        let (project, usual) = (workshop.project, self.rota.usual().cloned());
        let (resting, there) = read(workshop.store, |tx| {
            let resting = tasks::resting(tx, project, usual.as_ref())?;
            Ok((resting, tx.now.moment.elapsed))
        })?;
        self.rests = resting.into_iter().filter_map(|it| it.rest).collect();
        let here = workshop.clock.now().moment.awake;
        let first = self.rests.first();
        self.due = first.map(|rest| here.after(rest.ends.since(there)));
        Ok(())
    }

    fn wants_more(&self, began: usize) -> bool {
        match self.shift {
            Shift::Once => began == 0,
            Shift::UntilEmpty | Shift::Always => true,
        }
    }

    /// Waits for something to happen, and takes in all that has.
    fn wait(
        &mut self,
        workshop: &mut Workshop<'_>,
        tell: &mut impl FnMut(News<S::Error>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let patience = self.patience(workshop.clock.now().moment.awake);
        if let Ok(knock) = self.door.recv_timeout(patience) {
            self.open(knock, tell)?;
        }
        self.answer_door(tell)?;
        let now = workshop.clock.now().moment.awake;
        if std::mem::take(&mut self.is_urgent) {
            self.next_round = self.next_round.min(now.after(A_MOMENT));
        }
        if self.due.is_some_and(|due| due <= now) {
            (self.seen, self.due) = (None, None);
        }
        if self.next_round <= now {
            self.make_round(workshop, tell)?;
        }
        if self.tick.is_some() && !self.rota.is_empty() {
            tell(News::Passing)?;
        }
        Ok(())
    }

    /// Takes in all that has happened, without waiting.
    fn answer_door(
        &mut self,
        tell: &mut impl FnMut(News<S::Error>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        while let Ok(knock) = self.door.try_recv() {
            self.open(knock, tell)?;
        }
        Ok(())
    }

    /// How long nothing has to be done unless somebody knocks.
    fn patience(&self, now: Nanos) -> Duration {
        let round = self.next_round.since(now);
        let due = self.due.map(|due| due.since(now));
        let tick = self.tick.filter(|_| !self.rota.is_empty());
        let first = [due, tick].into_iter().flatten().fold(round, Duration::min);
        first.max(AN_INSTANT)
    }

    /// Looks at all of it, whoever knocks meanwhile: one that is always knocked at would never come to it otherwise.
    fn make_round(
        &mut self,
        workshop: &mut Workshop<'_>,
        tell: &mut impl FnMut(News<S::Error>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        self.repair(workshop, tell)?;
        (self.seen, self.may_adopt) = (None, true);
        self.next_round = workshop.clock.now().moment.awake.after(self.round);
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
                (self.is_urgent, self.may_adopt) = (true, true);
                Ok(())
            }
            Knock::Stocked => {
                self.stocking = Stocking::Enough;
                Ok(())
            }
            Knock::Launched(id) => {
                self.starting.remove(&id);
                Ok(())
            }
            Knock::Vacated(id, waits) => {
                self.rota.vacate(id);
                self.seen = None;
                self.waiting.push(waits);
                Ok(())
            }
            Knock::Arrived(id, walked) => {
                self.make_room(id);
                self.rota.succeed();
                tell(News::Ended(walked))
            }
            Knock::Hand(id, name, done) => {
                self.hands -= 1;
                match done {
                    Ok(()) => Ok(()),
                    Err(error) => {
                        self.make_room(id);
                        (self.may_adopt, self.gave_up) = (true, Some(id));
                        tell(News::GivenUp(name, error))
                    }
                }
            }
        }
    }

    /// What was passed over may have its turn now.
    fn make_room(&mut self, id: SessionId) {
        self.starting.remove(&id);
        self.rota.leave(id);
        self.seen = None;
    }

    fn repair(
        &self,
        workshop: &mut Workshop<'_>,
        tell: &mut impl FnMut(News<S::Error>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        workshop.require_repository()?;
        let repaired = reconcile::all(workshop)?;
        if repaired.is_nothing() {
            return Ok(());
        }
        tell(News::Repaired(repaired))
    }
}

/// Whatever holds the queue, nothing is claimed.
fn claim(workshop: &mut Workshop<'_>, agents: Agents) -> Result<Option<Walk>, EngineError> {
    match Walk::claim(workshop, agents) {
        Err(EngineError::Store(StoreError::Held { .. })) => Ok(None),
        claimed => claimed,
    }
}
