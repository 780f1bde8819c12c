//! Runs of a small workflow, told what sessions did.

use uuid::Uuid;

use super::*;
use crate::lease::Tenure;
use crate::task::{Command, Evidence, Reason};
use crate::time::Nanos;
use crate::workflow::Workflow;
use crate::{Caller, CommitId, Fence, Moment, Now, RunId, SessionId, Task, Timeline, Timestamp};

const TEXT: &str = r#"schema_version = 1
description = "d"
most_phases = 8

[[phases]]
name = "plan"
role = "r"
prompt = "p"
proof = "plan"
retries = 1
next = { next = "build", complete = "end" }

[[phases]]
name = "build"
role = "r"
prompt = "p"
proof = "checks"
gate = "human"
next = "plan"
"#;

fn commit(number: u64) -> CommitId {
    format!("{number:040x}").parse().unwrap()
}

fn person() -> Caller {
    Caller::Person
}

struct Bench {
    run: Run,
    history: Vec<(u64, Timestamp, RunEvent)>,
    task: Option<Task>,
    now: Now,
}

impl Bench {
    fn new() -> Self {
        let spec = RunSpec {
            name: "r".parse().unwrap(),
            workflow: Workflow::read("w".parse().unwrap(), TEXT).unwrap(),
            goal: "goal".parse().unwrap(),
            feature: None,
            agent: None,
            base: commit(1),
            is_interactive: false,
        };
        let now = Now {
            wall: Timestamp::from_second(1_000).unwrap(),
            moment: Moment {
                timeline: Timeline::of_boot("b"),
                elapsed: Nanos(0),
                awake: Nanos(0),
            },
        };
        let id = RunId::from_uuid(Uuid::from_u128(7));
        let project = crate::ProjectId::from_uuid(Uuid::from_u128(1));
        let run = Run::begin(id, project, spec.clone(), now.wall);
        let begun = RunEvent::Begun {
            spec: Box::new(spec),
        };
        let mut bench = Self {
            history: vec![(1, now.wall, begun)],
            run,
            task: None,
            now,
        };
        bench.take(vec![bench.run.first_opening()]);
        bench
    }

    fn take(&mut self, events: Vec<RunEvent>) {
        for event in events {
            self.run.apply(event.clone(), self.now.wall);
            if let RunEvent::Opened { phase, task } = &event {
                let phase = self.run.spec.workflow.phase(phase).unwrap();
                let spec = self.run.task_spec(phase, self.run.tasks);
                let task = Task::begin(*task, self.run.project, spec, self.now.wall);
                self.task = Some(task);
            }
            self.history.push((self.run.version, self.now.wall, event));
        }
        let again = Run::replay(self.run.id, self.run.project, self.history.clone());
        assert_eq!(again.as_ref(), Ok(&self.run), "rows are the fold of events");
    }

    fn tell(&mut self, command: &Command) {
        let task = self.task.as_mut().unwrap();
        for event in task.decide(command, &Caller::Worker, &self.now).unwrap() {
            task.apply(event, self.now.wall);
        }
        let events = self.run.follow(self.task.as_ref().unwrap(), self.now.wall);
        self.take(events);
    }

    fn claim(&mut self) -> Fence {
        let session = SessionId::from_uuid(Uuid::from_u128(9));
        self.tell(&Command::Claim {
            tenure: Tenure::Anchored { session },
        });
        self.task.as_ref().unwrap().fence
    }

    fn prove(&mut self, outcome: &str, number: u64) {
        let fence = self.claim();
        let verdict = Verdict::of(outcome.parse().unwrap(), commit(number));
        let evidence = Evidence::Judged { verdict };
        self.tell(&Command::Prove { fence, evidence });
        self.tell(&Command::Complete {
            fence: Some(fence),
            summary: None,
        });
    }

    fn fail(&mut self, reason: &str, tree: u64) {
        let fence = self.claim();
        let evidence = Evidence::Left { tree: commit(tree) };
        self.tell(&Command::Prove { fence, evidence });
        let reason: Reason = reason.parse().unwrap();
        self.tell(&Command::Fail {
            fence: Some(fence),
            reason,
        });
    }

    fn order(&mut self, command: &RunCommand) -> Result<(), RunRefusal> {
        let events = self.run.decide(command, &person(), self.now.wall)?;
        self.take(events);
        Ok(())
    }

    fn stopped(&self) -> (Cause, String) {
        let RunState::Stopped { cause, reason, .. } = &self.run.state else {
            panic!("{:?}", self.run.state);
        };
        (*cause, reason.to_string())
    }

    fn stands(&self) -> (&'static str, String, u32) {
        let at = &self.run.at;
        (self.run.state.word(), at.phase.to_string(), at.number)
    }
}

fn at(state: &'static str, phase: &str, number: u32) -> (&'static str, String, u32) {
    (state, phase.to_owned(), number)
}

