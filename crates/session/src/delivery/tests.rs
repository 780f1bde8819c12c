//! The rules of delivery, one table or story each.

use handoff_agents::{Agent, Block};

use super::*;
use crate::state::State;

const WAIT: (Finish, Urgency) = (Finish::Submit, Urgency::Wait);
const FORCE: (Finish, Urgency) = (Finish::Submit, Urgency::Force);

fn at(millis: u64) -> Nanos {
    Nanos(0).after(Duration::from_millis(millis))
}

/// An agent with a box, waiting for a message.
fn claude() -> Sight {
    Sight {
        state: State::Prompt,
        newest: State::Prompt,
        since: at(0),
        turn: Turn::Resting,
        field: Field::Empty,
        typist: Typist::Nobody,
        echo: Echo::Gone,
        readings_ended: 3,
        works: 5,
        keys: Keys::Taken,
    }
}

fn shell() -> Sight {
    Sight {
        field: Field::Unread,
        ..claude()
    }
}

/// A delivery, and the program that it is for.
struct Desk {
    delivery: Delivery,
    adapter: Adapter,
    order: (Finish, Urgency),
}

impl Desk {
    fn at(agent: &str, order: (Finish, Urgency)) -> Self {
        Self {
            delivery: Delivery::default(),
            adapter: Agent::built_in(agent).unwrap().adapter,
            order,
        }
    }

    fn sees(&mut self, sight: &Sight, millis: u64) -> Act {
        self.delivery
            .step(self.order, sight, &self.adapter, at(millis))
    }
}

fn with_state(state: State) -> Sight {
    Sight { state, ..claude() }
}

#[test]
fn a_message_waits_until_the_agent_does_and_says_for_what() {
    let states = [
        (State::Starting, Because::Starting),
        (State::Busy, Because::Busy),
        (State::Blocked(Block::Permission), Because::Blocked),
        (State::Blocked(Block::Limit), Because::Blocked),
        (State::Unknown, Because::Unknown),
    ];
    for (state, because) in states {
        let mut desk = Desk::at("claude", WAIT);
        let act = desk.sees(&with_state(state), 0);
        assert_eq!(act, Act::Wait(because), "{state:?}");
        assert_eq!(desk.sees(&claude(), 1), Act::Paste, "{state:?}");
    }
}

#[test]
fn an_agent_that_reports_an_error_takes_the_next_message() {
    let error = with_state(State::Blocked(Block::Error));
    assert_eq!(Desk::at("codex", WAIT).sees(&error, 0), Act::Paste);
}

#[test]
fn a_prompt_of_a_turn_that_is_not_over_does_not_count() {
    let running = Sight {
        turn: Turn::Running,
        ..claude()
    };
    let act = Desk::at("claude", WAIT).sees(&running, 0);
    assert_eq!(act, Act::Wait(Because::Turn));
}

#[test]
fn force_types_into_everything_but_a_dialog() {
    for state in [State::Busy, State::Starting, State::Unknown] {
        let act = Desk::at("claude", FORCE).sees(&with_state(state), 0);
        assert_eq!(act, Act::Paste, "{state:?}");
    }
    for block in [
        Block::Permission,
        Block::Question,
        Block::Login,
        Block::Limit,
        Block::Trust,
        Block::Other,
    ] {
        let act = Desk::at("claude", FORCE).sees(&with_state(State::Blocked(block)), 0);
        let refused = Act::Settle(Settled::Failed(Because::Dialog));
        assert_eq!(act, refused, "{block:?}");
    }
}

#[test]
fn a_draft_is_left_alone_whether_it_is_seen_or_only_known_of() {
    let seen = Sight {
        field: Field::Filled,
        ..claude()
    };
    let known = Sight {
        typist: Typist::Somebody,
        ..shell()
    };
    for (agent, sight) in [("claude", seen), ("bash", known)] {
        for order in [WAIT, FORCE] {
            let act = Desk::at(agent, order).sees(&sight, 0);
            assert_eq!(act, Act::Wait(Because::Draft), "{agent}");
        }
    }
}

#[test]
fn a_box_that_looks_empty_is_believed_only_if_nobody_wrote_into_it() {
    let table = [
        (Typist::Nobody, claude(), Act::Paste),
        (Typist::Perhaps, claude(), Act::Paste),
        (Typist::Somebody, claude(), Act::Wait(Because::Draft)),
        (Typist::Perhaps, shell(), Act::Wait(Because::Draft)),
    ];
    for (typist, sight, expected) in table {
        let agent = match sight.field {
            Field::Empty => "claude",
            Field::Filled | Field::Unread => "bash",
        };
        let act = Desk::at(agent, WAIT).sees(&Sight { typist, ..sight }, 0);
        assert_eq!(act, expected, "{agent} {typist:?}");
    }
}

