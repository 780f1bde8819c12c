//! W02: everything that belongs to a run is killed at once, after each event of the ledger or at random moments: who works on it, the
//! holder, the agent, the tests. `workflow resume` comes to the same end, with the same proofs, each of them once.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use handoff_testkit::kata::{Kata, PROOFS};
use serde_json::Value;

use super::super::dice::Dice;
use super::super::door::Door;
use super::super::stage::{Findings, Stage, progress};
use super::run::Project;
use super::world::World;

/// Small tiers look at so many events.
const FEW: usize = 3;
/// A run that was killed so often for one event comes to nothing.
const MOST_BEGINNINGS: usize = 50;

/// Kills after each event that a run without trouble has.
pub(in crate::campaign) fn everywhere(stage: &mut Stage) -> Result<()> {
    stage.trial("after each event", |stage| {
        let calm = Calm::watch(stage)?;
        let step = stage.count(calm.events.div_ceil(FEW), 1);
        let first = stage.dice("events").index(step);
        let places: Vec<_> = (first..calm.events).step_by(step).collect();
        let mut complaints = vec![];
        for (done, place) in places.iter().enumerate() {
            progress("events", done, places.len());
            let project = Project::new(stage.product(), &Kata::javascript(), &[]);
            let mut strikes = Strikes::AfterEvent(*place);
            let wrong = to_the_end(&project, &mut strikes, &calm)?;
            complaints.extend(wrong.into_iter().map(|it| format!("event {place}: {it}")));
        }
        Ok(Findings {
            count: places.len(),
            note: format!("of {} events", calm.events),
            complaints,
        })
    });
    Ok(())
}

/// Kills at moments that the dice choose, several in one run.
pub(in crate::campaign) fn at_random(stage: &mut Stage) -> Result<()> {
    stage.trial("at random", |stage| {
        let calm = Calm::watch(stage)?;
        let mut strikes = Strikes::AtRandom {
            dice: stage.dice("moments"),
            left: stage.count(8, 200),
        };
        let count = strikes.left();
        let (mut complaints, mut runs) = (vec![], 0);
        while strikes.left() > 0 {
            progress("kills", count - strikes.left(), count);
            let project = Project::new(stage.product(), &Kata::javascript(), &[]);
            let wrong = to_the_end(&project, &mut strikes, &calm)?;
            runs += 1;
            complaints.extend(wrong.into_iter().map(|it| format!("run {runs}: {it}")));
        }
        Ok(Findings {
            count,
            note: format!("{runs} runs"),
            complaints,
        })
    });
    Ok(())
}

/// A run without trouble.
struct Calm {
    tree: String,
    events: usize,
}

impl Calm {
    fn watch(stage: &Stage) -> Result<Self> {
        let project = Project::new(stage.product(), &Kata::javascript(), &[]);
        let output = project.to_the_end()?;
        ensure!(output.status.success(), "must work: {}", output.snapshot());
        Ok(Self {
            tree: project.tree(),
            events: project.product.events()?.len(),
        })
    }
}

/// When everything is killed.
enum Strikes {
    /// Once, as soon as there are more events than this.
    AfterEvent(usize),
    /// Again and again after a while.
    AtRandom { dice: Dice, left: usize },
    /// No more.
    Over,
}

/// The longest a process is left alone between two kills: about what three phases take.
const LONGEST: u64 = 2_000;

impl Strikes {
    fn left(&self) -> usize {
        match self {
            Self::AfterEvent(_) => 1,
            Self::AtRandom { left, .. } => *left,
            Self::Over => 0,
        }
    }

    /// Waits for the moment, and strikes, unless the run came to its end before.
    fn strike(&mut self, project: &Project, world: &mut World) -> Result<()> {
        match self {
            Self::AfterEvent(place) => {
                let door = Door::Sqlite(project.product.home().to_owned());
                if after_event(&door, *place, world)? {
                    world.kill()?;
                }
                *self = Self::Over;
            }
            Self::AtRandom { dice, left } if *left > 0 => {
                let moment = Duration::from_millis(dice.below(LONGEST));
                if world.lives_for(moment)? {
                    world.kill()?;
                    *left -= 1;
                }
            }
            Self::AtRandom { .. } | Self::Over => {}
        }
        Ok(())
    }
}

/// Waits until the ledger has more events than `place`; says whether it came to that.
fn after_event(door: &Door, place: usize, world: &mut World) -> Result<bool> {
    let Door::Sqlite(home) = door else {
        bail!("only the embedded store is watched");
    };
    // Opening it makes it, which is for the run to do.
    while !home.join("handoff.db").exists() {
        if !world.lives_for(Duration::from_millis(1))? {
            return Ok(false);
        }
    }
    let mut watch = door.watch()?;
    while watch.count()? <= place {
        watch.wait()?;
        if !world.is_alive()? && watch.count()? <= place {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Begins, is killed, goes on; says what is wrong at the end.
fn to_the_end(project: &Project, strikes: &mut Strikes, calm: &Calm) -> Result<Vec<String>> {
    for _ in 0..MOST_BEGINNINGS {
        let run = project.status()?;
        if run.as_ref().is_some_and(|it| it["state"] == "done") {
            return judge(project, calm);
        }
        let words = match run {
            None => project.begin(),
            Some(run) if run["state"] == "working" => project.go_on(),
            Some(run) => return Ok(vec![format!("it does not go on: {run}")]),
        };
        let mut world = begin(project, &words)?;
        strikes.strike(project, &mut world)?;
        world.wait()?;
    }
    Ok(vec!["it never comes to its end".to_owned()])
}

fn begin(project: &Project, words: &[OsString]) -> Result<World> {
    let command = project.product.command(&World::prefix(), words);
    World::begin(command, Stdio::null())
}

/// What must be so after all that was done.
fn judge(project: &Project, calm: &Calm) -> Result<Vec<String>> {
    let mut complaints = project.product.audit()?;
    let proofs = project.proofs()?;
    if proofs != PROOFS {
        complaints.push(format!("other proofs: {proofs:?}"));
    }
    let log = project.log()?;
    let proved: Vec<_> = { log.iter() }
        .filter(|it| it["event"]["type"] == "proved")
        .map(|it| it["event"]["task"].to_string())
        .collect();
    let once: BTreeSet<_> = proved.iter().collect();
    if once.len() != proved.len() || proved.len() != PROOFS.len() {
        complaints.push(format!("{} proofs of {} tasks", proved.len(), once.len()));
    }
    if project.tree() != calm.tree {
        complaints.push("another tree".to_owned());
    }
    complaints.extend(left_behind(project)?);
    project.product.repo.fsck();
    Ok(complaints)
}

/// Trees that nobody needs any more, and tasks that are not over.
fn left_behind(project: &Project) -> Result<Vec<String>> {
    let mut complaints = vec![];
    let trees = project.product.repo.git(["worktree", "list"]);
    if trees.lines().count() != 1 {
        complaints.push(format!("trees are left: {trees}"));
    }
    let queue = project.product.answer(["queue", "list"])?;
    let tasks = queue["tasks"].as_array().context("a list of tasks")?;
    let is_open = |task: &&Value| {
        let state = task["state"].as_str().unwrap_or_default();
        !matches!(state, "done" | "failed" | "cancelled")
    };
    let open = tasks.iter().filter(is_open);
    complaints.extend(open.map(|it| format!("a task is left: {it}")));
    Ok(complaints)
}