#[test]
fn a_run_goes_from_phase_to_phase_to_its_end() {
    let mut bench = Bench::new();
    assert_eq!(bench.stands(), at("working", "plan", 1));
    bench.prove("next", 2);
    assert_eq!(bench.stands(), at("working", "build", 1));
    bench.prove("done", 3);
    assert_eq!(bench.stands().0, "gated");
    bench.order(&RunCommand::Approve).unwrap();
    assert_eq!(bench.stands(), at("working", "plan", 1));
    bench.prove("complete", 3);
    assert_eq!(bench.stands().0, "done");
    assert_eq!(bench.run.steps.len(), 3);
    assert_eq!(bench.run.head(), &commit(3));
    assert_eq!(bench.task.unwrap().spec.name.as_str(), "r.3-plan");
}

#[test]
fn whoever_sits_at_a_run_is_asked_behind_each_phase() {
    let mut bench = Bench::new();
    bench.run.spec.is_interactive = true;
    let RunEvent::Begun { spec } = &mut bench.history[0].2 else {
        panic!("it has begun");
    };
    spec.is_interactive = true;
    bench.prove("next", 2);
    assert_eq!(bench.stands(), at("gated", "plan", 0));
    let reason = "more".parse().unwrap();
    bench.order(&RunCommand::Reject { reason }).unwrap();
    assert_eq!(bench.stands(), at("working", "plan", 1));
    bench.prove("next", 3);
    bench.order(&RunCommand::Approve).unwrap();
    assert_eq!(bench.stands(), at("working", "build", 1));
}

#[test]
fn a_person_is_asked_before_a_test_asks_for_something_else() {
    let mut bench = Bench::new();
    let fence = bench.claim();
    let verdict = Verdict {
        alters: vec!["old".parse().unwrap()],
        ..Verdict::of("next".parse().unwrap(), commit(2))
    };
    let evidence = Evidence::Judged { verdict };
    bench.tell(&Command::Prove { fence, evidence });
    let (fence, summary) = (Some(fence), None);
    bench.tell(&Command::Complete { fence, summary });
    assert_eq!(bench.stands(), at("gated", "plan", 0));
    bench.order(&RunCommand::Approve).unwrap();
    assert_eq!(bench.stands(), at("working", "build", 1));
    assert_eq!(bench.run.cycle_plan().unwrap().alters.len(), 1);
}

#[test]
fn a_refused_phase_is_tried_again_with_the_reason_and_not_for_ever() {
    let mut bench = Bench::new();
    bench.fail("no list", 5);
    assert_eq!(bench.stands(), at("working", "plan", 2));
    assert_eq!(
        bench.run.at.refused.as_ref().unwrap().reason.as_str(),
        "no list"
    );
    bench.fail("bad list", 6);
    assert_eq!(bench.stands().0, "stopped");
    bench.order(&RunCommand::Retry { from: None }).unwrap();
    assert_eq!(bench.stands(), at("working", "plan", 1));
    assert_eq!(
        bench.run.at.refused.as_ref().unwrap().reason.as_str(),
        "bad list"
    );
    bench.prove("next", 2);
    assert_eq!(bench.run.at.refused, None);
}

#[test]
fn the_same_failure_or_the_same_work_twice_is_no_progress() {
    for (reason, tree) in [("no list", 6), ("other", 5)] {
        let mut bench = Bench::new();
        bench.fail("no list", 5);
        bench.fail(reason, tree);
        let RunState::Stopped { reason, .. } = &bench.run.state else {
            panic!("{:?}", bench.run.state);
        };
        assert!(reason.as_str().contains("no progress"), "{reason}");
    }
}

#[test]
fn done_without_a_proof_is_no_proof() {
    let mut bench = Bench::new();
    let fence = bench.claim();
    bench.tell(&Command::Complete {
        fence: Some(fence),
        summary: None,
    });
    assert_eq!(bench.stands(), at("working", "plan", 2));
}

#[test]
fn a_gate_is_a_persons_used_once_and_not_for_ever() {
    let mut bench = Bench::new();
    bench.prove("next", 2);
    bench.prove("done", 3);
    let refused = bench
        .run
        .decide(&RunCommand::Approve, &Caller::Worker, bench.now.wall);
    assert!(
        matches!(refused, Err(RunRefusal::Forbidden(_))),
        "{refused:?}"
    );
    let late = Timestamp::from_second(1_000 + 15 * 24 * 3600).unwrap();
    let refused = bench.run.decide(&RunCommand::Approve, &person(), late);
    assert_eq!(refused, Err(RunRefusal::GateExpired));
    let reason: Reason = "too clever".parse().unwrap();
    bench.order(&RunCommand::Reject { reason }).unwrap();
    assert_eq!(bench.stands(), at("working", "build", 1));
    assert_eq!(
        bench.run.head(),
        &commit(2),
        "what was not agreed to is undone"
    );
    assert_eq!(
        bench.run.at.refused.as_ref().unwrap().reason.as_str(),
        "too clever"
    );
    assert_eq!(
        bench.order(&RunCommand::Approve),
        Err(RunRefusal::NoGate("working"))
    );
}

