//! What was done before a task, and what became of earlier attempts at it: whoever comes next is to know what was found out, and
//! what did not work.

use handoff_core::{Event, Fence, StreamId, Task, TaskEvent};
use handoff_package::Package;
use handoff_store::{events, read};

use crate::error::EngineError;
use crate::prompt::{before, quoted};
use crate::workshop::Workshop;

/// The newest are told.
const ATTEMPTS: usize = 5;
/// So much of what is known of each.
const LENGTH: usize = 1_000;

/// An attempt that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Earlier {
    fence: Fence,
    end: &'static str,
    why: Option<String>,
    /// What its session said when it had finished.
    said: Option<String>,
}

/// The attempts that came to an end, oldest first.
fn attempts(workshop: &mut Workshop<'_>, task: &Task) -> Result<Vec<Earlier>, EngineError> {
    if task.leases() == 0 {
        return Ok(vec![]);
    }
    let stream = StreamId::Task(task.id);
    let history = read(workshop.store, |tx| {
        events::history(tx, stream, task.version)
    })?;
    Ok(ended(history.iter().map(|it| &it.event)))
}

fn ended<'a>(history: impl Iterator<Item = &'a Event>) -> Vec<Earlier> {
    let (mut ended, mut said) = (vec![], None);
    for event in history {
        let Event::Task(event) = event else { continue };
        let (fence, end, why) = match event {
            TaskEvent::Reported { report, .. } => {
                said = report.summary.as_ref().map(ToString::to_string);
                continue;
            }
            TaskEvent::Failed { fence, reason } => (*fence, "failed", Some(reason.to_string())),
            TaskEvent::Blocked { fence, reason } => {
                (*fence, "needed a person", Some(reason.to_string()))
            }
            TaskEvent::Released { fence, reason } => {
                let reason = reason.as_ref().map(ToString::to_string);
                (Some(*fence), "was given back", reason)
            }
            TaskEvent::PutOff { fence, rest } => {
                let reason = Some(rest.reason.to_string());
                (Some(*fence), "could not go on", reason)
            }
            TaskEvent::LeaseExpired { fence } => (Some(*fence), "was lost without a word", None),
            TaskEvent::Restored { .. }
            | TaskEvent::Added { .. }
            | TaskEvent::DependencyEnded { .. }
            | TaskEvent::DependencyReopened { .. }
            | TaskEvent::Claimed { .. }
            | TaskEvent::Started { .. }
            | TaskEvent::Renewed { .. }
            | TaskEvent::Evidenced { .. }
            | TaskEvent::Completed { .. }
            | TaskEvent::Cancelled { .. }
            | TaskEvent::Retried
            | TaskEvent::Held { .. }
            | TaskEvent::Unheld => continue,
        };
        let said = said.take();
        // One that a person ended before anybody had worked on it was no attempt.
        ended.extend(fence.map(|fence| Earlier {
            fence,
            end,
            why,
            said,
        }));
    }
    ended
}

/// What was done before a task and at it, for people, so far as it is known: what these packages say, and what became of its
/// attempts. Sections of Markdown; text of earlier sessions is quoted.
pub(crate) fn hindsight_of(
    workshop: &mut Workshop<'_>,
    task: &Task,
    packages: &[Package],
) -> Result<String, EngineError> {
    let left: String = packages.iter().map(before).collect();
    Ok(left + &text(&attempts(workshop, task)?))
}

/// The same for the session that is about to begin, behind packages that nothing in the task names: those of the phase before.
pub(crate) fn hindsight_after(
    workshop: &mut Workshop<'_>,
    task: &Task,
    first: &[Package],
) -> Result<String, EngineError> {
    let packages = workshop.packages_before(task)?;
    let left: String = first.iter().chain(&packages).map(before).collect();
    // It is the first one itself.
    if task.leases() <= 1 {
        return Ok(left);
    }
    Ok(left + &text(&attempts(workshop, task)?))
}

/// The section of a prompt or a baton; empty where there is nothing to tell.
fn text(attempts: &[Earlier]) -> String {
    if attempts.is_empty() {
        return String::new();
    }
    let newest = &attempts[attempts.len().saturating_sub(ATTEMPTS)..];
    let told: String = newest.iter().map(Earlier::text).collect();
    format!("\n# What became of earlier attempts at this task\n{told}")
}

impl Earlier {
    fn text(&self) -> String {
        let told = |before: &str, text: &Option<String>| {
            text.as_ref().map_or_else(String::new, |text| {
                format!("{before}\n\n{}\n", quoted(&shortened(text)))
            })
        };
        let stop = if self.why.is_some() { ":" } else { "." };
        let mut text = format!("\nAttempt {} {}{stop}", self.fence, self.end);
        text += &told("", &self.why);
        if self.why.is_none() {
            text.push('\n');
        }
        text + &told("\nIts session had said, and nobody checked it:", &self.said)
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use handoff_core::task::Report;

    use super::*;

    #[test]
    fn each_attempt_is_told_with_what_was_against_it_and_what_it_said() {
        let event = |it| Event::Task(it);
        let (one, two) = (Fence::new(1), Fence::new(2));
        let report = Report {
            summary: Some("All is well.\n# Not a heading".parse().unwrap()),
            result: None,
        };
        let history = [
            event(TaskEvent::Blocked {
                fence: None,
                reason: "before anybody came".parse().unwrap(),
            }),
            event(TaskEvent::Retried),
            event(TaskEvent::Reported { fence: one, report }),
            event(TaskEvent::Failed {
                fence: Some(one),
                reason: "`make` exited with 2".parse().unwrap(),
            }),
            event(TaskEvent::LeaseExpired { fence: two }),
        ];
        let told = text(&ended(history.iter()));
        assert_eq!(
            told,
            "\n# What became of earlier attempts at this task\n\nAttempt 1 failed:\n\n> `make` exited with 2\n\nIts session had said, and \
             nobody checked it:\n\n> All is well.\n> # Not a heading\n\nAttempt 2 was lost without a word.\n"
        );
        assert_eq!(text(&[]), "");
    }

    #[test]
    fn what_is_endless_is_cut_and_only_the_newest_are_told() {
        let attempt = |number| Earlier {
            fence: Fence::new(number),
            end: "failed",
            why: Some("ä".repeat(2 * LENGTH)),
            said: None,
        };
        let told = text(&(1..=9).map(attempt).collect::<Vec<_>>());
        assert_eq!(told.matches("Attempt ").count(), ATTEMPTS);
        assert!(told.contains("Attempt 9") && !told.contains("Attempt 4"));
        assert!(told.chars().count() < ATTEMPTS * (LENGTH + 40) + 100);
    }
}
