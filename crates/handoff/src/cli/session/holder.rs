//! `handoff session-holder`: the process that holds a session, and the one behind it. People never start it; `run` does.
//!
//! The first process is the warden. It starts the holder and waits: if the holder is killed, it ends whatever the agent had
//! started.

use std::error::Error;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use handoff_agents::AgentName;
use handoff_api::ExitCode;
use handoff_core::{BatchId, Fence, ProjectId, Role, SessionId, SessionName, TaskId, TaskName};
use handoff_engine::ledger_apart;
use handoff_operations::program::own_program;
use handoff_operations::session::launch::Greeting;
use handoff_operations::session::places;
use handoff_operations::{Failure, agent_catalogue};
use handoff_process::{Program, Size, ward};
use handoff_session::confinement::remove_private;
use handoff_session::environment::Work;
use handoff_session::holder::{Address, Loopback, OpenError};
use handoff_session::stall::Policy;
use handoff_session::transcript::Limit;
use handoff_session::{Bounds, Confinement, Holder, Opening, SandboxOff, catalogue};

use crate::context::Context;

/// What was killed is gone within this time, or the kernel cannot end it.
const DEATH_TAKES: Duration = Duration::from_secs(5);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(long)]
    session: SessionId,
    #[arg(long)]
    project: ProjectId,
    #[arg(long)]
    name: SessionName,
    #[arg(long)]
    agent: AgentName,
    #[arg(long)]
    rows: u16,
    #[arg(long)]
    columns: u16,
    #[arg(long)]
    log_limit: u64,
    #[arg(long)]
    description: Option<String>,
    #[arg(long, default_value = "main")]
    role: Role,
    #[arg(long, requires_all = ["task_id", "fence"])]
    task: Option<TaskName>,
    #[arg(long)]
    task_id: Option<TaskId>,
    #[arg(long)]
    fence: Option<u64>,
    #[arg(long)]
    batch: Option<BatchId>,
    #[arg(long, requires = "max_resumes")]
    stall_after_ms: Option<u64>,
    #[arg(long)]
    max_resumes: Option<u32>,
    #[arg(long)]
    watch_file: Vec<PathBuf>,
    #[arg(long, requires = "port")]
    host: Option<Loopback>,
    #[arg(long)]
    port: Option<u16>,
    #[arg(long, default_value = "none", requires_if("worktree", "root"))]
    sandbox: Confinement,
    #[arg(long, requires = "common_dir")]
    root: Option<PathBuf>,
    #[arg(long)]
    common_dir: Option<PathBuf>,
    #[arg(long)]
    write: Vec<PathBuf>,
    #[arg(long)]
    sandbox_off: Option<SandboxOff>,
    /// Its session may answer the dialogs of those that it starts.
    #[arg(long)]
    answers_children: bool,
    /// The process that stands behind this one; without it this one is that.
    #[arg(long)]
    warden: Option<u32>,
    #[arg(last = true, required = true)]
    argv: Vec<OsString>,
}

pub(super) fn run(args: Args, ctx: &Context) -> Result<ExitCode, Failure> {
    match args.warden {
        None => stand_behind(args.session, ctx),
        Some(_) => hold(args, ctx),
    }
}

/// The walls, as they were drawn when the session was started.
fn bounds(args: &Args) -> Option<Bounds> {
    match args.sandbox {
        Confinement::None => None,
        Confinement::Worktree => Some(Bounds {
            root: args.root.clone()?,
            common_dir: args.common_dir.clone()?,
            scratch: args.write.clone(),
        }),
    }
}

/// The same command once more, with the warden named.
fn stand_behind(session: SessionId, ctx: &Context) -> Result<ExitCode, Failure> {
    let warden = ["--warden".to_owned(), std::process::id().to_string()];
    let (command, rest) = ctx.arguments[1..]
        .split_first()
        .expect("this command has a name");
    let mut program = Program::new(own_program(ctx)?, ctx.cwd()?)
        .with_arguments([command])
        .with_arguments(warden)
        .with_arguments(rest);
    program.environment = ctx.ambient.environment.clone();
    let places = places(ctx)?;
    let spared = || catalogue::holders(&places);
    let warded = ward(&program, spared, DEATH_TAKES);
    // A holder that was killed has left it.
    remove_private(&places, session);
    match warded {
        Ok(_) => Ok(ExitCode::Done),
        Err(error) => refuse(&error),
    }
}

fn hold(args: Args, ctx: &Context) -> Result<ExitCode, Failure> {
    let clock = ctx.clock()?;
    let opening = opening(args, ctx)?;
    let holder = match Holder::open(opening, &*clock) {
        Ok(holder) => holder,
        Err(OpenError::Taken(_)) => {
            greet(&Greeting::Taken)?;
            return Ok(ExitCode::Conflict);
        }
        Err(error) => return refuse(&error),
    };
    greet(&Greeting::Ready)?;
    let held = holder.run();
    held.map_err(|error| Failure::failed("the session was given up").because(&error))?;
    Ok(ExitCode::Done)
}

fn opening(args: Args, ctx: &Context) -> Result<Opening, Failure> {
    let work = work(&args);
    let policy = policy(&args);
    let bounds = bounds(&args);
    let (name, arguments) = args.argv.split_first().expect("clap demands one");
    let mut program = Program::new(name, ctx.cwd()?).with_arguments(arguments);
    let (environment, ledger) = ledger_apart(ctx.ambient.environment.clone());
    program.environment = environment;
    Ok(Opening {
        places: places(ctx)?,
        network: args.port.map(|port| Address {
            host: args.host.unwrap_or_default(),
            port,
        }),
        runtime_dir: ctx.ambient.directory("XDG_RUNTIME_DIR").map(Into::into),
        id: args.session,
        project: args.project,
        name: args.name,
        agent: agent_catalogue::require(&args.agent, ctx)?.agent,
        role: args.role,
        work,
        own_program: own_program(ctx)?.to_owned(),
        program,
        ledger,
        policy,
        files: args.watch_file,
        description: args.description,
        size: Size {
            rows: args.rows,
            columns: args.columns,
        }
        .bounded(),
        limit: match args.log_limit {
            0 => Limit::Off,
            bytes => Limit::Bytes(bytes),
        },
        warden: args.warden,
        answers_children: args.answers_children,
        bounds,
        sandbox_off: args.sandbox_off,
    })
}

fn work(args: &Args) -> Option<Work> {
    Some(Work {
        task: args.task.clone()?,
        id: args.task_id?,
        fence: Fence::new(args.fence?),
        batch: args.batch,
    })
}

fn policy(args: &Args) -> Option<Policy> {
    Some(Policy {
        stall_after: Duration::from_millis(args.stall_after_ms?),
        max_resumes: args.max_resumes?,
    })
}

fn refuse(error: &dyn Error) -> Result<ExitCode, Failure> {
    let Failure {
        message, causes, ..
    } = Failure::failed(error.to_string()).because_of_source(error);
    greet(&Greeting::Failed { message, causes })?;
    Ok(ExitCode::Failed)
}

/// Says it to the one who started us, and lets go of the pipe between us.
fn greet(greeting: &Greeting) -> Result<(), Failure> {
    let text = serde_json::to_vec(greeting).expect("a greeting has only text as keys");
    let mut stdout = std::io::stdout();
    // Whoever started us may be gone by now, and the agent runs: nobody hears it, and the session goes on.
    stdout.write_all(&text).and_then(|()| stdout.flush()).ok();
    let nothing = File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(nothing).map_err(std::io::Error::from)?;
    Ok(())
}
