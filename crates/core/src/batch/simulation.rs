//! A thousand batches with everything that can go wrong between the parts and the fan-in: workers die, leases run out, owners
//! report late or twice, parts fail, block, are called off, need each other, and are opened again.
//!
//! The ledger here is a list of tasks; what it does for those that wait is what the store does: [`Task::news`], told in the order
//! of adding, and a batch that follows its fan-in.

use std::num::NonZeroUsize;
use std::time::Duration;

use uuid::Uuid;

use super::{
    Batch, BatchCommand, BatchEvent, BatchState, Calibration, Manifest, Opening, Plan, Rules,
};
use crate::lease::{Tenure, Term};
use crate::task::{Command, Ending, Refusal};
use crate::time::{Moment, Nanos, Now, Timeline, Timestamp};
use crate::{BatchId, Caller, Fence, ProjectId, Task, TaskId};

const TTL: u64 = 10;

/// Numbers that follow from a seed and nothing else.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }
}

/// How many different batches there are; each is run many times.
const SHAPES: u64 = 25;

/// Batches of all shapes, just opened.
fn shapes() -> Vec<Ledger> {
    let shape = |seed| Ledger::open(&manifest(&mut Dice(seed * 0x9e37_79b9)));
    (1..=SHAPES).map(shape).collect()
}

#[derive(Clone)]
struct Ledger {
    tasks: Vec<Task>,
    batch: Batch,
    events: Vec<BatchEvent>,
    time: u64,
}

fn manifest(dice: &mut Dice) -> Manifest {
    let count = 2 + dice.roll(5);
    let parts: String = (0..count)
        .map(|place| {
            let needs = match dice.roll(3) {
                0 if place > 0 => format!("depends_on = [\"p{}\"]\n", dice.roll(place)),
                _ => String::new(),
            };
            format!("[[sub_tasks]]\nid = \"p{place}\"\nbrief = \"x\"\nfile_ownership = [\"d{place}/\"]\n{needs}")
        })
        .collect();
    let text = format!("schema_version = 2\nbatch_id = \"b\"\nfan_in_task = \"merge\"\n{parts}");
    Manifest::read(&text, Rules::default()).unwrap()
}

impl Ledger {
    fn open(manifest: &Manifest) -> Self {
        let id = |number: usize| TaskId::from_uuid(Uuid::from_u128(number as u128));
        let opening = Opening {
            batch: BatchId::from_uuid(Uuid::nil()),
            parts: (1..=manifest.parts.len()).map(id).collect(),
            fan_in: id(100),
            next: id(101),
            base: "a".repeat(40).parse().unwrap(),
            after: None,
            run: None,
        };
        let slots = NonZeroUsize::new(3).unwrap();
        let plan = Plan::of(manifest, slots, &Calibration::default());
        let published = manifest.publication(&opening, &plan);
        let (project, at) = (ProjectId::from_uuid(Uuid::nil()), Timestamp::UNIX_EPOCH);
        let task = |(id, spec)| Task::begin(id, project, spec, at);
        Self {
            tasks: published.tasks.into_iter().map(task).collect(),
            batch: Batch::begin(opening.batch, project, published.spec, at),
            events: vec![],
            time: 0,
        }
    }

    fn now(&self) -> Now {
        let nanos = Nanos(0).after(Duration::from_secs(self.time));
        Now {
            wall: Timestamp::UNIX_EPOCH,
            moment: Moment {
                timeline: Timeline::of_boot("b"),
                elapsed: nanos,
                awake: nanos,
            },
        }
    }

