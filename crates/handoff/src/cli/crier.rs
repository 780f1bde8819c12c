//! The crier: calls a person by the one command of the user's configuration, with what is needed as JSON on its standard input.
//!
//! It works beside the road and never holds it up. What needs a person is read from the ledger, whoever brought it there; only what
//! an agent asks in its session is told to it. Each occasion is told once, whoever sees it; a command that does not work is tried
//! again by whoever looks later, a few times.

mod mark;
mod summons;

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use handoff_core::{Digest, SessionId, TaskName, Timestamp};
use handoff_engine::{Question, needs};
use handoff_files::Lock;
use handoff_operations::{Failure, Project};
use handoff_process::{Exit, Program, Stdin};
use handoff_session::journal::{self, Event};
use handoff_session::state::Phase;

use self::mark::Marks;
use self::summons::Summons;
use crate::ambient::Invocation;
use crate::context::Context;
use crate::output::{Format, Output, plain};

/// A command that takes longer does something else than telling.
const PATIENCE: Duration = Duration::from_secs(10);
/// So often it looks by itself: what others record, and what could not be told, is seen then.
const ROUND: Duration = Duration::from_secs(60);
/// How soon it looks again when something is left.
const SOON: Duration = Duration::from_secs(1);
/// What is older than this is no news to anybody.
const NEWS: Duration = Duration::from_hours(24);

/// Calls people, if there is a command for it. Copies are the same crier.
#[derive(Clone)]
pub(crate) struct Crier {
    invocation: Invocation,
    door: Option<Sender<Knock>>,
}

enum Knock {
    /// The ledger has something new.
    Look,
    /// An agent asks something.
    Asked(Asked),
    /// Nobody will come any more: what is left is told, and the sender dropped.
    Leave(Sender<()>),
}

/// What an agent asks.
#[derive(Debug, Clone)]
struct Asked {
    task: TaskName,
    task_id: String,
    attempt: u64,
    session: SessionId,
    kind: &'static str,
    number: u64,
    at: Timestamp,
}

impl Crier {
    /// One who stands ready, if the configuration names a command.
    pub(crate) fn hire(ctx: &Context) -> Result<Self, Failure> {
        let command = ctx.config()?.notify.command;
        let invocation = ctx.invocation();
        let door = (!command.is_empty()).then(|| {
            let (door, knocks) = channel();
            let invocation = invocation.clone();
            thread::spawn(move || Rounds::new(command, invocation).walk(&knocks));
            door
        });
        Ok(Self { invocation, door })
    }

    /// Something may have been recorded that needs a person.
    pub(crate) fn look(&self) {
        self.knock(Knock::Look);
    }

    /// An agent asks something: that is said here too, because nothing else shows it.
    pub(crate) fn ask(&self, question: &Question<'_>) {
        let asked = Asked::from(question);
        Output::new(&self.invocation, Format::Text)
            .interject(&asked.line())
            .ok();
        self.knock(Knock::Asked(asked));
    }

    /// Waits until everything is told, as far as that is possible soon.
    pub(crate) fn dismiss(&self) {
        let (done, waits) = channel();
        self.knock(Knock::Leave(done));
        // Nothing is ever sent: it ends when nobody is left to wait for. A look takes two calls' time at most, and it may be in one.
        waits.recv_timeout(PATIENCE * 4).ok();
    }

    fn knock(&self, knock: Knock) {
        if let Some(door) = &self.door {
            // One who is gone had to say so.
            door.send(knock).ok();
        }
    }
}

impl From<&Question<'_>> for Asked {
    fn from(question: &Question<'_>) -> Self {
        let task = question.task;
        Self {
            task: task.spec.name.clone(),
            task_id: task.id.to_string(),
            attempt: task.fence.number(),
            session: question.session,
            kind: question.kind.word(),
            number: question.number,
            at: question.at,
        }
    }
}

impl Asked {
    fn line(&self) -> String {
        let Self {
            task,
            kind,
            session,
            ..
        } = self;
        format!(
            "{task}: its agent waits for a person ({kind}): `handoff answer --id {session}` shows what it asks, `handoff attach --id {session}` \
             its terminal"
        )
    }

    /// Whether nobody has answered it yet, as the journal of its session tells. Not knowing is no reason to say nothing.
    fn is_open(&self, directory: &Path) -> bool {
        let entries = journal::read(directory).unwrap_or_default();
        let mut later = entries.iter().filter(|it| it.seq > self.number);
        !later.any(
            |it| matches!(&it.event, Event::StateChanged { state, .. } if *state != Phase::Blocked),
        )
    }

    fn occasion(&self) -> String {
        format!("{}/{}", self.session, self.number)
    }
}

/// What a crier goes round with.
struct Rounds {
    command: Vec<String>,
    ctx: Context,
    /// Questions that may still have to be told.
    asked: Vec<Asked>,
    has_complained: bool,
}

