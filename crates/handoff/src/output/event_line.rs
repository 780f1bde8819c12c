//! An event as one line for a person.

use handoff_core::feature::{CheckOutcome, NoteKind};
use handoff_core::hold::HoldEvent;
use handoff_core::repository::RefName;
use handoff_core::run::{Verdict, Weaker};
use handoff_core::task::Evidence;
use handoff_core::{
    BatchEvent, CommitId, ContextEvent, Envelope, Event, FeatureEvent, PackageEvent,
    RepositoryEvent, RunEvent, TaskEvent,
};

use super::one_line;
use super::rest_line::why_it_rests;
use super::table::cut;

/// A brief may be long; whoever wants it all asks `queue show`.
const WIDEST: usize = 160;

/// `cursor  time  who  what`, with the name of the task where it is known.
pub(crate) fn event_line(envelope: &Envelope, name: Option<&str>) -> String {
    let at = envelope.at.strftime("%Y-%m-%d %H:%M:%S");
    let subject = name.map_or_else(|| envelope.stream.to_string(), str::to_owned);
    let what = match &envelope.event {
        Event::Task(event) => task_event(event),
        Event::Feature(event) => feature_event(event),
        Event::Package(event) => package_event(event),
        Event::Context(event) => context_event(event),
        Event::Batch(event) => batch_event(event),
        Event::Run(event) => run_event(event),
        Event::Repository(event) => repository_event(event),
        Event::Hold(HoldEvent::Held { hold }) => {
            format!(
                "held{}",
                hold.reason
                    .as_ref()
                    .map_or_else(String::new, |why| format!(": {why}"))
            )
        }
        Event::Hold(HoldEvent::Unheld) => "unheld".to_owned(),
    };
    let line = format!("{subject} #{} {what}, by {}", envelope.seq, envelope.by);
    format!(
        "{:>8}  {at}  {}",
        envelope.cursor.to_string(),
        cut(&one_line(&line), WIDEST)
    )
}

fn task_event(event: &TaskEvent) -> String {
    match event {
        TaskEvent::Added { spec } => format!("added: {}", spec.brief),
        TaskEvent::DependencyEnded { task, ending } => {
            format!("no longer waits for {task} ({ending:?})").to_lowercase()
        }
        TaskEvent::DependencyReopened { task } => format!("waits again for {task}"),
        TaskEvent::Claimed { lease } => format!("claimed with fence {}", lease.fence),
        TaskEvent::Started { session, .. } => format!("started in {session}"),
        TaskEvent::Renewed { fence, .. } => format!("renewed fence {fence}"),
        TaskEvent::Evidenced { evidence, .. } => proof(evidence),
        TaskEvent::Reported { report, .. } => {
            format!("reported as finished{}", why(report.summary.as_ref()))
        }
        TaskEvent::Released { fence, reason } => {
            format!("released fence {fence}{}", why(reason.as_ref()))
        }
        TaskEvent::PutOff { fence, rest } => {
            format!("put off with fence {fence}, rests {}", why_it_rests(rest))
        }
        TaskEvent::Restored { fence } => {
            format!("restored from a backup, with all fences up to {fence} left out")
        }
        TaskEvent::LeaseExpired { fence } => format!("lost its lease with fence {fence}"),
        TaskEvent::Completed { summary, .. } => format!("completed{}", why(summary.as_ref())),
        TaskEvent::Failed { reason, .. } => format!("failed: {reason}"),
        TaskEvent::Blocked { reason, .. } => format!("blocked: {reason}"),
        TaskEvent::Cancelled { reason } => format!("cancelled{}", why(reason.as_ref())),
        TaskEvent::Retried => "opened again".to_owned(),
        TaskEvent::Held { hold } => format!("held{}", why(hold.reason.as_ref())),
        TaskEvent::Unheld => "unheld".to_owned(),
    }
}

fn feature_event(event: &FeatureEvent) -> String {
    match event {
        FeatureEvent::Begun { name } => format!("begun: {name}"),
        FeatureEvent::StepStarted { step, .. } => format!("step started: {step}"),
        FeatureEvent::StepFinished { step, .. } => format!("step done: {step}"),
        FeatureEvent::StepBlocked { step, reason, .. } => format!("step blocked: {step}: {reason}"),
        FeatureEvent::StepAdded { step, .. } => format!("step added: {step}"),
        FeatureEvent::Noted { kind, text, .. } => format!("{}: {text}", noted(*kind)),
        FeatureEvent::Decided {
            decision, because, ..
        } => format!("decided: {decision}, because {because}"),
        FeatureEvent::Checked { run, .. } => {
            format!("checked {}: {}", run.check, outcome(run.outcome))
        }
        FeatureEvent::Checkpointed { step, reason, .. } => {
            let step = step
                .as_ref()
                .map_or_else(String::new, |step| format!(" at {step}"));
            format!("checkpoint{step}{}", why(reason.as_ref()))
        }
        FeatureEvent::Archived => "archived".to_owned(),
    }
}

