//! Batons that are there are built anew when something came of their tasks. Who has none is given none: they are made by `dump`.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;

use handoff_core::{Task, TaskId, TaskState};
use handoff_store::{read, tasks};

use super::text::VERSION;
use super::{Past, Setting, Survey, is_there, text, write};
use crate::error::EngineError;
use crate::workshop::Workshop;

/// So much of a file is looked at for its version.
const FRONT: u64 = 1024;

/// Builds the batons of these tasks anew that there are, and those of whoever waited for one of them and does not wait any more.
/// They are for reading: whatever keeps one from being written is no reason for anything else not to happen.
pub fn refresh(workshop: &mut Workshop<'_>, changed: &[TaskId]) {
    rebuild(workshop, changed, &[]).ok();
}

/// The same for those who waited for a task, whose own is written.
pub fn refresh_followers(workshop: &mut Workshop<'_>, task: TaskId) {
    rebuild(workshop, &[task], &[task]).ok();
}

fn rebuild(
    workshop: &mut Workshop<'_>,
    changed: &[TaskId],
    written: &[TaskId],
) -> Result<(), EngineError> {
    if !workshop.places.batons(workshop.project).exists() {
        return Ok(());
    }
    let mut setting = None;
    let mut open: Vec<_> = changed.to_vec();
    let mut seen: BTreeSet<_> = open.iter().copied().collect();
    while let Some(id) = open.pop() {
        let task = read(workshop.store, |tx| tasks::get(tx, id))?;
        if !written.contains(&id) {
            rebuild_one(workshop, &task, &mut setting)?;
        }
        if task.state.ending().is_some() {
            let followers = read(workshop.store, |tx| tasks::dependents(tx, id))?;
            for follower in followers {
                let task = read(workshop.store, |tx| tasks::get(tx, follower))?;
                if task.state != TaskState::Waiting && seen.insert(follower) {
                    open.push(follower);
                }
            }
        }
    }
    Ok(())
}

fn rebuild_one(
    workshop: &mut Workshop<'_>,
    task: &Task,
    setting: &mut Option<Setting>,
) -> Result<(), EngineError> {
    if !is_there(&workshop.places, task) {
        return Ok(());
    }
    // A name may mean another task by now.
    let name = &task.spec.name;
    let task = read(workshop.store, |tx| tasks::named(tx, task.project, name))?;
    let is_over = matches!(task.state, TaskState::Done { .. });
    let ground = match (&setting, is_over) {
        (Some(known), _) => known.clone(),
        // Nobody begins with it any more.
        (None, true) => Setting::default(),
        (None, false) => setting.insert(survey(workshop)).clone(),
    };
    let past = Past::of(workshop, &task);
    write(&workshop.places, &task, &text(&task, &ground, &past))
}

fn survey(workshop: &mut Workshop<'_>) -> Setting {
    let git = workshop.git.clone();
    Survey::begin(&git, workshop.repository).finish(workshop.store, workshop.project)
}

/// Whether a baton was written before the last thing that happened to its task.
pub(crate) fn is_stale(file: &Path, task: &Task) -> bool {
    let mut front = vec![];
    let read = std::fs::File::open(file).and_then(|it| it.take(FRONT).read_to_end(&mut front));
    // The last letter may be cut.
    let front = String::from_utf8_lossy(&front);
    let mut lines = front.lines();
    let version = lines.find_map(|line| line.strip_prefix(VERSION)?.parse::<u64>().ok());
    // Heartbeats change the version of one that is at work; it is told when something came of it.
    read.is_ok() && version != Some(task.version) && task.state.lease().is_none()
}
