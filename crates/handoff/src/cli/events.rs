//! `handoff events`: read or follow the ledger, or with `--id` the journal of one session.

use std::collections::HashMap;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use handoff_api::{EventDocument, ExitCode};
use handoff_core::event::CursorError;
use handoff_core::{
    BatchEvent, Cursor, Envelope, Event, FeatureEvent, ProjectId, RunEvent, StreamId, TaskEvent,
    Timestamp,
};
use handoff_operations::{Failure, Project};
use handoff_store::events::{self, Following};
use handoff_store::{Store, read};

use super::session::{self, Ending, JournalArgs};
use crate::context::Context;
use crate::output::{end_with_reader, event_line};

/// How many events are read at a time.
const PAGE: u32 = 500;

/// A follower is told of changes; this is only for the case that the telling fails.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only events after this cursor, or only new ones (`now`); without it from the beginning.
    #[arg(long, value_name = "CURSOR|now")]
    since: Option<Since>,
    /// Go on with new events as they happen.
    #[arg(long, short, conflicts_with = "snapshot")]
    follow: bool,
    /// Stop after the events there are now (this is the default, but for a session).
    #[arg(long, visible_alias = "no-follow")]
    snapshot: bool,
    /// Events of all projects of the store.
    #[arg(long)]
    everything: bool,
    /// Events of this session, by name or id, until it ends.
    #[arg(long, value_name = "ID", conflicts_with_all = ["since", "everything"])]
    id: Option<String>,
    /// Only events of the session from this time on, such as `2026-04-29T10:00:00Z`.
    #[arg(long, value_name = "TS", requires = "id")]
    from: Option<String>,
    /// Look for the session in the project of this directory.
    #[arg(long, value_name = "PATH", requires = "id")]
    repo: Option<PathBuf>,
    /// The agent that the session must be of.
    #[arg(long, value_name = "CLI", requires = "id")]
    cli: Option<String>,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match &args.id {
        Some(id) => of_session(id, args)
            .and_then(|args| session::events(args, ctx))
            .map_err(operational),
        None => of_ledger(args, ctx),
    }
}

/// The contract of this stream has one code for everything that goes wrong: see `docs/events.md`.
fn operational(failure: Failure) -> Failure {
    Failure {
        code: ExitCode::Failed,
        ..failure
    }
}

fn of_session(id: &str, args: &Args) -> Result<JournalArgs, Failure> {
    let from = args.from.as_deref().map(str::parse::<Timestamp>);
    let from = from.transpose().map_err(|error| {
        Failure::usage("`--from` wants a time such as `2026-04-29T10:00:00Z`").because(&error)
    })?;
    Ok(JournalArgs {
        id: id.to_owned(),
        repo: args.repo.clone(),
        agent: args.cli.clone(),
        from,
        ending: if args.snapshot {
            Ending::Snapshot
        } else {
            Ending::Exit
        },
    })
}

fn of_ledger(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if args.follow {
        ctx.stay();
    }
    let (mut store, project) = open(args, ctx)?;
    let Some(store) = &mut store else {
        return Ok(ExitCode::Done);
    };
    if args.follow {
        end_with_reader();
    }
    let mut bell = args.follow.then(|| store.bell()).transpose()?;
    let mut reader = Reader {
        project,
        since: start(args, &mut **store)?,
        names: HashMap::new(),
    };
    loop {
        while reader.print_page(&mut **store, ctx)? > 0 {}
        match &mut bell {
            Some(bell) => bell.wait(LOOK_AGAIN)?,
            None => return Ok(ExitCode::Done),
        };
    }
}

type Opened = (Option<Box<dyn Store>>, Option<ProjectId>);

fn open(args: &Args, ctx: &Context) -> Result<Opened, Failure> {
    if args.everything {
        return Ok((Some(ctx.open_store()?), None));
    }
    if args.follow {
        let desk = Project::open(ctx)?;
        return Ok((Some(desk.store), Some(desk.id)));
    }
    let desk = Project::peek(ctx)?;
    Ok(desk.map_or((None, None), |desk| (Some(desk.store), Some(desk.id))))
}

fn start(args: &Args, store: &mut dyn Store) -> Result<Cursor, Failure> {
    match args.since {
        Some(Since::Cursor(since)) => Ok(since),
        Some(Since::Now) => Ok(read(store, events::newest)?),
        None => Ok(Cursor::START),
    }
}

/// Where to begin.
#[derive(Debug, Clone, Copy)]
enum Since {
    Cursor(Cursor),
    Now,
}

impl FromStr for Since {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        if text == "now" {
            Ok(Self::Now)
        } else {
            text.parse().map(Self::Cursor)
        }
    }
}

/// Where a reader of the ledger is.
struct Reader {
    project: Option<ProjectId>,
    since: Cursor,
    /// The names of tasks and features, for people.
    names: HashMap<StreamId, String>,
}

impl Reader {
    fn print_page(&mut self, store: &mut dyn Store, ctx: &mut Context) -> Result<usize, Failure> {
        let wanted = Following {
            since: self.since,
            project: self.project,
            limit: PAGE,
        };
        let page = read(store, |tx| events::since(tx, wanted))?;
        let count = page.len();
        for envelope in page {
            self.since = envelope.cursor;
            if ctx.out.is_json() {
                ctx.out
                    .document(EventDocument::SCHEMA, EventDocument::from(envelope))?;
            } else {
                let name = self.name(store, &envelope)?;
                ctx.out.line(event_line(&envelope, name.as_deref()))?;
            }
        }
        Ok(count)
    }

    fn name(
        &mut self,
        store: &mut dyn Store,
        envelope: &Envelope,
    ) -> Result<Option<String>, Failure> {
        let stream = envelope.stream;
        if let Some(name) = self.names.get(&stream) {
            return Ok(Some(name.clone()));
        }
        let name = match announced(&envelope.event) {
            Some(name) => Some(name),
            None => read(store, |tx| events::name_of(tx, stream))?,
        };
        let Some(name) = name else {
            return Ok(None);
        };
        self.names.insert(stream, name.clone());
        Ok(Some(name))
    }
}

/// The name that a first event tells.
fn announced(event: &Event) -> Option<String> {
    match event {
        Event::Task(TaskEvent::Added { spec }) => Some(spec.name.to_string()),
        Event::Feature(FeatureEvent::Begun { name }) => Some(name.to_string()),
        Event::Batch(BatchEvent::Opened { spec }) => Some(spec.name.to_string()),
        Event::Run(RunEvent::Begun { spec }) => Some(spec.name.to_string()),
        Event::Task(_)
        | Event::Feature(_)
        | Event::Hold(_)
        | Event::Package(_)
        | Event::Context(_)
        | Event::Batch(_)
        | Event::Run(_)
        | Event::Repository(_) => None,
    }
}