    /// Tells a task something, and everybody who waits what follows from it.
    fn tell(&mut self, place: usize, command: &Command) -> Result<(), Refusal> {
        let (now, mut task) = (self.now(), self.tasks[place].clone());
        let had_ended = task.state.ending();
        let events = task.decide(command, &Caller::Worker, &now)?;
        if events.is_empty() {
            return Ok(());
        }
        for event in events {
            task.apply(event, now.wall);
        }
        let news = task.news(had_ended);
        let before = std::mem::replace(&mut self.tasks[place], task);
        if let Some(news) = news {
            let waits = |task: &Task| task.spec.after.iter().any(|it| it.task == before.id);
            let waiting: Vec<_> = (0..self.tasks.len())
                .filter(|&it| waits(&self.tasks[it]))
                .collect();
            for other in waiting {
                self.tell(other, &news)?;
            }
        }
        if place == self.fan_in() {
            self.follow(now.wall);
        }
        Ok(())
    }

    fn follow(&mut self, at: Timestamp) {
        let fan_in = self
            .tasks
            .iter()
            .find(|it| it.id == self.batch.spec.fan_in)
            .unwrap();
        if let Some(event) = self.batch.follow(&fan_in.state) {
            self.batch.apply(event.clone(), at);
            self.events.push(event);
        }
    }

    fn fan_in(&self) -> usize {
        self.tasks.len() - 1
    }

    fn have_all_parts_ended(&self) -> bool {
        let fan_in = self.fan_in();
        self.tasks[..fan_in]
            .iter()
            .all(|it| it.state.ending().is_some())
    }

    fn claim(&mut self, place: usize) -> Result<(), Refusal> {
        let term = Term::starting(&self.now().moment, Duration::from_secs(TTL));
        let tenure = Tenure::Timed(term);
        self.tell(place, &Command::Claim { tenure })
    }

    /// Something happens to a part: usually work, often trouble.
    fn happen(&mut self, dice: &mut Dice) {
        let place = dice.roll(self.fan_in());
        let newest = self.tasks[place].fence;
        let shown = match dice.roll(4) {
            0 => Fence::new(newest.number().saturating_sub(1)),
            _ => newest,
        };
        let fence = Some(shown);
        let reason = || "because".parse().unwrap();
        let command = match dice.roll(16) {
            0..=5 => return drop(self.claim(place)),
            6..=9 => Command::Complete {
                fence,
                summary: None,
            },
            10 => Command::Fail {
                fence,
                reason: reason(),
            },
            11 => Command::Block {
                fence,
                reason: reason(),
            },
            12 => Command::Release {
                fence: shown,
                reason: None,
            },
            13 if dice.roll(4) == 0 => Command::Cancel { reason: None },
            // A worker dies: nobody says anything, and the lease runs out.
            _ => {
                self.time += dice.roll(2 * usize::try_from(TTL).unwrap()) as u64;
                Command::Expire
            }
        };
        let before = self.tasks[place].clone();
        let told = self.tell(place, &command);
        let is_stale =
            shown != newest && !matches!(command, Command::Expire | Command::Cancel { .. });
        assert!(
            !is_stale || told.is_err(),
            "a late report counted: {command:?}"
        );
        // Whoever repeats a report that ended the task is told so, and nothing changes.
        if told.is_ok()
            && before.state.ending().is_none()
            && self.tasks[place].state.ending().is_some()
        {
            let versions =
                |it: &Self| -> Vec<_> { it.tasks.iter().map(|task| task.version).collect() };
            let after = (versions(self), self.events.len());
            assert!(self.tell(place, &command).is_err());
            assert_eq!((versions(self), self.events.len()), after);
        }
    }

    fn retry(&mut self) -> bool {
        let command = BatchCommand::Retry { parts: vec![] };
        let Ok(event) = self.batch.decide(&command, &Caller::Person, &self.tasks) else {
            return false;
        };
        let BatchEvent::Retried { parts } = &event else {
            panic!("{event:?}");
        };
        let chosen: Vec<_> = parts
            .iter()
            .map(|it| self.batch.part(it).unwrap().task)
            .collect();
        self.batch.apply(event, Timestamp::UNIX_EPOCH);
        for place in 0..self.fan_in() {
            if chosen.contains(&self.tasks[place].id) {
                self.tell(place, &Command::Retry).unwrap();
            }
        }
        if self.tasks[self.fan_in()].state.ending().is_some() {
            self.tell(self.fan_in(), &Command::Retry).unwrap();
        }
        true
    }

