//! `handoff scripted-agent`: the built-in agent that plays a script. It never opens the store.

use std::io;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::process::ExitCode;

use handoff_operations::Ambient;
use handoff_scripted::World;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What to play.
    script: PathBuf,
}

pub(super) fn run(args: &Args, ambient: &Ambient) -> ExitCode {
    match world(ambient) {
        Ok(world) => handoff_scripted::run(&args.script, world),
        Err(_) => handoff_api::ExitCode::Failed.number().into(),
    }
}

fn world(ambient: &Ambient) -> io::Result<World> {
    Ok(World {
        environment: ambient.environment.clone(),
        cwd: ambient.cwd.clone().ok_or(io::ErrorKind::NotFound)?,
        stdin: io::stdin().as_fd().try_clone_to_owned()?,
        stdout: io::stdout().as_fd().try_clone_to_owned()?,
        stderr: io::stderr().as_fd().try_clone_to_owned()?,
    })
}
