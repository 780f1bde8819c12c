//! How far something has come, in a few characters.

use std::time::Duration;

use handoff_core::task::Phase;

/// So many characters.
const CELLS: usize = 10;

/// A bar: full when it is over, as far as is expected while it runs. What takes longer than expected is never shown as full.
pub(in crate::cli) fn bar(state: Phase, took: Option<f64>, expected: Option<f64>) -> String {
    let filled = match state {
        Phase::Done | Phase::Failed | Phase::Blocked | Phase::Cancelled => CELLS,
        Phase::Waiting | Phase::Held | Phase::Resting | Phase::Queued => 0,
        Phase::Leased | Phase::Running => underway(took, expected),
    };
    let sign = match state {
        Phase::Failed | Phase::Blocked | Phase::Cancelled => "▓",
        Phase::Done
        | Phase::Waiting
        | Phase::Held
        | Phase::Resting
        | Phase::Queued
        | Phase::Leased
        | Phase::Running => "█",
    };
    format!("{}{}", sign.repeat(filled), "░".repeat(CELLS - filled))
}

fn underway(took: Option<f64>, expected: Option<f64>) -> usize {
    let (Some(took), Some(expected)) = (took, expected) else {
        return 1;
    };
    let share = took / expected;
    let steps = (1..CELLS).take_while(|step| *step as f64 / CELLS as f64 <= share);
    steps.count().max(1)
}

/// How long something took, and how long it will still take, in seconds.
pub(in crate::cli) fn time_text(
    took: Option<f64>,
    expected: Option<f64>,
    left: Option<f64>,
) -> String {
    let span = |it: f64| span_text(Duration::from_secs_f64(it));
    match (took, expected, left) {
        (Some(took), _, Some(left)) => format!("{}, ~ {} left", span(took), span(left)),
        (Some(took), Some(expected), None) => format!("{} of {}", span(took), span(expected)),
        (Some(took), None, None) => span(took),
        (None, Some(expected), _) => format!("~ {}", span(expected)),
        (None, None, _) => "-".to_owned(),
    }
}

/// `0.4s`, `18s`, `3m 20s`, `2h 05m`.
pub(in crate::cli) fn span_text(span: Duration) -> String {
    let seconds = span.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0..10) => format!("{:.1}s", span.as_secs_f64()),
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, 0) => format!("{minutes}m"),
        (0, minutes, seconds) => format!("{minutes}m {seconds:02}s"),
        (hours, minutes, _) => format!("{hours}h {minutes:02}m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_shows_how_far_it_is() {
        for (state, took, estimate, expected) in [
            (Phase::Queued, None, None, "░░░░░░░░░░"),
            (Phase::Running, Some(1.0), None, "█░░░░░░░░░"),
            (Phase::Running, Some(5.0), Some(10.0), "█████░░░░░"),
            (Phase::Running, Some(99.0), Some(10.0), "█████████░"),
            (Phase::Done, Some(1.0), Some(10.0), "██████████"),
            (Phase::Failed, None, None, "▓▓▓▓▓▓▓▓▓▓"),
        ] {
            assert_eq!(bar(state, took, estimate), expected);
        }
    }

    #[test]
    fn spans_are_read_at_a_glance() {
        let texts =
            [0.42, 18.0, 60.0, 200.0, 7500.0].map(|it| span_text(Duration::from_secs_f64(it)));
        assert_eq!(texts, ["0.4s", "18s", "1m", "3m 20s", "2h 05m"]);
    }
}
