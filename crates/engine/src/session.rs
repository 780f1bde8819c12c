//! Attending to the session of an attempt: it is watched, asked for a word if it stops without one, and ended when it has
//! finished. Whoever attends may be another than the one who began it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_agents::Block;
use handoff_core::rest::Setback;
use handoff_core::task::Command;
use handoff_core::{SessionId, Task, Timestamp};
use handoff_files::{Wake, Watch, WatchError};
use handoff_session::journal::{self, Event};
use handoff_session::last_word::LastWord;
use handoff_session::message::{self, Finish, Urgency};
use handoff_session::outcome::Outcome;
use handoff_session::record::Ending;
use handoff_session::state::Phase;
use handoff_session::{Client, Known, Standing, catalogue, place};
use handoff_store::{StoreError, StoreKind};

use crate::adoption::is_bereft;
use crate::attendance::{self, Act, Conclusion, Life, Sight, Tree};
use crate::echo::echo;
use crate::error::EngineError;
use crate::spawn::{Question, Spawn};
use crate::trouble::{self, Stuck};
use crate::workshop::{HEARTBEAT, Workshop};

/// What an agent gets to leave by itself when it has finished.
const GRACE: Duration = Duration::from_secs(5);
/// Changes are told; this is for a holder that died in the moment of looking.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// The shortest pause between two looks.
const LOOK_SOON: Duration = Duration::from_millis(10);
/// The ledger changes with every step of every session of a worker, and hardly ever concerns this one: a right that is gone is
/// seen within this time.
const LEDGER_PAUSE: Duration = Duration::from_millis(200);
/// And this where nothing happened at all.
const LOOK_ANYWAY: Duration = Duration::from_secs(30);

/// What an agent is told that stopped without a word.
const REMINDER: &str = "You have stopped. If your task is done, run `handoff done --summary \"what you did\"`; if you cannot go on \
     without a person, run `handoff block --reason \"what you need\"`; otherwise go on.";

/// Somebody at the side of a session.
pub(crate) struct Attendant<'a> {
    pub(crate) task: &'a Task,
    pub(crate) session: SessionId,
    directory: PathBuf,
    /// Whether a person sits at it, who sees for themselves what it does.
    is_attended: bool,
    reminded: u64,
    is_refused: bool,
    /// The number of the event by which the agent last asked a person.
    asked: u64,
    /// What its terminal showed when it was found in trouble; once it has ended nobody can look there.
    setback: Option<Setback>,
}

impl<'a> Attendant<'a> {
    pub(crate) fn new(workshop: &Workshop<'_>, task: &'a Task, session: SessionId) -> Self {
        Self {
            is_attended: false,
            task,
            session,
            directory: workshop.places.session(session),
            reminded: 0,
            is_refused: false,
            asked: 0,
            setback: None,
        }
    }

    /// Stays until there is something to conclude; then the session has ended.
    pub(crate) fn attend(
        &mut self,
        workshop: &mut Workshop<'_>,
        spawn: &dyn Spawn,
    ) -> Result<Conclusion, EngineError> {
        self.is_attended = spawn.is_attended();
        let mut ear = Ear::of(self.watch(workshop))?;
        let mut beaten = workshop.clock.now().moment.awake;
        loop {
            let known = self.known(workshop)?;
            let heard = hear(&self.directory)?;
            self.pass_on(&heard, spawn);
            let doubt = heard.doubt(workshop.clock.now().wall);
            let sight = self.look(workshop, known.as_ref(), heard)?;
            self.record(workshop, sight.word.as_ref())?;
            let mut patience = LOOK_ANYWAY;
            match attendance::next(&sight) {
                Act::Conclude(conclusion) => return Ok(conclusion),
                Act::Remind => self.remind(known.as_ref()),
                Act::Stop => {
                    stop(known.as_ref());
                    patience = LOOK_AGAIN;
                }
                Act::Wait => patience = self.until_late(&sight).min(doubt),
            }
            ear.wait(patience.min(HEARTBEAT));
            let now = workshop.clock.now().moment.awake;
            if now.since(beaten) >= HEARTBEAT {
                self.beat(workshop)?;
                beaten = now;
            }
        }
    }

    /// A person is told what the agent asks, once for each time that it does.
    fn pass_on(&mut self, heard: &Heard, spawn: &dyn Spawn) {
        let asked = heard.asks.filter(|it| it.number > self.asked);
        if let Some(Asked { number, kind, at }) = asked {
            self.asked = number;
            spawn.tell_question(&Question {
                task: self.task,
                session: self.session,
                kind,
                number,
                at,
            });
        }
    }