#[test]
fn a_paused_run_hears_nothing_and_goes_on_with_a_fresh_task() {
    let mut bench = Bench::new();
    bench.prove("next", 2);
    let before = bench.task.clone().unwrap();
    bench.order(&RunCommand::Pause).unwrap();
    bench.tell(&Command::Cancel { reason: None });
    assert_eq!(bench.stands().0, "paused");
    assert_eq!(
        bench.order(&RunCommand::Pause),
        Err(RunRefusal::NotWorking("paused"))
    );
    bench.order(&RunCommand::Resume).unwrap();
    assert_eq!(bench.stands(), at("working", "build", 1));
    assert_ne!(bench.task.unwrap().id, before.id);
}

#[test]
fn going_back_undoes_what_was_proved_since() {
    let mut bench = Bench::new();
    bench.prove("next", 2);
    bench.prove("done", 3);
    let from = Some("plan".parse().unwrap());
    bench.order(&RunCommand::Retry { from }).unwrap();
    assert_eq!(
        (bench.stands(), bench.run.steps.len()),
        (at("working", "plan", 1), 0)
    );
    let never = RunCommand::Retry {
        from: Some("odd".parse().unwrap()),
    };
    assert_eq!(bench.order(&never), Err(RunRefusal::NotStopped("working")));
    bench.order(&RunCommand::Cancel { reason: None }).unwrap();
    assert_eq!(
        bench.order(&RunCommand::Pause),
        Err(RunRefusal::Over("cancelled"))
    );
}

#[test]
fn a_loop_ends() {
    let mut bench = Bench::new();
    for number in 0..4 {
        bench.prove("next", number);
        bench.prove("done", number);
        bench.order(&RunCommand::Approve).unwrap();
    }
    let (cause, reason) = bench.stopped();
    assert_eq!(cause, Cause::BudgetSpent);
    assert!(reason.contains("8 phases"), "{reason}");
    // What was proved stays, and a person can let it go on from there.
    bench.order(&RunCommand::Retry { from: None }).unwrap();
    assert_eq!(
        (bench.stands(), bench.run.steps.len()),
        (at("working", "plan", 1), 8)
    );
}

#[test]
fn each_failure_has_its_policy() {
    let told = |cause: Option<Cause>| {
        let mut bench = Bench::new();
        let fence = bench.claim();
        if let Some(cause) = cause {
            let evidence = Evidence::Refused { cause };
            bench.tell(&Command::Prove { fence, evidence });
        }
        bench.tell(&Command::Fail {
            fence: Some(fence),
            reason: "why".parse().unwrap(),
        });
        let refused = bench.run.at.refused.as_ref().map(|it| it.cause);
        (refused, bench.stands().0)
    };
    assert_eq!(told(None), (Some(Cause::AgentCrashed), "working"));
    for cause in [
        Cause::InvalidResult,
        Cause::CheckFailed,
        Cause::BudgetSpent,
        Cause::NoProof,
    ] {
        let state = match cause.policy() {
            Policy::TryAgain => "working",
            Policy::Stop => "stopped",
        };
        assert_eq!(told(Some(cause)), (Some(cause), state), "{}", cause.word());
    }
    let mut bench = Bench::new();
    let fence = bench.claim();
    bench.tell(&Command::Block {
        fence: Some(fence),
        reason: "which colour?".parse().unwrap(),
    });
    let asked = (Cause::AskedPerson, "which colour?".to_owned());
    assert_eq!(bench.stopped(), asked);
}

#[test]
fn what_sessions_use_is_paid_from_one_budget() {
    let mut bench = Bench::new();
    bench.run.spec.workflow.budget_tokens = Some(1_000);
    if let RunEvent::Begun { spec } = &mut bench.history[0].2 {
        spec.workflow.budget_tokens = Some(1_000);
    }
    let fence = bench.claim();
    let evidence = Evidence::Used { tokens: 1_200 };
    bench.tell(&Command::Prove { fence, evidence });
    bench.tell(&Command::Fail {
        fence: Some(fence),
        reason: "why".parse().unwrap(),
    });
    let (cause, reason) = bench.stopped();
    assert_eq!((cause, bench.run.spent), (Cause::BudgetSpent, 1_200));
    assert!(reason.contains("1200 tokens of the 1000"), "{reason}");
    bench.order(&RunCommand::Retry { from: None }).unwrap();
    assert_eq!(bench.stands(), at("working", "plan", 1));
}

/// What made no progress was not asked about: trying again does the phase again, and leads past no gate.
#[test]
fn no_progress_is_no_way_through_a_gate() {
    let mut bench = Bench::new();
    bench.prove("next", 2);
    bench.prove("done", 3);
    assert_eq!(bench.stands().0, "gated");
    bench.order(&RunCommand::Retry { from: None }).unwrap();
    assert_eq!(bench.stands(), at("working", "build", 1));
    bench.take(vec![RunEvent::Stopped {
        cause: Cause::NoProgress,
        reason: "nothing changed".parse().unwrap(),
    }]);
    bench.run.at.number = 0;
    let again = bench
        .run
        .decide(&RunCommand::Retry { from: None }, &person(), bench.now.wall);
    let opened = again.unwrap().pop();
    assert!(
        matches!(&opened, Some(RunEvent::Opened { phase, .. }) if phase.as_str() == "build"),
        "{opened:?}"
    );
}
