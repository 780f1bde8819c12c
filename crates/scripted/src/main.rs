//! The scripted agent as a program of its own, for the tests of this crate.
//!
//! What people start is `handoff scripted-agent`, which makes the same call.

use std::env;
use std::io::{self, Error};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::ExitCode;

use handoff_scripted::{World, run};

#[expect(
    clippy::disallowed_methods,
    reason = "this is a `main`: here the ambient becomes a value"
)]
fn main() -> Result<ExitCode, Error> {
    let script = env::args_os().nth(1).map(PathBuf::from);
    let script = script.ok_or_else(|| Error::other("give the path of a script"))?;
    let world = World {
        environment: env::vars_os().collect(),
        cwd: env::current_dir()?,
        stdin: io::stdin().as_fd().try_clone_to_owned()?,
        stdout: io::stdout().as_fd().try_clone_to_owned()?,
        stderr: io::stderr().as_fd().try_clone_to_owned()?,
    };
    Ok(run(&script, world))
}