    fn until_late(&self, sight: &Sight) -> Duration {
        let left = sight.limit.map(|limit| limit.saturating_sub(sight.worked));
        left.unwrap_or(LOOK_ANYWAY).clamp(LOOK_SOON, LOOK_ANYWAY)
    }

    /// The journal, the lock that ends with the holder, and the ledger where it is a file.
    fn watch(&self, workshop: &Workshop<'_>) -> Result<Watch, EngineError> {
        let watch = Watch::on(&place::holder_lock(&self.directory))
            .and_then(|watch| watch.also_on(&place::journal(&self.directory)))
            .map_err(EngineError::Watch)?;
        match workshop.store.info().kind {
            StoreKind::Postgres => match echo(workshop)? {
                Some(echo) => watch
                    .also_on_bustle(&echo, LEDGER_PAUSE)
                    .map_err(EngineError::Watch),
                None => Ok(watch),
            },
            StoreKind::Sqlite => {
                let bell = handoff_store::sqlite::bell_file(workshop.places.home());
                watch
                    .also_on_bustle(&bell, LEDGER_PAUSE)
                    .map_err(EngineError::Watch)
            }
        }
    }

    fn known(&self, workshop: &Workshop<'_>) -> Result<Option<Known>, EngineError> {
        let places = workshop.places.of_sessions();
        catalogue::by_id(&places, self.session).map_err(EngineError::Session)
    }

    fn look(
        &mut self,
        workshop: &mut Workshop<'_>,
        known: Option<&Known>,
        heard: Heard,
    ) -> Result<Sight, EngineError> {
        self.face(workshop, known, &heard);
        let task = workshop.reload(self.task)?;
        let holds = |lease: &handoff_core::Lease| lease.fence == self.task.fence;
        let now = workshop.clock.now().moment.elapsed;
        let began = known.map(|known| known.record.child.started());
        Ok(Sight {
            life: known.map_or(Life::Lost, life),
            tree: tree(workshop, self.task),
            word: heard.word,
            phase: heard.phase,
            turns: heard.turns,
            outcome: heard.outcome,
            is_stalled: heard.is_stalled,
            is_attended: self.is_attended,
            setback: self.setback.clone(),
            reminded: self.reminded,
            worked: began.map_or(Duration::ZERO, |began| now.since(began)),
            limit: { self.task.spec.limit }
                .filter(|_| !self.is_attended)
                .map(|limit| limit.0),
            is_over: self.is_refused || !task.state.lease().is_some_and(holds),
        })
    }

    /// Trouble that lasts is looked at once. An agent that gets over it was not in trouble.
    fn face(&mut self, workshop: &Workshop<'_>, known: Option<&Known>, heard: &Heard) {
        let now = workshop.clock.now().wall;
        let has_ended = known.is_some_and(|known| known.record.ended.is_some());
        let is_believed = |it: &Stuck| has_ended || it.doubted_for(now).is_zero();
        match heard.stuck.filter(is_believed) {
            None if heard.is_unseen && has_failed(known) => {
                self.setback = trouble::last_words(workshop, &self.directory, known);
            }
            None => self.setback = None,
            Some(_) if self.setback.is_some() => {}
            Some(stuck) => self.setback = Some(stuck.setback(workshop, &self.directory, known)),
        }
    }

    /// The ledger has what the session says as soon as somebody has heard it.
    fn record(
        &self,
        workshop: &mut Workshop<'_>,
        word: Option<&LastWord>,
    ) -> Result<(), EngineError> {
        let Some(LastWord::Done { report }) = word else {
            return Ok(());
        };
        let task = workshop.reload(self.task)?;
        if task.report.is_some() || task.state.lease().is_none() {
            return Ok(());
        }
        let report = Command::Report {
            fence: self.task.fence,
            report: report.clone(),
        };
        workshop.tell(self.task, report, "report")
    }

    /// The same reminder is sent once, whoever attends.
    fn remind(&mut self, known: Option<&Known>) {
        self.reminded += 1;
        let key = format!("{}/remind-{}", self.session, self.reminded);
        let order = message::Order {
            text: REMINDER.to_owned(),
            key: key.parse().expect("an id and a word make a key"),
            finish: Finish::Submit,
            urgency: Urgency::Wait,
            sense: message::TextSense::Words,
            expires_after: None,
        };
        if let Some(known) = known {
            // One that cannot be reached has ended, or will be looked at again.
            Client::new(&known.record.socket).send_message(&order).ok();
        }
    }

    /// Keeps the lease alive where that needs heartbeats. One that is refused has ended.
    fn beat(&mut self, workshop: &mut Workshop<'_>) -> Result<(), EngineError> {
        match workshop.beat(self.task) {
            Err(EngineError::Store(StoreError::Refused { .. })) => {
                self.is_refused = true;
                Ok(())
            }
            beaten => beaten,
        }
    }
}

