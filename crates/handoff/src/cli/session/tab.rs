//! `handoff tab-agent`: stands in a session for an agent that lives in a tab of an editor, where nobody can hold it.
//!
//! It opens the tab and waits for a sign: `handoff heartbeat --task` from there, or `handoff done --task`. A tab that gives none in
//! time was not opened, or nobody is in it; one that falls silent is taken for gone. In both cases the task is put off, as after any
//! trouble that is not its own. What the tab says last is passed on as the session's own word; from there on everything is as with
//! any agent: the work is in the session's worktree, and the tool judges it.

mod answer;
mod mark;

use std::time::Duration;

use handoff_api::ExitCode;
use handoff_core::time::{Clock, Nanos};
use handoff_files::Watch;
use handoff_operations::opener::{Opened, Subject};
use handoff_operations::{Failure, Span};
use handoff_session::environment;

pub(in crate::cli) use self::answer::Tab;
use self::mark::Marks;
use super::own_holder::OwnHolder;
use crate::context::Context;
use crate::output::plain;

/// How long a tab may take to answer when nobody says otherwise.
const ANSWER_TAKES: Duration = Duration::from_secs(120);
/// How long one that has answered may be silent.
const SILENCE: Duration = Duration::from_secs(15 * 60);
/// As agents tell their state.
const BUSY: &str = "\u{1b}]7501;state=busy\u{7}";
const IN_TROUBLE: &str = "\u{1b}]7501;state=blocked:kind=error\u{7}";

/// What is known of a tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sight {
    /// How long ago it was opened.
    opened: Duration,
    /// How long it may take to answer.
    timeout: Duration,
    /// How long ago it last gave a sign.
    beat: Option<Duration>,
}

/// Why a tab is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Silence {
    Never,
    Since,
}

impl Sight {
    /// How long to wait for the next sign.
    fn patience(self) -> Result<Duration, Silence> {
        let (left, silence) = match self.beat {
            None => (self.timeout.checked_sub(self.opened), Silence::Never),
            Some(beat) => (SILENCE.checked_sub(beat), Silence::Since),
        };
        left.filter(|it| !it.is_zero()).ok_or(silence)
    }
}

pub(super) fn run(ctx: &mut Context) -> Result<ExitCode, Failure> {
    match attend(ctx) {
        Ok(()) => Ok(ExitCode::Done),
        Err(failure) => {
            // The last thing that is seen of it: whoever attends to the session records it as the reason.
            let text = [&[failure.message][..], &failure.causes]
                .concat()
                .join(": ");
            ctx.out.line(plain(&format!("error: {text}")))?;
            ctx.out.line(IN_TROUBLE)?;
            Ok(ExitCode::Failed)
        }
    }
}

fn attend(ctx: &mut Context) -> Result<(), Failure> {
    let (subject, own) = own(ctx)?;
    let marks = Marks::beside(&subject.prompt_file)?;
    let cannot = |error| Failure::failed("cannot watch for the tab").because(&error);
    let mut watch = Watch::on_directories(&[marks.directory()]).map_err(cannot)?;
    ctx.out.line(BUSY)?;
    let config = ctx.config()?.worker;
    if config.tab.open_for(&subject, ctx)? == Opened::Nothing {
        return Err(Failure::failed(
            "no tab can be opened: `[worker] tab` names nothing",
        ));
    }
    ctx.out
        .line(format!("A tab was opened for {}.", subject.task))?;
    let timeout = config.tab_timeout.map_or(ANSWER_TAKES, Span::duration);
    let clock = ctx.clock()?;
    let mut vigil = Vigil::begin(timeout, &*clock);
    loop {
        if let Some(word) = marks.word()? {
            own.ask(|holder| holder.say_last(&word))?;
            ctx.out.line("The tab has said its last word.")?;
            return Ok(());
        }
        if vigil.hears(marks.beat()?, &*clock) {
            ctx.out.line("The tab is alive.")?;
        }
        let patience = vigil.sight(&*clock).patience();
        let patience = patience.map_err(|silence| silence.failure(timeout))?;
        watch.wait(Some(patience)).map_err(cannot)?;
    }
}

impl Silence {
    fn failure(self, timeout: Duration) -> Failure {
        Failure::failed(match self {
            Self::Never => format!("no tab has answered within {} s", timeout.as_secs()),
            Self::Since => format!("the tab has been silent for {} min", SILENCE.as_secs() / 60),
        })
    }
}

/// The session that this stands in, by the environment alone: its record may not be written yet.
fn own(ctx: &Context) -> Result<(Subject, OwnHolder), Failure> {
    let text = |name| ctx.ambient.text(name).map(str::to_owned);
    let subject = || {
        Some(Subject {
            session: text(environment::SESSION)?,
            name: text(environment::NAME)?,
            task: text(environment::TASK)?,
            worktree: ctx.cwd().ok()?.to_owned(),
            fence: text(environment::FENCE)?,
            prompt_file: ctx.ambient.directory(environment::PROMPT_FILE)?.to_owned(),
        })
    };
    let own = OwnHolder::find(ctx)?;
    subject().zip(own).ok_or_else(|| {
        Failure::usage("a tab is opened by a worker, for a task")
            .hint("let a worker open it: `handoff worker --agent tab`")
    })
}

/// The signs of a tab, and when they came.
struct Vigil {
    opened_at: Nanos,
    timeout: Duration,
    heard: Option<(Vec<u8>, Nanos)>,
}

impl Vigil {
    fn begin(timeout: Duration, clock: &dyn Clock) -> Self {
        Self {
            opened_at: clock.now().moment.awake,
            timeout,
            heard: None,
        }
    }

    /// Whether this is a new sign.
    fn hears(&mut self, beat: Option<Vec<u8>>, clock: &dyn Clock) -> bool {
        let known = self.heard.as_ref().map(|(beat, _)| beat);
        let Some(beat) = beat.filter(|beat| known != Some(beat)) else {
            return false;
        };
        self.heard = Some((beat, clock.now().moment.awake));
        true
    }

    fn sight(&self, clock: &dyn Clock) -> Sight {
        let now = clock.now().moment.awake;
        Sight {
            opened: now.since(self.opened_at),
            timeout: self.timeout,
            beat: self.heard.as_ref().map(|(_, at)| now.since(*at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tab_has_a_while_to_answer_and_a_longer_one_between_signs() {
        let seconds = Duration::from_secs;
        let sight = |opened, beat: Option<u64>| Sight {
            opened: seconds(opened),
            timeout: seconds(60),
            beat: beat.map(seconds),
        };
        assert_eq!(sight(10, None).patience(), Ok(seconds(50)));
        assert_eq!(sight(60, None).patience(), Err(Silence::Never));
        assert_eq!(sight(60, Some(1)).patience(), Ok(SILENCE - seconds(1)));
        assert_eq!(
            sight(9_000, Some(SILENCE.as_secs())).patience(),
            Err(Silence::Since)
        );
    }
}
