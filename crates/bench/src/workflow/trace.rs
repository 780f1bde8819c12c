//! When each program of a run lived, from what strace wrote.

use std::collections::BTreeMap;
use std::time::Duration;

use handoff_core::Timestamp;

/// What a program is in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Agent,
    Git,
    Tests,
    /// `handoff` itself, as the agent calls it.
    Tool,
}

/// From a moment to another one, since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    from: Duration,
    to: Duration,
}

impl Span {
    pub(super) fn between(from: Timestamp, to: Timestamp) -> Self {
        let since = |it: Timestamp| Duration::try_from(it.as_duration()).unwrap_or_default();
        Self {
            from: since(from),
            to: since(to),
        }
    }

    pub(super) fn length(self) -> Duration {
        self.to.saturating_sub(self.from)
    }

    fn overlap(self, other: Self) -> Option<Self> {
        let (from, to) = (self.from.max(other.from), self.to.min(other.to));
        (from < to).then_some(Self { from, to })
    }
}

/// All programs of a run.
#[derive(Debug, Default)]
pub(super) struct Spans(Vec<(Kind, Span)>);

/// Times that do not overlap, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Times(Vec<Span>);

impl Spans {
    pub(super) fn of(&self, kind: Kind) -> Times {
        let of_it = self.0.iter().filter(|(it, _)| *it == kind);
        Times::merged(of_it.map(|(_, span)| *span).collect())
    }
}

impl Times {
    fn merged(mut spans: Vec<Span>) -> Self {
        spans.sort_unstable();
        let mut merged: Vec<Span> = vec![];
        for span in spans {
            match merged.last_mut() {
                Some(last) if span.from <= last.to => last.to = last.to.max(span.to),
                Some(_) | None => merged.push(span),
            }
        }
        Self(merged)
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        Self::merged([self.0.as_slice(), &other.0].concat())
    }

    pub(super) fn without(&self, other: &Self) -> Self {
        let mut left = vec![];
        for span in &self.0 {
            let mut from = span.from;
            for hole in other.0.iter().filter_map(|it| it.overlap(*span)) {
                left.extend(
                    Span {
                        from,
                        to: hole.from,
                    }
                    .overlap(*span),
                );
                from = hole.to;
            }
            left.extend(Span { from, to: span.to }.overlap(*span));
        }
        Self(left)
    }

    pub(super) fn within(&self, window: Span) -> Duration {
        let parts = self.0.iter().filter_map(|it| it.overlap(window));
        parts.map(Span::length).sum()
    }
}

/// Reads lines such as `71 1700000000.000001 execve("/usr/bin/git", ["git", "log"], …) = 0`: a process is a program from one such
/// line to the next, or to its end.
pub(super) fn read(log: &str) -> Spans {
    let mut spans = Spans::default();
    let mut running: BTreeMap<&str, (Option<Kind>, Duration)> = BTreeMap::new();
    for line in log.lines() {
        let Some((pid, at, what)) = parts(line) else {
            continue;
        };
        let is_call = what.starts_with("execve(") && !what.contains(" = -1 ");
        if !is_call && !what.starts_with("+++ ") {
            continue;
        }
        let next = is_call.then(|| (kind(what), at));
        let before = match next {
            Some(next) => running.insert(pid, next),
            None => running.remove(pid),
        };
        if let Some((Some(kind), from)) = before {
            spans.0.push((kind, Span { from, to: at }));
        }
    }
    spans
}

fn parts(line: &str) -> Option<(&str, Duration, &str)> {
    let (pid, rest) = line.split_once(' ')?;
    let (at, what) = rest.trim_start().split_once(' ')?;
    let at = Duration::try_from_secs_f64(at.parse().ok()?).ok()?;
    Some((pid, at, what))
}

fn kind(call: &str) -> Option<Kind> {
    let path = call.strip_prefix("execve(\"")?.split('"').next()?;
    match path.rsplit('/').next()? {
        "git" => Some(Kind::Git),
        "sh" if call.contains("node --test") => Some(Kind::Tests),
        "handoff" if call.contains("\"scripted-agent\"") => Some(Kind::Agent),
        "handoff" if call.contains("\"done\"") => Some(Kind::Tool),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(from: u64, to: u64) -> Span {
        let (from, to) = (Duration::from_secs(from), Duration::from_secs(to));
        Span { from, to }
    }

    #[test]
    fn a_process_is_a_program_until_it_is_another() {
        let log = r#"7 10.000000 execve("/bin/handoff", ["handoff", "scripted-agent", "x"], 0x1 /* 3 vars */) = 0
8 11.000000 execve("/bin/sh", ["sh", "-c", "x"], 0x1 /* 3 vars */) = 0
8 12.000000 execve("/bin/handoff", ["handoff", "done"], 0x1 /* 3 vars */ <unfinished ...>
9 12.500000 execve("/nowhere/git", ["git"], 0x1) = -1 ENOENT (No such file or directory)
8 13.000000 +++ exited with 0 +++
7 14.000000 +++ exited with 0 +++
"#;
        let spans = read(log);
        assert_eq!(spans.of(Kind::Git), Times::default());
        let agent = spans.of(Kind::Agent).without(&spans.of(Kind::Tool));
        assert_eq!(agent, Times(vec![span(10, 12), span(13, 14)]));
        assert_eq!(agent.within(span(11, 20)), Duration::from_secs(2));
    }

    #[test]
    fn what_overlaps_counts_once() {
        let one = Times::merged(vec![span(4, 6), span(1, 3), span(2, 5)]);
        assert_eq!(one, Times(vec![span(1, 6)]));
        let both = one.and(&Times(vec![span(6, 7), span(9, 10)]));
        assert_eq!(both, Times(vec![span(1, 7), span(9, 10)]));
    }
}
