//! `handoff sandbox`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use handoff_api::ExitCode;
use handoff_files::Dir;
use handoff_operations::{Failure, sandbox_policy};
use handoff_process::{
    Identity, Input, Program, Sandbox, SandboxError, StartError, replace, sandbox,
};

use crate::context::Context;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  handoff sandbox --write target -- cargo test")]
pub(crate) struct Args {
    /// Another place that may be changed: build output, a cache, the state of an agent.
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let cwd = ctx.cwd()?;
    let mut scratch = sandbox_policy::declared(ctx)?;
    scratch.extend(args.write.iter().map(|path| cwd.join(path)));
    let home = ctx.home()?;
    let bounds = sandbox_policy::around(cwd, &scratch, ctx)?;
    let temporary = private_directory(&home)?;
    let mut program = describe(args, ctx, &temporary)?;
    let places = [bounds.root, temporary].into_iter().chain(bounds.scratch);
    program.sandbox = Some(Sandbox::new(places));
    Err(failed(&replace(&program, Input::Ours)))
}

fn failed(error: &StartError) -> Failure {
    let code = match error {
        StartError::Sandbox(_, why) => match **why {
            SandboxError::Unavailable => ExitCode::Unavailable,
            SandboxError::Place(..) | SandboxError::Refused(_) => ExitCode::Failed,
        },
        StartError::Input(..) | StartError::Start { .. } | StartError::Watch(..) => {
            ExitCode::NotFound
        }
    };
    Failure::new(code, "cannot run the program in the sandbox").because(error)
}

fn private(error: &(dyn std::error::Error + 'static)) -> Failure {
    Failure::failed("cannot make a private directory for temporary files").because(error)
}

/// A directory for temporary files that nobody else uses. Who ends knows nothing of it any more, so that it is named after
/// the process that we become, and the next one removes it.
fn private_directory(home: &Path) -> Result<PathBuf, Failure> {
    let place = Dir::create_private(&home.join("tmp")).map_err(|error| private(&error))?;
    sweep(&place);
    let own = Identity::own().map_err(|error| private(&error))?;
    let own = place
        .create_dir(name(own))
        .map_err(|error| private(&error))?;
    Ok(own.path().to_owned())
}

fn name(process: Identity) -> String {
    format!("{}-{}", process.pid, process.started)
}

/// Removes those of programs that have ended. What they left running loses its temporary files.
fn sweep(place: &Dir) {
    for entry in place.names().unwrap_or_default() {
        let owner = entry.to_str().and_then(owner);
        if owner.is_some_and(|owner| !owner.is_alive()) {
            // What cannot be removed now is tried again by the next one.
            std::fs::remove_dir_all(place.path().join(&entry)).ok();
        }
    }
}

fn owner(name: &str) -> Option<Identity> {
    let (pid, started) = name.split_once('-')?;
    Some(Identity {
        pid: pid.parse().ok()?,
        started: started.parse().ok()?,
    })
}

fn describe(args: &Args, ctx: &Context, private: &Path) -> Result<Program, Failure> {
    let (name, arguments) = args.program.split_first().expect("the program is required");
    let mut program = Program::new(name, ctx.cwd()?);
    program.arguments = arguments.to_vec();
    program.environment = ctx.ambient.environment.clone();
    for helper in sandbox::HELPERS {
        program.environment.remove(OsStr::new(helper));
    }
    program.environment.insert("TMPDIR".into(), private.into());
    Ok(program)
}
