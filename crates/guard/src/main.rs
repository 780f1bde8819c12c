//! `git`, for a session: what is everybody's right is done at once, the rest is asked of `handoff`.
//!
//! Never fails open: a guard that has lost its `handoff` refuses.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use handoff_guard::{is_for_everybody, shim};

/// As `handoff` says it of what it refuses.
const REFUSED: u8 = 99;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let real = is_for_everybody(&arguments).then(real_git).flatten();
    let complaint = match real {
        Some(git) => {
            let error = become_program(&git, git.as_os_str(), &arguments);
            format!("cannot run `{}`: {error}", git.display())
        }
        None => ask(&arguments),
    };
    say(&complaint);
    REFUSED.into()
}

/// Becomes `handoff`, which decides by role and place, and says what is wrong.
fn ask(arguments: &[OsString]) -> String {
    let handoff = match std::env::current_exe() {
        Ok(own) => own.with_file_name(shim::MARK),
        Err(error) => return format!("the guard cannot tell where it is: {error}"),
    };
    // By this name it knows that it is to be git.
    let error = become_program(&handoff, OsStr::new("git"), arguments);
    format!(
        "the guard cannot ask `handoff`: {error}\nhint: `handoff git-guard install` makes it anew"
    )
}

#[expect(
    clippy::disallowed_methods,
    reason = "this program is started with an environment, and has nobody to hand it down"
)]
fn real_git() -> Option<PathBuf> {
    shim::real_git(&std::env::var_os("PATH")?)
}

#[expect(
    clippy::disallowed_methods,
    reason = "what is begun here takes our own place"
)]
fn become_program(file: &Path, name: &OsStr, arguments: &[OsString]) -> io::Error {
    Command::new(file).arg0(name).args(arguments).exec()
}

#[expect(clippy::print_stderr, reason = "nobody else is there to say it")]
fn say(complaint: &str) {
    eprintln!("error: {complaint}");
}
