//! What a worker costs: how soon the next agent runs, what a batch takes beside the ideal schedule, and what a worker needs that
//! has nothing to do.

mod chronicle;
mod waits;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use handoff_core::Timestamp;
use handoff_core::time::Clock as _;
use handoff_process::SystemClock;

use self::chronicle::Chronicle;
use super::dump::{append, append_only};
use super::race::{Lane, race, to_the_end};
use super::report::{Report, Target};
use super::samples::milliseconds;
use super::sessions::pss;
use super::stage::Stage;
use super::{Run, binaries};
use handoff_chores::processor_time::{pause, share_of_a_core};

/// The files of the repository that agents work on.
const FILES: usize = 100;
/// The batch: so many parts, so long each, so many at once.
const PARTS: u32 = 32;
const PART_TAKES: Duration = Duration::from_secs(2);
const SLOTS: u32 = 8;

pub(super) fn bench(run: &mut Run) -> Result<Report> {
    let binary = binaries::handoff(&run.profile)?;
    let mut report = run.report("worker");
    // First: a file system that has just been rid of ten thousand files takes longer to make new ones (ext4 without a journal
    // passes over what was freed in the last minutes).
    spread(&binary, run, &mut report)?;
    following(&binary, run, &mut report)?;
    idle(&binary, run, &mut report)?;
    Ok(report)
}

/// A repository of so many files.
fn stage(binary: &Path) -> Result<Stage> {
    let stage = Stage::set(binary, None)?;
    for number in 0..FILES {
        stage.write(&format!("file-{number}"), &format!("This is {number}.\n"));
    }
    stage.commit("files");
    Ok(stage)
}

fn script(stage: &Stage, text: &str) -> Result<PathBuf> {
    let path = stage.directory().join("agent.toml");
    fs::write(&path, text)?;
    Ok(path)
}

/// Adds a task with the least of a check.
fn with_check(name: &str) -> [&str; 7] {
    let brief = "Write it.";
    ["queue", "add", name, "--brief", brief, "--verify", "true"]
}

fn work(stage: &Stage, slots: u32, script: &Path) -> Result<()> {
    let mut worker = stage.handoff(["worker", "--until-empty", "--slots", &slots.to_string()]);
    worker.arg("--script").arg(script);
    to_the_end(worker).map(drop)
}

/// From the recorded outcome of one task to the start of the agent of the next, in one slot. Each has a check: without one the
/// next agent begins before the outcome is recorded. The tree is most often made ahead, so that no git is in it, and none is taken
/// off.
fn following(binary: &Path, run: &mut Run, report: &mut Report) -> Result<()> {
    let text = "[[step]]\nwrite = { path = \"new\", text = \"text\" }\n";
    let waits = waits::between(binary, text)?;
    let stage = stage(binary)?;
    let script = script(&stage, text)?;
    for number in 0..run.scope.choose(10, 100) {
        let name = format!("task-{number}");
        stage.say(with_check(&name))?;
    }
    work(&stage, 1, &script)?;
    let told = Chronicle::read(&stage)?;
    let samples = told.outcome_to_start();
    let mut trees = 0;
    let mut appended = append_only(&stage)?;
    let lanes = vec![
        Lane::new("git worktree add", || {
            trees += 1;
            let mut git = stage.program("git");
            git.args(["worktree", "add", "--quiet", "-b", &format!("raw-{trees}")]);
            git.arg(stage.directory().join(format!("raw-{trees}")));
            to_the_end(git)
        }),
        Lane::new("fdatasync", || append(&mut appended)),
    ];
    let floor = race(lanes, run.scope.choose(10, 100), &mut run.order)?;
    let [tree, sync] = ["git worktree add", "fdatasync"].map(|it| floor[it].median());
    let contained = sync * waits.unwrap_or(1);
    let above = milliseconds(samples.median()) - milliseconds(contained);
    report.figure(
        "from an outcome to the next agent, above the fdatasyncs in it",
        (above, "ms"),
        Target::AtMost(20.0),
    );
    report.remark(match waits {
        Some(waits) => format!(
            "It has {waits} waits for the disk in it: {:.2} ms. A `git worktree add` would take {:.2} ms.",
            milliseconds(sync * waits),
            milliseconds(tree)
        ),
        None => "Waits for the disk are counted as one: strace is not installed.".to_owned(),
    });
    report.keep("from an outcome to the next agent", samples);
    report.keep(
        "from the end of an agent to its outcome",
        told.end_to_outcome(),
    );
    report.keep_all(floor);
    Ok(())
}

