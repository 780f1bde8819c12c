//! Attending to a session: what is to be done next, from what is known of it. Pure; `session` looks and acts.

use std::time::Duration;

use handoff_core::rest::Setback;
use handoff_core::task::Reason;
use handoff_session::last_word::LastWord;
use handoff_session::outcome::Outcome;
use handoff_session::record::Ending;
use handoff_session::state::Phase;

/// How often an agent that stopped without a word is asked for one.
const REMINDERS: u64 = 1;

/// What is known of a session at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sight {
    pub(crate) life: Life,
    pub(crate) tree: Tree,
    /// What it said last of its task.
    pub(crate) word: Option<LastWord>,
    /// What its agent does.
    pub(crate) phase: Phase,
    /// The turns that have ended.
    pub(crate) turns: u64,
    /// How the last of them ended.
    pub(crate) outcome: Option<Outcome>,
    /// The reminders that were sent.
    pub(crate) reminded: u64,
    /// How long it has worked.
    pub(crate) worked: Duration,
    /// How long it may.
    pub(crate) limit: Option<Duration>,
    /// Whether its holder has found that nothing of it moves, and asking it to go on did not help.
    pub(crate) is_stalled: bool,
    /// Whether a person sits at it: then it is for them to see that it goes on.
    pub(crate) is_attended: bool,
    /// What keeps its agent from working, through no fault of the task.
    pub(crate) setback: Option<Setback>,
    /// Whether the right to work on the task is gone: called off, or somebody else's.
    pub(crate) is_over: bool,
}

/// Whether a session lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    Lives,
    Ended(Ending),
    /// Its holder died without saying how it ended.
    Lost,
}

/// Whether the worktree of a session is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tree {
    There,
    /// Somebody removed it under the session.
    Gone,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    /// Nothing yet.
    Wait,
    /// Ask it for a word.
    Remind,
    /// End the session; then look again.
    Stop,
    /// Look at what it did.
    Conclude(Conclusion),
}

/// How a session came to its end, for the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Conclusion {
    /// There may be something to be taken.
    Finished,
    /// It needs a person.
    Blocked(Reason),
    /// Its program failed.
    Failed(Ending),
    /// It took too long.
    TimedOut(Duration),
    /// Nothing of it moved any more.
    Stalled,
    /// It is gone, and nobody knows how far it came.
    Lost,
    /// Somebody removed its worktree, and what was in it with that.
    Bereft,
    /// Its agent could not work, and that is not the task's fault.
    Troubled(Setback),
    /// It does not matter any more.
    Over,
}

/// Decides. A session that still lives is ended before anything is concluded.
pub(crate) fn next(sight: &Sight) -> Act {
    let conclusion = conclusion(sight);
    match (conclusion, sight.life) {
        (Some(conclusion), Life::Ended(_) | Life::Lost) => Act::Conclude(conclusion),
        (Some(_), Life::Lives) => Act::Stop,
        (None, Life::Ended(ending)) => Act::Conclude(Conclusion::Failed(ending)),
        (None, Life::Lost) => Act::Conclude(Conclusion::Lost),
        (None, Life::Lives) if is_idle(sight) => Act::Remind,
        (None, Life::Lives) => Act::Wait,
    }
}

fn conclusion(sight: &Sight) -> Option<Conclusion> {
    if sight.is_over {
        return Some(Conclusion::Over);
    }
    if sight.tree == Tree::Gone {
        return Some(Conclusion::Bereft);
    }
    match &sight.word {
        Some(LastWord::Done { .. }) => return Some(Conclusion::Finished),
        Some(LastWord::Blocked { reason }) => return Some(Conclusion::Blocked(reason.clone())),
        None => {}
    }
    if let Some(setback) = &sight.setback {
        return Some(Conclusion::Troubled(setback.clone()));
    }
    let late = sight.limit.filter(|limit| sight.worked >= *limit);
    match (sight.life, late) {
        (Life::Ended(Ending::Code(0)), _) => Some(Conclusion::Finished),
        (Life::Lost, _) => Some(Conclusion::Lost),
        (_, Some(limit)) => Some(Conclusion::TimedOut(limit)),
        _ if sight.is_stalled => Some(Conclusion::Stalled),
        // It was asked, and stopped again without a word: what is there is looked at, unless it was cut short.
        (Life::Lives, None) if is_idle(sight) && sight.reminded >= REMINDERS => {
            Some(cut_short(sight).map_or(Conclusion::Finished, Conclusion::Blocked))
        }
        (Life::Ended(_) | Life::Lives, None) => None,
    }
}

