//! Where the code stands: HEAD, the last commit of its branch that was proved good, and which of the two an attempt begins at.

use handoff_core::baseline::{Distance, Start};
use handoff_core::{
    Baseline, CommitId, HeadName, ProjectId, RepositoryEvent, TaskId, TaskName, TaskState,
};
use handoff_git::{Git, GitError, Repository};
use handoff_store::queue::Answer;
use handoff_store::{Store, StoreError, read, repositories, tasks};

use crate::error::EngineError;

/// Where the code stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ground {
    /// The branch that is checked out, if one is.
    pub branch: Option<HeadName>,
    /// The commit that is checked out.
    pub head: CommitId,
    /// What was proved of the branch, and how far HEAD is from it.
    pub proved: Option<(Baseline, Distance)>,
}

impl Ground {
    /// Looks.
    pub fn survey(
        store: &mut dyn Store,
        project: ProjectId,
        git: &Git,
        at: &Repository,
    ) -> Result<Self, EngineError> {
        let head = git.head(at).map_err(EngineError::Base)?;
        let branch = checked_out(at);
        let baseline = match &branch {
            Some(branch) => read(store, |tx| repositories::baseline(tx, project, branch))?,
            None => None,
        };
        let proved = match baseline {
            Some(baseline) => {
                let distance = distance(store, git, at, &baseline, &head)?;
                Some((baseline, distance))
            }
            None => None,
        };
        Ok(Self {
            branch,
            head,
            proved,
        })
    }

    /// The commit that an attempt begins at.
    pub fn base(&self) -> &CommitId {
        match &self.proved {
            Some((baseline, distance)) if distance.start() == Start::Baseline => &baseline.commit,
            Some(_) | None => &self.head,
        }
    }

    /// What a session should know of it, in a sentence; nothing where nothing was ever proved.
    pub fn told(&self) -> Option<String> {
        let (baseline, distance) = self.proved.as_ref()?;
        let verified = format!("Baseline {:.12} is verified", baseline.commit.as_str());
        let how = match &baseline.command {
            Some(command) => format!("{verified}, by `{command}`"),
            None => format!("{verified}, on the word of {}", baseline.by),
        };
        Some(match distance {
            Distance::None => format!("{how}. You start there."),
            Distance::Elsewhere => {
                format!("{how}, but HEAD does not contain it. You start at HEAD, unverified.")
            }
            Distance::Ahead {
                commits,
                unfinished: None,
            } => format!(
                "{how}. HEAD, where you start, is {} ahead, unverified.",
                counted(*commits)
            ),
            Distance::Ahead {
                commits,
                unfinished: Some(task),
            } => format!(
                "{how}. You start there: HEAD is {} ahead, unverified, with work of `{task}`, which is not done.",
                counted(*commits)
            ),
        })
    }
}

fn counted(commits: u32) -> String {
    match commits {
        1 => "1 commit".to_owned(),
        many => format!("{many} commits"),
    }
}

/// Lets git see a baseline that the ledger has recorded. Where that does not work now, the reconcilers do it.
pub fn publish_baseline(git: &Git, at: &Repository, recorded: &Answer) -> Option<Baseline> {
    match recorded {
        Answer::Repository {
            event: RepositoryEvent::BaselineSet { baseline },
        } => {
            git.point_baseline(at, baseline).ok();
            Some(baseline.clone())
        }
        Answer::Task(_)
        | Answer::Feature(_)
        | Answer::Package(_)
        | Answer::Batch(_)
        | Answer::Run(_)
        | Answer::Context { .. }
        | Answer::Hold { .. }
        | Answer::Repository {
            event: RepositoryEvent::RefMovedUnseen { .. },
        }
        | Answer::NothingReady => None,
    }
}

/// The branch that is checked out; none where there is none that can be named.
pub fn checked_out(at: &Repository) -> Option<HeadName> {
    let branch = at.read_head().ok()?.branch?;
    branch.strip_prefix("refs/heads/")?.parse().ok()
}

fn distance(
    store: &mut dyn Store,
    git: &Git,
    at: &Repository,
    baseline: &Baseline,
    head: &CommitId,
) -> Result<Distance, EngineError> {
    let asked = || -> Result<_, GitError> {
        let relation = git.relation(at, &baseline.commit)?;
        let far = Distance::of(relation, None);
        let makers = match far {
            Distance::Ahead { .. } => git.tasks_between(at, &baseline.commit, head)?,
            Distance::None | Distance::Elsewhere => vec![],
        };
        Ok((relation, makers))
    };
    let (relation, makers) = asked().map_err(EngineError::Base)?;
    Ok(Distance::of(relation, unfinished(store, &makers)?))
}

/// The first of these tasks that is not done. One of another ledger says nothing.
fn unfinished(store: &mut dyn Store, makers: &[TaskId]) -> Result<Option<TaskName>, EngineError> {
    for id in makers {
        match read(store, |tx| tasks::get(tx, *id)) {
            Ok(task) if matches!(task.state, TaskState::Done { .. }) => {}
            Ok(task) => return Ok(Some(task.spec.name)),
            Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}
