//! W01: sessions cheat in every way that can be derived from what honest ones do. The referee refuses each, and the next session
//! reads why.

use anyhow::{Context as _, Result, ensure};
use handoff_testkit::kata::{Cheat, Kata, Phase, cheats, in_turn};
use serde_json::Value;

use super::super::stage::{Findings, Stage, Tier};
use super::run::Project;

/// Small tiers try each so-many-th cheat.
const FEW: usize = 6;

/// Where sessions work.
#[derive(Clone, Copy, Debug)]
enum Walls {
    /// In the sandbox that is theirs by their role.
    OfRole,
    /// In none, as on a kernel that has none: git can be written.
    None,
}

pub(crate) fn cheat(stage: &mut Stage) -> Result<()> {
    let projects = [
        (Kata::rust(), Walls::OfRole),
        (Kata::python(), Walls::None),
        (Kata::javascript(), Walls::OfRole),
    ];
    for (kata, walls) in projects {
        stage.trial(kata.language.name, |stage| all_phases(stage, &kata, walls));
    }
    Ok(())
}

/// The phases cheat one after the other in one run, which ends with the first cycle.
fn all_phases(stage: &Stage, kata: &Kata, walls: Walls) -> Result<Findings> {
    let every = stage.count(FEW, 1);
    let first = stage.dice(kata.language.name).index(every);
    let chosen = |phase| {
        let cheats = cheats(kata, phase).into_iter();
        let mut chosen = in_turn(cheats.skip(first).step_by(every).collect());
        // Of a few there may be too many that are alike, and the same reason twice is the end of the run.
        if stage.tier == Tier::Small {
            chosen.dedup_by(|one, other| one.why == other.why);
        }
        chosen
    };
    let cheats: Vec<Cheat> = Phase::ALL.into_iter().flat_map(chosen).collect();
    let project = Project::new(stage.product(), kata, &cheats);
    match walls {
        Walls::OfRole => {}
        Walls::None => project.take_down_walls()?,
    }
    one_cycle(&project)?;
    project.to_the_end()?;
    let attempts = attempts(&project.log()?, &project.prompts()?)?;
    let mut complaints = compared(&expected(&cheats), &attempts);
    complaints.extend(project.product.audit()?);
    Ok(Findings {
        count: cheats.len(),
        note: format!("{} sessions", attempts.len()),
        complaints,
    })
}

/// The built-in workflow, with as many attempts as there are cheats and an end after the first test.
fn one_cycle(project: &Project) -> Result<()> {
    let product = &project.product;
    let output = product.run(["workflow", "show", "tdd", "--raw"]);
    ensure!(output.status.success(), "must work: {}", output.snapshot());
    let text = { output.stdout }
        .replace("\nnext = \"plan\"\n", "\nnext = \"end\"\n")
        .replace("\ncommit = ", "\nretries = 100\ncommit = ");
    product.repo.write(".handoff/workflows/tdd.toml", text);
    let output = product.run(["workflow", "trust", "tdd", "--yes"]);
    ensure!(output.status.success(), "must work: {}", output.snapshot());
    Ok(())
}

/// What must become of one session.
#[derive(Debug)]
struct Expected<'a> {
    phase: Phase,
    /// The cheat and what the referee must say of it; nothing for one that is honest.
    cheat: Option<(&'a str, &'a str)>,
}

/// In each phase all that cheat come first, and an honest one after them.
fn expected(cheats: &[Cheat]) -> Vec<Expected<'_>> {
    let of = |phase: Phase| {
        let cheats = cheats.iter().filter(move |it| it.phase == phase);
        let cheats = cheats.map(|it| Some((it.name, it.why.as_str())));
        let all = cheats.chain([None]);
        all.map(move |cheat| Expected { phase, cheat })
    };
    Phase::ALL.into_iter().flat_map(of).collect()
}

/// One session, and what became of it.
#[derive(Debug)]
struct Attempt {
    phase: String,
    /// All that it was told.
    prompt: String,
    /// Why it was refused; nothing if it was not.
    refusal: Option<String>,
}