/// How far a look came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looked {
    /// Everything was told, or is to be tried later.
    Wholly,
    /// Somebody else is telling, or it took too long.
    InPart,
}

impl Rounds {
    fn new(command: Vec<String>, invocation: Invocation) -> Self {
        Self {
            command,
            ctx: Context::quiet(invocation),
            asked: vec![],
            has_complained: false,
        }
    }

    fn walk(mut self, knocks: &Receiver<Knock>) {
        let mut patience = ROUND;
        let mut leaving = None;
        loop {
            let first = knocks.recv_timeout(patience);
            if matches!(first, Err(RecvTimeoutError::Disconnected)) {
                return;
            }
            for knock in first.into_iter().chain(knocks.try_iter()) {
                match knock {
                    Knock::Look => {}
                    Knock::Asked(asked) => self.asked.push(asked),
                    Knock::Leave(done) => leaving = Some(done),
                }
            }
            let looked = self.look().unwrap_or_else(|failure| {
                self.complain(&failure);
                Looked::Wholly
            });
            // What somebody else is telling may not be all that there is: whoever waits for us waits for that too.
            if leaving.is_some() && looked == Looked::Wholly {
                return;
            }
            patience = match looked {
                Looked::Wholly => ROUND,
                Looked::InPart => SOON,
            };
        }
    }

    /// Tells what was not told yet. What does not fit into the time of one call is told in the next look.
    fn look(&mut self) -> Result<Looked, Failure> {
        let Some(mut desk) = Project::peek(&self.ctx)? else {
            return Ok(Looked::Wholly);
        };
        let marks = Marks::open(&self.ctx.home()?, desk.id)?;
        let Some(lock) = marks.lock()? else {
            return Ok(Looked::InPart);
        };
        let clock = self.ctx.clock()?;
        let since = clock.now().wall.saturating_sub(NEWS).unwrap_or_default();
        marks.clear(clock.now().wall);
        let deadline = clock.now().moment.awake.after(PATIENCE);
        let mut found: Vec<_> = needs::needs(&mut *desk.store, desk.id, since)?
            .iter()
            .map(|need| Summons::of_need(need, &desk))
            .collect();
        let places = handoff_session::Places::new(self.ctx.home()?);
        self.asked
            .retain(|it| it.at >= since && it.is_open(&places.session(it.session)));
        found.extend(self.asked.iter().map(|it| Summons::of_question(it, &desk)));
        for summons in found {
            let left = deadline.since(clock.now().moment.awake);
            if left.is_zero() {
                return Ok(Looked::InPart);
            }
            self.tell(summons, &marks, &lock)?;
        }
        Ok(Looked::Wholly)
    }

    /// Tells one thing, if it is due. That it is tried is on record before: whoever dies over it has been counted.
    fn tell(&mut self, summons: Summons, marks: &Marks, held: &Lock) -> Result<(), Failure> {
        let now = self.ctx.clock()?.now().wall;
        let command = Digest::of(self.command.join("\0").as_bytes()).to_string();
        let Some(mark) = marks.due(&summons.occasion, &command, now) else {
            return Ok(());
        };
        marks.write(&summons.occasion, &mark, held)?;
        let occasion = summons.occasion.clone();
        match self.run(summons) {
            Ok(()) => marks.write(&occasion, &mark.told(), held),
            Err(failure) => {
                self.complain(&failure);
                Ok(())
            }
        }
    }

    fn run(&self, summons: Summons) -> Result<(), Failure> {
        let (name, arguments) = self.command.split_first().expect("it is hired for one");
        let mut text =
            serde_json::to_vec(&summons.document(&self.ctx)).expect("it has only text as keys");
        text.push(b'\n');
        let mut program = Program::new(name, self.ctx.home()?).with_arguments(arguments);
        program.environment = self.ctx.ambient.environment.clone();
        program.stdin = Stdin::Bytes(text);
        let cannot = || Failure::failed(format!("the notify command `{name}` does not work"));
        let ended = handoff_process::output(&program, Some(PATIENCE))
            .map_err(|error| cannot().because(&error))?;
        let why = match ended.exit {
            Exit::Code(0) => return Ok(()),
            Exit::Code(code) => format!("it exited with {code}"),
            Exit::Signal(signal) => format!("signal {signal} ended it"),
            Exit::TimedOut => format!(
                "it took longer than {} s, and was ended",
                PATIENCE.as_secs()
            ),
        };
        Err(Failure {
            causes: vec![why],
            ..cannot()
        })
    }

    /// Once is enough: `doctor` has the rest.
    fn complain(&mut self, failure: &Failure) {
        if std::mem::replace(&mut self.has_complained, true) {
            return;
        }
        let causes: String = { failure.causes.iter() }
            .map(|it| format!(": {it}"))
            .collect();
        let text = format!(
            "You cannot be called: {}{causes}. It is tried again later.",
            failure.message
        );
        Output::new(&self.ctx.invocation(), Format::Text)
            .interject(&plain(&text))
            .ok();
    }
}
