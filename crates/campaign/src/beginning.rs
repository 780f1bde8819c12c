//! D02S: each of the three processes that begin a session is killed at every system call, alone and together. The session is
//! there or not, never half of it.

mod model;

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Result, ensure};
use handoff_testkit::{Fault, Injection, Prefix, When};

use self::model::Model;
use super::hostel::Hostel;
use super::product::exit;
use super::stage::{Findings, Stage, progress};
use super::sweep::{CALLS, Point, points_in};

/// Small tiers look at so many points of each.
const FEW: usize = 3;
/// After so many points there is a new home: everybody who lists sessions looks at all that there were.
const STAY: usize = 40;
/// Whoever waits for a process that ends leaves its core to others.
const THREADS: usize = 2;
/// A session that ends by itself: whoever traces it waits for that.
const WORDS: [&str; 9] = [
    "run", "--detach", "--id", "born", "sh", "--", "-c", "exit 3", "x",
];
/// What starts a process and lets others reach it, besides what changes files.
const OF_A_START: [&str; 14] = [
    "clone",
    "clone3",
    "vfork",
    "fork",
    "execve",
    "setsid",
    "prctl",
    "pidfd_open",
    "ioctl",
    "socket",
    "bind",
    "listen",
    "dup2",
    "poll",
];

/// Who is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    /// The command that a person runs.
    Starter,
    /// The one behind the holder.
    Warden,
    /// The one who holds the terminal.
    Holder,
    /// All three, each when it comes to that point.
    All,
}

impl Victim {
    const EVERY: [Self; 4] = [Self::Starter, Self::Warden, Self::Holder, Self::All];

    const fn name(self) -> &'static str {
        match self {
            Self::Starter => "the starter",
            Self::Warden => "the warden",
            Self::Holder => "the holder",
            Self::All => "all three",
        }
    }

    /// How the session may be listed afterwards. As long as its holder lives, how it ended is known.
    const fn ends(self) -> &'static [&'static str] {
        match self {
            Self::Starter | Self::Warden => &["exited", "nothing"],
            Self::Holder | Self::All => &["exited", "lost", "nothing"],
        }
    }
}

pub(super) fn kills(stage: &mut Stage) -> Result<()> {
    for victim in Victim::EVERY {
        stage.trial(victim.name(), |stage| everywhere(stage, victim));
    }
    Ok(())
}

fn everywhere(stage: &Stage, victim: Victim) -> Result<Findings> {
    let points = Bed::make(stage, victim)?.points()?;
    ensure!(!points.is_empty(), "it made no call at all");
    let step = stage.count(points.len().div_ceil(FEW), 1);
    let first = stage.dice(victim.name()).index(step);
    let points: Vec<Point> = points.into_iter().skip(first).step_by(step).collect();
    let found = Mutex::new(Found::default());
    let share = points.len().div_ceil(THREADS);
    std::thread::scope(|scope| {
        for points in points.chunks(share) {
            let found = &found;
            scope.spawn(move || strike_all(stage, victim, points, found));
        }
    });
    let Found { ends, complaints } = found.into_inner().expect("nobody panics with it");
    let ends: Vec<String> = ends
        .iter()
        .map(|(end, count)| format!("{end} ×{count}"))
        .collect();
    Ok(Findings {
        count: points.len(),
        note: ends.join(", "),
        complaints,
    })
}

/// How the session was listed after each strike, and what must not be.
#[derive(Default)]
struct Found {
    ends: BTreeMap<String, usize>,
    complaints: Vec<String>,
}

fn strike_all(stage: &Stage, victim: Victim, points: &[Point], found: &Mutex<Found>) {
    let note = |place: &str, struck: Result<(String, Vec<String>)>| {
        let (end, complaints) =
            struck.unwrap_or_else(|error| ("unknown".to_owned(), vec![format!("{error:#}")]));
        let mut found = found.lock().expect("nobody panics with it");
        *found.ends.entry(end).or_default() += 1;
        let here = complaints.into_iter().map(|it| format!("{place}: {it}"));
        found.complaints.extend(here);
    };
    for (stay, some) in points.chunks(STAY).enumerate() {
        let bed = match Bed::make(stage, victim) {
            Ok(bed) => bed,
            Err(error) => return note("cannot begin", Err(error)),
        };
        for (done, point) in some.iter().enumerate() {
            progress(victim.name(), stay * STAY + done, points.len());
            let place = format!("{} {}", point.call, point.number);
            note(&place, bed.strike(*point));
        }
    }
}

