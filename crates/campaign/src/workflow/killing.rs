//! W02: everything that belongs to a run is killed at once, after each event of the ledger or at random moments: who works on it, the
//! holder, the agent, the tests. `workflow resume` comes to the same end, with the same proofs, each of them once.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Error, Result, ensure};
use handoff_testkit::kata::{Kata, PROOFS};
use serde_json::Value;

use super::super::dice::Dice;
use super::super::door::Door;
use super::super::stage::{Findings, Stage, Tier, progress};
use super::run::Project;
use super::world::World;

/// One run is struck in each of so many parts.
const PARTS: usize = 3;
/// A run has at least so many events.
const FEWEST: usize = 120;
/// One run is killed so often, and then left alone: it could be kept from ever coming to its end.
const MOST_KILLS: usize = 10;
/// It goes on by itself then.
const MOST_BEGINNINGS: usize = MOST_KILLS + 5;

/// Kills after each event of a run, in each of its parts once, so that as many runs are needed as a part has events; in a small
/// tier in one run.
pub(crate) fn everywhere(stage: &mut Stage) -> Result<()> {
    stage.trial("after each event", |stage| {
        let plans = match stage.tier {
            Tier::Small => {
                let part = FEWEST / PARTS;
                let mut dice = stage.dice("events");
                vec![in_each_part(part, || dice.index(part))]
            }
            Tier::Full => {
                let part = events_of_a_calm_run(stage)?.div_ceil(PARTS);
                let places = 0..part;
                places.map(|place| in_each_part(part, || place)).collect()
            }
        };
        let wanted: usize = plans.iter().map(Vec::len).sum();
        let (mut complaints, mut killed) = (vec![], 0);
        for (done, places) in plans.iter().enumerate() {
            progress("runs", done, plans.len());
            let project = Project::new(stage.product(), &Kata::javascript(), &[]);
            let mut strikes = Strikes::after(places);
            let wrong = to_the_end(&project, &mut strikes)?;
            killed += strikes.killed;
            complaints.extend(
                wrong
                    .into_iter()
                    .map(|it| format!("event {places:?}: {it}")),
            );
        }
        // Behind the last event or two the run may be over before it is struck.
        if killed * 2 < wanted {
            complaints.push(format!("{killed} of {wanted} kills came about"));
        }
        Ok(Findings {
            count: killed,
            note: format!("{} runs", plans.len()),
            complaints,
        })
    });
    Ok(())
}

fn in_each_part(part: usize, mut place: impl FnMut() -> usize) -> Vec<usize> {
    (0..PARTS).map(|it| it * part + place()).collect()
}

