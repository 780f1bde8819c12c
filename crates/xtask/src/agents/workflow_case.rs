//! One whole cycle of the workflow `tdd`, each phase by a fresh session of the real agent: the model has it run a command in its
//! shell, which does the work of the phase and ends with `handoff done --result`.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use handoff_testkit::ModelServer;
use handoff_testkit::kata::{Kata, PROOFS, Troupe};
use serde_json::Value;

use super::Name;
use super::case::Stage;
use super::house::House;
use super::report::{Outcome, Report, Row};
use handoff_chores::{output, program};

/// What this case is called.
pub(super) const CASE: &str = "workflow";
/// The first of the proofs: plan, red, green and refactor.
const CYCLE: usize = 4;
/// Four sessions, on a machine that is busy.
const LIMIT: &str = "180s";

pub(super) fn play(stage: &Stage<'_>, house: &House, report: &mut Report) {
    let (outcome, took) = program::timed(|| cycle(stage, house));
    let outcome = match outcome {
        Ok(proofs) if proofs == PROOFS[..CYCLE] => Outcome::Right(took),
        Ok(proofs) => Outcome::Wrong(format!("proved was {proofs:?}")),
        Err(error) => Outcome::Wrong(format!("{error:#}")),
    };
    let expected = "plan, red, green and refactor are proved";
    conclude(stage, house, (CASE, expected), outcome, report);
}

/// Clears what may be left, and says what came of a case.
pub(super) fn conclude(
    stage: &Stage<'_>,
    house: &House,
    (case, expected): (&'static str, &str),
    outcome: Outcome,
    report: &mut Report,
) {
    // One that was broken off leaves its session, as it should; nobody comes back to this one.
    if let Err(error) = clear(stage, house) {
        output::complain(&format!("a session may be left: {error:#}"));
    }
    output::say(&format!("{case}: {outcome:?}"));
    report.add(Row {
        agent: stage.name,
        case,
        expected: expected.to_owned(),
        outcome,
    });
}

/// Those that have a shell and take a whole prompt.
pub(super) fn is_for(name: Name) -> bool {
    match name {
        Name::Claude | Name::Codex => true,
        Name::Scripted
        | Name::Bash
        | Name::ClaudeQuiet
        | Name::Opencode
        | Name::Gemini
        | Name::Copilot
        | Name::Aider => false,
    }
}

/// What was proved.
fn cycle(stage: &Stage<'_>, house: &House) -> Result<Vec<String>> {
    let kata = Kata::javascript();
    let troupe = Troupe::at(house.project().with_file_name("acts"), &kata, &[]);
    lay(&kata, house)?;
    define(stage, house, &troupe)?;
    commit(house)?;
    let agent = stage.name.agent();
    let words = "workflow run tdd --goal Sums. --name calc --agent";
    let words: Vec<_> = words.split(' ').chain([agent.as_str()]).collect();
    let mut bounded = program::program("timeout");
    bounded.arg(LIMIT).arg(stage.binary).args(words);
    let run = answer(in_house(&mut bounded, stage, house));
    let words = ["workflow", "status", "calc", "--json"];
    let status = answer(&mut handoff(stage, house, &words));
    run.with_context(|| format!("the run says {status:?}"))?;
    let status: Value = serde_json::from_str(&status?)?;
    let steps = status["steps"].as_array().context("a run has steps")?;
    let told = steps.iter();
    let told = told.map(|it| format!("{} {}", it["phase"], it["outcome"]).replace('"', ""));
    Ok(told.collect())
}

/// Ends the sessions that live still.
fn clear(stage: &Stage<'_>, house: &House) -> Result<()> {
    let living: Value =
        serde_json::from_str(&answer(&mut handoff(stage, house, &["ps", "--json"]))?)?;
    for session in living["sessions"].as_array().into_iter().flatten() {
        let id = session["id"].as_str().context("a session has an id")?;
        answer(&mut handoff(stage, house, &["stop", "--id", id]))?;
    }
    Ok(())
}

fn lay(kata: &Kata, house: &House) -> Result<()> {
    for (path, text) in kata.start.files() {
        let path = house.project().join(path);
        std::fs::create_dir_all(path.parent().context("it is in the project")?)?;
        std::fs::write(path, text)?;
    }
    Ok(())
}

/// The built-in workflow with an end after one cycle, and with words for the model at the head of each prompt.
fn define(stage: &Stage<'_>, house: &House, troupe: &Troupe) -> Result<()> {
    let words = ["workflow", "show", "tdd", "--raw"];
    let text = answer(&mut handoff(stage, house, &words))?;
    let act = troupe.agent();
    let act = format!(
        "prompt = \"\"\"\n@@sh sh {} ;; @@lines 1 ;;\n",
        act.display()
    );
    let text = { text.replace("prompt = \"\"\"\n", &act) }
        .replace("\nnext = \"plan\"\n", "\nnext = \"end\"\n");
    let workflows = house.project().join(".handoff/workflows");
    std::fs::create_dir_all(&workflows)?;
    std::fs::write(workflows.join("tdd.toml"), text)?;
    let words = ["workflow", "trust", "tdd", "--yes"];
    answer(&mut handoff(stage, house, &words)).map(drop)
}

pub(super) fn commit(house: &House) -> Result<()> {
    for words in [
        &["config", "user.name", "Test"][..],
        &["config", "user.email", "test@example.org"],
        &["add", "--all"],
        &["commit", "--quiet", "-m", "a calculator"],
    ] {
        let mut git = program::program("git");
        program::run(git.arg("-C").arg(house.project()).args(words))?;
    }
    Ok(())
}

pub(super) fn handoff(stage: &Stage<'_>, house: &House, words: &[&str]) -> Command {
    let mut command = program::program(stage.binary);
    command.args(words);
    in_house(&mut command, stage, house);
    command
}

pub(super) fn in_house<'a>(
    command: &'a mut Command,
    stage: &Stage<'_>,
    house: &House,
) -> &'a mut Command {
    command
        .env_clear()
        .envs(&house.environment)
        .env("HANDOFF", stage.binary)
        .current_dir(house.project())
        .stdin(Stdio::null())
}

pub(super) fn answer(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    let (said, complained) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    );
    ensure!(
        output.status.success(),
        "{}: {said}{complained}",
        output.status
    );
    Ok(said)
}

/// A house whose agent trusts the trees of a run and does not ask before it runs a command.
pub(super) fn house(stage: &Stage<'_>, root: &Path, model: &ModelServer) -> Result<House> {
    let house = House::furnish(root, stage.name, &model.url(), stage.theme)?;
    house.permit(stage.name)?;
    Ok(house)
}
