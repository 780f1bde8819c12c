//! The baton for people: `$HANDOFF_HOME/queue/<project>/<task>.md`, Markdown with front matter.
//!
//! It is a view of the task, built anew whenever something came of it, and never read back: of a file that is there, only its
//! version is looked at, to see whether it is still true. Where it cannot be written, nothing else is kept from happening.

mod refresh;
mod text;

use handoff_core::task::{Dependency, Part};
use handoff_core::{CommitId, Task, TaskState};
use handoff_files::{Dir, Mode, atomic};
use handoff_git::status::Subjects;
use handoff_git::{Git, Repository};
use handoff_package::Package;
use handoff_store::{Store, batches, read, tasks};

pub(crate) use refresh::is_stale;
pub use refresh::{refresh, refresh_followers};
pub use text::text;

use crate::earlier::hindsight_of;
use crate::error::EngineError;
use crate::ground::Ground;
use crate::places::Places;
use crate::seal::committed;
use crate::workshop::Workshop;

/// So many commits are told.
const COMMITS: u32 = 3;

/// Where the code stands when a baton is written. What cannot be found out is left out: the baton is for reading.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    ground: Option<Ground>,
    commits: Vec<String>,
}

/// A look at where the code stands that git is still busy with.
pub struct Survey<'a> {
    git: &'a Git,
    at: &'a Repository,
    commits: Option<Subjects>,
}

impl<'a> Survey<'a> {
    /// Lets git begin, so that a task can be recorded meanwhile.
    pub fn begin(git: &'a Git, at: &'a Repository) -> Self {
        let commits = git.newest_subjects(at, COMMITS).ok();
        Self { git, at, commits }
    }

    /// What it found.
    pub fn finish(self, store: &mut dyn Store, project: handoff_core::ProjectId) -> Setting {
        let ground = Ground::survey(store, project, self.git, self.at).ok();
        let commits = self.commits.and_then(|it| it.answer().ok());
        Setting {
            ground,
            commits: commits.unwrap_or_default(),
        }
    }

    /// The same without a ledger, where there is none yet.
    pub fn without_ledger(self) -> Setting {
        let head = self.git.head(self.at).ok();
        let ground = head.map(|head| Ground {
            branch: crate::ground::checked_out(self.at),
            head,
            proved: None,
        });
        let commits = self.commits.and_then(|it| it.answer().ok());
        Setting {
            ground,
            commits: commits.unwrap_or_default(),
        }
    }
}

/// What was done before a task, and at it. What cannot be found out is left out.
#[derive(Debug, Clone, Default)]
pub struct Past {
    /// The tasks that it goes on from, with the commit that each left.
    tasks: Vec<(String, Option<CommitId>)>,
    /// Where the work of its batch begins.
    base: Option<CommitId>,
    /// What the packages of those tasks name that is worth reading.
    reading: Vec<String>,
    /// What they left, and what became of earlier attempts. Only our own headings begin a line.
    told: String,
}

impl Past {
    /// Whether there is anything before a task that a ledger would have to be asked for.
    pub fn is_needed(task: &Task) -> bool {
        !task.spec.after.is_empty() || task.leases() > 0 || task.spec.part.is_some()
    }

    /// Looks.
    pub fn of(workshop: &mut Workshop<'_>, task: &Task) -> Self {
        if !Self::is_needed(task) || matches!(task.state, TaskState::Done { .. }) {
            return Self::default();
        }
        let base = base_of_batch(workshop, task);
        let before = |it: &Dependency| read(workshop.store, |tx| tasks::get(tx, it.task)).ok();
        let before: Vec<_> = task.spec.after.iter().filter_map(before).collect();
        let tasks = before.iter().map(|it| {
            let left = Some(it).filter(|it| matches!(it.state, TaskState::Done { .. }));
            let commit = left.and_then(|it| committed(&it.evidence));
            (it.spec.name.to_string(), commit)
        });
        let packages = workshop.packages_before(task).unwrap_or_default();
        let told = hindsight_of(workshop, task, &packages).unwrap_or_default();
        Self {
            tasks: tasks.collect(),
            base,
            reading: packages.iter().flat_map(reading).collect(),
            told: told.replace("\n# ", "\n## "),
        }
    }
}

/// The files that somebody put beside a package.
fn reading(package: &Package) -> Vec<String> {
    let attached = package.payload.attachments.iter();
    attached.map(|it| it.name.to_string()).collect()
}

fn base_of_batch(workshop: &mut Workshop<'_>, task: &Task) -> Option<CommitId> {
    let batch = task.spec.part.and_then(Part::batch)?;
    let batch = read(workshop.store, |tx| batches::get(tx, batch)).ok()?;
    Some(batch.spec.base)
}

/// Writes the baton of a task.
pub fn write(places: &Places, task: &Task, text: &str) -> Result<(), EngineError> {
    let dir = Dir::create_private(&places.batons(task.project))?;
    let file = file(task);
    Ok(atomic::replace_view(
        &dir,
        &file,
        text.as_bytes(),
        Mode::Private,
    )?)
}

/// Whether a task has a baton.
pub fn is_there(places: &Places, task: &Task) -> bool {
    places.batons(task.project).join(file(task)).exists()
}

fn file(task: &Task) -> String {
    format!("{}.md", task.spec.name)
}
