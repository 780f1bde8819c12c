//! Where the guard lies: the program that sessions meet as `git`, and what makes shells find it first.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use handoff_files::{Dir, Mode, atomic};
use handoff_guard::shim as link;

use crate::failure::Failure;
use crate::workplace::Workplace;

/// Puts the guard first in the environment of a session that is to meet it, and makes it if it is not there. It is a courtesy: where
/// that does not work, hooks and kernel hold all the same.
pub fn equip(
    environment: &mut BTreeMap<OsString, OsString>,
    here: &Workplace,
) -> Result<(), Failure> {
    let place = GuardPlace::of(here)?;
    if !place.is_current() || !place.is_installed() {
        place.install(here)?;
    }
    let path = environment.get(OsStr::new("PATH")).cloned();
    let path = path.unwrap_or_default();
    let others = std::env::split_paths(&path).filter(|it| *it != place.bin());
    let joined = std::env::join_paths([place.bin()].into_iter().chain(others))
        .map_err(|error| Failure::failed("the guard has no place in PATH").because(&error))?;
    for (variable, own) in [
        ("BASH_ENV", place.root.join(BASH)),
        ("ZDOTDIR", place.root.join("zsh")),
    ] {
        let theirs = environment.insert(variable.into(), own.into());
        let theirs = theirs.filter(|it| !Path::new(it).starts_with(&place.root));
        if let Some(theirs) = theirs {
            environment.insert(format!("HANDOFF_{variable}").into(), theirs);
        }
    }
    environment.insert("PATH".into(), joined);
    Ok(())
}

/// Where the guard is.
pub struct GuardPlace {
    /// All of it.
    pub root: PathBuf,
}

/// The program itself, as the build made it.
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/git-guard"));
/// What bash reads first.
pub const BASH: &str = "bash_env.sh";
const ZSH: &str = ".zshenv";

impl GuardPlace {
    /// Below the state directory.
    pub fn of(here: &Workplace) -> Result<Self, Failure> {
        Ok(Self {
            root: here.home()?.join("guard"),
        })
    }

    pub fn bin(&self) -> PathBuf {
        self.root.join("bin")
    }

    pub fn is_installed(&self) -> bool {
        link::is_shimmed(&self.bin())
    }

    /// Whether it is the one that this program would write.
    pub fn is_current(&self) -> bool {
        fs::read(self.bin().join("git")).is_ok_and(|found| found == PROGRAM)
    }

    pub fn install(&self, here: &Workplace) -> Result<(), Failure> {
        let program = here.ambient.program.as_ref();
        let program = program.filter(|program| program.is_file());
        let program =
            program.ok_or_else(|| Failure::failed("cannot tell where this program is"))?;
        let made = self.make(program);
        made.map_err(|error| Failure::failed("cannot make the guard").because(&error))
    }

    fn make(&self, program: &Path) -> io::Result<()> {
        let dir = |path: &Path| Dir::create_private(path).map_err(io::Error::other);
        let (bin, root, zsh) = (
            dir(&self.bin())?,
            dir(&self.root)?,
            dir(&self.root.join("zsh"))?,
        );
        // A link cannot be replaced in one step but by renaming another over it. It comes before the guard, which asks where it
        // leads.
        let fresh = bin.path().join(".handoff.new");
        fs::remove_file(&fresh).ok();
        symlink(program, &fresh)?;
        fs::rename(&fresh, bin.path().join(link::MARK))?;
        atomic::replace(&bin, "git", PROGRAM, Mode::PrivateProgram).map_err(io::Error::other)?;
        let shown = bin.path().to_string_lossy();
        let write = |dir: &Dir, name, text: String| {
            atomic::replace(dir, name, text.as_bytes(), Mode::Private).map_err(io::Error::other)
        };
        write(&root, BASH, bash(&shown))?;
        write(&zsh, ZSH, zshenv(&shown))
    }

    pub fn uninstall(&self) -> Result<(), Failure> {
        match fs::remove_dir_all(&self.root) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Failure::failed("cannot remove the guard").because(&error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Login shells put PATH together anew, and so the guard must come in front again in every shell.
fn first_in_path(bin: &str) -> String {
    let bin = quoted(bin);
    format!("case \"$PATH\" in {bin}:*) ;; *) PATH={bin}:$PATH; export PATH ;; esac\n")
}

fn bash(bin: &str) -> String {
    let own = first_in_path(bin);
    format!("{own}if [ -n \"${{HANDOFF_BASH_ENV-}}\" ]; then . \"$HANDOFF_BASH_ENV\"; fi\n")
}

/// zsh looks for all its files where ZDOTDIR says; the rest of them are the user's.
fn zshenv(bin: &str) -> String {
    let own = first_in_path(bin);
    format!(
        "ZDOTDIR=${{HANDOFF_ZDOTDIR:-$HOME}}\n[ -f \"$ZDOTDIR/.zshenv\" ] && . \"$ZDOTDIR/.zshenv\"\n{own}precmd() {{ {}; }}\n",
        own.trim_end()
    )
}

/// A word for a shell.
#[must_use]
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
