//! `handoff sandbox`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use handoff_api::ExitCode;
use handoff_files::Dir;
use handoff_process::{Input, Program, Sandbox, SandboxError, replace, sandbox};

use crate::context::Context;
use crate::desk;
use crate::failure::Failure;

/// Everything can be read. The kernel holds it, for the program and all that it starts: an absolute
/// path to git, another language or root make no difference.
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
    let repository = desk::discover(ctx)?;
    let root = repository
        .worktree_root()
        .filter(|_| repository.git_dir() != repository.common_dir());
    let Some(root) = root else {
        return Err(Failure::new(
            ExitCode::Conflict,
            "this is not a linked worktree: in the main tree git's own directory lies within, and could not be protected",
        )
        .hint("work in a worktree of its own: `git worktree add ../work`"));
    };
    let private = private_directory(ctx)?;
    let cwd = ctx.cwd()?;
    let named = args.write.iter().map(|path| cwd.join(path));
    let writable = [root.to_owned(), private.clone()].into_iter().chain(named);
    let program = describe(args, ctx, &private)?;
    Sandbox::new(writable)
        .enter()
        .map_err(|error| refused(&error))?;
    let error = replace(&program, Input::Ours);
    Err(Failure::new(ExitCode::NotFound, "cannot run the program in the sandbox").because(&error))
}

fn refused(error: &SandboxError) -> Failure {
    let code = match error {
        SandboxError::Unavailable => ExitCode::Unavailable,
        SandboxError::Place(..) => ExitCode::NotFound,
        SandboxError::Refused(_) | SandboxError::Typing(_) => ExitCode::Failed,
    };
    Failure::of(code, error)
}

/// A directory for temporary files that nobody else uses. It is left behind: who ends knows nothing of it any more.
fn private_directory(ctx: &Context) -> Result<PathBuf, Failure> {
    let failed = |error: &handoff_files::DirError| {
        Failure::failed("cannot make a private directory for temporary files").because(error)
    };
    let place = ctx.home()?.join("tmp");
    let place = Dir::create_private(&place).map_err(|error| failed(&error))?;
    let own = place
        .create_dir(handoff_process::mint().simple().to_string())
        .map_err(|error| failed(&error))?;
    Ok(own.path().to_owned())
}

fn describe(args: &Args, ctx: &Context, private: &Path) -> Result<Program, Failure> {
    let (name, arguments) = args.program.split_first().expect("the program is required");
    let mut program = Program::new(name, ctx.cwd()?);
    program.arguments = arguments.to_vec();
    program.environment = ctx.ambient.environment.clone();
    for helper in sandbox::HELPERS {
        program.environment.remove(std::ffi::OsStr::new(helper));
    }
    program.environment.insert("TMPDIR".into(), private.into());
    Ok(program)
}
