//! `handoff agents try`: what an agent's description makes of recorded terminals.

use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_agents::{Adapter, AgentName};
use handoff_api::{ExitCode, RehearsalChange, RehearsalDocument};
use handoff_core::time::Nanos;
use handoff_operations::{Failure, agent_catalogue};
use handoff_process::Size;
use handoff_session::rehearsal::{Published, Recording};
use handoff_session::state::Verdict;

use crate::context::Context;
use crate::output::{Table, Tone};

/// What a picture is given to hold.
const REST: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The agent whose description reads them.
    name: AgentName,
    /// Asciicasts (`*.cast`), or pictures as `tmux capture-pane -e -p` makes them.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The rows of a picture's terminal.
    #[arg(long, default_value_t = 40)]
    rows: u16,
    /// The columns of a picture's terminal.
    #[arg(long, default_value_t = 120)]
    columns: u16,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let adapter = agent_catalogue::require(&args.name, ctx)?.agent.adapter;
    let size = Size {
        rows: args.rows,
        columns: args.columns,
    };
    let rehearsals: Result<Vec<_>, Failure> = args
        .files
        .iter()
        .map(|file| rehearse(file, size, &adapter, ctx))
        .collect();
    let rehearsals = rehearsals?;
    if ctx.out.is_json() {
        for rehearsal in rehearsals {
            ctx.out.document(RehearsalDocument::SCHEMA, rehearsal)?;
        }
    } else {
        ctx.out.table(&table(&rehearsals))?;
    }
    Ok(ExitCode::Done)
}

fn rehearse(
    file: &Path,
    size: Size,
    adapter: &Adapter,
    ctx: &Context,
) -> Result<RehearsalDocument, Failure> {
    let cannot = || Failure::failed(format!("cannot read `{}`", file.display()));
    let text = std::fs::read(ctx.cwd()?.join(file)).map_err(|error| cannot().because(&error))?;
    let text = String::from_utf8_lossy(&text);
    let recording = if file.extension().is_some_and(|it| it == "cast") {
        Recording::of_cast(&text).map_err(|error| cannot().because(&error))?
    } else {
        Recording::of_capture(&text, size)
    };
    Ok(document(file, &recording.play(adapter.clone(), REST)))
}

fn document(file: &Path, published: &Published) -> RehearsalDocument {
    let (state, kind, source) = words(published.last);
    let changes = published.changes.iter().map(|(at, verdict)| {
        let (state, kind, source) = words(*verdict);
        RehearsalChange {
            at_seconds: at.since(Nanos(0)).as_secs_f64(),
            state,
            kind,
            source,
        }
    });
    RehearsalDocument {
        file: file.display().to_string(),
        state,
        kind,
        source,
        changes: changes.collect(),
    }
}

fn words(verdict: Verdict) -> (String, Option<String>, String) {
    let kind = verdict.state.block().map(|block| block.word().to_owned());
    let state = verdict.state.phase().word().to_owned();
    (state, kind, verdict.source.word().to_owned())
}

/// A line for each change, and one for how it ends.
fn table(rehearsals: &[RehearsalDocument]) -> Table {
    let mut table = Table::new(&["FILE", "AT", "STATE", "BY"]);
    let state = |state: &str, kind: &Option<String>| match kind {
        Some(kind) => format!("{state} ({kind})"),
        None => state.to_owned(),
    };
    for rehearsal in rehearsals {
        for change in rehearsal
            .changes
            .iter()
            .filter(|_| rehearsal.changes.len() > 1)
        {
            table.row([
                (Tone::Faint, rehearsal.file.clone()),
                (Tone::Faint, format!("{:.3}", change.at_seconds)),
                (Tone::Plain, state(&change.state, &change.kind)),
                (Tone::Faint, change.source.clone()),
            ]);
        }
        table.row([
            (Tone::Strong, rehearsal.file.clone()),
            (Tone::Faint, "end".to_owned()),
            (Tone::Plain, state(&rehearsal.state, &rehearsal.kind)),
            (Tone::Faint, rehearsal.source.clone()),
        ]);
    }
    table
}
