//! Ending what does not want to end (D12), and whose number means somebody else by now (D13).

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use handoff_process::tree;
use handoff_testkit::Prefix;
use rustix::process::{Pid, Signal, kill_process, set_child_subreaper};
use serde_json::Value;

use super::hostel::{Hostel, patiently, pid};
use super::product::{exit, expect_code};
use super::stage::{Findings, Stage, Tier, progress};
use handoff_chores::program::{program, timed};

/// It ignores what asks it to end. So does a child in a session of its own, and one whose parent is gone; both hold the terminal.
const DEAF: &str = "trap '' TERM HUP INT; setsid sh -c 'trap \"\" TERM HUP INT; (sleep 1000 &); echo >deaf; while :; do sleep 1000; done' & \
                    while :; do sleep 1000; done";
/// It starts others faster than one can look.
const BREEDING: &str = "echo >deaf; while :; do (sleep 5 &); done";
/// Where the kernel is told which number it gave last.
const LAST_PID: &str = "/proc/sys/kernel/ns_last_pid";
/// What ending takes beyond the time that was given.
const BEYOND: Duration = Duration::from_secs(3);

pub(super) fn stop(stage: &mut Stage) -> Result<()> {
    stage.trial(
        "deaf, in a session of its own, holding the terminal",
        |stage| stop_all(stage, DEAF),
    );
    stage.trial("breeding", |stage| stop_all(stage, BREEDING));
    // Twelve seconds of waiting, which not every change has to pay for.
    if stage.tier == Tier::Full {
        stage.trial("its holder hangs", hung);
    }
    Ok(())
}

fn stop_all(stage: &Stage, agent: &str) -> Result<Findings> {
    let rounds = stage.count(1, 10);
    let mut complaints = vec![];
    for round in 0..rounds {
        progress("stops", round, rounds);
        let grace = Duration::from_secs(u64::try_from(round % 3)?);
        complaints.extend(stop_one(stage, agent, grace)?);
    }
    Ok(Findings {
        count: rounds,
        complaints,
        ..Findings::default()
    })
}

fn stop_one(stage: &Stage, agent: &str, grace: Duration) -> Result<Vec<String>> {
    let hostel = Hostel::open(stage.product());
    hostel.run("deaf", &["sh", "--", "-c", agent])?;
    let file = hostel.file("deaf");
    patiently("the agent begins", || Ok(file.exists().then_some(())))?;
    let mut reader = follow(&hostel, "deaf")?;
    let seconds = grace.as_secs().to_string();
    let words = ["stop", "--id", "deaf", "--timeout", &seconds];
    let (stopped, took) = timed(|| hostel.product.run(words));
    let mut complaints: Vec<_> = expect_code(&stopped, "stop", &[exit::DONE])
        .into_iter()
        .collect();
    if took > grace + BEYOND {
        complaints.push(format!("stop took {took:.1?} with {grace:?} to spare"));
    }
    let ended = patiently("the reader ends", || Ok(reader.try_wait()?));
    if ended.is_err() {
        complaints.push("one who reads what it prints does not end".to_owned());
        reader.kill()?;
        reader.wait()?;
    }
    complaints.extend(hostel.left()?);
    Ok(complaints)
}

/// A holder that never comes back from a system call is killed, and all of its session with it.
fn hung(stage: &Stage) -> Result<Findings> {
    let hostel = Hostel::open(stage.product());
    let holder = pid(&hostel.bash("hung")?, "holder_pid")?.to_string();
    let words = [
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "trace=poll",
        "-e",
        "inject=poll:delay_enter=60s",
        "-p",
        &holder,
    ];
    let mut tracer = program("strace").args(words).spawn()?;
    patiently("the holder is traced", || {
        let status = fs::read_to_string(format!("/proc/{holder}/status"))?;
        Ok((!status.contains("TracerPid:\t0\n")).then_some(()))
    })?;
    let stopped = hostel
        .product
        .run(["stop", "--id", "hung", "--timeout", "0"]);
    tracer.wait()?;
    let mut complaints: Vec<_> = expect_code(&stopped, "stop", &[exit::UNAVAILABLE])
        .into_iter()
        .collect();
    complaints.extend(hostel.left()?);
    Ok(Findings {
        count: 1,
        complaints,
        ..Findings::default()
    })
}

