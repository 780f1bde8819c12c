//! What the tool itself takes of a phase of a workflow: the time between two proofs without that of the agent, of git and of the
//! tests, which are shown apart.
//!
//! When each program ran is told by strace, which stops a process only where it becomes another one or ends.

mod trace;

use std::ffi::OsString;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use handoff_core::Timestamp;
use handoff_testkit::kata::{Kata, PROOFS, Troupe};
use handoff_testkit::{GitRepo, TestEnv};
use serde_json::Value;

use self::trace::{Kind, Span, Spans};
use super::report::{Report, Target};
use super::samples::Samples;
use super::{Run, binaries};

pub(super) fn bench(run: &mut Run) -> Result<Report> {
    let binary = binaries::handoff(&run.profile)?;
    let mut phases = vec![];
    for _ in 0..run.scope.choose(1, 7) {
        phases.extend(one_run(TestEnv::new(&binary))?);
    }
    let mut report = run.report("workflow");
    let of = |part: fn(&Phase) -> Duration| Samples::of(phases.iter().map(part));
    let own = of(|it| it.own);
    report.figure(
        "a phase, without agent, git and tests",
        (super::samples::milliseconds(own.median()), "ms"),
        Target::AtMost(100.0),
    );
    report.keep("whole", of(|it| it.whole));
    report.keep("agent", of(|it| it.agent));
    report.keep("git", of(|it| it.git));
    report.keep("tests", of(|it| it.tests));
    report.keep("the tool", own);
    for name in ["plan", "red", "green", "refactor"] {
        let of_it = phases.iter().filter(|it| it.name == name);
        report.keep(
            format!("the tool in {name}"),
            Samples::of(of_it.map(|it| it.own)),
        );
    }
    Ok(report)
}

/// How long one phase took, and who took it.
struct Phase {
    name: String,
    whole: Duration,
    agent: Duration,
    git: Duration,
    tests: Duration,
    own: Duration,
}

/// A project in JavaScript grows by three tests.
fn one_run(mut env: TestEnv) -> Result<Vec<Phase>> {
    let kata = Kata::javascript();
    let repo = env.repo("repo");
    let troupe = Troupe::engage(&mut env, &kata, &[]);
    kata.lay(&repo);
    let log = env.work().join("trace");
    let words = "workflow run tdd --goal Sums. --name calc --script";
    let words = words.split(' ').map(OsString::from);
    let mut command = env.command("strace");
    command.args([
        "-f",
        "--seccomp-bpf",
        "-ttt",
        "-s",
        "200",
        "-e",
        "trace=execve",
    ]);
    command
        .args(["-e", "signal=none", "-o"])
        .arg(&log)
        .arg("--");
    command.arg(env.binary()).args(words).arg(troupe.script());
    command.current_dir(repo.path());
    let output = env.run(command);
    ensure!(output.status.success(), "must work: {}", output.snapshot());
    let spans = trace::read(&std::fs::read_to_string(&log)?);
    let moments = moments(&env, &repo)?;
    ensure!(moments.len() == PROOFS.len() + 1, "not all was proved");
    let pairs = moments.windows(2).map(|pair| (pair[0].1, &pair[1]));
    Ok(pairs
        .map(|(from, (name, to))| phase(name, from, *to, &spans))
        .collect())
}

/// When the run began, and when each phase of it was proved.
fn moments(env: &TestEnv, repo: &GitRepo) -> Result<Vec<(String, Timestamp)>> {
    let words = ["workflow", "log", "calc", "--json"];
    let output = env.handoff_in(repo.path(), words);
    let events = output.stdout.lines().map(serde_json::from_str::<Value>);
    let events = events.collect::<Result<Vec<_>, _>>()?;
    let told = events.iter().filter(|it| {
        let kind = it["event"]["type"].as_str();
        matches!(kind, Some("begun" | "proved"))
    });
    told.map(|it| {
        let name = it["event"]["phase"].as_str().unwrap_or_default();
        let at = it["at"].as_str().context("an event has a time")?;
        Ok((name.to_owned(), at.parse()?))
    })
    .collect()
}

fn phase(name: &str, from: Timestamp, to: Timestamp, spans: &Spans) -> Phase {
    let window = Span::between(from, to);
    // The tool speaks inside the agent's time, when a session says that it is done.
    let agent = spans.of(Kind::Agent).without(&spans.of(Kind::Tool));
    let (git, tests) = (spans.of(Kind::Git), spans.of(Kind::Tests));
    let others = agent.and(&git).and(&tests);
    let whole = window.length();
    Phase {
        name: name.to_owned(),
        whole,
        agent: agent.within(window),
        git: git.within(window),
        tests: tests.within(window),
        own: whole.saturating_sub(others.within(window)),
    }
}