/// Kills at moments that the dice choose, several in one run.
pub(crate) fn at_random(stage: &mut Stage) -> Result<()> {
    stage.trial("at random", |stage| {
        let count = stage.count(8, 200);
        let mut strikes = Strikes::at_random(stage.dice("moments"), count);
        let (mut complaints, mut runs) = (vec![], 0);
        while strikes.killed < count {
            progress("kills", strikes.killed, count);
            let project = Project::new(stage.product(), &Kata::javascript(), &[]);
            let wrong = to_the_end(&project, &mut strikes)?;
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

/// How many events a run without trouble has. It is judged like the others.
fn events_of_a_calm_run(stage: &Stage) -> Result<usize> {
    let project = Project::new(stage.product(), &Kata::javascript(), &[]);
    let wrong = to_the_end(&project, &mut Strikes::after(&[]))?;
    ensure!(wrong.is_empty(), "nobody was killed: {wrong:?}");
    Ok(project.product.events()?.len())
}

/// Kills that came about, and those to come.
struct Strikes {
    killed: usize,
    to_come: Vec<Moment>,
}

/// When everything is killed.
#[derive(Clone, Copy)]
enum Moment {
    /// As soon as there are more events than this.
    Event(usize),
    /// So long after it began or went on.
    Later(Duration),
}

/// The longest a process is left alone between two kills: about what two phases take.
const LONGEST: u64 = 1_500;

impl Strikes {
    fn after(places: &[usize]) -> Self {
        let to_come = places.iter().rev().map(|it| Moment::Event(*it));
        Self {
            killed: 0,
            to_come: to_come.collect(),
        }
    }

    fn at_random(mut dice: Dice, count: usize) -> Self {
        let later = |_| Moment::Later(Duration::from_millis(dice.below(LONGEST)));
        Self {
            killed: 0,
            to_come: (0..count).map(later).collect(),
        }
    }

    /// Waits for the moment, and strikes, unless the run came to its end before; says which. A moment of a clock comes again in another run.
    fn strike(&mut self, project: &Project, world: &mut World) -> Result<bool> {
        let Some(moment) = self.to_come.pop() else {
            return Ok(false);
        };
        let is_time = match moment {
            Moment::Event(place) => after_event(project.product.home(), place, world)?,
            Moment::Later(span) => world.lives_for(span)?,
        };
        if is_time && world.is_alive()? {
            world.kill()?;
            self.killed += 1;
            return Ok(true);
        }
        match moment {
            Moment::Later(_) => self.to_come.push(moment),
            Moment::Event(_) => {}
        }
        Ok(false)
    }
}

/// Waits until the ledger has more events than `place`; says whether it came to that.
fn after_event(home: &Path, place: usize, world: &mut World) -> Result<bool> {
    // Opening it makes it, which is for the run to do.
    while !home.join("handoff.db").exists() {
        if !world.lives_for(Duration::from_millis(1))? {
            return Ok(false);
        }
    }
    let mut watch = Door::Sqlite(home.to_owned()).watch()?;
    while watch.count()? <= place {
        watch.wait()?;
        if !world.is_alive()? && watch.count()? <= place {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Begins, is killed, goes on, at least once after the last kill; says what is wrong at the end.
fn to_the_end(project: &Project, strikes: &mut Strikes) -> Result<Vec<String>> {
    for beginning in 0..MOST_BEGINNINGS {
        let words = match project.status()? {
            None => project.begin(),
            Some(run) if run["state"] == "working" || run["state"] == "done" => project.go_on(),
            Some(run) if is_left_to_a_person(&run) => {
                project.product.answer(["workflow", "retry", "calc"])?;
                project.go_on()
            }
            Some(run) => return Ok(vec![format!("it does not go on: {run}")]),
        };
        let mut world = begin(project, &words)?;
        let is_killed = beginning < MOST_KILLS && strikes.strike(project, &mut world)?;
        world.wait()?;
        let is_over = || Ok::<_, Error>(project.status()?.is_some_and(|it| it["state"] == "done"));
        if !is_killed && is_over()? {
            return judge(project);
        }
    }
    Ok(vec!["it never comes to its end".to_owned()])
}

/// Work that takes everybody along five times in a row is not tried again by itself.
fn is_left_to_a_person(run: &Value) -> bool {
    let is_in_a_row = |it: &str| it.contains("in a row");
    run["state"] == "stopped" && run["reason"].as_str().is_some_and(is_in_a_row)
}

fn begin(project: &Project, words: &[OsString]) -> Result<World> {
    let command = project.product.command(&World::prefix(), words);
    World::begin(command, Stdio::null())
}

/// What must be so after all that was done.
fn judge(project: &Project) -> Result<Vec<String>> {
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
    complaints.extend(shown_in_git(project));
    complaints.extend(left_behind(project)?);
    project.product.repo.fsck();
    Ok(complaints)
}

/// What every repository of a test has.
const README: &str = "# Fixture\n";

/// What git does not show as it is.
fn shown_in_git(project: &Project) -> Vec<String> {
    let mut complaints = vec![];
    let tree = project.tree();
    let expected = Kata::javascript().end().with("README.md", README);
    if tree != expected {
        complaints.push(format!("another tree: {tree:?}"));
    }
    let phases = PROOFS.iter().filter_map(|it| it.split(' ').next());
    let expected: Vec<_> = { phases.enumerate() }
        .map(|(place, phase)| format!("{:03}-{phase}", place + 1))
        .collect();
    let marks = project.marks();
    if marks != expected {
        complaints.push(format!("other marks: {marks:?}"));
    }
    complaints
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
