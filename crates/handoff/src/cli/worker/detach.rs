//! `handoff worker --detach`: the same worker, in the background.

use std::ffi::OsString;
use std::fs::File;
use std::time::Duration;

use handoff_api::{ExitCode, WorkerDocument};
use handoff_core::ProjectId;
use handoff_operations::worker::{LivingWorker, living, log_place, short};
use handoff_operations::{Failure, Project};
use handoff_process::{Program, Report, detach};

use super::log::Log;
use crate::context::Context;
use crate::output::plain;

/// A worker that comes up says so within this time.
const START_TAKES: Duration = Duration::from_secs(20);
/// How it says so, before its id.
const READY: &str = "ready ";
/// How a worker is told that nobody looks at it.
pub(super) const IN_BACKGROUND: &str = "--in-background";

/// Starts a worker with the same words, and returns when it works.
pub(super) fn start(project: ProjectId, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let cannot = || Failure::failed("cannot start a worker in the background");
    let own = ctx.ambient.program.clone().ok_or_else(cannot)?;
    let mut words: Vec<OsString> = ctx.arguments[1..].to_vec();
    // What comes after this is the agent's.
    let own_words = words.iter().position(|word| word == "--");
    let own_words = own_words.unwrap_or(words.len());
    for word in &mut words[..own_words] {
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
        Report::Said(said) if let Some(id) = ready(&said) => show(&id, project, ctx),
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

/// What one that works says is its id.
fn ready(said: &[u8]) -> Option<String> {
    let said = str::from_utf8(said).ok()?;
    let id = said.strip_prefix(READY)?.strip_suffix('\n')?;
    // Whatever else it said is why it does not work after all.
    let is_id = id.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_id.then(|| id.to_owned())
}

fn show(id: &str, project: ProjectId, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let log = log_place(&ctx.home()?, project, id).display().to_string();
    let desk = Project::peek(ctx)?;
    let living = desk.map_or(Ok(vec![]), |desk| living(&desk, ctx))?;
    let id = short(id);
    if ctx.out.is_json() {
        let found = living
            .iter()
            .map(LivingWorker::document)
            .find(|it| it.id == id);
        let document = found.unwrap_or_else(|| WorkerDocument {
            id: id.to_owned(),
            log: Some(log),
            pid: None,
        });
        ctx.out.document(WorkerDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    ctx.out
        .line(format!("Worker {id} is at work in the background."))?;
    ctx.out.note(format!(
        "Stop it: `handoff worker stop {id}`; its agents go on. Its log: {log}"
    ))?;
    Ok(ExitCode::Done)
}

/// Says that it works and who it is, and prints into its log from here on. It has signed in: whoever reads this can stop it.
pub(super) fn settle(id: &str, project: ProjectId, ctx: &Context) -> Result<Log, Failure> {
    let home = ctx.home()?;
    let log = Log::open(&log_place(&home, project, id), project, &home)?;
    report(&format!("{READY}{id}\n"));
    log.take_over()?;
    Ok(log)
}

fn report(line: &str) {
    use std::io::Write as _;
    let mut stdout = std::io::stdout();
    // Whoever started it may be gone: it works all the same.
    stdout
        .write_all(line.as_bytes())
        .and_then(|()| stdout.flush())
        .ok();
}

/// Says that it works, and lets go of the pipe to the one who started it.
pub(in crate::cli) fn come_up() -> Result<(), Failure> {
    report("ready\n");
    let nothing = File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(nothing).map_err(std::io::Error::from)?;
    Ok(())
}