/// It waits for a message, and has had a turn for each that it got. One at which a person sits waits for them, and one whose
/// model does not answer is in trouble.
fn is_idle(sight: &Sight) -> bool {
    let is_troubled = matches!(
        sight.outcome,
        Some(Outcome::Failed(_) | Outcome::LimitReached(_))
    );
    let is_idle = sight.phase == Phase::Prompt && sight.turns > sight.reminded;
    is_idle && !sight.is_attended && !is_troubled
}

/// What a person is asked about an agent whose last turn somebody stopped.
fn cut_short(sight: &Sight) -> Option<Reason> {
    let outcome = sight.outcome.as_ref()?;
    match outcome {
        Outcome::Interrupted | Outcome::Refused | Outcome::Unclear => {
            let text = format!(
                "its last turn {}, and it has not said that its task is done",
                outcome.meaning()
            );
            text.parse().ok()
        }
        Outcome::Answered
        | Outcome::Failed(_)
        | Outcome::LimitReached(_)
        | Outcome::Died
        | Outcome::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_work() -> Sight {
        Sight {
            life: Life::Lives,
            tree: Tree::There,
            word: None,
            phase: Phase::Busy,
            turns: 0,
            outcome: None,
            reminded: 0,
            worked: Duration::from_secs(5),
            limit: Some(Duration::from_secs(60)),
            is_stalled: false,
            is_attended: false,
            setback: None,
            is_over: false,
        }
    }

    fn done() -> Option<LastWord> {
        let report = handoff_core::task::Report::default();
        Some(LastWord::Done { report })
    }

    #[test]
    fn one_at_work_is_left_alone() {
        assert_eq!(next(&at_work()), Act::Wait);
    }

    #[test]
    fn one_that_starts_at_its_prompt_is_not_idle() {
        let sight = Sight {
            phase: Phase::Prompt,
            ..at_work()
        };
        assert_eq!(next(&sight), Act::Wait);
    }

    #[test]
    fn one_at_which_a_person_sits_waits_for_them() {
        let silent = Sight {
            phase: Phase::Prompt,
            turns: 3,
            is_attended: true,
            ..at_work()
        };
        assert_eq!(next(&silent), Act::Wait);
    }

    #[test]
    fn one_that_stops_without_a_word_is_asked_once_and_then_judged() {
        let silent = Sight {
            phase: Phase::Prompt,
            turns: 1,
            ..at_work()
        };
        assert_eq!(next(&silent), Act::Remind);
        let asked = Sight {
            reminded: 1,
            ..silent
        };
        assert_eq!(next(&asked), Act::Wait, "it has not had its turn");
        let again = Sight { turns: 2, ..asked };
        assert_eq!(next(&again), Act::Stop);
        let ended = Sight {
            life: Life::Ended(Ending::Code(0)),
            ..again
        };
        assert_eq!(next(&ended), Act::Conclude(Conclusion::Finished));
    }

    #[test]
    fn one_whose_turns_are_cut_short_has_not_finished() {
        let asked = |outcome| Sight {
            phase: Phase::Prompt,
            turns: 2,
            reminded: 1,
            outcome: Some(outcome),
            life: Life::Lives,
            ..at_work()
        };
        for outcome in [Outcome::Interrupted, Outcome::Refused, Outcome::Unclear] {
            let found = conclusion(&asked(outcome));
            assert!(matches!(found, Some(Conclusion::Blocked(_))), "{found:?}");
        }
        let answered = conclusion(&asked(Outcome::Answered));
        assert_eq!(answered, Some(Conclusion::Finished));
        let failed = Outcome::Failed(handoff_agents::ApiError::default());
        assert_eq!(next(&asked(failed)), Act::Wait, "it is in trouble");
    }

    #[test]
    fn its_word_counts_more_than_how_its_program_ended() {
        let said = Sight {
            word: done(),
            ..at_work()
        };
        assert_eq!(next(&said), Act::Stop);
        let killed = Sight {
            life: Life::Ended(Ending::Signal(15)),
            ..said
        };
        assert_eq!(next(&killed), Act::Conclude(Conclusion::Finished));
        let lost = Sight {
            life: Life::Lost,
            ..killed
        };
        assert_eq!(next(&lost), Act::Conclude(Conclusion::Finished));
    }

    #[test]
    fn without_a_word_the_program_must_have_ended_well() {
        for (ending, expected) in [
            (Ending::Code(0), Conclusion::Finished),
            (Ending::Code(3), Conclusion::Failed(Ending::Code(3))),
            (Ending::Signal(9), Conclusion::Failed(Ending::Signal(9))),
        ] {
            let sight = Sight {
                life: Life::Ended(ending),
                ..at_work()
            };
            assert_eq!(next(&sight), Act::Conclude(expected));
        }
    }

    #[test]
    fn one_that_takes_too_long_is_ended() {
        let late = Sight {
            worked: Duration::from_secs(60),
            ..at_work()
        };
        assert_eq!(next(&late), Act::Stop);
        let ended = Sight {
            life: Life::Ended(Ending::Signal(15)),
            ..late
        };
        let expected = Conclusion::TimedOut(Duration::from_secs(60));
        assert_eq!(next(&ended), Act::Conclude(expected));
    }

    #[test]
    fn one_of_which_nothing_moves_is_ended() {
        let stuck = Sight {
            is_stalled: true,
            ..at_work()
        };
        assert_eq!(next(&stuck), Act::Stop);
        let ended = Sight {
            life: Life::Ended(Ending::Signal(15)),
            ..stuck
        };
        assert_eq!(next(&ended), Act::Conclude(Conclusion::Stalled));
    }

    #[test]
    fn one_in_trouble_is_ended_and_put_off_unless_it_has_finished() {
        let setback = Setback {
            trouble: handoff_core::rest::Trouble::Limit,
            agent: None,
            reason: "at its limit".parse().unwrap(),
            resets_at: None,
        };
        let stuck = Sight {
            setback: Some(setback.clone()),
            ..at_work()
        };
        assert_eq!(next(&stuck), Act::Stop);
        let ended = Sight {
            life: Life::Ended(Ending::Code(0)),
            ..stuck
        };
        assert_eq!(next(&ended), Act::Conclude(Conclusion::Troubled(setback)));
        let finished = Sight {
            word: done(),
            ..ended
        };
        assert_eq!(next(&finished), Act::Conclude(Conclusion::Finished));
    }

    #[test]
    fn one_whose_worktree_is_gone_is_ended_whatever_it_says() {
        let bereft = Sight {
            tree: Tree::Gone,
            word: done(),
            ..at_work()
        };
        assert_eq!(next(&bereft), Act::Stop);
        let ended = Sight {
            life: Life::Ended(Ending::Code(0)),
            ..bereft
        };
        assert_eq!(next(&ended), Act::Conclude(Conclusion::Bereft));
        let over = Sight {
            is_over: true,
            ..ended
        };
        assert_eq!(next(&over), Act::Conclude(Conclusion::Over));
    }

    #[test]
    fn one_whose_right_is_gone_is_ended_whatever_it_says() {
        let sight = Sight {
            is_over: true,
            word: done(),
            ..at_work()
        };
        assert_eq!(next(&sight), Act::Stop);
        let ended = Sight {
            life: Life::Lost,
            ..sight
        };
        assert_eq!(next(&ended), Act::Conclude(Conclusion::Over));
    }
}
