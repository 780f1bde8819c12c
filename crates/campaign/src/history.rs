//! What a client saw: a line before each call and a line after it, in a file outside of the store.
//!
//! A client that is killed leaves a call without an end. Its successor repeats that call with the same key,
//! as a person would, so that one key may be asked twice and must be answered alike.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Act {
    Add { name: String },
    Claim,
    Renew { task: String, fence: u64 },
    Complete { task: String, fence: u64 },
}

/// What was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Reply {
    /// The task right after the act.
    Done {
        task: String,
        fence: u64,
        /// The end of its lease, in nanoseconds on the clock of the store.
        until: Option<i64>,
    },
    Nothing,
    Refused(Refused),
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Refused {
    LeaseLost,
    Other(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Step {
    Asked(Act),
    Answered(Reply),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    key: String,
    /// Nanoseconds since the boot.
    at: i64,
    step: Step,
}

/// One key with all that was said under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) key: String,
    pub(super) act: Act,
    /// How often; more often than it was answered when its client was killed.
    pub(super) asked: usize,
    pub(super) replies: Vec<Reply>,
    /// The longest wait for an answer, in nanoseconds.
    pub(super) waited: i64,
}

impl Call {
    /// The task, fence and end of lease that the client was told.
    pub(super) fn done(&self) -> Option<(&str, u64, Option<i64>)> {
        self.replies.iter().find_map(|reply| match reply {
            Reply::Done { task, fence, until } => Some((task.as_str(), *fence, *until)),
            Reply::Nothing | Reply::Refused(_) | Reply::Unknown => None,
        })
    }

    /// Whether it may have happened without the client knowing.
    pub(super) fn is_open(&self) -> bool {
        let is_end = |reply: &Reply| *reply != Reply::Unknown;
        !self.replies.iter().any(is_end)
    }
}

/// The file of one client.
#[derive(Debug)]
pub(super) struct History {
    file: File,
}

impl History {
    /// Goes on with the file, and says which call it ends in the middle of, and how many there were.
    pub(super) fn go_on(path: &Path) -> Result<(Self, Vec<Call>)> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        let text = fs::read_to_string(path)?;
        file.set_len(whole_lines(&text).len() as u64)?;
        Ok((Self { file }, read(path)?))
    }

    pub(super) fn asked(&mut self, key: &str, at: i64, act: &Act) -> Result<()> {
        self.write(key, at, Step::Asked(act.clone()))
    }

    pub(super) fn answered(&mut self, key: &str, at: i64, reply: &Reply) -> Result<()> {
        self.write(key, at, Step::Answered(reply.clone()))
    }

    /// In one write, so that a kill leaves whole lines, except where a line crosses into the next page of the file.
    fn write(&mut self, key: &str, at: i64, step: Step) -> Result<()> {
        let key = key.to_owned();
        let line = serde_json::to_string(&Line { key, at, step })? + "\n";
        Ok(self.file.write_all(line.as_bytes())?)
    }
}

/// The calls of one client, in order.
pub(super) fn read(path: &Path) -> Result<Vec<Call>> {
    let text = fs::read_to_string(path).with_context(|| format!("no {}", path.display()))?;
    let lines: Vec<Line> = whole_lines(&text)
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    Ok(fold(lines))
}

/// Without a last line that its writer was killed in. A question in it was never asked, an answer is asked for again.
fn whole_lines(text: &str) -> &str {
    text.rfind('\n').map_or("", |end| &text[..=end])
}

/// The calls of all clients that wrote into a directory.
pub(super) fn read_all(directory: &Path) -> Result<Vec<Call>> {
    let mut calls = Vec::new();
    for entry in fs::read_dir(directory)? {
        calls.extend(read(&entry?.path())?);
    }
    Ok(calls)
}

fn fold(lines: Vec<Line>) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut places: BTreeMap<String, (usize, i64)> = BTreeMap::new();
    for Line { key, at, step } in lines {
        match (step, places.get_mut(&key)) {
            (Step::Asked(_), Some((place, asked_at))) => {
                calls[*place].asked += 1;
                *asked_at = at;
            }
            (Step::Asked(act), None) => {
                places.insert(key.clone(), (calls.len(), at));
                calls.push(Call {
                    key,
                    act,
                    asked: 1,
                    replies: Vec::new(),
                    waited: 0,
                });
            }
            (Step::Answered(reply), Some((place, asked_at))) => {
                let call = &mut calls[*place];
                call.waited = call.waited.max(at - *asked_at);
                call.replies.push(reply);
            }
            // A line whose beginning is lost speaks of no call.
            (Step::Answered(_), None) => {}
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_without_an_end_is_open_until_it_is_repeated() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("history");
        let name = "one".to_owned();
        let (mut history, _) = History::go_on(&path).unwrap();
        history.asked("k", 10, &Act::Add { name }).unwrap();
        drop(history);

        let (mut history, calls) = History::go_on(&path).unwrap();
        assert!(calls[0].is_open());
        history.asked("k", 50, &calls[0].act).unwrap();
        let done = Reply::Done {
            task: "t".to_owned(),
            fence: 0,
            until: None,
        };
        history.answered("k", 57, &done).unwrap();
        let calls = read(&path).unwrap();
        assert_eq!((calls.len(), calls[0].asked, calls[0].waited), (1, 2, 7));
        assert_eq!(calls[0].done(), Some(("t", 0, None)));
    }

    #[test]
    fn a_line_that_was_cut_off_by_a_kill_is_no_line() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("history");
        let ask = |key: &str| {
            let name = key.to_owned();
            let (mut history, _) = History::go_on(&path).unwrap();
            history.asked(key, 1, &Act::Add { name }).unwrap();
        };
        ask("one");
        let whole = fs::read_to_string(&path).unwrap();
        ask("two");
        let text = fs::read_to_string(&path).unwrap();
        for cut in whole.len()..text.len() {
            fs::write(&path, &text[..cut]).unwrap();
            assert_eq!(read(&path).unwrap().len(), 1, "{cut}");
            ask("three");
            let keys: Vec<_> = { read(&path).unwrap() }
                .into_iter()
                .map(|it| it.key)
                .collect();
            assert_eq!(keys, ["one", "three"], "{cut}");
        }
    }

    #[test]
    fn an_unknown_outcome_stays_open() {
        let call = Call {
            key: "k".to_owned(),
            act: Act::Claim,
            asked: 1,
            replies: vec![Reply::Unknown],
            waited: 0,
        };
        assert!(call.is_open() && call.done().is_none());
    }
}
