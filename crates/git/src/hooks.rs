//! Our hooks in a repository, and those that were there before.
//!
//! They lie in `<common dir>/handoff/hooks`, and `core.hooksPath` of the repository points there;
//! the user's own hook files are never touched. Each of ours ends by becoming the hook of the same
//! name in the directory that git would use without us, so that existing hooks and hook
//! managers run as ever, once, and under their own path. Because the setting is the repository's,
//! it holds in every worktree. Taking it back leaves no trace.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use handoff_files::{Dir, DirError, Mode, WriteError, atomic};

use crate::git::{Git, GitError};
use crate::repository::Repository;

const PLACE: &str = "hooks";
/// The directory that git would use without us.
const CHAIN: &str = "chain";
/// What the repository's configuration said before; absent if it said nothing.
const PREVIOUS: &str = "previous";
const LIMIT: u64 = 16 * 1024;
/// Those in which we have something to say.
pub const OURS: [&str; 3] = ["pre-commit", "reference-transaction", "pre-push"];
/// Those that must go on working.
const OTHERS: [&str; 19] = [
    "applypatch-msg",
    "commit-msg",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-merge-commit",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "sendemail-validate",
    "update",
];
/// These run so often that a wrapper is made only where there is one.
const FREQUENT: [&str; 2] = ["post-index-change", "fsmonitor-watchman"];

/// Whether our hooks are what git runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HooksState {
    /// They are not there.
    Absent,
    /// They are, and call those in this directory.
    Installed {
        /// What git would use without us.
        chain: PathBuf,
    },
    /// They were installed, and something else has taken their place since.
    Displaced {
        /// What git runs instead.
        by: PathBuf,
    },
    /// The repository names ours, and something nearer names others: a setting of this worktree alone, or of this command.
    Overridden {
        /// What git runs instead.
        by: PathBuf,
    },
}