    fn readied(&self) -> usize {
        let is_ready = |event: &&BatchEvent| matches!(event, BatchEvent::FanInReady);
        self.events.iter().filter(is_ready).count()
    }
}

/// Runs a batch until every part has ended.
fn run(ledger: &mut Ledger, dice: &mut Dice) {
    for _ in 0..10_000 {
        let is_over = ledger.have_all_parts_ended();
        let is_ready = matches!(ledger.batch.state, BatchState::FanIn { .. });
        assert_eq!(is_over, is_ready, "{:?}", ledger.batch.state);
        if is_over {
            return;
        }
        assert!(
            ledger.claim(ledger.fan_in()).is_err(),
            "the fan-in was handed out early"
        );
        ledger.happen(dice);
    }
    panic!("the parts never ended");
}

#[test]
fn a_fan_in_becomes_ready_exactly_once() {
    let shapes = shapes();
    for seed in 1..=1_000 {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let mut ledger = shapes[dice.roll(shapes.len())].clone();
        run(&mut ledger, &mut dice);
        assert_eq!(ledger.readied(), 1, "seed {seed}");
        // What comes in late changes nothing any more.
        for _ in 0..20 {
            ledger.happen(&mut dice);
        }
        assert_eq!(ledger.readied(), 1, "seed {seed}");
        ledger.claim(ledger.fan_in()).unwrap();
        assert!(
            ledger.claim(ledger.fan_in()).is_err(),
            "seed {seed}: two fan-ins at once"
        );
        assert!(
            !ledger.retry(),
            "seed {seed}: a part was opened under the fan-in"
        );
    }
}

#[test]
fn a_retried_batch_comes_to_its_fan_in_once_more() {
    let (shapes, mut retried) = (shapes(), 0);
    for seed in 1..=1_000 {
        let mut dice = Dice(0x517c_c1b7_2722_0a95_u64.wrapping_mul(seed));
        let mut ledger = shapes[dice.roll(shapes.len())].clone();
        run(&mut ledger, &mut dice);
        let has_failed = dice.roll(2) == 0;
        if has_failed {
            ledger.claim(ledger.fan_in()).unwrap();
            let fence = Some(ledger.tasks[ledger.fan_in()].fence);
            let reason = "conflicts".parse().unwrap();
            ledger
                .tell(ledger.fan_in(), &Command::Fail { fence, reason })
                .unwrap();
        }
        if !ledger.retry() {
            continue;
        }
        retried += 1;
        if !ledger.have_all_parts_ended() {
            run(&mut ledger, &mut dice);
        }
        assert_eq!(ledger.readied(), 2, "seed {seed}: {:?}", ledger.events);
    }
    assert!(retried > 300, "{retried}");
}

#[test]
fn a_part_that_needs_one_that_failed_asks_for_a_person_and_says_why() {
    let text = "schema_version = 2\nbatch_id = \"b\"\nfan_in_task = \"merge\"\n\
        [[sub_tasks]]\nid = \"one\"\nbrief = \"x\"\nfile_ownership = [\"a/\"]\n\
        [[sub_tasks]]\nid = \"two\"\nbrief = \"x\"\nfile_ownership = [\"b/\"]\ndepends_on = [\"one\"]\n";
    let mut ledger = Ledger::open(&Manifest::read(text, Rules::default()).unwrap());
    let reason = "no".parse().unwrap();
    ledger
        .tell(
            0,
            &Command::Fail {
                fence: None,
                reason,
            },
        )
        .unwrap();
    let said = serde_json::to_string(&ledger.tasks[1].state).unwrap();
    assert!(said.contains("it needs `b.one`, which is failed"), "{said}");
    assert_eq!(ledger.tasks[1].state.ending(), Some(Ending::Blocked));
    assert_eq!(ledger.readied(), 1);
}
