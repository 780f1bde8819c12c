//! The directory in which an agent CLI looks for skills.

use std::fs;
use std::path::{Path, PathBuf};

use handoff_api::ExitCode;
use handoff_operations::Failure;
use handoff_operations::project::worktree_root;

use super::catalogue::{DEPRECATED, Skill, text_of};
use super::copy::{Copy, State, Step};
use crate::context::Context;

/// A directory with skills.
#[derive(Debug)]
pub(super) struct Shelf {
    /// The agent's own directory.
    base: PathBuf,
}

/// What is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    Install,
    Uninstall,
}

impl Shelf {
    /// Those of Claude Code and of Codex, in this order: of this repository, or of the user.
    pub(super) fn all(is_local: bool, ctx: &Context) -> Result<[Self; 2], Failure> {
        if is_local {
            let root = worktree_root(ctx)?;
            return Ok([".claude", ".codex"].map(|name| Self {
                base: root.join(name),
            }));
        }
        let home = ctx.ambient.directory("HOME").ok_or_else(|| {
            Failure::failed("there is no place for skills: HOME is not set")
                .hint("install them into this repository: add `--local`")
        })?;
        let base = |variable: &str, name: &str| {
            let named = ctx.ambient.directory(variable).map(Path::to_owned);
            named.unwrap_or_else(|| home.join(name))
        };
        Ok([
            Self {
                base: base("CLAUDE_CONFIG_DIR", ".claude"),
            },
            Self {
                base: base("CODEX_HOME", ".codex"),
            },
        ])
    }

    fn path(&self) -> PathBuf {
        self.base.join("skills")
    }

    pub(super) fn copy(&self, name: &str) -> Copy {
        Copy::new(&self.path(), name)
    }

    /// What has to be done here. What is not ours is in the way of an installation, and of nothing else.
    pub(super) fn plan(&self, skills: &[Skill], wish: Wish) -> Result<Vec<(Copy, Step)>, Failure> {
        let mut steps = vec![];
        for skill in skills {
            let copy = self.copy(skill.name);
            if let Some(step) = step(&copy, copy.state(skill.text), wish)? {
                steps.push((copy, step));
            }
        }
        let old = DEPRECATED.iter().map(|name| self.copy(name));
        let ours = old.filter(|copy| copy.state(text_of(copy.name())) == State::Outdated);
        steps.extend(ours.map(|copy| (copy, Step::Remove)));
        Ok(steps)
    }

    /// An empty directory is of no use to an agent, so that nothing is left.
    pub(super) fn remove_if_empty(&self) {
        for directory in [self.path(), self.base.clone()] {
            // It is not empty, or not there.
            fs::remove_dir(directory).ok();
        }
    }
}

fn step(copy: &Copy, state: State, wish: Wish) -> Result<Option<Step>, Failure> {
    let in_the_way = |what| {
        let text = format!("`{}` {what}; nothing was installed", copy.path().display());
        Failure::new(ExitCode::Conflict, text).hint("move it away, or install only others by name")
    };
    match (wish, state) {
        (Wish::Install, State::Absent | State::Outdated) => Ok(Some(Step::Write)),
        (Wish::Install, State::Changed) => Err(in_the_way("was changed by somebody")),
        (Wish::Install, State::Foreign) => Err(in_the_way("is not ours")),
        (Wish::Install, State::Current) | (Wish::Uninstall, State::Absent | State::Foreign) => {
            Ok(None)
        }
        (Wish::Uninstall, State::Current | State::Outdated) => Ok(Some(Step::Remove)),
        (Wish::Uninstall, State::Changed) => Ok(Some(Step::Leave)),
    }
}