/// The hooks could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum HooksError {
    /// Git failed.
    #[error("cannot change which hooks git runs")]
    Git(#[from] GitError),
    /// A directory.
    #[error("cannot use the directory of the hooks")]
    Directory(#[from] DirError),
    /// A hook.
    #[error("cannot write a hook")]
    Write(#[from] WriteError),
    /// A setting that is nearer than the repository's names other hooks. Nothing was changed.
    #[error("in this worktree alone git runs the hooks in `{}`", .0.display())]
    Overridden(PathBuf),
    /// A hook could not be removed.
    #[error("cannot remove `{}`", .0.display())]
    Remove(PathBuf, #[source] io::Error),
}

impl Git {
    /// Whether our hooks are what git runs.
    pub fn hooks_state(&self, at: &Repository) -> Result<HooksState, HooksError> {
        let Some(chain) = chain(at) else {
            return Ok(HooksState::Absent);
        };
        let by = self.hooks_directory(at)?;
        if by == place(at) {
            Ok(HooksState::Installed { chain })
        } else if self.names_ours(at)? {
            Ok(HooksState::Overridden { by })
        } else {
            Ok(HooksState::Displaced { by })
        }
    }

    /// Whether the repository's own setting names our hooks.
    fn names_ours(&self, at: &Repository) -> Result<bool, GitError> {
        let setting = self.local_setting(at)?;
        Ok(setting.is_some_and(|it| it == place(at).as_os_str()))
    }

    /// Puts our hooks in front of those that git runs now. `program` is what they ask.
    pub fn install_hooks(&self, at: &Repository, program: &Path) -> Result<(), HooksError> {
        let used = self.hooks_directory(at)?;
        // Installed before: what git would use without us is known already, and only the hooks are written anew.
        let (chain, previous) = match chain(at) {
            Some(chain) if used == place(at) => (chain, read(at, PREVIOUS)),
            Some(_) if self.names_ours(at)? => return Err(HooksError::Overridden(used)),
            Some(_) | None => (self.raw_hooks_directory(at)?, self.local_setting(at)?),
        };
        let dir = at.own_dir()?.create_dir(PLACE)?;
        atomic::replace(&dir, CHAIN, chain.as_os_str().as_bytes(), Mode::Private)?;
        match &previous {
            Some(previous) => atomic::replace(&dir, PREVIOUS, previous.as_bytes(), Mode::Private)?,
            None => remove(&dir.path().join(PREVIOUS))?,
        }
        let is_there = |name: &&&str| at.any_place().join(&chain).join(name).exists();
        let frequent = FREQUENT.iter().filter(is_there);
        for name in OURS.iter().chain(&OTHERS).chain(frequent) {
            let text = text(name, &chain, program);
            atomic::replace(&dir, name, &text, Mode::PrivateProgram)?;
        }
        self.set_hooks_path(at, Some(dir.path().as_os_str()))?;
        match self.hooks_state(at)? {
            HooksState::Overridden { by } => {
                self.uninstall_hooks(at)?;
                Err(HooksError::Overridden(by))
            }
            HooksState::Installed { .. } | HooksState::Displaced { .. } | HooksState::Absent => {
                Ok(())
            }
        }
    }

    /// Takes our hooks away and puts back what the configuration said before. Nothing happens if
    /// they are not there; if something took their place, that stays.
    pub fn uninstall_hooks(&self, at: &Repository) -> Result<HooksState, HooksError> {
        let state = self.hooks_state(at)?;
        if chain(at).is_some() && self.names_ours(at)? {
            self.set_hooks_path(at, read(at, PREVIOUS).as_deref())?;
        }
        // Without hooks nobody sees a move, and every one would be foreign.
        at.forget_ref_watches()
            .map_err(|error| HooksError::Remove(place(at), error))?;
        match fs::remove_dir_all(place(at)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(HooksError::Remove(place(at), error))
            }
            Ok(()) | Err(_) => Ok(state),
        }
    }

    /// The directory whose hooks are the user's own.
    pub(crate) fn user_hooks_directory(&self, at: &Repository) -> Result<PathBuf, GitError> {
        let used = self.hooks_directory(at)?;
        match chain(at) {
            Some(chain) if used == place(at) => Ok(at.any_place().join(chain)),
            Some(_) | None => Ok(used),
        }
    }

    fn hooks_directory(&self, at: &Repository) -> Result<PathBuf, GitError> {
        Ok(at.any_place().join(self.raw_hooks_directory(at)?))
    }

    /// As git says it: absolute, or relative to the root of whichever tree a hook runs in.
    fn raw_hooks_directory(&self, at: &Repository) -> Result<PathBuf, GitError> {
        if self.configuration_lacks(at, &["hookspath"]) {
            return Ok(at.common_dir().join("hooks"));
        }
        let call = self.user_call("rev-parse", at.any_place());
        let mut answer = call.arguments(["--git-path", "hooks"]).run()?;
        if answer.ends_with(b"\n") {
            answer.pop();
        }
        let path = PathBuf::from(OsString::from_vec(answer));
        // The default is a matter of the common directory, whichever worktree asks.
        let default = at.common_dir().join("hooks");
        let is_default =
            at.any_place().join(&path).canonicalize().ok() == default.canonicalize().ok();
        Ok(if is_default || path == Path::new(".git/hooks") {
            default
        } else {
            path
        })
    }

    fn local_setting(&self, at: &Repository) -> Result<Option<OsString>, GitError> {
        let call = self.call("config", at.any_place());
        let answer = call
            .arguments(["--local", "-z", "--get", "core.hooksPath"])
            .ask()?;
        Ok(answer.map(|answer| {
            let value = answer.strip_suffix(b"\0").unwrap_or(&answer);
            OsStr::from_bytes(value).to_owned()
        }))
    }

    fn set_hooks_path(&self, at: &Repository, value: Option<&OsStr>) -> Result<(), HooksError> {
        let call = self.call("config", at.any_place());
        let call = match value {
            Some(value) => call
                .arguments(["--local", "core.hooksPath"])
                .arguments([value]),
            None => call.arguments(["--local", "--unset", "core.hooksPath"]),
        };
        call.run()?;
        Ok(())
    }
}

fn place(at: &Repository) -> PathBuf {
    at.common_dir().join("handoff").join(PLACE)
}

fn chain(at: &Repository) -> Option<PathBuf> {
    read(at, CHAIN).map(PathBuf::from)
}

fn read(at: &Repository, name: &str) -> Option<OsString> {
    let dir = Dir::open(&place(at)).ok()?;
    let bytes = dir.read(name, LIMIT).ok()?;
    Some(OsString::from_vec(bytes))
}

fn remove(path: &Path) -> Result<(), HooksError> {
    crate::safe_commit::remove_file(path)
        .map_err(|error| HooksError::Remove(path.to_owned(), error))
}

/// A hook: it asks us where we have something to say, and becomes the one that was there before. If
/// the program is gone, it steps aside.
fn text(name: &str, chain: &Path, program: &Path) -> Vec<u8> {
    use crate::safe_commit::quoted;
    let own = quoted(chain.join(name).as_os_str().as_bytes());
    let program = quoted(program.as_os_str().as_bytes());
    let head = b"#!/bin/sh\n# Written by `handoff hooks install`; `handoff hooks uninstall` takes it away.\n";
    let mut text = head.to_vec();
    if OURS.contains(&name) {
        let ask = [
            b"[ -x ".as_slice(),
            &program,
            b" ] && exec ",
            &program,
            b" git-hook ",
            name.as_bytes(),
            b" ",
            &own,
            b" -- \"$@\"\n",
        ];
        text.extend(ask.concat());
    }
    text.extend(
        [
            b"[ -x ".as_slice(),
            &own,
            b" ] || exit 0\nexec ",
            &own,
            b" \"$@\"\n",
        ]
        .concat(),
    );
    text
}