/// What wakes an attendant.
enum Ear {
    /// The kernel tells of changes.
    Told(Watch),
    /// It has no watches left: time does.
    Deaf,
}

impl Ear {
    fn of(watch: Result<Watch, EngineError>) -> Result<Self, EngineError> {
        match watch {
            Ok(watch) => Ok(Self::Told(watch)),
            Err(EngineError::Watch(WatchError::Exhausted(..))) => Ok(Self::Deaf),
            Err(error) => Err(error),
        }
    }

    /// Whatever wakes us, we look. A watch that fails once, or whose file is gone, may never wake us again.
    fn wait(&mut self, patience: Duration) {
        match self {
            Self::Told(watch) => {
                if matches!(watch.wait(Some(patience)), Ok(Wake::Gone) | Err(_)) {
                    *self = Self::Deaf;
                }
            }
            Self::Deaf => std::thread::park_timeout(patience.min(LOOK_AGAIN)),
        }
    }
}

fn tree(workshop: &Workshop<'_>, task: &Task) -> Tree {
    if is_bereft(workshop, task) {
        Tree::Gone
    } else {
        Tree::There
    }
}

/// Ends a session. If that fails it is tried again after the next look.
fn stop(known: Option<&Known>) {
    if let Some(known) = known.filter(|known| known.standing == Standing::Live) {
        Client::new(&known.record.socket).stop(GRACE).ok();
    }
}

fn life(known: &Known) -> Life {
    match (known.standing, &known.record.ended) {
        (_, Some(ended)) => Life::Ended(ended.exit),
        (Standing::Live, None) => Life::Lives,
        (Standing::Ended | Standing::Lost, None) => Life::Lost,
    }
}

/// Whether its program ended with an error of its own.
fn has_failed(known: Option<&Known>) -> bool {
    let ended = known.and_then(|known| known.record.ended.as_ref());
    ended.is_some_and(|it| matches!(it.exit, Ending::Code(1..)))
}

/// What the journal of a session tells.
struct Heard {
    word: Option<LastWord>,
    phase: Phase,
    turns: u64,
    /// How the last of them ended.
    outcome: Option<Outcome>,
    is_stalled: bool,
    /// Whether nobody saw what its agent did before it ended.
    is_unseen: bool,
    /// What keeps it from working.
    stuck: Option<Stuck>,
    /// What it asks a person.
    asks: Option<Asked>,
}

/// What an agent asks, and the event that says so.
#[derive(Debug, Clone, Copy)]
struct Asked {
    number: u64,
    kind: Block,
    at: Timestamp,
}

impl Heard {
    /// When to look again whether it is in trouble.
    fn doubt(&self, now: Timestamp) -> Duration {
        let doubted = self.stuck.map(|stuck| stuck.doubted_for(now));
        doubted.unwrap_or(LOOK_ANYWAY).max(LOOK_SOON)
    }
}

fn hear(directory: &Path) -> Result<Heard, EngineError> {
    let entries = journal::read(directory).map_err(EngineError::Journal)?;
    let mut heard = Heard {
        word: None,
        phase: Phase::Starting,
        turns: 0,
        outcome: None,
        is_stalled: false,
        is_unseen: true,
        stuck: None,
        asks: None,
    };
    for entry in entries {
        if let Event::StateChanged {
            state,
            kind,
            source,
        } = entry.event
        {
            heard.phase = state;
            // What was answered is no question any more, for whoever comes later.
            heard.asks = heard.asks.filter(|_| state == Phase::Blocked);
            heard.is_unseen &= !matches!(state, Phase::Prompt | Phase::Busy | Phase::Blocked);
            if state != Phase::Exited {
                let block = kind.filter(|block| Stuck::is_about(*block));
                heard.stuck = block.map(|block| Stuck {
                    block,
                    source,
                    since: entry.ts,
                });
            }
        } else if let Event::TurnEnded { outcome, .. } = entry.event {
            heard.turns += 1;
            // Some are back at their prompt as if nothing had been.
            heard.stuck = heard.stuck.or_else(|| Stuck::of(&outcome, entry.ts));
            heard.outcome = Some(outcome);
        } else if let Event::Blocked { kind, .. } = entry.event
            && !Stuck::is_about(kind)
        {
            heard.asks = Some(Asked {
                number: entry.seq,
                kind,
                at: entry.ts,
            });
        } else if let Event::Escalated { .. } = entry.event {
            heard.is_stalled = true;
        } else if let Event::Reported { word } = entry.event {
            heard.word.get_or_insert(word);
        }
    }
    Ok(heard)
}
