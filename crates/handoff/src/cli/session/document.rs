//! A session as it is shown: what its files say, and what its holder says now.

use std::time::SystemTime;

use handoff_api::SessionDocument;
use handoff_core::Timestamp;
use handoff_session::client::Asked;
use handoff_session::control::Status;
use handoff_session::record::Ending;
use handoff_session::{Client, Known, Standing, journal, place};

/// How many holders are asked before the first answer is read: each is an open connection.
const AT_ONCE: usize = 200;

/// Sessions as they are now. What cannot be found out is left out.
pub(super) fn documents(known: &[Known], now: Timestamp) -> Vec<SessionDocument> {
    let mut documents = vec![];
    for some in known.chunks(AT_ONCE) {
        let asked: Vec<_> = some.iter().map(ask).collect();
        let answered = some.iter().zip(asked);
        documents.extend(answered.map(|(known, asked)| {
            let status = asked.and_then(|asked| asked.status().ok());
            document(known, status.as_ref(), now)
        }));
    }
    documents
}

fn ask(known: &Known) -> Option<Asked> {
    match known.standing {
        Standing::Live => Client::new(&known.record.socket).ask_status().ok(),
        Standing::Ended | Standing::Lost => None,
    }
}

fn document(known: &Known, status: Option<&Status>, now: Timestamp) -> SessionDocument {
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
        state: state(known.standing, status),
        kind: status.and_then(|status| Some(status.kind?.word().to_owned())),
        source: status.map(|status| status.source.word().to_owned()),
        state_age_seconds: status.map(|status| seconds(status.age_ms)),
        last_state: last_state(known),
        pid: record.child.pid,
        holder_pid: record.holder.pid,
        started_at: record.started_at,
        ended_at: record.ended.as_ref().map(|ended| ended.at),
        exit_code: ending.map(Ending::exit_code),
        signal: ending.and_then(signal),
        log_mtime,
        log_idle_s: log_mtime.map(|at| elapsed(at, now)),
        output_log_path: place::transcript(&known.directory).display().to_string(),
        events_log_path: place::journal(&known.directory).display().to_string(),
        socket: record.socket.display().to_string(),
        host: record.host.clone(),
        port: record.port,
        port_token_path: record.port.map(|_| token_path(known)),
        task: record.task.as_ref().map(ToString::to_string),
        sandbox: record.confinement.word(),
        tmux_target: None,
    }
}

fn token_path(known: &Known) -> String {
    let path = known.directory.join(place::NETWORK_TOKEN);
    path.display().to_string()
}

pub(super) const fn signal(ending: Ending) -> Option<i32> {
    match ending {
        Ending::Signal(signal) => Some(signal),
        Ending::Code(_) => None,
    }
}

fn state(standing: Standing, status: Option<&Status>) -> String {
    match (standing, status) {
        (Standing::Live, Some(status)) => status.state.word().to_owned(),
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

#[expect(
    clippy::cast_precision_loss,
    reason = "an age in seconds needs no more than 52 bits"
)]
fn seconds(millis: u64) -> f64 {
    millis as f64 / 1000.0
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
pub(super) fn elapsed(earlier: Timestamp, now: Timestamp) -> u64 {
    u64::try_from(now.duration_since(earlier).as_secs()).unwrap_or(0)
}
