//! A time as people write it: `3pm`, `Oct 9th at 3:45 PM (Europe/Berlin)`, `in 2 hours 5 minutes`, `1794844800`.

use std::time::Duration;

use handoff_core::Timestamp;
use jiff::ToSpan as _;
use jiff::civil::{Date, Time, time};
use jiff::tz::TimeZone;

use super::ZoneOf;

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Clue {
    seconds: Option<i64>,
    span: Option<Duration>,
    time: Option<Time>,
    month: Option<i8>,
    day: Option<i8>,
    year: Option<i16>,
    zone: Option<String>,
}

impl Clue {
    /// Reads words until one ends it.
    pub(super) fn read(text: &str) -> Self {
        let mut clue = Self::default();
        let words = text.split([' ', ',', '·', '∙', '|']);
        let words: Vec<_> = words
            .map(|word| word.trim_end_matches(['.', ':', ';']))
            .filter(|word| !word.is_empty())
            .collect();
        for (place, word) in words.iter().enumerate() {
            clue.hear(word, words.get(place + 1).copied().unwrap_or_default());
        }
        clue
    }

    /// The time that is meant, if one is.
    pub(super) fn time(&self, now: Timestamp, zone: &ZoneOf<'_>) -> Option<Timestamp> {
        if let Some(seconds) = self.seconds {
            return Timestamp::from_second(seconds).ok();
        }
        if let Some(span) = self.span {
            return now.checked_add(span).ok();
        }
        let zone = match self.zone.as_deref() {
            Some("UTC" | "GMT") => TimeZone::UTC,
            name => zone(name)?,
        };
        self.next(now, &zone)
    }

    fn next(&self, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let time = self.time?;
        let today = now.to_zoned(zone.clone()).date();
        let at = |date: Date| {
            Some(
                date.to_datetime(time)
                    .to_zoned(zone.clone())
                    .ok()?
                    .timestamp(),
            )
        };
        let (Some(month), Some(day)) = (self.month, self.day) else {
            let first = at(today)?;
            return if first > now {
                Some(first)
            } else {
                at(today.tomorrow().ok()?)
            };
        };
        let date = Date::new(self.year.unwrap_or(today.year()), month, day).ok()?;
        let is_past = self.year.is_none() && date < today;
        at(if is_past {
            date.checked_add(1.year()).ok()?
        } else {
            date
        })
    }

    fn hear(&mut self, word: &str, next: &str) {
        let name = word.trim_matches(['(', ')']);
        if name.contains('/') || matches!(name, "UTC" | "GMT") {
            self.zone.get_or_insert(name.to_owned());
            return;
        }
        let (word, next) = (word.to_ascii_lowercase(), next.to_ascii_lowercase());
        if let Some(month) = month(&word) {
            self.month.get_or_insert(month);
        } else if let Some(span) = span(&word, &next) {
            self.span = Some(self.span.unwrap_or_default() + span);
        } else if let Some(found) = time_of_day(&word, &next) {
            self.time.get_or_insert(found);
        } else {
            self.hear_number(&word);
        }
    }

    fn hear_number(&mut self, word: &str) {
        let digits = word.trim_end_matches(|it: char| it.is_ascii_lowercase());
        let Ok(number) = digits.parse::<i64>() else {
            return;
        };
        match number {
            1..=31 => self.day = self.day.or(i8::try_from(number).ok()),
            2000..=2999 => self.year = self.year.or(i16::try_from(number).ok()),
            1_000_000_000..=9_999_999_999 => self.seconds = self.seconds.or(Some(number)),
            _ => {}
        }
    }
}

fn month(word: &str) -> Option<i8> {
    let begins = word
        .get(..3)
        .filter(|_| word.chars().all(char::is_alphabetic))?;
    let place = MONTHS.iter().position(|it| *it == begins)?;
    i8::try_from(place + 1).ok()
}

/// `5h30m12s`, `32.1s`, or a number with its unit in the next word.
fn span(word: &str, next: &str) -> Option<Duration> {
    if let Ok(number) = word.parse::<f64>() {
        return of_unit(number, next).filter(|_| next.len() > 2);
    }
    let mut rest = word;
    let mut sum = Duration::ZERO;
    while !rest.is_empty() {
        let unit = rest.find(|it: char| it.is_ascii_alphabetic())?;
        let after = rest[unit..].find(|it: char| !it.is_ascii_alphabetic());
        let end = after.map_or(rest.len(), |it| unit + it);
        sum += of_unit(rest[..unit].parse().ok()?, &rest[unit..end])?;
        rest = &rest[end..];
    }
    Some(sum)
}

fn of_unit(number: f64, unit: &str) -> Option<Duration> {
    let seconds = match unit.trim_end_matches('s') {
        "" | "sec" | "second" => 1.0,
        "m" | "min" | "minute" => 60.0,
        "h" | "hr" | "hour" => 3_600.0,
        "d" | "day" => 86_400.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number * seconds).ok()
}

/// `3pm`, `3:45pm`, `3:45` with or without a word behind it, `15:04`.
fn time_of_day(word: &str, next: &str) -> Option<Time> {
    let half = |text: &str| match text.get(..2) {
        Some("am") => Some(0),
        Some("pm") => Some(12),
        _ => None,
    };
    let begins = word.find(|it: char| it.is_ascii_alphabetic());
    let digits = begins.map_or(word, |it| &word[..it]);
    let half = begins.map_or_else(|| half(next), |it| half(&word[it..]));
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "0"));
    if half.is_none() && !digits.contains(':') {
        return None;
    }
    let (hours, minutes) = (hours.parse::<i8>().ok()?, minutes.parse::<i8>().ok()?);
    let hours = half.map_or(Some(hours), |half| {
        (1..=12).contains(&hours).then_some(hours % 12 + half)
    })?;
    let is_time = (0..24).contains(&hours) && (0..60).contains(&minutes);
    is_time.then(|| time(hours, minutes, 0, 0))
}
