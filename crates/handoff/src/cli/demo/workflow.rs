//! The scene of the workflow: three tests, one at a time, each phase in a fresh session, with a referee, a cheat and a kill.

use handoff_api::ExitCode;
use handoff_operations::Failure;
use handoff_process::Child;

use super::scene::wait_for_half_work;
use super::stage::{Stage, finish};
use super::{heading, tell};
use crate::context::Context;
use crate::output::plain;

const SUITE: &str = "\
[tests]
command = \"sh run-tests.sh\"
format = \"tap\"
paths = [\"tests/\"]
config = [\"run-tests.sh\"]

";

/// A list of tests is worked off, although one session cheats and everything is killed in between.
pub(super) fn test_by_test(stage: &mut Stage, ctx: &mut Context) -> Result<(), Failure> {
    heading(
        ctx,
        "6. Three tests, one at a time: a referee proves each phase, one session cheats, and a kill",
    )?;
    prepare(stage)?;
    let mut first =
        stage.start_run(&["run", "tdd", "--goal", "Count words.", "--name", "words"])?;
    wait_for_half_work(stage, &mut stage.desk()?, "words.4-refactor", "count.sh")?;
    first
        .end()
        .map_err(|error| Failure::failed("cannot end the run").because(&error))?;
    show(&first, ctx)?;
    stage.kill_holders()?;
    tell(
        ctx,
        "          ",
        "kill -9 of everything. `handoff workflow resume` goes on with the last phase that was proved:",
    )?;
    let second = finish(stage.start_run(&["resume", "words"])?, ExitCode::Done)?;
    show(&second, ctx)?;
    // The run has told it; its events would fill a page.
    let mut desk = stage.desk()?;
    let recorded = stage.news(&mut *desk.store)?.len();
    tell(
        ctx,
        "          ",
        &format!(
            "\n{recorded} events later there is a commit for each phase that changed something:\n"
        ),
    )?;
    let log = ["log", "--format=%h %s", "handoff/words", "--not", "main"];
    for line in stage.git(&log)?.lines() {
        tell(ctx, "  ", &plain(line))?;
    }
    Ok(())
}

/// The built-in workflow, told how the tests of this little project are run.
fn prepare(stage: &Stage) -> Result<(), Failure> {
    let built_in = stage.handoff(&["workflow", "show", "tdd", "--raw"])?;
    let phases = built_in.find("[[phases]]").unwrap_or(built_in.len());
    let (head, phases) = built_in.split_at(phases);
    let text = format!("{head}{SUITE}{phases}");
    stage.write(".handoff/workflows/tdd.toml", &text)?;
    stage.handoff(&["workflow", "trust", "tdd", "--yes"])?;
    Ok(())
}

fn show(run: &Child, ctx: &mut Context) -> Result<(), Failure> {
    let said = String::from_utf8_lossy(&run.stdout().to_bytes()).into_owned();
    for line in said.lines() {
        tell(ctx, "  ", &plain(line))?;
    }
    Ok(())
}
