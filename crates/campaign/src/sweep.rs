//! D02 and D03: the binary is killed, or fails, at each system call of `queue add`, `claim` and `complete`.
//!
//! strace counts each kind of call in each thread by itself. So the calls are traced once, and then every call of
//! every kind is struck in a run of its own, on a copy of the same state.

mod judgement;
mod point;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use handoff_testkit::{Errno, Fault, Injection, Prefix, When};
use serde_json::Value;
use tempfile::TempDir;

use self::judgement::{End, Recorded, misnamed, objection, unsynced};
pub(super) use self::point::{CALLS, Point, points_in};
use super::product::{Product, exit};
use super::stage::{Findings, Stage, progress};
use handoff_chores::program;

/// A command to strike, and the state it starts from.
#[derive(Clone, Copy, Debug)]
struct Operation {
    name: &'static str,
    words: &'static [&'static str],
    prepare: fn(&Product) -> Result<()>,
}

const OPERATIONS: [Operation; 4] = [
    Operation {
        name: "first add",
        words: &["queue", "add", "new", "--brief", "x", "--key", "sweep"],
        prepare: |_| Ok(()),
    },
    Operation {
        name: "add",
        words: &["queue", "add", "new", "--brief", "x", "--key", "sweep"],
        prepare: some_tasks,
    },
    Operation {
        name: "claim",
        words: &["queue", "claim", "--key", "sweep"],
        prepare: some_tasks,
    },
    Operation {
        name: "complete",
        words: &[
            "queue", "complete", "leased", "--fence", "1", "--key", "sweep",
        ],
        prepare: some_tasks,
    },
];

fn some_tasks(product: &Product) -> Result<()> {
    product.add("leased")?;
    product.answer(["queue", "claim", "leased", "--ttl", "1h"])?;
    product.add("ready")?;
    product.add("other")?;
    Ok(())
}

/// What is done at a point.
#[derive(Clone, Copy, Debug)]
struct Strike {
    fault: Fault,
    reach: Reach,
}

#[derive(Clone, Copy, Debug)]
enum Reach {
    One,
    AllFrom,
}

const KILL: [Strike; 1] = [Strike {
    fault: Fault::Kill,
    reach: Reach::One,
}];

const ERRORS: [Strike; 3] = [
    Strike {
        fault: Fault::Error(Errno::Eio),
        reach: Reach::One,
    },
    Strike {
        fault: Fault::Error(Errno::Enospc),
        reach: Reach::One,
    },
    Strike {
        fault: Fault::Error(Errno::Eio),
        reach: Reach::AllFrom,
    },
];

pub(super) fn kills(stage: &mut Stage) -> Result<()> {
    sweep(stage, &KILL)
}

pub(super) fn errors(stage: &mut Stage) -> Result<()> {
    sweep(stage, &ERRORS)
}

fn sweep(stage: &mut Stage, strikes: &[Strike]) -> Result<()> {
    for operation in OPERATIONS {
        for strike in strikes {
            let what = format!("{}: {}", operation.name, strike.name());
            stage.trial(&what, |stage| everywhere(stage, operation, *strike));
        }
    }
    Ok(())
}

impl Strike {
    fn name(self) -> String {
        match self.reach {
            Reach::One => self.fault.to_string(),
            Reach::AllFrom => format!("{} from there on", self.fault),
        }
    }

    /// No local disk fails a lock. A single failure is tried all the same, but not all of them: SQLite takes any for
    /// "busy" and waits its time at each.
    fn is_real_at(self, point: Point) -> bool {
        match self.reach {
            Reach::One => true,
            Reach::AllFrom => point.call != "fcntl",
        }
    }

    fn prefix(self, point: Point) -> Prefix {
        let number = NonZeroU16::new(point.number).expect("calls are counted from 1");
        let when = match self.reach {
            Reach::One => When::Nth(number),
            Reach::AllFrom => When::FromNthOn(number),
        };
        Injection {
            syscalls: &[point.call],
            fault: self.fault,
            when,
        }
        .prefix()
    }
}

/// A program that waits for a lock leaves its core to others, so there are more threads than cores.
const THREADS: usize = 4;

