//! Where the engine keeps things, and what their names say. A name is enough to know what a thing belongs to, so
//! nothing about it needs to be recorded first.

use std::path::{Path, PathBuf};

use handoff_core::{BranchName, Fence, ProjectId, SessionId, Task, TaskId};

/// What the names of trees begin with that are nobody's yet.
const SPARE: &str = "spare-";
/// The file in the directory of a session that says what it began with.
pub(crate) const TICKET: &str = "ticket.json";

/// The state directory, seen by what lies in it.
#[derive(Debug, Clone)]
pub struct Places {
    home: PathBuf,
}

impl Places {
    /// The places below a home.
    pub fn new(home: PathBuf) -> Self {
        Self { home }
    }

    /// The directory of a session.
    pub fn session(&self, session: SessionId) -> PathBuf {
        self.home.join("sessions").join(session.to_string())
    }

    /// The file whose kernel lock says that the holder of a session lives.
    pub fn holder_lock(&self, session: SessionId) -> PathBuf {
        self.session(session).join("holder.lock")
    }

    /// The file whose kernel lock says that a worker attends to a session.
    pub fn worker_lock(&self, session: SessionId) -> PathBuf {
        self.session(session).join("worker.lock")
    }

    /// What the next worker needs to go on with a session; one that was started by a person has none.
    pub fn ticket(&self, session: SessionId) -> PathBuf {
        self.session(session).join(TICKET)
    }

    /// The same places, as sessions know them.
    pub fn of_sessions(&self) -> handoff_session::Places {
        handoff_session::Places::new(self.home.clone())
    }

    /// The state directory itself.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The packages of a project.
    pub fn packages(&self, project: ProjectId) -> PathBuf {
        self.home.join("packages").join(project.to_string())
    }

    /// The pauses of a project that are being made on this machine.
    pub fn pauses(&self, project: ProjectId) -> PathBuf {
        self.packages(project).join("pauses")
    }

    /// The tasks of a project as Markdown.
    pub fn batons(&self, project: ProjectId) -> PathBuf {
        self.home.join("queue").join(project.to_string())
    }

    /// What is touched on this machine whenever a ledger on a server may have changed: so all who attend to sessions hear it,
    /// and only one of them has to ask the server.
    pub fn echo(&self, project: ProjectId) -> PathBuf {
        self.home.join("echoes").join(project.to_string())
    }

    /// The locks of the workers of a project that live.
    pub fn workers(&self, project: ProjectId) -> PathBuf {
        self.home.join("workers").join(project.to_string())
    }

    /// The worktrees of a project.
    pub fn worktrees(&self, project: ProjectId) -> PathBuf {
        self.home.join("worktrees").join(project.to_string())
    }

    /// What checks of attempts need for themselves, each directory named for its worktree.
    pub fn checks(&self, project: ProjectId) -> PathBuf {
        self.home.join("checks").join(project.to_string())
    }

    /// A new place for a tree that is nobody's yet.
    pub fn spare(&self, project: ProjectId) -> PathBuf {
        let name = format!("{SPARE}{}", handoff_process::mint().simple());
        self.worktrees(project).join(name)
    }

    /// Whether a tree is nobody's yet.
    pub fn is_spare(path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(SPARE))
    }

    /// The worktree of an attempt.
    pub fn worktree(&self, project: ProjectId, attempt: Attempt) -> PathBuf {
        self.worktrees(project).join(attempt.directory())
    }
}

impl Places {
    /// The file whose kernel lock says that somebody works in an attempt's worktree.
    pub fn worktree_lock(&self, project: ProjectId, attempt: Attempt) -> PathBuf {
        self.worktree(project, attempt).with_extension("lock")
    }
}

/// One lease of one task: what a worktree and a branch belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// The task.
    pub task: TaskId,
    /// The lease.
    pub fence: Fence,
}

impl Attempt {
    /// The newest attempt at a task.
    pub fn of(task: &Task) -> Self {
        Self {
            task: task.id,
            fence: task.fence,
        }
    }

    fn directory(self) -> String {
        format!("{}-{}", self.task, self.fence)
    }

    /// Reads the name of a worktree's directory back.
    pub fn from_directory(path: &Path) -> Option<Self> {
        let (task, fence) = path.file_name()?.to_str()?.rsplit_once('-')?;
        Some(Self {
            task: task.parse().ok()?,
            fence: Fence::new(fence.parse().ok()?),
        })
    }

    /// `<name>-<six digits of the id>-<fence>`: readable, and unique even when a name is used again.
    pub fn label(self, task: &Task) -> String {
        format!("{}{}", Self::labels(task), self.fence)
    }

    /// What the labels of all attempts at a task begin with.
    pub fn labels(task: &Task) -> String {
        let id = task.id.to_string();
        format!("{}-{}-", task.spec.name, &id[id.len() - 6..])
    }

    /// The branch its work lands on.
    pub fn branch(self, task: &Task) -> BranchName {
        let name = format!("handoff/{}", self.label(task));
        name.parse()
            .expect("a task's name and hexadecimal digits are parts of a branch name")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worktree_says_which_attempt_it_belongs_to() {
        let places = Places::new("/state".into());
        let task: TaskId = "task_0192f0c47d0a7c3e9f5b2a1c3d4e5f60".parse().unwrap();
        let project: ProjectId = "proj_0192f0c47d0a7c3e9f5b2a1c3d4e5f61".parse().unwrap();
        let attempt = Attempt {
            task,
            fence: Fence::new(12),
        };
        let path = places.worktree(project, attempt);
        assert_eq!(Attempt::from_directory(&path), Some(attempt));
        assert_eq!(Attempt::from_directory(Path::new("/x/notes-1")), None);
    }
}
