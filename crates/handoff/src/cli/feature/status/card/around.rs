//! Sessions, queue, batches and runs on a line each, and what of them waits for a person.

use handoff_api::{
    BatchRow, CensusDocument, NeedDocument, PausedRow, ProjectDocument, RunRow, SessionRow,
};

use super::Row;
use crate::output::{Tone, cut, one_line};

/// So many of a kind are named.
const NAMED: usize = 8;
/// How wide the bar of a batch is.
const BAR: usize = 10;
/// A reason never gets less than this.
const LEAST: usize = 16;

pub(super) fn rows(project: &ProjectDocument) -> Vec<Row> {
    let mut rows = named(&project.sessions, "session", "handoff ps", session);
    rows.extend(queue(&project.tasks, project.workers));
    rows.extend(project.sandbox_off.map(in_no_sandbox));
    rows.extend(named(
        &project.batches,
        "batch",
        "handoff batch list",
        batch,
    ));
    rows.extend(named(
        &project.paused,
        "paused",
        "handoff package list",
        paused,
    ));
    rows.extend(named(&project.runs, "run", "handoff workflow status", run));
    rows
}

/// What waits for a person, each with a command that fits on its line.
pub(super) fn needs(needs: &[NeedDocument], width: usize) -> Vec<Row> {
    let need = |need: &NeedDocument| {
        let (head, tail) = (
            format!("{} {}: ", need.kind, need.name),
            format!("  `{}`", need.command),
        );
        let room = width.saturating_sub(head.len() + tail.len()).max(LEAST);
        let why = cut(&one_line(&need.why), room);
        (Tone::Attention, format!("{head}{why}{tail}"))
    };
    named(needs, "for you", "handoff status --json", need)
}

fn named<T>(
    them: &[T],
    label: &'static str,
    all: &str,
    shown: impl Fn(&T) -> (Tone, String),
) -> Vec<Row> {
    let (first, more) = them.split_at(them.len().min(NAMED));
    let rows = first.iter().map(|it| {
        let (tone, text) = shown(it);
        Row { label, tone, text }
    });
    let more = (!more.is_empty()).then(|| Row {
        label: "",
        tone: Tone::Faint,
        text: format!("and {} more: `{all}`", more.len()),
    });
    rows.chain(more).collect()
}

fn session(session: &SessionRow) -> (Tone, String) {
    let SessionRow {
        name, agent, state, ..
    } = session;
    let tone = match state.as_str() {
        "blocked" => Tone::Attention,
        "busy" => Tone::Active,
        _ => Tone::Plain,
    };
    let kind = session.kind.as_ref();
    let kind = kind.map_or_else(String::new, |it| format!(" ({it})"));
    let about = session.task.as_ref().map(|it| format!(", works on {it}"));
    let about = about.or_else(|| Some(format!(", {}", session.description.as_ref()?)));
    let about = about.unwrap_or_default();
    let off = session.sandbox_off;
    let off = off.map_or_else(String::new, |it| format!("; in no sandbox, by the {it}"));
    (tone, format!("{name}: {agent}, {state}{kind}{about}{off}"))
}

fn in_no_sandbox(reason: &str) -> Row {
    Row {
        label: "sandbox",
        tone: Tone::Attention,
        text: format!("none for sessions of tasks, by the {reason}"),
    }
}

fn queue(tasks: &CensusDocument, workers: usize) -> Option<Row> {
    let counts = [
        (tasks.at_work, "at work"),
        (tasks.queued, "queued"),
        (tasks.waiting, "waiting for others"),
        (tasks.held, "held"),
    ];
    let told = counts.iter().filter(|(count, _)| *count > 0);
    let mut told: Vec<_> = told
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if told.is_empty() {
        return None;
    }
    if tasks.has_more {
        told.push("and more".to_owned());
    }
    let is_left = tasks.queued > 0 && workers == 0;
    let left = if is_left {
        "; no worker lives: `handoff worker`"
    } else {
        ""
    };
    Some(Row {
        label: "queue",
        tone: if is_left {
            Tone::Attention
        } else {
            Tone::Plain
        },
        text: format!("{}{left}", told.join(", ")),
    })
}

fn batch(batch: &BatchRow) -> (Tone, String) {
    let filled = (batch.done * BAR).checked_div(batch.parts).unwrap_or(0);
    let bar = format!("{}{}", "█".repeat(filled), "░".repeat(BAR - filled));
    let trouble = match batch.trouble {
        0 => String::new(),
        some => format!(", {some} in trouble"),
    };
    let BatchRow {
        name, done, parts, ..
    } = batch;
    (
        Tone::Active,
        format!("{name}  {bar}  {done} of {parts} parts done{trouble}"),
    )
}

fn paused(paused: &PausedRow) -> (Tone, String) {
    let PausedRow {
        kind,
        name,
        command,
        ..
    } = paused;
    (Tone::Faint, format!("{kind} {name}: `{command}`"))
}

fn run(run: &RunRow) -> (Tone, String) {
    let tone = match run.state {
        "gated" | "stopped" => Tone::Attention,
        "paused" => Tone::Faint,
        _ => Tone::Active,
    };
    let attempt = match run.attempt {
        0 | 1 => String::new(),
        number => format!(", attempt {number}"),
    };
    let RunRow {
        name,
        workflow,
        state,
        phase,
        proved,
        ..
    } = run;
    (
        tone,
        format!("{name}  {workflow}, {state} at {phase}{attempt}, {proved} phases proved"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(why: &str) -> NeedDocument {
        NeedDocument {
            kind: "task",
            name: "fix".to_owned(),
            why: why.to_owned(),
            command: "handoff queue show fix".to_owned(),
        }
    }

    #[test]
    fn a_long_reason_leaves_room_for_the_command() {
        let rows = needs(&[need(&"why ".repeat(40))], 60);
        let text = &rows[0].text;
        assert!(text.ends_with("…  `handoff queue show fix`"), "{text}");
        assert_eq!(text.chars().count(), 60);
    }

    #[test]
    fn of_many_some_are_named() {
        let many: Vec<_> = (0..NAMED + 3).map(|_| need("blocked")).collect();
        let rows = needs(&many, 60);
        assert_eq!(rows.len(), NAMED + 1);
        assert_eq!(rows[NAMED].text, "and 3 more: `handoff status --json`");
    }

    #[test]
    fn ready_work_without_a_worker_is_told() {
        let tasks = CensusDocument {
            queued: 2,
            held: 1,
            ..CensusDocument::default()
        };
        let told = |workers| queue(&tasks, workers).unwrap().text;
        assert_eq!(
            told(0),
            "2 queued, 1 held; no worker lives: `handoff worker`"
        );
        assert_eq!(told(1), "2 queued, 1 held");
        assert!(queue(&CensusDocument::default(), 0).is_none());
    }
}
