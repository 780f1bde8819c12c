//! What an agent's own words tell of its trouble: which it is, and when it is over.
//!
//! Each agent words it in its own way and changes the words between versions, so nothing depends on reading them: without a time
//! there is a usual span, and an error that says nothing is one.

mod clue;

use handoff_core::Timestamp;
use handoff_core::rest::Trouble;
use jiff::tz::TimeZone;

use self::clue::Clue;

/// What stands farther up is about something else.
const NEAR: usize = 15;

/// The same for one that has ended: its error is the last thing that it says.
const LAST: usize = 4;

/// Words of one who has used up what it may use.
const LIMIT: [&str; 7] = [
    "usage limit",
    "rate limit",
    "limit reached",
    "hit your",
    "quota",
    "429",
    "insufficient",
];

/// Words of one who reaches nobody.
const NETWORK: [&str; 14] = [
    "econn",
    "enotfound",
    "etimedout",
    "eai_again",
    "connection",
    "network",
    "timed out",
    "timeout",
    "overloaded",
    "unavailable",
    "unreachable",
    "fetch failed",
    "502",
    "529",
];

/// Words after which a time may stand.
const BEFORE_TIME: [&str; 5] = ["reset", "again", "retry", "reached|", "resume"];

/// What an agent said about its trouble.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// Which it is.
    pub trouble: Trouble,
    /// The line that says so.
    pub said: Option<String>,
    /// When it is over.
    pub resets_at: Option<Timestamp>,
}

/// The time zone of a name, or of this machine.
pub type ZoneOf<'a> = dyn Fn(Option<&str>) -> Option<TimeZone> + 'a;

impl Complaint {
    /// Reads what an agent shows that is in trouble. Of one that says itself which it is, that is not asked again.
    pub fn read(
        lines: &[String],
        known: Option<Trouble>,
        now: Timestamp,
        zone: &ZoneOf<'_>,
    ) -> Self {
        let near: Vec<_> = lines
            .iter()
            .rev()
            .filter(|line| !line.trim().is_empty())
            .take(NEAR)
            .collect();
        let with = |words: &[&str]| near.iter().find(|line| has(line, words));
        let limit = with(&LIMIT).or_else(|| with(&BEFORE_TIME));
        let (trouble, line) = match (known, limit, with(&NETWORK)) {
            (Some(Trouble::Limit), line, _) | (None, line @ Some(_), _) => (Trouble::Limit, line),
            (Some(known), ..) => (known, None),
            (None, None, line @ Some(_)) => (Trouble::Network, line),
            (None, None, None) => (Trouble::Error, None),
        };
        let said = line.or_else(|| near.first());
        Self {
            trouble,
            said: said.map(|line| line.trim().to_owned()),
            resets_at: resets_at(&near, now, zone).filter(|_| trouble != Trouble::Error),
        }
    }
}

impl Complaint {
    /// Reads the last lines of an agent that ended before anybody saw what it did. Only words that are about its quota or its
    /// model count: anything else may be about the work.
    pub fn last_words(lines: &[String], now: Timestamp, zone: &ZoneOf<'_>) -> Option<Self> {
        let said = lines.iter().filter(|line| !line.trim().is_empty());
        let last: Vec<String> = said.rev().take(LAST).cloned().collect();
        let last: Vec<String> = last.into_iter().rev().collect();
        let is_about = |words: &[&str]| last.iter().any(|line| has(line, words));
        let trouble = if is_about(&LIMIT) {
            Trouble::Limit
        } else if is_about(&NETWORK) {
            Trouble::Network
        } else {
            return None;
        };
        Some(Self::read(&last, None, now, zone)).filter(|it| it.trouble == trouble)
    }
}

/// The newest line that names a time counts. A long one may go on in the next.
fn resets_at(newest_first: &[&String], now: Timestamp, zone: &ZoneOf<'_>) -> Option<Timestamp> {
    let place = newest_first.iter().position(|it| has(it, &BEFORE_TIME))?;
    let next = place
        .checked_sub(1)
        .map_or("", |it| newest_first[it].as_str());
    let text = format!("{} {next}", newest_first[place]);
    let small = newest_first[place].to_ascii_lowercase();
    let words = BEFORE_TIME.iter();
    let begins = words.filter_map(|word| Some(small.rfind(word)? + word.len()));
    Clue::read(&text[begins.max()?..]).time(now, zone)
}

