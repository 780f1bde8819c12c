//! `handoff check-supervisor`: stays above a check, bounds what it uses, and leaves nothing of it. It never opens the store.
//!
//! What the check prints is our standard output; how it ended is one line of JSON on our standard error.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use handoff_core::check_limits::CheckLimits;
use handoff_operations::Ambient;
use handoff_process::{Program, Sandbox, Supervision, supervise};
use handoff_session::environment;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[arg(long)]
    time_ms: u64,
    #[arg(long)]
    memory: u64,
    #[arg(long)]
    processes: u32,
    #[arg(long)]
    output: u64,
    #[arg(long)]
    disk: u64,
    /// Where it can write.
    #[arg(long)]
    write: Vec<PathBuf>,
    /// It can write nowhere else.
    #[arg(long)]
    enclosed: bool,
    #[arg(last = true, required = true)]
    argv: Vec<OsString>,
}

pub(super) fn run(args: &Args, ambient: &Ambient) -> ExitCode {
    let told = match supervision(args, ambient) {
        Some(supervision) => match supervise(&supervision) {
            Ok(outcome) => serde_json::to_string(&outcome).map_err(|error| error.to_string()),
            Err(error) => Err(with_causes(&error)),
        },
        None => Err("there is nothing to run, or nowhere to run it".to_owned()),
    };
    let (text, code) = match told {
        Ok(text) => (text, handoff_api::ExitCode::Done),
        Err(text) => (text, handoff_api::ExitCode::Failed),
    };
    // Nobody is left to hear of a failure; whoever finds nothing here takes it for none.
    writeln!(io::stderr(), "{text}").ok();
    code.number().into()
}

fn supervision(args: &Args, ambient: &Ambient) -> Option<Supervision> {
    let (name, arguments) = args.argv.split_first()?;
    let mut program = Program::new(name, ambient.cwd.clone()?).with_arguments(arguments);
    program.environment = ambient.environment.clone();
    program.environment.remove(OsStr::new(environment::CHECK));
    program.sandbox = args.enclosed.then(|| Sandbox::new(args.write.clone()));
    Some(Supervision {
        program,
        limits: CheckLimits {
            time: Duration::from_millis(args.time_ms),
            memory: args.memory,
            processes: args.processes,
            output: args.output,
            disk: args.disk,
        },
        places: args.write.clone(),
    })
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(it) = cause {
        text = format!("{text}: {it}");
        cause = it.source();
    }
    text
}