/// A dialog that came up a moment ago: what is published is still a prompt.
fn asking(sight: &Sight) -> Sight {
    Sight {
        newest: State::Blocked(Block::Permission),
        ..sight.clone()
    }
}

#[test]
fn a_dialog_is_respected_before_it_has_held() {
    let act = Desk::at("claude", WAIT).sees(&asking(&claude()), 0);
    assert_eq!(act, Act::Wait(Because::Blocked));
    let refused = Act::Settle(Settled::Failed(Because::Dialog));
    assert_eq!(
        Desk::at("claude", FORCE).sees(&asking(&claude()), 0),
        refused
    );
    let filled = Sight {
        field: Field::Filled,
        ..claude()
    };
    let mut desk = Desk::at("claude", WAIT);
    desk.sees(&claude(), 0);
    assert_eq!(desk.sees(&asking(&filled), 150), refused);
    // Nor is Enter pressed once more.
    let mut desk = entered("claude", WAIT, &filled);
    let unseen = Act::Settle(Settled::Written(Because::Unseen));
    assert_eq!(desk.sees(&asking(&filled), 2150), unseen);
}

#[test]
fn an_agent_that_has_just_begun_to_work_is_waited_for() {
    let begun = Sight {
        newest: State::Busy,
        ..claude()
    };
    let act = Desk::at("claude", WAIT).sees(&begun, 0);
    assert_eq!(act, Act::Wait(Because::Busy));
}

#[test]
fn words_that_somebody_added_are_not_sent_off() {
    let filled = Sight {
        field: Field::Filled,
        ..claude()
    };
    let theirs = Act::Settle(Settled::Written(Because::Draft));
    for typist in [Typist::Perhaps, Typist::Somebody] {
        let shared = Sight {
            typist,
            ..filled.clone()
        };
        let mut desk = Desk::at("claude", WAIT);
        desk.sees(&claude(), 0);
        assert_eq!(desk.sees(&shared, 150), theirs, "{typist:?}");
        let mut desk = entered("claude", WAIT, &filled);
        assert_eq!(desk.sees(&shared, 2150), theirs, "{typist:?}");
    }
}

#[test]
fn enter_comes_after_the_pause_and_only_when_everything_is_typed() {
    let mut desk = Desk::at("claude", WAIT);
    let filled = Sight {
        field: Field::Filled,
        ..claude()
    };
    let typing = Sight {
        keys: Keys::Waiting,
        ..filled.clone()
    };
    assert_eq!(desk.sees(&claude(), 0), Act::Paste);
    assert_eq!(desk.delivery.look_again(), Some(at(150)));
    assert_eq!(desk.sees(&typing, 200), Act::Linger);
    assert_eq!(desk.delivery.look_again(), None, "we are told");
    assert_eq!(desk.sees(&filled, 349), Act::Linger);
    assert_eq!(desk.delivery.look_again(), Some(at(350)));
    assert_eq!(desk.sees(&filled, 350), Act::Enter);
    assert!(desk.delivery.is_under_way());
}

#[test]
fn a_shell_gets_text_and_enter_at_once_and_tells_by_its_editor() {
    let mut desk = Desk::at("bash", WAIT);
    assert_eq!(desk.sees(&shell(), 0), Act::Paste);
    assert_eq!(desk.sees(&shell(), 0), Act::Enter);
    // The echo comes and the line ends, but the editor has not said that it took it.
    let echoed = Sight {
        echo: Echo::Stands,
        ..shell()
    };
    assert_eq!(desk.sees(&echoed, 1), Act::Linger);
    assert_eq!(desk.sees(&shell(), 2), Act::Linger);
    let taken = Sight {
        readings_ended: 4,
        ..shell()
    };
    let submitted = Act::Settle(Settled::Submitted(Evidence::Editor));
    assert_eq!(desk.sees(&taken, 3), submitted);
}

/// Up to the first Enter.
fn entered(agent: &str, order: (Finish, Urgency), pasted: &Sight) -> Desk {
    let mut desk = Desk::at(agent, order);
    let begun = match agent {
        "claude" => claude(),
        _ => shell(),
    };
    assert_eq!(desk.sees(&begun, 0), Act::Paste);
    assert_eq!(desk.sees(pasted, 150), Act::Enter);
    desk
}

