//! `handoff session-holder`: the process that holds a session. People never start it; `run` does.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;

use handoff_agents::Agent;
use handoff_api::ExitCode;
use handoff_core::{ProjectId, SessionId, SessionName};
use handoff_process::{Program, Size};
use handoff_session::holder::OpenError;
use handoff_session::transcript::Limit;
use handoff_session::{Holder, Opening};

use super::address::places;
use super::launch::Greeting;
use crate::context::Context;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(long)]
    session: SessionId,
    #[arg(long)]
    project: ProjectId,
    #[arg(long)]
    name: SessionName,
    #[arg(long)]
    agent: Agent,
    #[arg(long)]
    rows: u16,
    #[arg(long)]
    columns: u16,
    #[arg(long)]
    log_limit: u64,
    #[arg(long)]
    description: Option<String>,
    #[arg(last = true, required = true)]
    argv: Vec<OsString>,
}

pub(super) fn run(args: Args, ctx: &Context) -> Result<ExitCode, Failure> {
    let clock = ctx.clock()?;
    let opening = opening(args, ctx)?;
    let holder = match Holder::open(opening, &*clock) {
        Ok(holder) => holder,
        Err(error) => return refuse(&error),
    };
    greet(&Greeting::Ready)?;
    let held = holder.run();
    held.map_err(|error| Failure::failed("the session was given up").because(&error))?;
    Ok(ExitCode::Done)
}

fn opening(args: Args, ctx: &Context) -> Result<Opening, Failure> {
    let (name, arguments) = args.argv.split_first().expect("clap demands one");
    let mut program = Program::new(name, ctx.cwd()?).with_arguments(arguments);
    program.environment = ctx.ambient.environment.clone();
    Ok(Opening {
        places: places(ctx)?,
        runtime_dir: ctx.ambient.directory("XDG_RUNTIME_DIR").map(Into::into),
        id: args.session,
        project: args.project,
        name: args.name,
        agent: args.agent,
        program,
        description: args.description,
        size: Size {
            rows: args.rows,
            columns: args.columns,
        },
        limit: match args.log_limit {
            0 => Limit::Off,
            bytes => Limit::Bytes(bytes),
        },
    })
}

fn refuse(error: &OpenError) -> Result<ExitCode, Failure> {
    let greeting = if matches!(error, OpenError::Taken(_)) {
        Greeting::Taken
    } else {
        let Failure {
            message, causes, ..
        } = Failure::failed(error.to_string()).because_of_source(error);
        Greeting::Failed { message, causes }
    };
    greet(&greeting)?;
    Ok(ExitCode::Failed)
}

/// Says it to the one who started us, and lets go of the pipe between us.
fn greet(greeting: &Greeting) -> Result<(), Failure> {
    let text = serde_json::to_vec(greeting).expect("a greeting has only text as keys");
    let mut stdout = std::io::stdout();
    stdout.write_all(&text)?;
    stdout.flush()?;
    let nothing = File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(nothing).map_err(std::io::Error::from)?;
    Ok(())
}