fn follow(hostel: &Hostel, name: &str) -> Result<Child> {
    let words = ["logs", "--id", name, "--follow"];
    let mut command = hostel.product.command(&Prefix::none(), words);
    Ok(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?)
}

pub(super) fn reuse(stage: &mut Stage) -> Result<()> {
    stage.trial("the record names a stranger", |stage| {
        let hostel = Hostel::open(stage.product());
        let session = hostel.bash("dead")?;
        let record = lose(&hostel, &session)?;
        let stranger = Stranger::start()?;
        rename(&record, stranger.number())?;
        judge(&hostel, stranger)
    });
    // A container may keep the number that was given last to itself.
    if fs::OpenOptions::new().write(true).open(LAST_PID).is_ok() {
        stage.trial("a stranger gets the number", |stage| {
            let _adopter = Adopter::become_one()?;
            let hostel = Hostel::open(stage.product());
            let session = hostel.bash("dead")?;
            lose(&hostel, &session)?;
            Adopter::bury();
            let stranger = Stranger::with_number(pid(&session, "holder_pid")?)?;
            judge(&hostel, stranger)
        });
    }
    Ok(())
}

/// Kills all of a session at once, and says where its record is.
fn lose(hostel: &Hostel, session: &Value) -> Result<std::path::PathBuf> {
    for pid in hostel.processes()? {
        kill(pid);
    }
    let left = hostel.left()?;
    anyhow::ensure!(left.is_empty(), "{}", left.join("; "));
    let journal = session["events_log_path"].as_str();
    let journal = journal.context("a session has a journal")?;
    Ok(Path::new(journal).with_file_name("session.json"))
}

fn kill(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It may have ended with another one.
        kill_process(pid, Signal::KILL).ok();
    }
}

/// Puts another number in place of those of a session's processes.
fn rename(record: &Path, stranger: u32) -> Result<()> {
    let mut value: Value = serde_json::from_slice(&fs::read(record)?)?;
    for process in ["holder", "child"] {
        value[process]["pid"] = stranger.into();
    }
    value["warden"] = stranger.into();
    Ok(fs::write(record, serde_json::to_vec(&value)?)?)
}

/// Whatever is done to the session, the stranger lives on.
fn judge(hostel: &Hostel, mut stranger: Stranger) -> Result<Findings> {
    let mut complaints = vec![];
    let listed = hostel.listed("dead")?;
    if listed["state"] != "lost" {
        complaints.push(format!("it is {}", listed["state"]));
    }
    let all = [
        &["stop", "--id", "dead"][..],
        &["stop", "--id", "dead", "--timeout", "0"],
        &["interrupt", "--id", "dead"],
        &["pane", "--id", "dead"],
        &["send", "--id", "dead", "--message", "x"],
    ];
    for words in all {
        if hostel.product.run(words).status.success() {
            complaints.push(format!("`{}` works on a lost session", words.join(" ")));
        }
    }
    hostel.bash("dead")?;
    hostel.say(["stop", "--id", "dead"])?;
    if stranger.process.try_wait()?.is_some() {
        complaints.push("the stranger was ended".to_owned());
    }
    complaints.extend(hostel.left()?);
    Ok(Findings {
        count: all.len() + 2,
        complaints,
        ..Findings::default()
    })
}

/// Gives numbers back: what has ended keeps its own until somebody asks how, and not every machine has one who does.
struct Adopter;

impl Adopter {
    fn become_one() -> Result<Self> {
        tree::adopt()?;
        Ok(Self)
    }

    fn bury() {
        tree::reap_orphans(&[]);
    }
}

impl Drop for Adopter {
    fn drop(&mut self) {
        // Whoever is adopted after that is somebody else's.
        set_child_subreaper(None).ok();
    }
}

/// A process that has nothing to do with any session.
struct Stranger {
    process: Child,
}

impl Stranger {
    fn start() -> Result<Self> {
        let process = program("sleep").arg("1000").spawn()?;
        Ok(Self { process })
    }

    /// One with just this number, which is free: the kernel is told which it gave last. Others may be quicker.
    fn with_number(number: u32) -> Result<Self> {
        for _ in 0..500 {
            let last = number
                .checked_sub(1)
                .context("no process has the number 0")?;
            fs::write(LAST_PID, last.to_string())?;
            let stranger = Self::start()?;
            if stranger.number() == number {
                return Ok(stranger);
            }
        }
        bail!("no process could be given the number {number}")
    }

    fn number(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        // It may be what was ended by mistake.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
