//! Exit codes: one list, from which the program exits and `handoff help exit-codes` prints.

use serde::Serialize;

macro_rules! exit_codes {
    ($($(#[doc = $doc:literal])* $name:ident = $code:literal, $word:literal;)*) => {
        /// How a command ended.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ExitCode {
            $($(#[doc = $doc])* $name,)*
        }

        impl ExitCode {
            /// All of them, by number.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The number that the process exits with.
            pub const fn number(self) -> u8 {
                match self { $(Self::$name => $code,)* }
            }

            /// The word for it in JSON, the same for ever.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// What it means, in a sentence.
            pub fn meaning(self) -> String {
                let lines: &[&str] = match self { $(Self::$name => &[$($doc,)*],)* };
                lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
            }
        }
    };
}

exit_codes! {
    /// Everything that was asked for is done and durable.
    Done = 0, "done";
    /// The request is understood and cannot be carried out; the message says why.
    Failed = 1, "failed";
    /// The command line is wrong; nothing was tried.
    Usage = 2, "usage";
    /// There is no such task, project, file or store.
    NotFound = 3, "not_found";
    /// It contradicts what is already there: a taken name, an ended task, a reused key, overlapping paths.
    Conflict = 4, "conflict";
    /// The store or a server cannot be reached or used at the moment; trying again may help.
    Unavailable = 5, "unavailable";
    /// The lease behind the fence you showed is gone; nothing was changed. Stop working on the task.
    LeaseLost = 6, "lease_lost";
    /// It may or may not have happened. Repeat the same command with the same `--key` to find out.
    OutcomeUnknown = 7, "outcome_unknown";
    /// The disk or the quota is full; nothing was changed.
    NoSpace = 8, "no_space";
    /// This caller may not do this.
    Forbidden = 9, "forbidden";
    /// Stored data is damaged or of a newer version; it was left as it is.
    Damaged = 10, "damaged";
    /// There is nothing ready to be claimed.
    NothingReady = 11, "nothing_ready";
    /// A check did not pass: `doctor` found a problem, or a verify command failed.
    CheckFailed = 12, "check_failed";
    /// The agent waits for a person, so what was waited for cannot come by itself; the message says what for.
    Blocked = 13, "blocked";
    /// Nothing has changed in the paths that were to be committed.
    NothingToCommit = 14, "nothing_to_commit";
    /// A session is stuck: nothing of it moves, and telling it to go on did not help. It still runs.
    Stalled = 15, "stalled";
    /// The agent has ended its turn without an answer, because its model did not answer; the message says what it said.
    TurnFailed = 16, "turn_failed";
    /// The turn was interrupted, so that there is no answer.
    Interrupted = 17, "interrupted";
    /// The turn ended with a refusal: of a person to what the agent asked for, or of its model to answer.
    Refused = 18, "refused";
    /// The turn ended without an answer, because what the agent may use is used up.
    LimitReached = 19, "limit_reached";
    /// The agent ended in the middle of the turn.
    AgentDied = 20, "agent_died";
    /// A mistake in handoff itself; please report it.
    Internal = 70, "internal";
    /// The guard refused a git command inside a session; the message says what to do instead.
    Guarded = 99, "guarded";
    /// Waiting took longer than the time given.
    TimedOut = 124, "timed_out";
}

/// All exit codes.
#[derive(Debug, Serialize)]
pub struct ExitCodesDocument {
    codes: Vec<ExitCodeDocument>,
}

#[derive(Debug, Serialize)]
struct ExitCodeDocument {
    code: u8,
    name: &'static str,
    meaning: String,
}

impl ExitCodesDocument {
    /// The schema of the list.
    pub const SCHEMA: &str = "handoff.exit-codes/1";

    /// The list.
    pub fn all() -> Self {
        let document = |code: &ExitCode| ExitCodeDocument {
            code: code.number(),
            name: code.word(),
            meaning: code.meaning(),
        };
        Self {
            codes: ExitCode::ALL.iter().map(document).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_words_are_told_apart() {
        let mut numbers: Vec<_> = ExitCode::ALL.iter().map(|code| code.number()).collect();
        let mut words: Vec<_> = ExitCode::ALL.iter().map(|code| code.word()).collect();
        assert!(numbers.is_sorted());
        numbers.dedup();
        words.sort_unstable();
        words.dedup();
        assert_eq!(
            (numbers.len(), words.len()),
            (ExitCode::ALL.len(), ExitCode::ALL.len())
        );
    }
}