const fn noted(kind: NoteKind) -> &'static str {
    match kind {
        NoteKind::Note => "noted",
        NoteKind::DeadEnd => "noted a dead end",
        NoteKind::Blocker => "noted a blocker",
        NoteKind::Question => "noted a question",
        NoteKind::File => "noted a file",
    }
}

/// How a check ended, in a few words.
pub(crate) fn outcome(outcome: CheckOutcome) -> String {
    match outcome {
        CheckOutcome::Passed => "passed".to_owned(),
        CheckOutcome::Failed { code } => format!("failed with exit code {code}"),
        CheckOutcome::Killed { signal } => format!("ended by signal {signal}"),
        CheckOutcome::TimedOut => "took too long".to_owned(),
        CheckOutcome::OverLimit { limit } => format!("ended: {limit}"),
    }
}

fn run_event(event: &RunEvent) -> String {
    match event {
        RunEvent::Begun { spec } => format!("began with workflow `{}`", spec.workflow.name),
        RunEvent::Opened { phase, .. } => format!("phase `{phase}` is to be done"),
        RunEvent::FannedOut { phase, batch } => {
            format!("phase `{phase}` is split into {batch}; waits for its results")
        }
        RunEvent::Proved { phase, verdict, .. } => match verdict.batch {
            Some(batch) => format!(
                "the results of {batch}, of phase `{phase}`, proved: {}",
                verdict.outcome
            ),
            None => format!(
                "phase `{phase}` proved: {}{}",
                verdict.outcome,
                weaker(verdict)
            ),
        },
        RunEvent::Refused { cause, reason, .. } => {
            format!("refused ({}): {reason}", cause.word())
        }
        RunEvent::Spent { tokens, .. } => format!("its session used {tokens} tokens"),
        RunEvent::Gated { .. } => "waits for a person to agree".to_owned(),
        RunEvent::Approved => "approved".to_owned(),
        RunEvent::Rejected { reason } => format!("rejected: {reason}"),
        RunEvent::Stopped { cause, reason } => format!("stopped ({}): {reason}", cause.word()),
        RunEvent::Paused => "paused".to_owned(),
        RunEvent::Resumed => "resumed".to_owned(),
        RunEvent::Rewound { phase, .. } => format!("goes back to phase `{phase}`"),
        RunEvent::Ended => "done".to_owned(),
        RunEvent::Cancelled { reason } => format!("cancelled{}", why(reason.as_ref())),
    }
}

fn proof(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Verified {
            command,
            exit_code: Some(code),
            ..
        } => {
            format!("verified by `{command}`: exit {code}")
        }
        Evidence::Verified {
            command,
            exit_code: None,
            limit: Some(limit),
        } => {
            format!("verified by `{command}`: ended: {limit}")
        }
        Evidence::Verified {
            command,
            exit_code: None,
            limit: None,
        } => {
            format!("verified by `{command}`: ended by a signal")
        }
        Evidence::Committed { branch, commit } => {
            format!("committed {} on {branch}", &commit.as_str()[..12])
        }
        Evidence::Sealed { package, .. } => format!("sealed in {package}"),
        Evidence::Measured(it) => {
            let (passed, failed, skipped) = (it.passed, it.failed, it.skipped);
            format!("measured: {passed} passed, {failed} failed, {skipped} skipped")
        }
        Evidence::Left { tree } => format!("left tree {}", &tree.as_str()[..12]),
        Evidence::Refused { cause } => format!("refused: {}", cause.word()),
        Evidence::Used { tokens } => format!("used {tokens} tokens"),
        Evidence::Gathered(it) => {
            let left_out = it.omissions();
            let left_out = left_out.map_or_else(String::new, |it| format!("; left out: {it}"));
            format!("brought together {} parts{left_out}", it.parts.len())
        }
        Evidence::Judged { verdict } => {
            format!("judged `{}`{}", verdict.outcome, weaker(verdict))
        }
    }
}

