//! W01: sessions cheat in every way that can be derived from what honest ones do. The referee refuses each, and the next session
//! reads why.

use anyhow::{Context as _, Result, ensure};
use handoff_testkit::kata::{Cheat, Kata, Phase, cheats, in_turn};
use serde_json::Value;

use super::super::stage::{Findings, Stage};
use super::run::Project;

pub(in crate::campaign) fn cheat(stage: &mut Stage) -> Result<()> {
    for kata in [Kata::rust(), Kata::python(), Kata::javascript()] {
        stage.trial(kata.language.name, |stage| all_phases(stage, &kata));
    }
    Ok(())
}

/// The phases cheat one after the other in one run, which ends with the first cycle.
fn all_phases(stage: &Stage, kata: &Kata) -> Result<Findings> {
    let every = stage.count(3, 1);
    let first = stage.dice(kata.language.name).index(every);
    let chosen = |phase| {
        let cheats = cheats(kata, phase).into_iter();
        in_turn(cheats.skip(first).step_by(every).collect())
    };
    let cheats: Vec<Cheat> = Phase::ALL.into_iter().flat_map(chosen).collect();
    let project = Project::new(stage.product(), kata, &cheats);
    one_cycle(&project)?;
    let output = project.to_the_end()?;
    let mut complaints = vec![];
    if !output.status.success() {
        complaints.push(format!("the run came to nothing: {}", output.snapshot()));
    }
    let refusals = refusals(&project.log()?)?;
    let prompts = project.prompts()?;
    complaints.extend(compared(&cheats, &refusals, &prompts));
    complaints.extend(project.product.audit()?);
    Ok(Findings {
        count: cheats.len(),
        note: format!("{} refusals", refusals.len()),
        complaints,
    })
}

/// The built-in workflow, with as many attempts as there are cheats and an end after the first test.
fn one_cycle(project: &Project) -> Result<()> {
    let output = project.product.run(["workflow", "show", "tdd", "--raw"]);
    ensure!(output.status.success(), "must work: {}", output.snapshot());
    let text = { output.stdout }
        .replace("\nnext = \"plan\"\n", "\nnext = \"end\"\n")
        .replace("\ncommit = ", "\nretries = 100\ncommit = ");
    project
        .product
        .repo
        .write(".handoff/workflows/tdd.toml", text);
    Ok(())
}

/// Why attempts were refused, each with the phase that it was at.
fn refusals(log: &[Value]) -> Result<Vec<(String, String)>> {
    let mut phase = String::new();
    let mut found = vec![];
    for event in log {
        let event = &event["event"];
        let text = |name: &str| event[name].as_str().map(str::to_owned);
        match event["type"].as_str().context("an event has a type")? {
            "opened" => phase = text("phase").context("a task is of a phase")?,
            "refused" => found.push((phase.clone(), text("reason").unwrap_or_default())),
            _ => {}
        }
    }
    Ok(found)
}

/// What is wrong with how cheats were met.
fn compared(cheats: &[Cheat], refusals: &[(String, String)], prompts: &[String]) -> Vec<String> {
    let mut complaints = vec![];
    for cheat in cheats {
        let (phase, name, why) = (cheat.phase.word(), cheat.name, &cheat.why);
        let is_it = |(at, reason): &&(String, String)| at == phase && reason.contains(why.as_str());
        match refusals.iter().find(is_it) {
            None => complaints.push(format!("{phase}: `{name}` was not refused because `{why}`")),
            Some((_, reason)) => {
                let line = reason.lines().next().unwrap_or_default();
                let is_told = prompts.iter().any(|it| it.contains(line));
                if !is_told {
                    complaints.push(format!("{phase}: nobody was told of `{name}`: {line}"));
                }
            }
        }
    }
    if refusals.len() != cheats.len() {
        let (refused, tried) = (refusals.len(), cheats.len());
        complaints.push(format!("{tried} cheats, {refused} refusals: {refusals:?}"));
    }
    complaints
}
