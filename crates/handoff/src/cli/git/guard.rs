//! `handoff git-guard`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use handoff_api::{ExitCode, GuardDocument, GuardVerdictDocument};
use handoff_core::caller::{Action, Role};
use handoff_files::{Dir, Mode, atomic};
use handoff_git::guard::Verdict;
use handoff_guard::shim as link;

use crate::context::Context;
use crate::desk::require_person;
use crate::failure::Failure;
use crate::membership::Membership;
use crate::output::plain;
use crate::shim;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Make the guard, for sessions to have first in PATH.
    Install,
    /// Remove it.
    Uninstall,
    /// Say whether it is there, and whether it is what `git` means here.
    Status,
    /// Print the lines that put it first in PATH, for a shell: `eval "$(handoff git-guard env)"`.
    Env,
    /// Say what the guard would say to a git command, without running it.
    Explain(ExplainArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// Ask for this role instead of one's own.
    #[arg(long, value_name = "ROLE")]
    role: Option<Role>,
    /// What would follow `git`.
    #[arg(last = true, required = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

/// Puts the guard first in the environment of a session that is to meet it, and makes it if it is not there. It is a courtesy: where
/// that does not work, hooks and kernel hold all the same.
pub(crate) fn equip(
    environment: &mut BTreeMap<OsString, OsString>,
    ctx: &Context,
) -> Result<(), Failure> {
    let place = Place {
        root: ctx.home()?.join("guard"),
    };
    if !place.is_current() || !place.is_installed() {
        place.install(ctx)?;
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
struct Place {
    root: PathBuf,
}

/// The program itself, as the build made it.
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/git-guard"));
const BASH: &str = "bash_env.sh";
const ZSH: &str = ".zshenv";

pub(super) fn run(command: &Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let place = Place {
        root: ctx.home()?.join("guard"),
    };
    match command {
        Command::Install => place.install(ctx)?,
        Command::Uninstall => {
            require_person(Action::Destroy, &ctx.ambient)?;
            place.uninstall()?;
        }
        Command::Status => {}
        Command::Env => return env(&place, ctx),
        Command::Explain(args) => return explain(args, ctx),
    }
    report(&place, ctx)
}

impl Place {
    fn bin(&self) -> PathBuf {
        self.root.join("bin")
    }

    fn is_installed(&self) -> bool {
        link::is_shimmed(&self.bin())
    }

    /// Whether it is the one that this program would write.
    fn is_current(&self) -> bool {
        fs::read(self.bin().join("git")).is_ok_and(|found| found == PROGRAM)
    }

    fn install(&self, ctx: &Context) -> Result<(), Failure> {
        let program = ctx.ambient.program.as_ref();
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

    fn uninstall(&self) -> Result<(), Failure> {
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

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn env(place: &Place, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if !place.is_installed() {
        return Err(
            Failure::new(ExitCode::NotFound, "the guard is not installed")
                .hint("make it first: `handoff git-guard install`"),
        );
    }
    let shown = |path: PathBuf| quoted(&path.to_string_lossy());
    let keep = |variable: &str| {
        let value = ctx.ambient.text(variable);
        let value = value.filter(|it| !Path::new(it).starts_with(&place.root));
        format!(
            "export HANDOFF_{variable}={}",
            quoted(value.unwrap_or_default())
        )
    };
    let lines = [
        keep("BASH_ENV"),
        keep("ZDOTDIR"),
        format!("export PATH={}:\"$PATH\"", shown(place.bin())),
        format!("export BASH_ENV={}", shown(place.root.join(BASH))),
        format!("export ZDOTDIR={}", shown(place.root.join("zsh"))),
    ];
    if ctx.out.is_json() {
        report(place, ctx)?;
    } else {
        ctx.out.line(lines.join("\n"))?;
    }
    Ok(ExitCode::Done)
}

fn explain(args: &ExplainArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let role = args.role;
    let own = Membership::find(&ctx.ambient);
    let membership = match (role, own) {
        (Some(role), _) => Membership {
            role,
            session: None,
            task: None,
        },
        (None, Some(own)) => own,
        (None, None) => {
            return Err(
                Failure::usage("outside of a session the guard says nothing")
                    .hint("name a role: `handoff git-guard explain --role sub-task -- commit`"),
            );
        }
    };
    let verdict = shim::verdict(&ctx.ambient, &membership, &args.arguments);
    let (refused, instead) = match &verdict {
        Verdict::Allowed => (None, None),
        Verdict::Refused { what, instead } => (Some(what.clone()), Some(*instead)),
    };
    if ctx.out.is_json() {
        let document = GuardVerdictDocument {
            is_allowed: refused.is_none(),
            refused: refused.clone(),
            instead,
        };
        ctx.out.document(GuardVerdictDocument::SCHEMA, document)?;
    } else {
        ctx.out.line(match (&refused, instead) {
            (Some(what), Some(instead)) => format!("Refused: `git {}`: {instead}.", plain(what)),
            _ => "Allowed.".to_owned(),
        })?;
    }
    Ok(if refused.is_some() {
        ExitCode::Guarded
    } else {
        ExitCode::Done
    })
}

fn report(place: &Place, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let path = ctx.ambient.variable("PATH").unwrap_or_default().to_owned();
    let first = std::env::split_paths(&path).find(|it| it.join("git").exists());
    let document = GuardDocument {
        is_installed: place.is_installed(),
        is_current: place.is_current(),
        directory: place.bin().display().to_string(),
        is_first: first.is_some_and(|it| it == place.bin()),
        git: link::real_git(&path).map(|git| git.display().to_string()),
    };
    if ctx.out.is_json() {
        ctx.out.document(GuardDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let directory = plain(&document.directory);
    ctx.out.line(match (document.is_installed, document.is_first) {
        (true, _) if !document.is_current => format!(
            "The guard in `{directory}` is of another version: `handoff git-guard install` makes it anew."
        ),
        (false, _) => "The guard is not installed: `handoff git-guard install`.".to_owned(),
        (true, true) => format!("The guard in `{directory}` is what `git` means here."),
        (true, false) => format!(
            "The guard is in `{directory}`, and not what `git` means here: `eval \"$(handoff git-guard env)\"` changes that for a shell."
        ),
    })?;
    Ok(ExitCode::Done)
}
