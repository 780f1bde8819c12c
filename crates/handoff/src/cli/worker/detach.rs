//! `handoff worker --detach`: the same worker, in the background.

use std::ffi::OsString;
use std::fs::File;
use std::time::Duration;

use handoff_api::ExitCode;
use handoff_process::{Program, Report, detach};

use crate::context::Context;
use crate::failure::Failure;
use crate::output::plain;

/// A worker that comes up says so within this time.
const START_TAKES: Duration = Duration::from_secs(20);
/// How a worker is told that nobody looks at it.
pub(super) const IN_BACKGROUND: &str = "--in-background";

/// Starts a worker with the same words, and returns when it works.
pub(super) fn start(ctx: &mut Context) -> Result<ExitCode, Failure> {
    let cannot = || Failure::failed("cannot start a worker in the background");
    let own = ctx.ambient.program.clone().ok_or_else(cannot)?;
    let mut words: Vec<OsString> = ctx.ambient.arguments[1..].to_vec();
    for word in &mut words {
        if word == "--detach" {
            *word = IN_BACKGROUND.into();
        }
    }
    let mut program = Program::new(own, ctx.cwd()?).with_arguments(words);
    program.environment = ctx.ambient.environment.clone();
    let mut worker = detach(&program).map_err(|error| cannot().because(&error))?;
    let said = worker
        .report(START_TAKES)
        .map_err(|error| cannot().because(&error))?;
    match said {
        Report::Said(said) if said == b"ready\n" => {
            ctx.out.line("A worker is at work in the background.")?;
            ctx.out.note("See it: `handoff worker list`.")?;
            Ok(ExitCode::Done)
        }
        Report::Said(said) => {
            let why = String::from_utf8_lossy(&said).into_owned();
            Err(Failure {
                causes: vec![plain(why.trim())],
                ..cannot()
            })
        }
        Report::TimedOut => {
            // It may have ended by itself in the last moment.
            worker.end().ok();
            Err(Failure::new(
                ExitCode::TimedOut,
                "the worker did not come up in time",
            ))
        }
    }
}

/// Says that it works, and lets go of the pipe to the one who started it.
pub(in crate::cli) fn come_up() -> Result<(), Failure> {
    use std::io::Write as _;
    let mut stdout = std::io::stdout();
    // Whoever started it may be gone: it works all the same.
    stdout
        .write_all(b"ready\n")
        .and_then(|()| stdout.flush())
        .ok();
    let nothing = File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(nothing).map_err(std::io::Error::from)?;
    Ok(())
}
