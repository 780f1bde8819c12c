//! What keeps an agent from working: when it is believed, and what its terminal shows of it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_agents::{Block, Complaint};
use handoff_core::Timestamp;
use handoff_core::rest::{Setback, Trouble};
use handoff_session::outcome::Outcome;
use handoff_session::plain_text::PlainText;
use handoff_session::state::Source;
use handoff_session::{Client, Known, Standing, transcript};
use jiff::tz::TimeZone;

use crate::road::reason;
use crate::workshop::Workshop;

/// An error must last for so long, and so must what is only seen on a screen: an agent may get over it by itself, or quote it.
const HOLD: Duration = Duration::from_secs(10);
/// How much of the end of what an agent printed is looked at.
const TAIL: u64 = 64 * 1024;
const LINES: usize = 60;
/// The longest description of a time zone; anything else is none.
const ZONE: u64 = 64 * 1024;

/// An agent that waits for its quota, or for somebody who looks at an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stuck {
    pub(crate) block: Block,
    pub(crate) source: Source,
    pub(crate) since: Timestamp,
}

impl Stuck {
    /// Whether waiting in this way is trouble of the agent, and not a question to a person.
    pub(crate) const fn is_about(block: Block) -> bool {
        match block {
            Block::Limit | Block::Error => true,
            Block::Permission
            | Block::Question
            | Block::Login
            | Block::Trust
            | Block::Panel
            | Block::Other => false,
        }
    }

    /// One whose turn ended without an answer.
    pub(crate) const fn of(outcome: &Outcome, since: Timestamp) -> Option<Self> {
        let block = match outcome {
            Outcome::Failed(_) => Block::Error,
            Outcome::LimitReached(_) => Block::Limit,
            Outcome::Answered
            | Outcome::Interrupted
            | Outcome::Refused
            | Outcome::Died
            | Outcome::Unclear
            | Outcome::Other => return None,
        };
        Some(Self {
            block,
            source: Source::Native,
            since,
        })
    }

    /// How long it takes until it is believed; nothing if it is.
    pub(crate) fn doubted_for(&self, now: Timestamp) -> Duration {
        let seen = Duration::try_from(now.duration_since(self.since)).unwrap_or_default();
        let is_said = matches!(
            self.source,
            Source::Process | Source::Status | Source::Native
        );
        if is_said && self.block == Block::Limit {
            return Duration::ZERO;
        }
        HOLD.saturating_sub(seen)
    }

    /// What its terminal shows of it.
    pub(crate) fn setback(
        &self,
        workshop: &Workshop<'_>,
        directory: &Path,
        known: Option<&Known>,
    ) -> Setback {
        let lines = screen(known).unwrap_or_else(|| printed(directory));
        let known_trouble = (self.block == Block::Limit).then_some(Trouble::Limit);
        let now = workshop.clock.now().wall;
        let zone = |name: Option<&str>| zone(name, &workshop.environment);
        told_by(Complaint::read(&lines, known_trouble, now, &zone), known)
    }
}

/// The trouble of an agent that ended with an error before anybody saw what it did, by its last words; none if they are not about
/// its quota or its model.
pub(crate) fn last_words(
    workshop: &Workshop<'_>,
    directory: &Path,
    known: Option<&Known>,
) -> Option<Setback> {
    let now = workshop.clock.now().wall;
    let zone = |name: Option<&str>| zone(name, &workshop.environment);
    let complaint = Complaint::last_words(&printed(directory), now, &zone)?;
    Some(told_by(complaint, known))
}

fn told_by(complaint: Complaint, known: Option<&Known>) -> Setback {
    let trouble = complaint.trouble;
    let said = complaint.said.filter(|it| !it.is_empty());
    Setback {
        trouble,
        agent: known.and_then(|known| known.record.agent.parse().ok()),
        reason: reason(said.as_deref().unwrap_or(trouble.in_words())),
        resets_at: complaint.resets_at,
    }
}

/// What a terminal shows, while somebody can be asked for it.
fn screen(known: Option<&Known>) -> Option<Vec<String>> {
    let known = known.filter(|known| known.standing == Standing::Live)?;
    let shown = Client::new(&known.record.socket).screen().ok()?;
    Some(shown.lines)
}

/// The end of what an agent printed, as plain lines.
pub(crate) fn printed(directory: &Path) -> Vec<String> {
    let Ok(tail) = transcript::tail(directory, LINES, TAIL) else {
        return vec![];
    };
    let mut text = PlainText::default();
    let mut lines = text.push(&tail.bytes);
    lines.extend(text.rest());
    lines
}

/// A zone by its name, or the one that this machine is in.
fn zone(name: Option<&str>, environment: &BTreeMap<OsString, OsString>) -> Option<TimeZone> {
    let own = environment.get(OsStr::new("TZ")).and_then(|it| it.to_str());
    let own = own
        .map(|it| it.trim_start_matches(':'))
        .filter(|it| !it.is_empty());
    let path = match name.or(own) {
        Some("UTC" | "UTC0") => return Some(TimeZone::UTC),
        Some(name) => zone_file(name)?,
        None => PathBuf::from("/etc/localtime"),
    };
    let is_small = std::fs::metadata(&path).is_ok_and(|it| it.len() <= ZONE);
    let bytes = std::fs::read(&path).ok().filter(|_| is_small)?;
    TimeZone::tzif(name.unwrap_or_default(), &bytes).ok()
}

/// An agent's words must not lead anywhere else.
fn zone_file(name: &str) -> Option<PathBuf> {
    let is_part = |part: &str| {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '+');
        !part.is_empty() && part.chars().all(is_plain)
    };
    let is_name = name.split('/').all(is_part);
    is_name.then(|| Path::new("/usr/share/zoneinfo").join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stuck(source: Source) -> Stuck {
        Stuck {
            block: Block::Limit,
            source,
            since: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn a_limit_that_is_said_is_believed_at_once_and_all_else_after_a_while() {
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        assert_eq!(stuck(Source::Status).doubted_for(at(0)), Duration::ZERO);
        let screen = stuck(Source::Screen);
        assert_eq!(screen.doubted_for(at(4)), Duration::from_secs(6));
        let error = Stuck {
            block: Block::Error,
            ..stuck(Source::Native)
        };
        assert_eq!(error.doubted_for(at(4)), Duration::from_secs(6));
        assert_eq!(screen.doubted_for(at(10)), Duration::ZERO);
        assert_eq!(screen.doubted_for(at(-5)), HOLD, "the clock was set back");
    }

    #[test]
    fn the_name_of_a_zone_leads_nowhere_else() {
        assert!(zone_file("America/Port-au-Prince").is_some());
        for wrong in [
            "../../etc/shadow",
            "/etc/localtime",
            "Europe//Berlin",
            "",
            "a b",
        ] {
            assert_eq!(zone_file(wrong), None, "{wrong}");
        }
    }
}