/// A batch whose parts take the same time, beside the schedule in which nothing but the parts takes any.
fn spread(binary: &Path, run: &Run, report: &mut Report) -> Result<()> {
    let stage = stage(binary)?;
    let parts = run.scope.choose(SLOTS, PARTS);
    let (manifest, text) = batch(parts);
    let path = stage.directory().join("batch.toml");
    fs::write(&path, manifest)?;
    stage.say([
        "dump",
        "--open-batch",
        path.to_str().context("a path that is text")?,
    ])?;
    let script = script(&stage, &text)?;
    let began = now()?;
    work(&stage, SLOTS, &script)?;
    let told = Chronicle::read(&stage)?;
    let took = told.parts_done_at().context("parts that were done")?;
    let took = Duration::try_from(took.duration_since(began))?;
    let ideal = PART_TAKES * parts.div_ceil(SLOTS);
    let percent = (took.as_secs_f64() / ideal.as_secs_f64() - 1.0) * 100.0;
    report.figure(
        format!(
            "{parts} parts of {} s in {SLOTS} slots, over the ideal schedule",
            PART_TAKES.as_secs()
        ),
        (percent, "%"),
        Target::AtMost(5.0),
    );
    report.remark(format!(
        "The parts took {:.3} s, the ideal is {} s; with the fan-in it is {:.3} s.",
        took.as_secs_f64(),
        ideal.as_secs(),
        Duration::try_from(
            told.last_outcome()
                .context("a batch")?
                .duration_since(began)
        )?
        .as_secs_f64()
    ));
    report.keep("batch: from an end to its outcome", told.end_to_outcome());
    report.keep("batch: from a claim to the agent", told.claim_to_start());
    Ok(())
}

/// A manifest and the script for it: each part waits, then writes a file of its own.
fn batch(parts: u32) -> (String, String) {
    let mut manifest =
        "schema_version = 2\nbatch_id = \"spread\"\nfan_in_task = \"merge\"\n".to_owned();
    let mut script = "[[step]]\nwhen = { env = \"HANDOFF_ROLE\", is = \"sub-task\" }\n".to_owned();
    writeln!(script, "wait = \"{}s\"", PART_TAKES.as_secs()).expect("a string takes it");
    for number in 0..parts {
        write!(
            manifest,
            "[[sub_tasks]]\nid = \"p{number}\"\nbrief = \"Write it.\"\nfile_ownership = [\"p{number}/\"]\n"
        )
        .expect("a string takes it");
        write!(
            script,
            "[[step]]\nwhen = {{ env = \"HANDOFF_TASK\", is = \"spread.p{number}\" }}\n\
             write = {{ path = \"p{number}/new\", text = \"text\" }}\n"
        )
        .expect("a string takes it");
    }
    (manifest, script)
}

fn now() -> Result<Timestamp> {
    Ok(SystemClock::read()?.now().wall)
}

/// A worker that waits for work.
fn idle(binary: &Path, run: &Run, report: &mut Report) -> Result<()> {
    let stage = stage(binary)?;
    let script = script(&stage, "[[step]]\nprint = \"hello\"\n")?;
    work(&stage, 1, &script)?;
    let mut command = stage.handoff(["worker", "--slots", "8", "--script"]);
    let mut worker = Ended(command.arg(script).spawn()?);
    pause(Duration::from_secs(2));
    if worker.0.try_wait()?.is_some() {
        bail!("the worker does not wait");
    }
    let pid = worker.0.id();
    let share = share_of_a_core(&[pid], Duration::from_secs(run.scope.choose(5, 65)))?;
    report.figure(
        "a worker without work",
        (share, "% of a core"),
        Target::AtMost(0.2),
    );
    report.figure(
        "a worker without work",
        (pss(pid)?, "MB PSS"),
        Target::AtMost(20.0),
    );
    Ok(())
}

/// A process that is ended with whoever wanted it.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // One that has ended already cannot be killed, and is all the same reaped.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_owns_what_its_script_writes() {
        let (manifest, script) = batch(2);
        let manifest: toml::Table = toml::from_str(&manifest).unwrap();
        let parts = manifest["sub_tasks"].as_array().unwrap();
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[1]["file_ownership"][0].as_str(), Some("p1/"));
        assert!(script.contains("is = \"spread.p1\" }\nwrite = { path = \"p1/new\""));
    }
}
