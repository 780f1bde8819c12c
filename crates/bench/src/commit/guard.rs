//! `git status` through the guard, beside git itself and an empty program.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use super::super::race::{Lane, race, to_the_end};
use super::super::report::{Report, Target};
use super::super::stage::Stage;
use super::super::{Run, binaries};

pub(super) fn measure(run: &mut Run, binary: &Path, report: &mut Report) -> Result<()> {
    let stage = Stage::set(binary, None)?;
    let empty = binaries::empty(&run.profile)?;
    stage.say(["git-guard", "install"])?;
    let guard: PathBuf = stage.state().join("guard/bin/git");
    ensure!(guard.exists(), "the guard is not where it should be");
    let status = |program: &Path| {
        let mut command = stage.program(program);
        command.arg("status").env("HANDOFF_ROLE", "sub-task");
        to_the_end(command)
    };
    let lanes = vec![
        Lane::new("git status", || status(Path::new("git"))),
        Lane::new("guarded git status", || status(&guard)),
        Lane::new("empty program", || to_the_end(stage.program(&empty))),
    ];
    let measured = race(lanes, run.scope.choose(50, 200), &mut run.order)?;
    let median = |name: &str| measured[name].median().as_secs_f64() * 1000.0;
    let above = median("guarded git status") - median("git status") - median("empty program");
    report.figure(
        "what the guard adds to `git status`, above one empty exec",
        (above, "ms"),
        Target::AtMost(0.5),
    );
    report.keep_all(measured);
    Ok(())
}