/// A command on a broken disk says so soon.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Small tiers look at every fifth point, beginning at one that the seed chooses.
const SAMPLE: usize = 5;

fn everywhere(stage: &Stage, operation: Operation, strike: Strike) -> Result<Findings> {
    let bed = Bed::prepare(stage, operation)?;
    let step = stage.count(SAMPLE, 1);
    let first = stage.dice(&strike.name()).index(step);
    let points = bed
        .points()?
        .into_iter()
        .filter(|point| strike.is_real_at(*point));
    let points: Vec<Point> = points.skip(first).step_by(step).collect();
    ensure!(!points.is_empty(), "the command made no call at all");
    drop(bed);
    let tally = Mutex::new(Tally::default());
    let share = points.len().div_ceil(THREADS);
    std::thread::scope(|scope| {
        for points in points.chunks(share) {
            let tally = &tally;
            scope.spawn(move || strike_all(stage, operation, strike, points, tally));
        }
    });
    let tally = tally.into_inner().expect("no strike panics");
    Ok(Findings {
        count: points.len(),
        note: tally.note(),
        complaints: tally.complaints,
    })
}

fn strike_all(
    stage: &Stage,
    operation: Operation,
    strike: Strike,
    points: &[Point],
    tally: &Mutex<Tally>,
) {
    let count = |point: Option<Point>, struck: Result<(End, Vec<String>)>| {
        let mut tally = tally.lock().expect("no strike panics");
        tally.count(point, struck);
    };
    let bed = match Bed::prepare(stage, operation) {
        Ok(bed) => bed,
        Err(error) => return count(None, Err(error)),
    };
    for (done, point) in points.iter().enumerate() {
        progress(operation.name, done, points.len());
        count(Some(*point), bed.strike(strike, *point));
    }
}

/// How commands ended, by the calls that were struck.
#[derive(Debug, Default)]
struct Tally {
    ends: BTreeMap<String, (usize, BTreeSet<&'static str>)>,
    complaints: Vec<String>,
}

impl Tally {
    fn count(&mut self, point: Option<Point>, struck: Result<(End, Vec<String>)>) {
        let place = point.map_or_else(String::new, |it| format!("{} {}: ", it.call, it.number));
        let complaints = match struck {
            Ok((end, complaints)) => {
                let (count, calls) = self.ends.entry(end.to_string()).or_default();
                *count += 1;
                calls.extend(point.map(|point| point.call));
                complaints
            }
            Err(error) => vec![format!("{error:#}")],
        };
        let here = complaints.into_iter().map(|it| format!("{place}{it}"));
        self.complaints.extend(here);
    }

    fn note(&self) -> String {
        let ends = self.ends.iter().map(|(end, (count, calls))| {
            let calls: Vec<&str> = calls.iter().copied().collect();
            format!("{end} ×{count} ({})", calls.join(" "))
        });
        ends.collect::<Vec<_>>().join(", ")
    }
}

/// A product whose state can be put back, with what it held and what the command adds to it.
struct Bed {
    product: Product,
    operation: Operation,
    copy: TempDir,
    before: Vec<Value>,
    /// How many events the command appends when nothing disturbs it.
    appended: usize,
}

impl Bed {
    fn prepare(stage: &Stage, operation: Operation) -> Result<Self> {
        let product = stage.product();
        (operation.prepare)(&product)?;
        let mut bed = Self {
            copy: tempfile::tempdir()?,
            before: Vec::new(),
            appended: 0,
            product,
            operation,
        };
        bed.save()?;
        bed.before = bed.product.events()?;
        bed.restore()?;
        bed.product.answer(operation.words)?;
        bed.appended = bed.product.events()?.len() - bed.before.len();
        ensure!(bed.appended > 0, "the command changes nothing");
        bed.restore()?;
        Ok(bed)
    }

    /// What a command may change, with where its copy is.
    fn places(&self) -> [(PathBuf, PathBuf); 2] {
        let copy = self.copy.path();
        let git = self.product.repo.path().join(".git/handoff");
        [
            (self.product.home().to_owned(), copy.join("home")),
            (git, copy.join("git")),
        ]
    }