#[test]
fn every_kind_of_evidence_is_told_apart() {
    let filled = Sight {
        field: Field::Filled,
        ..claude()
    };
    let stands = Sight {
        echo: Echo::Stands,
        ..shell()
    };
    let busy = |sight: &Sight| Sight {
        state: State::Busy,
        ..sight.clone()
    };
    let quick = Sight {
        works: 6,
        ..claude()
    };
    let table = [
        ("claude", &filled, quick, Evidence::State),
        ("claude", &filled, busy(&claude()), Evidence::State),
        ("claude", &filled, claude(), Evidence::Box),
        ("generic", &stands, shell(), Evidence::Line),
    ];
    for (agent, pasted, then, evidence) in table {
        let mut desk = entered(agent, WAIT, pasted);
        assert_eq!(desk.sees(pasted, 160), Act::Linger);
        let submitted = Act::Settle(Settled::Submitted(evidence));
        assert_eq!(desk.sees(&then, 170), submitted, "{evidence:?}");
    }
}

#[test]
fn a_text_that_stays_gets_one_more_enter_and_then_the_message_has_failed() {
    let filled = Sight {
        field: Field::Filled,
        ..claude()
    };
    let mut desk = entered("claude", WAIT, &filled);
    assert_eq!(desk.sees(&filled, 2149), Act::Linger);
    assert_eq!(desk.sees(&filled, 2150), Act::Enter);
    assert_eq!(desk.sees(&filled, 5149), Act::Linger);
    let failed = Act::Settle(Settled::Failed(Because::NotTaken));
    assert_eq!(desk.sees(&filled, 5150), failed);
    // What was left is removed before the next message, and is no draft of somebody.
    assert_eq!(desk.sees(&filled, 5151), Act::Clear);
    assert_eq!(desk.sees(&filled, 5200), Act::Linger);
    assert_eq!(desk.sees(&claude(), 5251), Act::Paste);
}

#[test]
fn a_message_that_was_interrupted_may_come_back_into_the_box() {
    let filled = Sight {
        field: Field::Filled,
        ..claude()
    };
    let mut desk = Desk::at("copilot", WAIT);
    desk.delivery.soil();
    assert_eq!(desk.sees(&claude(), 0), Act::Wait(Because::Turn));
    assert_eq!(desk.delivery.look_again(), Some(at(750)));
    assert_eq!(desk.sees(&filled, 300), Act::Clear);
    assert_eq!(desk.sees(&claude(), 400), Act::Paste);
    // It did not come.
    let mut desk = Desk::at("copilot", WAIT);
    desk.delivery.soil();
    assert_eq!(desk.sees(&claude(), 749), Act::Wait(Because::Turn));
    assert_eq!(desk.sees(&claude(), 750), Act::Paste);
}

#[test]
fn what_cannot_be_emptied_is_left_for_a_person() {
    let filled = Sight {
        field: Field::Filled,
        ..claude()
    };
    let mut desk = Desk::at("claude", WAIT);
    desk.delivery.soil();
    let times = u64::from(MOST_CLEARINGS);
    for time in 0..times {
        assert_eq!(desk.sees(&filled, time * 100), Act::Clear);
    }
    for time in [times, times + 1] {
        let act = desk.sees(&filled, time * 100);
        assert_eq!(act, Act::Wait(Because::Draft));
    }
}

#[test]
fn a_text_of_several_rows_is_removed_row_by_row_and_never_a_persons() {
    let filled = || Sight {
        field: Field::Filled,
        ..claude()
    };
    let shared = Sight {
        typist: Typist::Somebody,
        ..filled()
    };
    let mut desk = Desk::at("claude", WAIT);
    desk.delivery.soil();
    assert_eq!(desk.sees(&filled(), 0), Act::Clear);
    assert_eq!(desk.sees(&filled(), 100), Act::Clear);
    assert_eq!(desk.sees(&claude(), 200), Act::Paste);
    // Somebody types into what is left.
    let mut desk = Desk::at("claude", WAIT);
    desk.delivery.soil();
    assert_eq!(desk.sees(&filled(), 0), Act::Clear);
    assert_eq!(desk.sees(&shared, 100), Act::Wait(Because::Draft));
}

#[test]
fn what_we_left_is_removed_also_while_no_message_waits() {
    let filled = || Sight {
        field: Field::Filled,
        ..claude()
    };
    let mut desk = Desk::at("claude", WAIT);
    let tidies = |desk: &mut Desk, sight: &Sight, millis| {
        desk.delivery.tidy(sight, &desk.adapter, at(millis))
    };
    assert_eq!(
        tidies(&mut desk, &filled(), 1000),
        Act::Linger,
        "it is not ours"
    );
    desk.delivery.soil();
    let asks = Sight {
        newest: State::Blocked(Block::Question),
        ..filled()
    };
    let shared = Sight {
        typist: Typist::Perhaps,
        ..filled()
    };
    for sight in [&claude(), &asks, &shared] {
        assert_eq!(tidies(&mut desk, sight, 1000), Act::Linger, "{sight:?}");
    }
    assert_eq!(tidies(&mut desk, &filled(), 1000), Act::Clear);
    assert_eq!(tidies(&mut desk, &filled(), 1100), Act::Clear);
    assert_eq!(tidies(&mut desk, &claude(), 1200), Act::Linger);
    assert_eq!(
        tidies(&mut desk, &filled(), 1300),
        Act::Linger,
        "it is another's"
    );
}