fn has(line: &str, words: &[&str]) -> bool {
    let line = line.to_ascii_lowercase();
    words.iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use jiff::tz::Offset;

    use super::*;

    /// 2026-11-16, a quarter past noon; this machine is an hour east of it.
    const NOON: &str = "2026-11-16T12:15:00Z";

    fn zone(name: Option<&str>) -> Option<TimeZone> {
        match name {
            None => Some(TimeZone::fixed(Offset::constant(1))),
            Some("America/Santiago") => Some(TimeZone::fixed(Offset::constant(-3))),
            Some(_) => None,
        }
    }

    fn read(text: &str, known: Option<Trouble>) -> Complaint {
        let lines: Vec<_> = text.lines().map(str::to_owned).collect();
        Complaint::read(&lines, known, NOON.parse().unwrap(), &zone)
    }

    #[track_caller]
    fn ends(text: &str, expected: Option<&str>) {
        let found = read(text, Some(Trouble::Limit)).resets_at;
        assert_eq!(found, expected.map(|it| it.parse().unwrap()), "{text}");
    }

    #[test]
    fn of_one_that_has_ended_only_the_last_lines_about_quota_or_network_count() {
        let last = |text: &str| {
            let lines: Vec<_> = text.lines().map(str::to_owned).collect();
            let found = Complaint::last_words(&lines, NOON.parse().unwrap(), &zone);
            found.map(|it| (it.trouble, it.resets_at.is_some()))
        };
        let limit = "Error: You have hit your usage limit.\nTry again in 2 hours.\n\n";
        assert_eq!(last(limit), Some((Trouble::Limit, true)));
        let network = "API Error: ECONNREFUSED\n";
        assert_eq!(last(network), Some((Trouble::Network, false)));
        assert_eq!(last("error: no such option\nTry again.\n"), None);
        assert_eq!(last("rate limit\n1\n2\n3\n4\n"), None, "it is long ago");
        assert_eq!(last(""), None);
    }

    #[test]
    fn a_time_of_day_is_the_next_one() {
        ends(
            "5-hour limit reached ∙ resets 3pm",
            Some("2026-11-16T14:00:00Z"),
        );
        ends(
            "limit reached · resets 1:10pm",
            Some("2026-11-17T12:10:00Z"),
        );
        ends(
            "You've hit your limit · resets 3:45pm (America/Santiago)",
            Some("2026-11-16T18:45:00Z"),
        );
        ends(
            "Your limit will reset at 15:04 (UTC).",
            Some("2026-11-16T15:04:00Z"),
        );
        ends(
            "Your limit will reset at 12am.",
            Some("2026-11-16T23:00:00Z"),
        );
    }

    #[test]
    fn a_day_can_be_named() {
        ends(
            "limit reached ∙ resets Nov 19, 5pm",
            Some("2026-11-19T16:00:00Z"),
        );
        ends(
            "try again at Jan 2nd, 2027 3:45 PM.",
            Some("2027-01-02T14:45:00Z"),
        );
        ends(
            "limit reached ∙ resets Jan 2 at 5pm",
            Some("2027-01-02T16:00:00Z"),
        );
    }

    #[test]
    fn a_span_begins_now() {
        ends(
            "■ You've hit your usage limit. Try again in 3 days 4 hours 12 minutes.",
            Some("2026-11-19T16:27:00Z"),
        );
        ends(
            "Your quota will reset after 5h30m12s.",
            Some("2026-11-16T17:45:12Z"),
        );
        ends("Please retry in 32.5s.", Some("2026-11-16T12:15:32.5Z"));
        ends(
            "You've hit your usage limit. To get more access now, try again in 2 hours and\n    5 minutes.",
            Some("2026-11-16T14:20:00Z"),
        );
    }

    #[test]
    fn a_number_of_seconds_is_a_time() {
        ends(
            "Claude AI usage limit reached|1794844800",
            Some("2026-11-16T16:00:00Z"),
        );
    }

    #[test]
    fn what_names_no_time_names_none() {
        ends("limit reached ∙ resets soon", None);
        ends("limit reached", None);
        ends("resets at 25:00", None);
        ends("resets 3pm (Nowhere/Else)", None);
        ends("", None);
    }

    #[test]
    fn an_error_is_told_by_its_words() {
        let trouble = |text| read(text, None).trouble;
        assert_eq!(trouble("● API Error: Connection error."), Trouble::Network);
        assert_eq!(
            trouble("● API Error: 529 overloaded_error"),
            Trouble::Network
        );
        assert_eq!(trouble("● API Error: 429 rate limit"), Trouble::Limit);
        assert_eq!(
            trouble("● API Error: 400 prompt is too long"),
            Trouble::Error
        );
        assert_eq!(trouble(""), Trouble::Error);
    }

    #[test]
    fn the_line_that_says_so_is_kept() {
        let said = read(
            "some work\n\n  ■ usage limit, try again in 1 hour  \n\n> \n",
            None,
        )
        .said;
        assert_eq!(said.as_deref(), Some("■ usage limit, try again in 1 hour"));
        let said = read("a\nb\n", Some(Trouble::Start)).said;
        assert_eq!(said.as_deref(), Some("b"));
    }
}
