//! `handoff queue show`.

use handoff_api::{ExitCode, TaskDocument};
use handoff_core::task::Evidence;
use handoff_operations::task::SeeTask;
use handoff_operations::{Failure, call};

use super::list::tone;
use crate::context::Context;
use crate::output::{Tone, event_line, plain};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its name or id.
    task: String,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let see = SeeTask {
        task: args.task.clone(),
    };
    if ctx.out.is_json() {
        let document = call(see, ctx)?;
        ctx.out.document(TaskDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let view = see.look(ctx)?;
    let waits_for = view.waits_for.iter();
    let waits_for: Vec<_> = waits_for
        .map(|(name, state)| format!("{name} ({state})"))
        .collect();
    facts(&view.document, &waits_for.join("  "), ctx)?;
    ctx.out.line("")?;
    for envelope in &view.history {
        ctx.out
            .line(event_line(envelope, Some(&view.document.name)))?;
    }
    Ok(ExitCode::Done)
}

fn facts(task: &TaskDocument, waits_for: &str, ctx: &mut Context) -> Result<(), Failure> {
    let name = ctx.out.styled(Tone::Strong, &task.name);
    let state = ctx.out.styled(tone(task.state), task.state.word());
    ctx.out.line(format!("{name}  {state}\n"))?;
    for line in task.brief.lines() {
        ctx.out.line(format!("  {}", plain(line)))?;
    }
    ctx.out.line("")?;
    for (label, text) in labelled(task, waits_for) {
        let label = ctx.out.styled(Tone::Faint, &format!("{label:<10}"));
        ctx.out.line(format!("{label} {}", plain(&text)))?;
    }
    Ok(())
}

fn labelled(task: &TaskDocument, waits_for: &str) -> Vec<(&'static str, String)> {
    let lease = task.lease.as_ref().map(|lease| {
        let left = match (lease.left_seconds, &lease.session) {
            (Some(left), _) => format!("{left:.0} s left"),
            (None, Some(session)) => format!("as long as {session} lives"),
            (None, None) => "void".to_owned(),
        };
        format!("fence {} of {}, {left}", lease.fence, lease.owner)
    });
    let hold = task.hold.as_ref().map(|hold| {
        hold.reason
            .clone()
            .unwrap_or_else(|| "without a reason".to_owned())
    });
    let rest = task.rest.as_ref().map(|rest| {
        let until = rest.until.strftime("%Y-%m-%d %H:%M:%S UTC");
        let (what, agent) = (rest.trouble.in_words(), rest.agent.as_deref());
        let agent = agent.unwrap_or("its agent");
        format!("until {until}: {agent} {what} ({})", rest.reason)
    });
    let rows = [
        ("id", Some(task.id.clone())),
        (
            "added",
            Some(
                task.created_at
                    .strftime("%Y-%m-%d %H:%M:%S UTC")
                    .to_string(),
            ),
        ),
        (
            "priority",
            (task.priority != 0).then(|| task.priority.to_string()),
        ),
        (
            "attempts",
            (task.attempts > 0).then(|| task.attempts.to_string()),
        ),
        ("lease", lease),
        ("held", hold),
        ("rests", rest),
        (
            "owns",
            (!task.owns.is_empty()).then(|| task.owns.join("  ")),
        ),
        ("verify", task.verify.clone()),
        (
            "waits for",
            (!waits_for.is_empty()).then(|| waits_for.to_owned()),
        ),
        ("said", task.said.clone()),
        (
            "proof",
            (!task.evidence.is_empty()).then(|| proofs(&task.evidence)),
        ),
    ];
    rows.into_iter()
        .filter_map(|(label, text)| Some((label, text?)))
        .collect()
}

fn proofs(evidence: &[Evidence]) -> String {
    let words = evidence.iter().map(|proof| match proof {
        Evidence::Verified {
            exit_code: Some(0), ..
        } => "verified".to_owned(),
        Evidence::Verified { .. } => "verify failed".to_owned(),
        Evidence::Committed { branch, commit } => format!("{} on {branch}", &commit.as_str()[..12]),
        Evidence::Sealed { package, .. } => package.to_string(),
        Evidence::Measured(it) => {
            format!("{} of {} tests passed", it.passed, it.passed + it.failed)
        }
        Evidence::Left { tree } => format!("tree {}", &tree.as_str()[..12]),
        Evidence::Refused { cause } => format!("refused: {}", cause.word()),
        Evidence::Used { tokens } => format!("{tokens} tokens"),
        Evidence::Gathered(it) => match it.omissions() {
            Some(told) => format!("left out: {told}"),
            None => format!("{} parts together", it.parts.len()),
        },
        Evidence::Judged { verdict } => format!("judged {}", verdict.outcome),
    });
    words.collect::<Vec<_>>().join(", ")
}
