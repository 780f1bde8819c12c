//! Where a feature command works: the workspace of the main worktree, whatever directory one stands in.
//! What a command then does to a feature is recorded by `Clerk::record`, with where the code stands.

use std::path::{Path, PathBuf};

use handoff_api::ExitCode;
use handoff_core::FeatureName;
use handoff_core::caller::Action;
use handoff_core::visible::plain;
use handoff_engine::without_secrets;
use handoff_files::{Dir, Lock};
use handoff_git::{DiscoverError, Git, GitError, Look, Repository, Status};
use handoff_workspace::config::Config;
use handoff_workspace::workspace::FOLDER;
use handoff_workspace::{Current, Feature, Workspace};

use crate::failure::Failure;
use crate::project::caller;
use crate::workplace::Workplace;

/// The place of a workspace, whether it is there already or not.
pub struct FeatureSite {
    /// The root of the main worktree; without git, the directory that has the workspace.
    pub root: PathBuf,
    /// None where there is no git: then nothing is known of the code.
    pub repository: Option<Repository>,
}

impl FeatureSite {
    /// The site that the working directory lies in.
    pub fn find(here: &Workplace) -> Result<Self, Failure> {
        let cwd = here.cwd()?;
        match Repository::discover(cwd) {
            Ok(repository) => {
                let root = repository.main_worktree().map(Path::to_owned);
                let root = root.ok_or_else(|| {
                    Failure::failed("this repository has no main worktree to keep a workspace in")
                })?;
                Ok(Self {
                    root,
                    repository: Some(repository),
                })
            }
            Err(DiscoverError::NotFound(start)) => {
                let has_workspace = |dir: &&Path| dir.join(FOLDER).join("features").is_dir();
                let root = start.ancestors().find(has_workspace).unwrap_or(&start);
                Ok(Self {
                    root: root.to_owned(),
                    repository: None,
                })
            }
            Err(error) => {
                Err(Failure::failed("cannot tell which repository this is").because(&error))
            }
        }
    }

    /// The same for a command that changes something. Refuses a caller that may not, before anything is touched.
    pub fn find_to_change(here: &Workplace) -> Result<Self, Failure> {
        caller(&here.ambient)?.may(Action::Document)?;
        Self::find(here)
    }

    /// The workspace, which must be there.
    pub fn workspace(&self) -> Result<Workspace, Failure> {
        Workspace::open(&self.root)?.ok_or_else(|| {
            Failure::new(ExitCode::NotFound, "there is no workspace here yet")
                .hint("make one: `handoff init <feature>`")
        })
    }

    /// The current feature, which must be there.
    pub fn feature(&self) -> Result<Feature, Failure> {
        let workspace = self.workspace()?;
        let name = match workspace.current()? {
            Current::Feature(name) => name,
            Current::None => {
                return Err(Failure::new(ExitCode::NotFound, "no feature is current")
                    .hint("choose one: `handoff list`, then `handoff switch <feature>`"));
            }
            Current::Unknown(target) => {
                return Err(Failure::new(
                    ExitCode::Damaged,
                    format!("`{FOLDER}/current` names no feature: {target:?}"),
                )
                .hint("choose one: `handoff list`, then `handoff switch <feature>`"));
            }
        };
        workspace.feature(&name)?.ok_or_else(|| {
            Failure::new(
                ExitCode::NotFound,
                format!("the current feature `{name}` has no folder"),
            )
            .hint("choose another: `handoff list`, then `handoff switch <feature>`")
        })
    }

    /// The settings of the workspace, which must be there.
    pub fn config(&self) -> Result<Config, Failure> {
        Ok(Config::load(&self.workspace()?)?)
    }

    /// How the code stands now; none without git.
    pub fn look(&self, here: &Workplace) -> Result<Option<Status>, Failure> {
        self.begin_look(here)?.map(seen).transpose()
    }

    /// The same for whoever has something else to do while git looks.
    pub fn begin_look(&self, here: &Workplace) -> Result<Option<Look>, Failure> {
        let Some(repository) = &self.repository else {
            return Ok(None);
        };
        match self.git(here).begin_status(repository) {
            Ok(look) => Ok(Some(look)),
            Err(GitError::NoWorktree(_)) => Ok(None),
            Err(error) => Err(unseen(&error)),
        }
    }

    pub fn git(&self, here: &Workplace) -> Git {
        Git::new(without_secrets(here.ambient.environment.clone()))
    }

    /// The folder of a feature.
    pub fn feature_path(&self, name: &FeatureName) -> PathBuf {
        self.root.join(FOLDER).join("features").join(name.as_str())
    }

    /// A path as one can use it from the working directory: short in the root, whole everywhere else.
    pub fn shown(&self, path: &Path, here: &Workplace) -> String {
        let is_root = here.ambient.cwd.as_deref() == Some(self.root.as_path());
        let short = path.strip_prefix(&self.root).ok().filter(|_| is_root);
        plain(&short.unwrap_or(path).display().to_string())
    }

    /// The lock that everyone takes who writes into the workspace. It lies outside of it, where git does not see it,
    /// and where all worktrees meet.
    pub fn lock(&self) -> Result<Lock, Failure> {
        let dir = match &self.repository {
            Some(repository) => repository.own_dir(),
            None => Dir::open(&self.root.join(FOLDER)),
        };
        let path = dir
            .map_err(|error| cannot_lock(&error))?
            .path()
            .join("workspace.lock");
        Lock::acquire(&path, "workspace").map_err(|error| cannot_lock(&error))
    }
}

/// How the code stands, as soon as git has looked.
pub fn seen(look: Look) -> Result<Status, Failure> {
    look.finish().map_err(|error| unseen(&error))
}

fn unseen(error: &GitError) -> Failure {
    Failure::failed("cannot tell how the code stands").because(error)
}

fn cannot_lock(error: &(dyn std::error::Error + 'static)) -> Failure {
    Failure::new(ExitCode::Unavailable, "cannot lock the workspace").because(error)
}
