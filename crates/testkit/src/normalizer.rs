//! Turns what differs from run to run into words that do not, for snapshots.
//!
//! | found | becomes |
//! |---|---|
//! | a path below the test's directory | `$HOME/…`, `$TEMP/…` |
//! | `task_` and 8 or more hexadecimal digits, likewise the other kinds | `task_1`, by first appearance |
//! | 40 or 64 hexadecimal digits | `hash_1`, by first appearance |
//! | `2026-11-15T23:10:02.5Z`, `2026-11-15 23:10:02` | `<time>` |
//! | `2026-11-15` | `<date>` |
//! | `1.2s`, `15 ms`, `2m 3s`, and the number after `"…_ms":` | `<duration>` |
//! | the number after `"pid":` | `<pid>` |

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

const ID_PREFIXES: [&str; 8] = [
    "task_", "proj_", "store_", "pkg_", "ses_", "batch_", "run_", "key_",
];

/// Units that may stand apart from their number; `m`, `h` and `d` alone mean too many other things.
const SPACED_UNITS: [&str; 5] = ["ns", "us", "µs", "ms", "s"];
const ATTACHED_UNITS: [&str; 3] = ["m", "h", "d"];

/// JSON keys whose number differs from run to run.
const KEYS: [(&str, &str); 3] = [
    ("_ms\":", "<duration>"),
    ("_seconds\":", "<duration>"),
    ("\"pid\":", "<pid>"),
];

