//! `handoff events --id`: what happened to one session, from its journal.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Seek as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_api::{ExitCode, SESSION_EVENT_SCHEMA};
use handoff_core::Timestamp;
use handoff_files::Watch;
use handoff_session::journal::{Entry, Event};
use handoff_session::{Known, catalogue, place};

use super::address::{Address, lost, unreadable};
use crate::context::Context;
use crate::failure::Failure;

/// A follower is told of events; this is for a holder that died.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// How the journal of a session is read.
#[derive(Debug)]
pub(crate) struct JournalArgs {
    pub(crate) id: String,
    pub(crate) repo: Option<PathBuf>,
    /// The adapter that the session must have.
    pub(crate) agent: Option<String>,
    /// Only from this time on.
    pub(crate) from: Option<Timestamp>,
    pub(crate) ending: Ending,
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// After what there is.
    Snapshot,
    /// When the session has ended.
    Exit,
}

pub(crate) fn run(args: JournalArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let JournalArgs { id, repo, .. } = args;
    let known = Address::new(id, repo).find(ctx)?;
    if let Some(agent) = &args.agent
        && *agent != known.record.agent
    {
        let text = format!(
            "the session `{}` is of the agent `{}`, not `{agent}`",
            known.record.name, known.record.agent
        );
        return Err(Failure::new(ExitCode::NotFound, text));
    }
    let path = place::journal(&known.directory);
    let watched =
        Watch::on(&path).and_then(|watch| watch.also_on(&place::holder_lock(&known.directory)));
    let mut watch =
        watched.map_err(|error| Failure::failed("cannot follow the journal").because(&error))?;
    let file = File::open(&path)
        .map_err(|error| Failure::failed("cannot read the journal").because(&error))?;
    let mut reader = Reader {
        file: BufReader::new(file),
        line: vec![],
        from: args.from,
    };
    loop {
        // Looked at before reading: the last event is there when the holder is gone.
        let lives = catalogue::is_held(&known.directory).map_err(|error| unreadable(&error))?;
        let seen = reader.print_rest(ctx)?;
        match (args.ending, seen, lives) {
            (Ending::Snapshot, _, _) | (Ending::Exit, Seen::Exit, _) => return Ok(ExitCode::Done),
            (Ending::Exit, Seen::More, false) => return Err(lost_or_over(&known)),
            (Ending::Exit, Seen::More, true) => drop(watch.wait(Some(LOOK_AGAIN))),
        }
        reader.require_whole(&path)?;
    }
}

/// Without an end in the journal its holder has died, even if the end is on record.
fn lost_or_over(known: &Known) -> Failure {
    lost(known)
}

/// What the last look found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Exit,
    More,
}

struct Reader {
    file: BufReader<File>,
    /// A line that is not complete yet.
    line: Vec<u8>,
    from: Option<Timestamp>,
}

impl Reader {
    /// A journal only grows. One that was deleted, replaced or cut has events that nobody will see.
    fn require_whole(&mut self, path: &Path) -> Result<(), Failure> {
        let broken = |what| Failure::failed(format!("the journal `{}` {what}", path.display()));
        let there = path
            .metadata()
            .map_err(|error| broken("is gone").because(&error))?;
        let own = self.file.get_ref().metadata()?;
        if there.ino() != own.ino() {
            return Err(broken("is another file now"));
        }
        if there.len() < self.file.stream_position()? {
            return Err(broken("was cut"));
        }
        Ok(())
    }

    fn print_rest(&mut self, ctx: &mut Context) -> Result<Seen, Failure> {
        let damaged = |error: &dyn std::fmt::Display| {
            let text = format!("the journal has a line that is none: {error}");
            Failure::new(ExitCode::Damaged, text)
        };
        loop {
            let length = self
                .file
                .read_until(b'\n', &mut self.line)
                .map_err(|error| Failure::failed("cannot read the journal").because(&error))?;
            if length == 0 || !self.line.ends_with(b"\n") {
                return Ok(Seen::More);
            }
            let line = std::mem::take(&mut self.line);
            let entry: Entry = serde_json::from_slice(&line).map_err(|error| damaged(&error))?;
            if self.from.is_none_or(|from| entry.ts >= from) {
                show(&entry, &line, ctx)?;
            }
            if matches!(entry.event, Event::Exited { .. }) {
                return Ok(Seen::Exit);
            }
        }
    }
}

/// An event of a later version is passed on as it is.
fn show(entry: &Entry, line: &[u8], ctx: &mut Context) -> Result<(), Failure> {
    if entry.event == Event::Other {
        let value: serde_json::Value = serde_json::from_slice(line)
            .map_err(|error| Failure::failed("cannot read an event").because(&error))?;
        ctx.out.document(SESSION_EVENT_SCHEMA, value)?;
    } else {
        ctx.out.document(SESSION_EVENT_SCHEMA, entry)?;
    }
    Ok(())
}