#[test]
fn nobody_presses_enter_on_a_dialog() {
    let filled = Sight {
        field: Field::Filled,
        ..claude()
    };
    let dialog = Sight {
        state: State::Blocked(Block::Permission),
        field: Field::Unread,
        ..claude()
    };
    let mut desk = Desk::at("claude", FORCE);
    let busy = with_state(State::Busy);
    assert_eq!(desk.sees(&busy, 0), Act::Paste);
    let refused = Act::Settle(Settled::Failed(Because::Dialog));
    assert_eq!(desk.sees(&dialog, 150), refused);
    // Before the second Enter too.
    let mut desk = Desk::at("claude", FORCE);
    desk.sees(&busy, 0);
    assert_eq!(desk.sees(&filled, 150), Act::Enter);
    let unseen = Act::Settle(Settled::Written(Because::Unseen));
    assert_eq!(desk.sees(&dialog, 2150), unseen);
}

#[test]
fn nothing_is_called_delivered_on_a_keystroke_alone() {
    let mut desk = entered("generic", WAIT, &shell());
    let unseen = Act::Settle(Settled::Written(Because::Unseen));
    assert_eq!(desk.sees(&shell(), 2150), unseen);
    // Typed into an agent at work: that it still works says nothing.
    let mut desk = Desk::at("claude", FORCE);
    let busy = Sight {
        field: Field::Unread,
        ..with_state(State::Busy)
    };
    desk.sees(&busy, 0);
    assert_eq!(desk.sees(&busy, 150), Act::Enter);
    assert_eq!(desk.sees(&busy, 2150), unseen);
}

#[test]
fn a_text_that_is_to_be_left_is_not_sent_off() {
    let mut desk = Desk::at("claude", (Finish::Leave, Urgency::Wait));
    assert_eq!(desk.sees(&claude(), 0), Act::Paste);
    let left = Act::Settle(Settled::Written(Because::Left));
    assert_eq!(desk.sees(&claude(), 150), left);
    let filled = Sight {
        field: Field::Filled,
        ..claude()
    };
    assert_eq!(desk.sees(&filled, 300), Act::Wait(Because::Draft));
}

#[test]
fn a_box_that_shows_the_text_late_is_waited_for() {
    let mut desk = Desk::at("claude", WAIT);
    desk.sees(&claude(), 0);
    assert_eq!(desk.sees(&claude(), 150), Act::Linger);
    let filled = Sight {
        field: Field::Filled,
        ..claude()
    };
    assert_eq!(desk.sees(&filled, 400), Act::Enter);
    let mut desk = Desk::at("claude", WAIT);
    desk.sees(&claude(), 0);
    assert_eq!(desk.sees(&claude(), 1000), Act::Enter);
}

#[test]
fn an_agent_that_has_ended_gets_nothing() {
    let act = Desk::at("bash", WAIT).sees(&with_state(State::Exited), 0);
    assert_eq!(act, Act::Settle(Settled::Failed(Because::Ended)));
}

#[test]
fn what_an_agent_says_while_it_starts_is_no_evidence() {
    // Without its box it is not ready, though it says so; but not for ever.
    let early = Sight {
        field: Field::Unread,
        ..claude()
    };
    let mut desk = Desk::at("claude", WAIT);
    assert_eq!(desk.sees(&early, 10), Act::Wait(Because::Starting));
    assert_eq!(desk.delivery.look_again(), Some(at(3000)));
    assert_eq!(desk.sees(&early, 3000), Act::Paste);
    // It says that it works, and the text stands in its box all the same: Enter was swallowed.
    let filled = Sight {
        field: Field::Filled,
        ..claude()
    };
    let mut desk = entered("claude", WAIT, &filled);
    let flicker = Sight {
        state: State::Busy,
        works: 6,
        ..filled
    };
    assert_eq!(desk.sees(&flicker, 160), Act::Linger);
    let rests = Sight { works: 6, ..filled };
    assert_eq!(desk.sees(&rests, 2150), Act::Enter);
    let taken = Sight {
        works: 7,
        ..claude()
    };
    let submitted = Act::Settle(Settled::Submitted(Evidence::State));
    assert_eq!(desk.sees(&taken, 2160), submitted);
}
