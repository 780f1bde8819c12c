//! Each check fails on a history that is bad in one way.

use super::*;

fn call(key: &str, act: Act, replies: Vec<Reply>) -> Call {
    Call {
        key: key.to_owned(),
        act,
        asked: 1,
        replies,
        waited: 0,
    }
}

fn done(fence: u64, until: Option<i64>) -> Vec<Reply> {
    vec![Reply::Done {
        task: "t".to_owned(),
        fence,
        until,
    }]
}

fn add() -> Act {
    Act::Add {
        name: "one".to_owned(),
    }
}

fn complete(fence: u64) -> Act {
    Act::Complete {
        task: "t".to_owned(),
        fence,
    }
}

fn facts(whats: Vec<What>) -> Vec<Fact> {
    let numbered = (1..).zip(whats);
    numbered
        .map(|(seq, what)| Fact {
            stream: "t".to_owned(),
            seq,
            what,
        })
        .collect()
}

fn added() -> What {
    What::Added {
        name: "one".to_owned(),
    }
}

fn claimed(fence: u64, from: i64, until: i64) -> What {
    let timeline = "boot".to_owned();
    let term = Some(Span {
        timeline,
        from,
        until,
    });
    What::Claimed { fence, term }
}

fn completed(fence: u64) -> What {
    What::Completed { fence: Some(fence) }
}

/// A worker is killed with a lease, which runs out; another one finishes.
fn good() -> (Vec<Call>, Vec<Fact>) {
    let calls = vec![
        call("a", add(), done(0, None)),
        call("b", Act::Claim, vec![]),
        call("c", Act::Claim, done(2, Some(30))),
        call("d", complete(2), done(2, None)),
    ];
    let first = claimed(1, 0, 10);
    let second = claimed(2, 20, 30);
    let facts = facts(vec![added(), first, What::Expired, second, completed(2)]);
    (calls, facts)
}

#[track_caller]
fn complains(calls: &[Call], facts: &[Fact], about: &str) {
    let complaints = total_queue(calls, facts, Expected::AllDone);
    assert!(
        complaints.iter().any(|it| it.contains(about)),
        "{about}: {complaints:?}"
    );
}

#[test]
fn a_good_history_is_not_complained_about() {
    let (calls, facts) = good();
    assert_eq!(total_queue(&calls, &facts, Expected::AllDone), [""; 0]);
}

#[test]
fn an_acknowledged_task_that_is_gone_is_lost() {
    let (calls, _) = good();
    complains(&calls[..1], &[], "lost: one");
}

#[test]
fn an_acknowledged_lease_or_outcome_that_is_gone_is_lost() {
    let (calls, facts) = good();
    complains(&calls, &facts[..3], "lost: Claim");
    complains(&calls, &facts[..4], "lost: Complete");
    complains(&calls, &facts[..4], "never completed");
}

#[test]
fn a_lease_with_another_end_than_the_client_was_told_is_lost() {
    let (mut calls, facts) = good();
    calls[2].replies = done(2, Some(31));
    complains(&calls, &facts, "lost: Claim");
}

#[test]
fn a_task_that_nobody_added_is_unexpected() {
    let (calls, facts) = good();
    complains(&calls[1..], &facts, "unexpected: one");
}

#[test]
fn one_name_twice_is_doubled() {
    let (calls, mut facts) = good();
    let stream = "u".to_owned();
    let what = added();
    facts.push(Fact {
        stream,
        seq: 1,
        what,
    });
    complains(&calls, &facts, "one is there 2 times");
}

#[test]
fn two_valid_leases_are_seen_even_behind_an_expiry() {
    let (calls, mut facts) = good();
    facts[3].what = claimed(2, 9, 30);
    complains(&calls, &facts, "two valid leases: 2 came 1 ns early");
}

#[test]
fn a_renewed_lease_is_valid_until_its_new_end() {
    let (calls, mut facts) = good();
    facts[2].what = What::Renewed {
        fence: 1,
        until: 25,
    };
    complains(&calls, &facts, "two valid leases");
}

#[test]
fn a_fence_that_does_not_rise_is_seen() {
    let (calls, mut facts) = good();
    facts[3].what = claimed(1, 20, 30);
    complains(&calls, &facts, "fence 1 was granted after 1");
}

#[test]
fn a_stale_fence_must_not_complete() {
    let (calls, mut facts) = good();
    facts[4].what = completed(1);
    complains(&calls, &facts, "fence 1 completed it under 2");
}

#[test]
fn a_second_outcome_is_seen() {
    let (calls, mut facts) = good();
    facts.push(Fact {
        stream: "t".to_owned(),
        seq: 6,
        what: completed(2),
    });
    complains(&calls, &facts, "came after its outcome");
}

#[test]
fn a_gap_and_a_repeat_are_seen() {
    let (calls, mut facts) = good();
    facts[4].seq = 6;
    complains(&calls, &facts, "event 6 stands where 5 should");
    facts[4].seq = 4;
    complains(&calls, &facts, "event 4 stands where 5 should");
}

#[test]
fn one_fence_for_two_claimers_is_seen() {
    let (mut calls, facts) = good();
    calls.push(call("e", Act::Claim, done(2, Some(30))));
    complains(&calls, &facts, "fence 2 went to c and e");
}

#[test]
fn a_lease_that_no_call_can_explain_is_seen() {
    let (mut calls, facts) = good();
    calls.remove(1);
    complains(&calls, &facts, "1 leases nobody was told of, 0 calls open");
}

#[test]
fn an_outcome_that_nobody_asked_for_is_seen() {
    let (mut calls, facts) = good();
    calls.remove(3);
    complains(&calls, &facts, "nobody asked for its outcome");
}

#[test]
fn one_key_with_two_answers_is_seen() {
    let (mut calls, facts) = good();
    calls[2].replies.extend(done(3, Some(40)));
    complains(&calls, &facts, "c was answered differently");
}
