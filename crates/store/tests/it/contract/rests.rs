//! A rest keeps a task back for a while, an agent at its limit keeps back all of its tasks, and nobody else's.

use std::time::Duration;

use handoff_core::lease::Ttl;
use handoff_core::rest::{Setback, Trouble};
use handoff_core::task::{Command, Phase, TaskSpec, View};
use handoff_core::{AgentName, ProjectId, Task};
use handoff_store::queue::{Agents, Change, TenureWish};
use handoff_store::{read, tasks};

use super::on_both_stores;
use crate::fixture::{Fixture, spec, task_of, uuid};

on_both_stores! {
    a_task_that_rests_is_passed_over_until_somebody_wants_it,
    a_rest_ends_by_itself,
    an_agent_at_its_limit_keeps_back_its_tasks_everywhere_and_no_others,
    what_one_worker_hears_of_a_limit_keeps_the_others_back,
    an_agent_with_enough_to_do_is_passed_over,
    a_task_that_is_put_off_too_often_asks_for_a_person,
}

/// Longer than a slow machine takes from reading the clock to writing a rest: what has passed by then is no rest.
const SOON: Duration = Duration::from_secs(600);

fn agent(name: &str) -> AgentName {
    name.parse().unwrap()
}

fn wanting(name: &str, wanted: &str) -> TaskSpec {
    TaskSpec {
        agent: Some(agent(wanted)),
        ..spec(name)
    }
}

fn setback(trouble: Trouble, of: &str) -> Setback {
    Setback {
        trouble,
        agent: Some(agent(of)),
        reason: "seen".parse().unwrap(),
        resets_at: None,
    }
}

fn put_off(fixture: &mut Fixture, task: &Task, setback: Setback) -> Task {
    let fence = task.fence;
    fixture
        .tell(task, Command::PutOff { fence, setback })
        .unwrap()
}

/// Claims for a worker whose usual agent is this one, while others are busy.
fn claim(fixture: &mut Fixture, project: ProjectId, usual: &str, full: &[&str]) -> Option<String> {
    let change = Change::ClaimNext {
        project,
        tenure: TenureWish::Timed {
            ttl: Ttl::default(),
        },
        agents: Agents {
            usual: Some(agent(usual)),
            full: full.iter().map(|it| agent(it)).collect(),
        },
    };
    let claimed = fixture.submit(change).unwrap().answer.into_task();
    claimed.map(|task| task.spec.name.to_string())
}

fn resting(fixture: &mut Fixture, usual: &str) -> Vec<String> {
    let (project, usual) = (fixture.project, agent(usual));
    let found = read(&mut *fixture.store, |tx| {
        tasks::resting(tx, project, Some(&usual))
    });
    let found = found.unwrap().into_iter();
    found.map(|task| task.spec.name.to_string()).collect()
}

fn a_task_that_rests_is_passed_over_until_somebody_wants_it(fixture: &mut Fixture) {
    let first = fixture.add(spec("first"));
    fixture.add(spec("second"));
    let claimed = fixture.claim().unwrap();
    let put_off = put_off(fixture, &claimed, setback(Trouble::Error, "claude"));
    let now = read(&mut *fixture.store, |tx| Ok(tx.now.moment.clone())).unwrap();
    assert_eq!(put_off.phase(&View::at(&now)), Phase::Resting);
    assert_eq!((put_off.attempts(), put_off.fence.number()), (0, 1));
    assert_eq!(resting(fixture, "claude"), ["first"]);
    assert_eq!(fixture.claim().unwrap().spec.name.as_str(), "second");
    assert_eq!(fixture.claim(), None);
    fixture.tell(&first, Command::Unhold).unwrap();
    let again = fixture.claim().unwrap();
    assert_eq!((again.id, again.attempts()), (first.id, 1));
    assert_eq!(fixture.audit().faults, []);
}

fn a_rest_ends_by_itself(fixture: &mut Fixture) {
    fixture.add(spec("first"));
    let claimed = fixture.claim().unwrap();
    let now = read(&mut *fixture.store, |tx| Ok(tx.now.wall)).unwrap();
    let setback = Setback {
        resets_at: now.checked_add(SOON).ok(),
        ..setback(Trouble::Limit, "claude")
    };
    let rest = put_off(fixture, &claimed, setback).rest.unwrap();
    assert!(rest.until > now);
    fixture.pass(2 * SOON);
    assert_eq!(resting(fixture, "claude"), [""; 0]);
    assert_eq!(fixture.claim().unwrap().fence.number(), 2);
}

