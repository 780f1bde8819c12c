//! The status of a feature as a card of a few lines, with what goes on around it.

mod around;

use handoff_api::{FeatureStatusDocument, PlanDocument, PlanVerdict, StepDocument, TreeDocument};
use handoff_operations::overview::Sight;

use crate::cli::feature::standing::word;
use crate::output::{Output, Tone, cut, one_line, rest_lines};

/// How wide the labels are.
const LABEL: usize = 9;
/// How wide the bar is.
const BAR: usize = 24;
/// So many uncommitted files are named.
const NAMED: usize = 6;

/// One line of the card.
struct Row {
    label: &'static str,
    tone: Tone,
    text: String,
}

pub(super) fn lines(sight: &Sight, out: &Output) -> Vec<String> {
    let width = out.width().saturating_sub(LABEL + 2);
    let mut lines = vec![];
    if let Some(feature) = &sight.document.feature {
        let name = out.styled(Tone::Strong, &feature.feature);
        lines.push(format!("{name}  {}", progress(&feature.plan, out)));
    }
    for row in rows(sight, width) {
        let label = out.styled(Tone::Faint, &format!("{:LABEL$}", row.label));
        let text = out.styled(row.tone, &cut(&one_line(&row.text), width));
        lines.push(format!("  {label}{text}"));
    }
    lines
}

fn progress(plan: &PlanDocument, out: &Output) -> String {
    let filled = (plan.done * BAR).checked_div(plan.total).unwrap_or(0);
    let done = out.styled(Tone::Good, &"█".repeat(filled));
    let open = out.styled(Tone::Faint, &"░".repeat(BAR - filled));
    format!("{done}{open}  {} of {} steps done", plan.done, plan.total)
}

/// What waits for a person stands last, where the eye rests; only the next command stands below it.
fn rows(sight: &Sight, width: usize) -> Vec<Row> {
    let document = &sight.document;
    let feature = document.feature.as_ref();
    let mut rows = feature.map_or_else(|| vec![no_feature()], of_feature);
    rows.extend(around::rows(&document.project));
    rows.extend(rest_lines(&sight.rests).into_iter().map(|text| Row {
        label: "rests",
        tone: Tone::Attention,
        text,
    }));
    rows.extend(document.warnings.iter().map(|warning| Row {
        label: "warning",
        tone: Tone::Attention,
        text: warning.clone(),
    }));
    rows.extend(around::needs(&document.project.needs, width));
    rows.extend(feature.map(|feature| Row {
        label: "next",
        tone: Tone::Hint,
        text: feature.next.clone(),
    }));
    rows
}

fn no_feature() -> Row {
    Row {
        label: "feature",
        tone: Tone::Faint,
        text: "none yet: `handoff init NAME` makes one".to_owned(),
    }
}

fn of_feature(document: &FeatureStatusDocument) -> Vec<Row> {
    let mut rows = vec![step(&document.plan), freshness(document)];
    rows.extend(document.is_plan_edited.then(edited_plan));
    rows.extend(document.tree.as_ref().map(code));
    rows.extend(edited(&document.edited));
    rows.extend(document.checks.iter().map(|check| {
        let (tone, word) = word(check);
        let text = format!("{}: {word}", check.check.name);
        Row {
            label: "proof",
            tone,
            text,
        }
    }));
    rows.extend(document.blocked.iter().map(blocked));
    rows.extend(document.blockers.iter().map(|blocker| Row {
        label: "blocked",
        tone: Tone::Attention,
        text: blocker.clone(),
    }));
    rows
}

fn step(plan: &PlanDocument) -> Row {
    let (tone, text) = match (&plan.current, plan.verdict) {
        (Some(step), _) => (
            Tone::Active,
            format!("{}: {} (STATE.md:{})", step.number, step.title, step.line),
        ),
        (None, PlanVerdict::Invalid) => {
            (Tone::Bad, "the plan has to be put right first".to_owned())
        }
        (None, PlanVerdict::NothingRemaining) => (Tone::Good, "all are done".to_owned()),
        (None, PlanVerdict::Blocked) => (Tone::Attention, "only blocked ones remain".to_owned()),
        (None, PlanVerdict::NotInitialised | PlanVerdict::Ready) => {
            (Tone::Faint, "there is no plan yet".to_owned())
        }
    };
    Row {
        label: "step",
        tone,
        text,
    }
}

fn freshness(document: &FeatureStatusDocument) -> Row {
    let tone = if document.is_current {
        Tone::Good
    } else {
        Tone::Attention
    };
    let since = document.recorded_at.map_or_else(String::new, |at| {
        format!(", recorded {}", at.strftime("%Y-%m-%d %H:%M UTC"))
    });
    Row {
        label: "fresh",
        tone,
        text: format!("{}{since}", document.freshness),
    }
}

fn edited_plan() -> Row {
    Row {
        label: "plan",
        tone: Tone::Attention,
        text: "STATE.md was edited since, by hand or by an agent".to_owned(),
    }
}

fn code(tree: &TreeDocument) -> Row {
    let branch = tree.branch.as_deref().unwrap_or("no branch");
    let commit = tree
        .commit
        .as_deref()
        .map_or("no commit yet", |commit| &commit[..10]);
    Row {
        label: "code",
        tone: Tone::Plain,
        text: format!("{branch} at {commit}"),
    }
}

fn edited(edited: &[String]) -> Option<Row> {
    let (first, more) = edited.split_at(edited.len().min(NAMED));
    let more = match more.len() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    (!first.is_empty()).then(|| Row {
        label: "edited",
        tone: Tone::Plain,
        text: format!("{}{more}", first.join(", ")),
    })
}

fn blocked(step: &StepDocument) -> Row {
    let reason = step.reason.as_deref().unwrap_or("no reason is given");
    Row {
        label: "blocked",
        tone: Tone::Attention,
        text: format!("{}: {}: {reason}", step.number, step.title),
    }
}