    fn save(&self) -> Result<()> {
        let places = self.places();
        places
            .iter()
            .try_for_each(|(place, copy)| copy_flat(place, copy))
    }

    fn restore(&self) -> Result<()> {
        let places = self.places();
        places
            .iter()
            .try_for_each(|(place, copy)| copy_flat(copy, place))
    }

    /// Every call of the undisturbed command.
    fn points(&self) -> Result<Vec<Point>> {
        let log = self.copy.path().join("trace");
        let log = log.to_string_lossy();
        let trace = format!("trace={}", CALLS.join(","));
        let words = ["-f", "-qq", "-y", "-o", &*log, "-e", &*trace, "--"];
        let mut command = self.product.env.command("strace");
        command
            .args(words)
            .arg(self.product.env.binary())
            .arg("--json");
        command
            .args(self.operation.words)
            .current_dir(self.product.repo.path());
        let output = self.product.env.run(command);
        ensure!(
            output.status.success(),
            "cannot trace: {}",
            output.snapshot()
        );
        Ok(points_in(
            &std::fs::read_to_string(&*log)?,
            &CALLS,
            Path::is_dir,
        ))
    }

    /// How the struck command ended, and what is wrong afterwards.
    fn strike(&self, strike: Strike, point: Point) -> Result<(End, Vec<String>)> {
        self.restore()?;
        let prefix = strike.prefix(point);
        let (struck, took) =
            program::timed(|| self.product.run_under(&prefix, self.operation.words));
        let end = End::of(&struck)?;
        let mut complaints = Vec::new();
        if took > LONGEST_WAIT && point.call != "fcntl" {
            complaints.push(format!("took {took:.1?}"));
        }
        for rule in [misnamed, unsynced] {
            complaints.extend(rule(strike.fault, point, end).map(str::to_owned));
        }
        match self.recorded() {
            Ok(recorded) => complaints.extend(objection(end, recorded)),
            Err(error) => complaints.push(format!("reading afterwards: {error:#}")),
        }
        if let Err(error) = self.go_on() {
            complaints.push(format!("{error:#}"));
        }
        let said = struck.stdout.trim();
        let with_output = |it: String| format!("{it} {said:.300}");
        Ok((end, complaints.into_iter().map(with_output).collect()))
    }

    fn recorded(&self) -> Result<Recorded> {
        let now = self.product.events()?;
        Ok(Recorded::of(&self.before, self.appended, &now))
    }

    /// The same command with the same key, an audit, and another command: all work without repair.
    fn go_on(&self) -> Result<()> {
        self.product
            .answer(self.operation.words)
            .context("repeated")?;
        let recorded = self.recorded()?;
        ensure!(
            recorded == Recorded::After,
            "after the repeat it is {recorded:?}"
        );
        let audit = self.product.audit()?;
        ensure!(audit.is_empty(), "{}", audit.join("; "));
        self.product.add("next").context("the next command")?;
        Ok(())
    }
}

/// Both are flat directories; one that is not there is not there afterwards either.
fn copy_flat(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        std::fs::remove_dir_all(to)?;
    }
    if !from.exists() {
        return Ok(());
    }
    std::fs::create_dir_all(to)?;
    std::fs::set_permissions(to, std::fs::metadata(from)?.permissions())?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        std::fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

/// An operation struck so that it ends with `outcome_unknown`; its product, left as it was then.
pub(super) fn left_unknown(stage: &Stage) -> Result<(Product, &'static [&'static str], usize)> {
    let operation = OPERATIONS[1];
    let bed = Bed::prepare(stage, operation)?;
    let strike = ERRORS[0];
    let syncs = bed
        .points()?
        .into_iter()
        .filter(|point| point.call.ends_with("sync"));
    for point in syncs {
        bed.restore()?;
        let struck = bed
            .product
            .run_under(&strike.prefix(point), operation.words);
        if End::of(&struck)? == End::Code(exit::OUTCOME_UNKNOWN) {
            let events = bed.before.len() + bed.appended;
            return Ok((bed.product, operation.words, events));
        }
    }
    anyhow::bail!("no failing sync of `queue add` ends with outcome_unknown")
}
