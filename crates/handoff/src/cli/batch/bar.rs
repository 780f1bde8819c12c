//! How far something has come, in a few characters.

use std::time::Duration;

use handoff_core::task::Phase;

/// So many characters.
const CELLS: usize = 10;

/// A bar: full when it is over, as far as the guess says while it runs. What runs over its guess is never shown as full.
pub(super) fn bar(state: Phase, took: Option<f64>, estimate: Option<f64>) -> String {
    let filled = match state {
        Phase::Done | Phase::Failed | Phase::Blocked | Phase::Cancelled => CELLS,
        Phase::Waiting | Phase::Held | Phase::Resting | Phase::Queued => 0,
        Phase::Leased | Phase::Running => underway(took, estimate),
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

fn underway(took: Option<f64>, estimate: Option<f64>) -> usize {
    let (Some(took), Some(estimate)) = (took, estimate) else {
        return 1;
    };
    let share = took / estimate;
    let steps = (1..CELLS).take_while(|step| *step as f64 / CELLS as f64 <= share);
    steps.count().max(1)
}

/// `0.4s`, `18s`, `3m 20s`, `2h 05m`.
pub(super) fn span_text(span: Duration) -> String {
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
