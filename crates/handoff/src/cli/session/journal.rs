//! `handoff events --id`: what happened to one session, from its journal.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Seek as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::Duration;

use handoff_api::{ExitCode, SESSION_EVENT_SCHEMA};
use handoff_core::Timestamp;
use handoff_files::Watch;
use handoff_operations::Failure;
use handoff_operations::session::{SessionRef, lost, unreadable};
use handoff_session::journal::{Entry, Event};
use handoff_session::{Known, catalogue, place};

use crate::context::Context;
use crate::output::end_with_reader;

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
    let known = SessionRef::new(id, repo).find(ctx)?;
    if let Some(agent) = &args.agent
        && *agent != known.record.agent
    {
        let text = format!(
            "the session `{}` is of the agent `{}`, not `{agent}`",
            known.record.name, known.record.agent
        );
        return Err(Failure::new(ExitCode::NotFound, text));
    }
    let mut follower = Follower::open(&known)?;
    match args.ending {
        Ending::Exit => end_with_reader(),
        Ending::Snapshot => {}
    }
    loop {
        match follower.next()? {
            Heard::Entry(entry, line) => {
                if args.from.is_none_or(|from| entry.ts >= from) {
                    show(&entry, &line, ctx)?;
                }
                if matches!(entry.event, Event::Exited { .. }) {
                    return Ok(ExitCode::Done);
                }
            }
            Heard::Rest if args.ending == Ending::Snapshot => return Ok(ExitCode::Done),
            Heard::Rest if follower.is_over(&known)? => return Err(lost(&known)),
            Heard::Rest => follower.wait()?,
        }
    }
}

/// One who reads a journal as it grows.
pub(super) struct Follower {
    path: PathBuf,
    file: BufReader<File>,
    watch: Watch,
    /// A line that is not complete yet.
    line: Vec<u8>,
    life: Life,
}

/// Whether the holder lived at the last look but one: its last event is there when it is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Seen,
    Gone,
}

/// What a follower hears.
pub(super) enum Heard {
    Entry(Box<Entry>, Vec<u8>),
    /// There is no more yet.
    Rest,
}

impl Follower {
    pub(super) fn open(known: &Known) -> Result<Self, Failure> {
        let path = place::journal(&known.directory);
        let watched =
            Watch::on(&path).and_then(|watch| watch.also_on(&place::holder_lock(&known.directory)));
        let watch = watched
            .map_err(|error| Failure::failed("cannot follow the journal").because(&error))?;
        let file = File::open(&path)
            .map_err(|error| Failure::failed("cannot read the journal").because(&error))?;
        Ok(Self {
            path,
            file: BufReader::new(file),
            watch,
            line: vec![],
            life: Life::Seen,
        })
    }

    /// The next event.
    pub(super) fn next(&mut self) -> Result<Heard, Failure> {
        let length = self
            .file
            .read_until(b'\n', &mut self.line)
            .map_err(|error| Failure::failed("cannot read the journal").because(&error))?;
        if length == 0 || !self.line.ends_with(b"\n") {
            return Ok(Heard::Rest);
        }
        let line = std::mem::take(&mut self.line);
        match serde_json::from_slice(&line) {
            Ok(entry) => Ok(Heard::Entry(Box::new(entry), line)),
            Err(error) => {
                let text = format!("the journal has a line that is none: {error}");
                Err(Failure::new(ExitCode::Damaged, text))
            }
        }
    }

    /// Whether nothing will come any more. Asked when there is nothing to read, it looks once more after the holder is gone.
    pub(super) fn is_over(&mut self, known: &Known) -> Result<bool, Failure> {
        if self.life == Life::Gone {
            return Ok(true);
        }
        let lives = catalogue::is_held(&known.directory).map_err(|error| unreadable(&error))?;
        if !lives {
            self.life = Life::Gone;
        }
        Ok(false)
    }

    /// Waits until there may be more. A journal only grows: one that was deleted, replaced or cut has events that nobody sees.
    pub(super) fn wait(&mut self) -> Result<(), Failure> {
        if self.life == Life::Gone {
            return Ok(());
        }
        // Whatever wakes us, we look.
        drop(self.watch.wait(Some(LOOK_AGAIN)));
        let path = &self.path;
        let broken = |what| Failure::failed(format!("the journal `{}` {what}", path.display()));
        let there = path
            .metadata()
            .map_err(|error| broken("is gone").because(&error))?;
        if there.ino() != self.file.get_ref().metadata()?.ino() {
            return Err(broken("is another file now"));
        }
        if there.len() < self.file.stream_position()? {
            return Err(broken("was cut"));
        }
        Ok(())
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