fn an_agent_at_its_limit_keeps_back_its_tasks_everywhere_and_no_others(fixture: &mut Fixture) {
    for (name, wanted) in [("a", "claude"), ("b", "claude"), ("c", "codex")] {
        fixture.add(wanting(name, wanted));
    }
    fixture.add(spec("d"));
    let (here, elsewhere) = (fixture.project, ProjectId::from_uuid(uuid()));
    let first = fixture.claim().unwrap();
    put_off(fixture, &first, setback(Trouble::Limit, "claude"));
    assert_eq!(claim(fixture, here, "claude", &[]).as_deref(), Some("c"));
    assert_eq!(claim(fixture, here, "claude", &[]), None);
    assert_eq!(claim(fixture, here, "codex", &[]).as_deref(), Some("d"));
    fixture.project = elsewhere;
    fixture.add(wanting("e", "claude"));
    assert_eq!(claim(fixture, elsewhere, "codex", &[]), None);
    assert_eq!(resting(fixture, "codex"), ["a"], "it keeps `e` waiting too");
    fixture.project = here;
    fixture.tell(&first, Command::Unhold).unwrap();
    assert_eq!(
        claim(fixture, elsewhere, "codex", &[]).as_deref(),
        Some("e")
    );
    assert_eq!(claim(fixture, here, "codex", &[]).as_deref(), Some("a"));
}

fn what_one_worker_hears_of_a_limit_keeps_the_others_back(fixture: &mut Fixture) {
    for name in ["a", "b"] {
        fixture.add(wanting(name, "claude"));
    }
    let here = fixture.project;
    let first = fixture.claim().unwrap();
    put_off(fixture, &first, setback(Trouble::Limit, "claude"));
    // As another process sees it, which was not told.
    let other = fixture.again();
    let one = std::mem::replace(&mut fixture.store, other);
    assert_eq!(claim(fixture, here, "claude", &[]), None);
    assert_eq!(resting(fixture, "claude"), ["a"]);
    fixture.tell(&first, Command::Unhold).unwrap();
    fixture.store = one;
    assert_eq!(claim(fixture, here, "claude", &[]).as_deref(), Some("a"));
}

fn an_agent_with_enough_to_do_is_passed_over(fixture: &mut Fixture) {
    for (name, wanted) in [("a", "claude"), ("b", "codex")] {
        fixture.add(wanting(name, wanted));
    }
    fixture.add(spec("c"));
    let here = fixture.project;
    let both = ["claude", "codex"];
    assert_eq!(claim(fixture, here, "claude", &both), None);
    assert_eq!(
        claim(fixture, here, "claude", &["claude"]).as_deref(),
        Some("b")
    );
    assert_eq!(claim(fixture, here, "claude", &["claude"]), None);
    assert_eq!(claim(fixture, here, "aider", &both).as_deref(), Some("c"));
    assert_eq!(
        claim(fixture, here, "claude", &["codex"]).as_deref(),
        Some("a")
    );
}

fn a_task_that_is_put_off_too_often_asks_for_a_person(fixture: &mut Fixture) {
    let task = fixture.add(spec("first"));
    for _ in 0..5 {
        let change = Change::Claim {
            task: handoff_store::queue::TaskRef::Id(task.id),
            tenure: TenureWish::Timed {
                ttl: Ttl::default(),
            },
        };
        let claimed = task_of(fixture.submit(change).unwrap());
        let now = read(&mut *fixture.store, |tx| Ok(tx.now.wall)).unwrap();
        let soon = Setback {
            resets_at: now.checked_add(SOON).ok(),
            ..setback(Trouble::Start, "claude")
        };
        put_off(fixture, &claimed, soon);
        fixture.pass(2 * SOON);
    }
    let last = fixture.claim().unwrap();
    let blocked = put_off(fixture, &last, setback(Trouble::Start, "claude"));
    let said = format!("{:?}", blocked.state);
    assert!(
        said.contains("put off 5 times in a row, and still claude could not be started: seen"),
        "{said}"
    );
    assert_eq!(blocked.rest, None);
    assert_eq!(fixture.audit().faults, []);
}