/// The replacements of one test; clones share the numbers they have given out.
#[derive(Clone, Debug)]
pub struct Normalizer {
    paths: Vec<(String, &'static str)>,
    numbers: Arc<Mutex<BTreeMap<&'static str, Vec<String>>>>,
}

impl Normalizer {
    /// Earlier paths win, so the inner ones come first.
    pub fn new(paths: impl IntoIterator<Item = (PathBuf, &'static str)>) -> Self {
        let paths = paths
            .into_iter()
            .map(|(path, name)| (path.to_string_lossy().into_owned(), name))
            .collect();
        Self {
            paths,
            numbers: Arc::default(),
        }
    }

    #[must_use]
    pub fn normalize(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (path, name) in &self.paths {
            text = text.replace(path, name);
        }

        let mut normalized = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(next) = rest.chars().next() {
            if let Some((length, word)) = self.word_at(rest, &normalized) {
                normalized.push_str(&word);
                rest = &rest[length..];
            } else {
                normalized.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
        normalized
    }

    /// The length of what stands at the start of `rest`, and its replacement.
    fn word_at(&self, rest: &str, before: &str) -> Option<(usize, String)> {
        if before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            return None;
        }
        if let Some((prefix, length)) = id_length(rest) {
            return Some((length, self.numbered(prefix, &rest[..length])));
        }
        if let Some(length) = hash_length(rest) {
            return Some((length, self.numbered("hash_", &rest[..length])));
        }
        let (length, word) = time_at(rest)
            .or_else(|| keyed_number_at(rest, before))
            .or_else(|| duration_at(rest, before))?;
        Some((length, word.to_owned()))
    }

    fn numbered(&self, prefix: &'static str, id: &str) -> String {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = numbers.entry(prefix).or_default();
        let index = seen
            .iter()
            .position(|other| other == id)
            .unwrap_or_else(|| {
                seen.push(id.to_owned());
                seen.len() - 1
            });
        format!("{prefix}{}", index + 1)
    }
}

fn id_length(text: &str) -> Option<(&'static str, usize)> {
    let prefix = ID_PREFIXES
        .into_iter()
        .find(|prefix| text.starts_with(prefix))?;
    let digits = hex_digits(&text[prefix.len()..]);
    let length = prefix.len() + digits;
    (digits >= 8 && ends_word(&text[length..])).then_some((prefix, length))
}

fn hash_length(text: &str) -> Option<usize> {
    let length = hex_digits(text);
    (matches!(length, 40 | 64) && ends_word(&text[length..])).then_some(length)
}

fn time_at(text: &str) -> Option<(usize, &'static str)> {
    let date = matched(text, "0000-00-00")?;
    let after_date = &text[date..];
    let Some(clock) = matched(after_date, "T00:00:00").or_else(|| matched(after_date, " 00:00:00"))
    else {
        return ends_word(after_date).then_some((date, "<date>"));
    };
    let mut length = date + clock;
    if let Some(fraction) = text[length..].strip_prefix('.') {
        length += 1 + decimal_digits(fraction);
    }
    let offset = ["Z", "+00:00", "-00:00"]
        .iter()
        .find_map(|form| matched(&text[length..], form));
    Some((length + offset.unwrap_or(0), "<time>"))
}

fn keyed_number_at(text: &str, before: &str) -> Option<(usize, &'static str)> {
    let before = before.trim_end_matches(' ');
    let (_, word) = KEYS.into_iter().find(|(key, _)| before.ends_with(key))?;
    number_length(text).map(|length| (length, word))
}

fn duration_at(text: &str, before: &str) -> Option<(usize, &'static str)> {
    // `v0.12s` holds no duration.
    if before.ends_with('.') {
        return None;
    }
    let mut length = span_length(text)?;
    while let Some(rest) = text[length..].strip_prefix(' ')
        && let Some(next) = span_length(rest)
    {
        length += 1 + next;
    }
    Some((length, "<duration>"))
}

/// One number with its unit.
fn span_length(text: &str) -> Option<usize> {
    let number = number_length(text)?;
    let unit_at = |at: usize, units: &[&str]| {
        let unit = |unit: &&str| {
            text[at..]
                .strip_prefix(*unit)
                .is_some_and(ends_word)
                .then(|| at + unit.len())
        };
        units.iter().find_map(unit)
    };
    unit_at(number, &SPACED_UNITS)
        .or_else(|| unit_at(number, &ATTACHED_UNITS))
        .or_else(|| {
            text[number..]
                .starts_with(' ')
                .then(|| unit_at(number + 1, &SPACED_UNITS))
                .flatten()
        })
}

fn number_length(text: &str) -> Option<usize> {
    let whole = decimal_digits(text);
    let fraction = text[whole..].strip_prefix('.').map_or(0, decimal_digits);
    match (whole, fraction) {
        (0, _) => None,
        (whole, 0) => Some(whole),
        (whole, fraction) => Some(whole + 1 + fraction),
    }
}

/// The length of `form` when `text` starts with it, `0` standing for any digit.
fn matched(text: &str, form: &str) -> Option<usize> {
    let mut bytes = text.bytes();
    form.bytes()
        .all(|expected| {
            bytes.next().is_some_and(|byte| match expected {
                b'0' => byte.is_ascii_digit(),
                other => byte == other,
            })
        })
        .then_some(form.len())
}

fn hex_digits(text: &str) -> usize {
    text.bytes()
        .take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        .count()
}

fn decimal_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn ends_word(rest: &str) -> bool {
    !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "0192f0c47d0a7c3e9f5b2a1c3d4e5f60";
    const B: &str = "0192f0c47d0a7c3e9f5b2a1c3d4e5f61";

    fn normalized(text: &str) -> String {
        Normalizer::new([("/tmp/x/home".into(), "$HOME"), ("/tmp/x".into(), "$TEMP")])
            .normalize(text)
    }

    #[test]
    fn ids_are_numbered_by_first_appearance_within_their_kind() {
        let text = format!("task_{B} task_{A} run_{A} task_{B}, ses_{B}.json");
        assert_eq!(normalized(&text), "task_1 task_2 run_1 task_1, ses_1.json");
    }

    #[test]
    fn clones_share_their_numbers() {
        let normalizer = Normalizer::new([]);
        let clone = normalizer.clone();
        assert_eq!(normalizer.normalize(&format!("pkg_{A}")), "pkg_1");
        assert_eq!(clone.normalize(&format!("pkg_{B} pkg_{A}")), "pkg_2 pkg_1");
    }

    #[test]
    fn words_that_only_look_like_ids_stay() {
        for text in [
            "task_id run_at key_file",
            "subtask_0192f0c47d0a",
            "task_1",
            "store_dead",
        ] {
            assert_eq!(normalized(text), text);
        }
    }

    #[test]
    fn inner_paths_win_over_outer_ones() {
        assert_eq!(
            normalized("in /tmp/x/home/a and /tmp/x/b"),
            "in $HOME/a and $TEMP/b"
        );
    }

    #[test]
    fn times_and_durations_become_words() {
        for (text, expected) in [
            ("at 2026-11-15T23:10:02.123456Z.", "at <time>."),
            ("\"2026-11-15T23:10:02+01:00\"", "\"<time>\""),
            ("2026-11-15 23:10:02 on 2026-11-15", "<time> on <date>"),
            (
                "took 1.25s, 15 ms, 2m 3s",
                "took <duration>, <duration>, <duration>",
            ),
            (
                "\"elapsed_ms\": 12, \"pid\":77, \"count\": 3",
                "\"elapsed_ms\": <duration>, \"pid\":<pid>, \"count\": 3",
            ),
            (
                "3 sessions, v0.12s, 5 m, a1s",
                "3 sessions, v0.12s, 5 m, a1s",
            ),
        ] {
            assert_eq!(normalized(text), expected);
        }
    }

    #[test]
    fn hashes_of_git_and_of_packages_are_numbered() {
        let (sha1, sha256) = ("ab".repeat(20), "cd".repeat(32));
        assert_eq!(
            normalized(&format!("{sha1} sha256:{sha256} {sha1}")),
            "hash_1 sha256:hash_2 hash_1"
        );
        assert_eq!(normalized("ab12"), "ab12");
    }
}
