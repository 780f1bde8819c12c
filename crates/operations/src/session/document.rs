//! A session as it is shown: what its files say, and what its holder says now, at its lock or when it is asked.

use std::time::SystemTime;

use handoff_api::SessionDocument;
use handoff_core::Timestamp;
use handoff_core::time::{Nanos, Now};
use handoff_process::Identity;
use handoff_session::client::Asked;
use handoff_session::control::Status;
use handoff_session::record::Ending;
use handoff_session::{Client, Known, Notice, SandboxOff, Standing, journal, place};

/// How many holders are asked before the first answer is read: each is an open connection.
const AT_ONCE: usize = 200;

/// What a holder says of its agent.
enum Word {
    Noticed(Notice),
    Asked(Asked),
    /// It has ended, or it stands still and says nothing.
    None,
}

/// Sessions as they are now. What cannot be found out is left out.
pub fn documents(known: &[Known], now: &Now) -> Vec<SessionDocument> {
    let mut documents = vec![];
    for some in known.chunks(AT_ONCE) {
        let words: Vec<_> = some.iter().map(word).collect();
        let answered = some.iter().zip(words);
        documents.extend(answered.map(|(known, word)| document(known, word.hear(now), now)));
    }
    documents
}

/// What a holder said before somebody stopped it is not known to be true, and it would not answer.
fn word(known: &Known) -> Word {
    match (known.standing, known.notice) {
        (Standing::Ended | Standing::Lost, _) => Word::None,
        (Standing::Live, _) if Identity::from(known.record.holder).is_stopped() => Word::None,
        (Standing::Live, Some(notice)) => Word::Noticed(notice),
        (Standing::Live, None) => {
            let asked = Client::new(&known.record.socket).ask_status();
            asked.map_or(Word::None, Word::Asked)
        }
    }
}

impl Word {
    fn hear(self, now: &Now) -> Option<Notice> {
        match self {
            Self::Noticed(notice) => Some(notice),
            Self::Asked(asked) => Some(answered(&asked.status().ok()?, now)),
            Self::None => None,
        }
    }
}

fn answered(status: &Status, now: &Now) -> Notice {
    let age = i64::try_from(status.age_ms.saturating_mul(1_000_000)).unwrap_or(i64::MAX);
    Notice {
        state: status.state,
        kind: status.kind,
        source: status.source,
        since: Nanos(now.moment.awake.0.saturating_sub(age)),
    }
}

fn document(known: &Known, notice: Option<Notice>, now: &Now) -> SessionDocument {
    let record = &known.record;
    let log_mtime = log_mtime(known);
    let ending = record.ended.as_ref().map(|ended| ended.exit);
    SessionDocument {
        id: record.id.to_string(),
        name: record.name.to_string(),
        project: record.project.to_string(),
        agent: record.agent.clone(),
        command: record.command.clone(),
        description: record.description.clone(),
        cwd: record.cwd.display().to_string(),
        state: state(known.standing, notice),
        kind: notice.and_then(|notice| Some(notice.kind?.word().to_owned())),
        source: notice.map(|notice| notice.source.word().to_owned()),
        state_age_seconds: notice.map(|notice| age(notice, now)),
        last_state: last_state(known),
        pid: record.child.pid,
        holder_pid: record.holder.pid,
        started_at: record.started_at,
        ended_at: record.ended.as_ref().map(|ended| ended.at),
        exit_code: ending.map(Ending::exit_code),
        signal: ending.and_then(signal),
        log_mtime,
        log_idle_s: log_mtime.map(|at| elapsed(at, now.wall)),
        output_log_path: place::transcript(&known.directory).display().to_string(),
        events_log_path: place::journal(&known.directory).display().to_string(),
        socket: record.socket.display().to_string(),
        host: record.host.clone(),
        port: record.port,
        port_token_path: record.port.map(|_| token_path(known)),
        task: record.task.as_ref().map(ToString::to_string),
        lease: None,
        sandbox: record.confinement.word(),
        sandbox_off: record.sandbox_off.map(SandboxOff::word),
        tmux_target: None,
    }
}

fn token_path(known: &Known) -> String {
    let path = known.directory.join(place::NETWORK_TOKEN);
    path.display().to_string()
}

pub const fn signal(ending: Ending) -> Option<i32> {
    match ending {
        Ending::Signal(signal) => Some(signal),
        Ending::Code(_) => None,
    }
}

fn state(standing: Standing, notice: Option<Notice>) -> String {
    match (standing, notice) {
        (Standing::Live, Some(notice)) => notice.state.word().to_owned(),
        (Standing::Live, None) => "unknown".to_owned(),
        (Standing::Ended, _) => "exited".to_owned(),
        (Standing::Lost, _) => "lost".to_owned(),
    }
}

fn last_state(known: &Known) -> Option<String> {
    match known.standing {
        Standing::Lost => {
            let (state, _) = journal::last_state(&known.directory).ok()??;
            Some(state.word().to_owned())
        }
        Standing::Live | Standing::Ended => None,
    }
}

/// In seconds, to the millisecond.
#[expect(
    clippy::cast_precision_loss,
    reason = "an age in seconds needs no more than 52 bits"
)]
fn age(notice: Notice, now: &Now) -> f64 {
    now.moment.awake.since(notice.since).as_millis() as f64 / 1000.0
}

/// When it printed last; an empty transcript says nothing.
fn log_mtime(known: &Known) -> Option<Timestamp> {
    let metadata = place::transcript(&known.directory).metadata().ok()?;
    let written: Option<SystemTime> = metadata.modified().ok();
    (metadata.len() > 0)
        .then_some(written?)
        .and_then(|at| Timestamp::try_from(at).ok())
}

/// Seconds from one time to another; none if the clock was turned back.
pub fn elapsed(earlier: Timestamp, now: Timestamp) -> u64 {
    u64::try_from(now.duration_since(earlier).as_secs()).unwrap_or(0)
}