/// All attempts in their order. Each is a task whose name has its number, and so has the head of its prompt.
fn attempts(log: &[Value], prompts: &[String]) -> Result<Vec<Attempt>> {
    let mut attempts: Vec<Attempt> = vec![];
    for event in log {
        let event = &event["event"];
        let text = |name: &str| event[name].as_str().map(str::to_owned);
        match event["type"].as_str().context("an event has a type")? {
            "opened" => {
                let phase = text("phase").context("a task is of a phase")?;
                let head = format!("\ntask: calc.{}-{phase}\n", attempts.len() + 1);
                let prompt = prompts.iter().find(|it| it.contains(&head));
                attempts.push(Attempt {
                    phase,
                    prompt: prompt.cloned().unwrap_or_default(),
                    refusal: None,
                });
            }
            "refused" => {
                let attempt = attempts.last_mut().context("nothing was attempted")?;
                attempt.refusal = text("reason");
            }
            _ => {}
        }
    }
    Ok(attempts)
}

/// What is wrong with how sessions were met.
fn compared(expected: &[Expected<'_>], attempts: &[Attempt]) -> Vec<String> {
    let mut complaints: Vec<_> = { expected.iter().zip(attempts).enumerate() }
        .filter_map(|(at, (expected, attempt))| {
            let what = expected.cheat.map_or("honest work", |(name, _)| name);
            let wrong = wrong(expected, attempt, attempts.get(at + 1))?;
            Some(format!("{}: {what}: {wrong}", expected.phase.word()))
        })
        .collect();
    if expected.len() != attempts.len() {
        let (wanted, found) = (expected.len(), attempts.len());
        complaints.push(format!("{found} sessions where {wanted} were to be"));
    }
    complaints
}

fn wrong(expected: &Expected<'_>, attempt: &Attempt, next: Option<&Attempt>) -> Option<String> {
    if attempt.phase != expected.phase.word() {
        return Some(format!("the run was at {}", attempt.phase));
    }
    match (expected.cheat, &attempt.refusal) {
        (None, None) => None,
        (None, Some(reason)) => Some(format!("was refused: {reason}")),
        (Some(_), None) => Some("was believed".to_owned()),
        (Some((_, why)), Some(reason)) if !reason.contains(why) => {
            Some(format!("was refused, but not because `{why}`: {reason}"))
        }
        (Some(_), Some(reason)) => {
            let line = reason.lines().next().unwrap_or_default();
            let is_told = next.is_some_and(|it| it.prompt.contains(line));
            (!is_told).then(|| format!("the next session was not told: {line}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHASE: Phase = Phase::Red;

    fn attempt(prompt: &str, refusal: Option<&str>) -> Attempt {
        Attempt {
            phase: PHASE.word().to_owned(),
            prompt: prompt.to_owned(),
            refusal: refusal.map(str::to_owned),
        }
    }

    fn complaints(attempts: &[Attempt]) -> usize {
        let cheats = [Some(("skips", "is skipped")), None];
        let expected = cheats.map(|cheat| Expected {
            phase: PHASE,
            cheat,
        });
        compared(&expected, attempts).len()
    }

    #[test]
    fn a_cheat_must_be_refused_for_its_reason_and_the_next_must_know() {
        let refused = || attempt("", Some("`new` is skipped"));
        let told = || attempt("> `new` is skipped\n", None);
        assert_eq!(complaints(&[refused(), told()]), 0);
        assert_eq!(complaints(&[refused(), attempt("", None)]), 1);
        assert_eq!(complaints(&[attempt("", Some("else")), told()]), 1);
        assert_eq!(complaints(&[attempt("", None), told()]), 1);
        assert_eq!(complaints(&[attempt("", None)]), 2);
        let honest = attempt("> `new` is skipped\n", Some("no"));
        assert_eq!(complaints(&[refused(), honest]), 1);
    }

    #[test]
    fn an_attempt_is_known_by_its_number() {
        let event = |it: Value| serde_json::json!({ "event": it });
        let opened = || event(serde_json::json!({ "type": "opened", "phase": "plan" }));
        let refused = event(serde_json::json!({ "type": "refused", "reason": "no" }));
        let prompts = ["---\ntask: calc.2-plan\nno".to_owned()];
        let found = attempts(&[opened(), refused, opened()], &prompts).unwrap();
        let told: Vec<_> = { found.iter() }
            .map(|it| (it.refusal.is_some(), it.prompt.is_empty()))
            .collect();
        assert_eq!(told, [(true, true), (false, false)]);
    }
}