/// A home in which sessions begin.
struct Bed {
    hostel: Hostel,
    victim: Victim,
    model: Model,
}

impl Bed {
    fn make(stage: &Stage, victim: Victim) -> Result<Self> {
        let hostel = Hostel::open(stage.product());
        let model = Model::of_session(&hostel)?;
        Ok(Self {
            hostel,
            victim,
            model,
        })
    }

    /// The beginning of a session, with these words before the one who is meant.
    fn beginning(&self, prefix: &Prefix) -> Command {
        let product = &self.hostel.product;
        match self.victim {
            Victim::Starter | Victim::All => product.command(prefix, WORDS),
            Victim::Warden => self.model.warden(product, prefix),
            Victim::Holder => self.model.holder(product, prefix),
        }
    }

    /// Every call of the one who is meant.
    fn points(&self) -> Result<Vec<Point>> {
        let product = &self.hostel.product;
        let log = product.env.work().join("trace");
        let calls = [CALLS.as_slice(), &OF_A_START].concat();
        let trace = format!("trace={}", calls.join(","));
        let mut words = vec!["strace", "-f", "-qq", "-y", "-e", &trace, "-o"];
        words.extend(log.to_str());
        words.extend(self.reach());
        let command = self.beginning(&Prefix::of(words));
        let output = product.run_bounded(&command);
        ensure!(
            output.status.success(),
            "cannot trace: {}",
            output.snapshot()
        );
        // One who is not followed to its end goes on after the trace.
        ensure!(self.hostel.left()?.is_empty(), "the session does not end");
        Ok(points_in(
            &std::fs::read_to_string(&log)?,
            &calls,
            Path::is_dir,
        ))
    }

    /// How far a trace goes. What another process becomes is not the one who is meant.
    fn reach(&self) -> &'static [&'static str] {
        match self.victim {
            Victim::Starter | Victim::Warden | Victim::Holder => &["--detach-on=execve", "--"],
            Victim::All => &["--"],
        }
    }

    /// Kills whoever comes to this point, and says how the session is listed and what is wrong afterwards.
    fn strike(&self, point: Point) -> Result<(String, Vec<String>)> {
        let number = NonZeroU16::new(point.number).expect("calls are counted from 1");
        let injection = Injection {
            syscalls: &[point.call],
            fault: Fault::Kill,
            when: When::Nth(number),
        };
        let prefix = match self.victim {
            Victim::Starter | Victim::Warden | Victim::Holder => injection.prefix_of_one(),
            Victim::All => injection.prefix(),
        };
        let hostel = &self.hostel;
        let before = hostel.listed("born")?["id"].clone();
        hostel.product.run_bounded(&self.beginning(&prefix));
        let mut complaints = hostel.left()?;
        let listed = hostel.listed("born")?;
        let is_new = listed["id"] != before;
        let state = listed["state"].as_str().filter(|_| is_new);
        let state = state.unwrap_or("nothing");
        if !self.victim.ends().contains(&state) {
            complaints.push(format!("nothing runs, and it is listed as {state}"));
        }
        let waited = hostel
            .product
            .run(["wait", "--id", "born", "--timeout", "5"]);
        if waited.code() == Some(exit::TIMED_OUT) {
            complaints.push("one who waits for it waits for ever".to_owned());
        }
        let again = hostel.product.run(WORDS);
        if !again.status.success() {
            complaints.push(format!("cannot start it again: {}", again.snapshot()));
        }
        complaints.extend(hostel.left()?);
        Ok((state.to_owned(), complaints))
    }
}