/// That a proof shows less than others of its kind.
fn weaker(verdict: &Verdict) -> String {
    let why = verdict.weaker.map(Weaker::word);
    why.map_or_else(String::new, |why| format!(", by a weaker proof ({why})"))
}

fn why(text: Option<&impl std::fmt::Display>) -> String {
    text.map_or_else(String::new, |text| format!(": {text}"))
}

fn package_event(event: &PackageEvent) -> String {
    match event {
        PackageEvent::Created { label, .. } => format!("created ({})", label.kind.word()),
        PackageEvent::Claimed { claim } => format!("claimed with fence {}", claim.fence),
        PackageEvent::Released { reason, .. } => match reason {
            Some(reason) => format!("released: {reason}"),
            None => "released".to_owned(),
        },
        PackageEvent::ClaimExpired { .. } => "claim ran out".to_owned(),
        PackageEvent::Consumed { receipt } => {
            let keys = receipt.report.len();
            format!("received into {}: {keys} keys", receipt.into)
        }
        PackageEvent::Transferred { to } => format!("transferred to {to}"),
        PackageEvent::Cancelled { .. } => "deleted".to_owned(),
        PackageEvent::Expired => "expired".to_owned(),
    }
}

fn batch_event(event: &BatchEvent) -> String {
    match event {
        BatchEvent::Opened { spec } => {
            let parts: Vec<_> = spec.parts.iter().map(|it| it.name.as_str()).collect();
            format!("opened with {} parts: {}", parts.len(), parts.join(", "))
        }
        BatchEvent::FanInReady => "every part has ended: the fan-in is ready".to_owned(),
        BatchEvent::FanInEnded { ending } => format!("the fan-in is {}", ending.word()),
        BatchEvent::Reopened => "a part is worked on again".to_owned(),
        BatchEvent::Retried { parts } if parts.is_empty() => "the fan-in is tried again".to_owned(),
        BatchEvent::Retried { parts } => {
            let parts: Vec<_> = parts.iter().map(ToString::to_string).collect();
            format!("opened again: {}", parts.join(", "))
        }
        BatchEvent::Cancelled { reason } => format!("cancelled{}", why(reason.as_ref())),
    }
}

fn context_event(event: &ContextEvent) -> String {
    match event {
        ContextEvent::Set { entry } => format!("set {} = {}", entry.key, entry.value),
        ContextEvent::Removed { key } => format!("removed {key}"),
        ContextEvent::Restored {
            package,
            entries,
            removed,
        } => {
            let (written, gone) = (entries.len(), removed.len());
            format!("took in {package}: {written} written, {gone} removed")
        }
    }
}

fn repository_event(event: &RepositoryEvent) -> String {
    match event {
        RepositoryEvent::BaselineSet { baseline } => {
            let how = baseline
                .command
                .as_ref()
                .map_or_else(String::new, |command| format!(" by `{command}`"));
            format!(
                "{:.10} of {} verified{how}",
                baseline.commit.as_str(),
                baseline.branch
            )
        }
        RepositoryEvent::RefMovedUnseen { moved } => {
            let place = |link: &Option<RefName>, id: &Option<CommitId>| match (link, id) {
                (Some(link), _) => link.to_string(),
                (None, Some(id)) => format!("{:.10}", id.as_str()),
                (None, None) => "nowhere".to_owned(),
            };
            let watched: Vec<_> = moved.watched.iter().map(ToString::to_string).collect();
            format!(
                "{} moved from {} to {} past our hooks while these lived: {}",
                moved.name,
                place(&moved.old_link, &moved.old),
                place(&moved.new_link, &moved.new),
                watched.join(", ")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_ref_is_told_where_it_leads_or_which_commit_it_has() {
        let told = |moved: serde_json::Value| {
            let event = json!({"type": "ref_moved_unseen", "moved": moved});
            repository_event(&serde_json::from_value(event).unwrap())
        };
        let lived = "past our hooks while these lived: one";
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let head = json!({"name": "HEAD", "old": null, "new": null, "watched": ["one"],
            "old_link": "refs/heads/a", "new_link": "refs/heads/b"});
        assert_eq!(
            told(head),
            format!("HEAD moved from refs/heads/a to refs/heads/b {lived}")
        );
        // As it was written before there were links in it.
        let branch =
            json!({"name": "refs/heads/a", "old": commit, "new": null, "watched": ["one"]});
        assert_eq!(
            told(branch),
            format!("refs/heads/a moved from 0123456789 to nowhere {lived}")
        );
    }
}
