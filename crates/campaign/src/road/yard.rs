//! A repository with workers in it, somebody who follows its ledger, and what must be true of both when all is over.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use handoff_testkit::Prefix;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::hostel::Hostel;
use crate::product::Product;
use handoff_chores::processor_time::pause;
use handoff_chores::program::timed;

/// How long something that must happen may take, also on a server where a lease has to run out first.
const PATIENCE: Duration = Duration::from_secs(240);
const MOMENT: Duration = Duration::from_millis(20);

pub(super) struct Yard {
    pub(super) hostel: Hostel,
}

impl Yard {
    pub(super) fn open(product: Product) -> Result<Self> {
        // Who commits is not asked of the machine that the campaign runs on.
        product.repo.git(["config", "user.name", "campaign"]);
        product
            .repo
            .git(["config", "user.email", "campaign@localhost"]);
        let yard = Self {
            hostel: Hostel::open(product),
        };
        yard.hostel.product.answer(["queue", "list"])?;
        Ok(yard)
    }

    pub(super) fn scratch(&self) -> PathBuf {
        self.hostel.product.env.work()
    }

    /// Opens a batch of so many parts, each with a directory of its own.
    pub(super) fn open_batch(&self, parts: usize) -> Result<()> {
        self.open_batch_checked(parts, "test -e p0/new")
    }

    /// The same with a check of the whole.
    pub(super) fn open_batch_checked(&self, parts: usize, check: &str) -> Result<()> {
        let mut text = format!(
            "schema_version = 2\nbatch_id = \"spread\"\nfan_in_task = \"merge\"\n[fan_in]\nverify = \"{check}\"\n"
        );
        for number in 0..parts {
            write!(
                text,
                "[[sub_tasks]]\nid = \"p{number}\"\nbrief = \"Write it.\"\nfile_ownership = [\"p{number}/\"]\n"
            )?;
        }
        let path = self.scratch().join("batch.toml");
        fs::write(&path, text)?;
        let path = path.to_str().context("a path that is text")?;
        self.hostel.say(["dump", "--open-batch", path])?;
        Ok(())
    }

    /// Looks until there is something.
    pub(super) fn until<T>(
        &self,
        what: &str,
        mut look: impl FnMut() -> Result<Option<T>>,
    ) -> Result<T> {
        let mut waited = Duration::ZERO;
        loop {
            if let Some(found) = look()? {
                return Ok(found);
            }
            if waited > PATIENCE {
                bail!("it does not come to pass that {what}: {}", self.standing());
            }
            pause(MOMENT);
            waited += MOMENT;
        }
    }

    fn standing(&self) -> String {
        let list = self.hostel.product.run(["queue", "list"]);
        list.stdout
    }

    pub(super) fn is_done(&self, words: &[&str]) -> Result<Option<()>> {
        let shown = self.hostel.say(words)?;
        Ok((shown["state"] == "done").then_some(()))
    }

    pub(super) fn is_claimed(&self, task: &str) -> Result<Option<()>> {
        let task = self.hostel.say(["queue", "show", task])?;
        Ok((task["attempts"] != 0).then_some(()))
    }

    /// How many tasks have not ended.
    pub(super) fn open_tasks(&self) -> Result<usize> {
        let list = self.hostel.say(["queue", "list"])?;
        let tasks = list["tasks"].as_array().context("a list of tasks")?;
        Ok(tasks.len())
    }

    /// The ids of the sessions that live.
    pub(super) fn live_sessions(&self) -> Result<Vec<String>> {
        let list = self.hostel.say(["ps"])?;
        let sessions = list["sessions"].as_array().context("a list of sessions")?;
        let ids = sessions.iter().filter_map(|it| it["id"].as_str());
        Ok(ids.map(str::to_owned).collect())
    }

    /// Signals everything that was started in this yard.
    pub(super) fn signal_all(&self, signal: Signal) -> Result<()> {
        for pid in self.hostel.processes()? {
            let pid = Pid::from_raw(i32::try_from(pid)?).context("a process has a number")?;
            // It may have ended meanwhile, and nothing else has the mark.
            kill_process(pid, signal).ok();
        }
        Ok(())
    }

    /// A last worker puts right what killed ones left.
    pub(super) fn tidy(&self, script: &Path) -> Result<()> {
        let script = script.to_str().context("a path that is text")?;
        let output = self
            .hostel
            .product
            .run(["worker", "--until-empty", "--script", script]);
        if !output.status.success() {
            bail!("the last worker: {}", output.snapshot());
        }
        Ok(())
    }

    /// How often tasks were claimed.
    pub(super) fn attempts(&self) -> Result<usize> {
        let events = self.hostel.product.events()?;
        let is_claim = |it: &&Value| it["event"]["type"] == "claimed";
        Ok(events.iter().filter(is_claim).count())
    }

    /// What must not be, whatever was done to the workers.
    pub(super) fn complaints(&self) -> Result<Vec<String>> {
        let mut complaints = self.hostel.product.audit()?;
        complaints.extend(histories(&self.hostel.product.events()?));
        let repo = &self.hostel.product.repo;
        let trees = repo.git(["worktree", "list"]);
        if trees.lines().count() != 1 {
            complaints.push(format!("worktrees are left: {trees}"));
        }
        repo.fsck();
        complaints.extend(self.hostel.left()?);
        Ok(complaints)
    }

    /// The person whom a task waits for that took one worker after the other along: it is to be tried again.
    pub(super) fn insist(&self) {
        self.hostel.product.run(["batch", "retry", "spread"]);
    }

    /// The parts that are not on the branch of the batch.
    pub(super) fn missing_parts(&self, parts: usize) -> Vec<String> {
        let repo = &self.hostel.product.repo;
        let is_there = |number: &usize| {
            let name = format!("refs/heads/handoff/spread:p{number}/new");
            repo.resolve(&name).is_some()
        };
        let missing = (0..parts).filter(|number| !is_there(number));
        missing
            .map(|number| format!("part {number} is not on the branch"))
            .collect()
    }
}

/// Whether each task was completed once, under a fence that was claimed, and fences rise.
fn histories(events: &[Value]) -> Vec<String> {
    let mut streams: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for event in events {
        let stream = event["stream"].as_str().unwrap_or_default();
        streams.entry(stream).or_default().push(event);
    }
    let mut complaints = vec![];
    for (stream, events) in streams {
        let numbers: Vec<_> = events.iter().filter_map(|it| it["seq"].as_u64()).collect();
        if !numbers.iter().copied().eq(1..=events.len() as u64) {
            complaints.push(format!(
                "the numbers of {stream} are not in order: {numbers:?}"
            ));
        }
        let of = |kind: &str| {
            let found = events.iter().filter(move |it| it["event"]["type"] == kind);
            found.map(|it| it["event"].clone()).collect::<Vec<_>>()
        };
        let fences: Vec<_> = of("claimed")
            .iter()
            .map(|it| it["lease"]["fence"].as_u64())
            .collect();
        if !fences.is_sorted_by(|a, b| a < b) {
            complaints.push(format!("the fences of {stream} do not rise: {fences:?}"));
        }
        let completed = of("completed");
        let is_task = stream.starts_with("task_");
        if is_task && completed.len() != 1 {
            complaints.push(format!("{stream} was completed {} times", completed.len()));
        }
        if completed
            .iter()
            .any(|it| it["fence"].as_u64() != fences.last().copied().flatten())
        {
            complaints.push(format!("{stream} was completed under an old fence"));
        }
    }
    complaints
}

/// A worker of the product. Dropping it kills it.
pub(super) struct Worker {
    child: Child,
    log: PathBuf,
}

impl Worker {
    pub(super) fn start(yard: &Yard, slots: usize, script: &Path) -> Result<Self> {
        Self::start_under(&Prefix::none(), yard, slots, script)
    }

    pub(super) fn start_under(
        prefix: &Prefix,
        yard: &Yard,
        slots: usize,
        script: &Path,
    ) -> Result<Self> {
        let log = yard
            .scratch()
            .join(handoff_process::mint().simple().to_string());
        let mut command = yard.hostel.product.command(prefix, ["worker", "--slots"]);
        command.arg(slots.to_string()).arg("--script").arg(script);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.stderr(File::create(&log)?).spawn()?;
        Ok(Self { child, log })
    }

    /// Kills one, and starts another at once.
    pub(super) fn start_instead_of(
        old: Self,
        yard: &Yard,
        slots: usize,
        script: &Path,
    ) -> Result<Self> {
        old.kill()?;
        Self::start(yard, slots, script)
    }

    pub(super) fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    pub(super) fn times_said(&self, part: &str) -> usize {
        fs::read_to_string(&self.log)
            .unwrap_or_default()
            .matches(part)
            .count()
    }

    /// Waits until it has said something so often, and tells how long that took.
    pub(super) fn heard(&self, part: &str, times: usize) -> Result<Duration> {
        let (heard, span) = timed(|| self.wait_for(part, times));
        heard.map(|()| span)
    }

    fn wait_for(&self, part: &str, times: usize) -> Result<()> {
        let mut waited = Duration::ZERO;
        while self.times_said(part) < times {
            if waited > PATIENCE {
                let said = fs::read_to_string(&self.log).unwrap_or_default();
                bail!("it never says {part:?}, but: {said}");
            }
            pause(MOMENT);
            waited += MOMENT;
        }
        Ok(())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // One that was waited for is not signalled again.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Somebody who follows the ledger.
pub(super) struct Follower {
    child: Child,
    heard: PathBuf,
}

impl Follower {
    pub(super) fn start(yard: &Yard, outside: &Path) -> Result<Self> {
        let heard = outside.join("followed");
        let words = ["events", "--follow", "--everything"];
        let mut command = yard.hostel.product.command(&Prefix::none(), words);
        command.stdin(Stdio::null()).stdout(File::create(&heard)?);
        let child = command.spawn()?;
        Ok(Self { child, heard })
    }

    /// Whether every event was heard once, in the order of the ledger.
    pub(super) fn complaints(mut self, yard: &Yard) -> Result<Vec<String>> {
        let cursors = |events: &[Value]| {
            let cursors = events.iter().map(|it| it["cursor"].to_string());
            cursors.collect::<Vec<_>>()
        };
        let there = cursors(&yard.hostel.product.events()?);
        let heard = yard.until("the follower has heard all", || {
            let lines = fs::read_to_string(&self.heard)?;
            let whole = lines
                .split_inclusive('\n')
                .filter(|line| line.ends_with('\n'));
            let events: Vec<Value> = whole.map(serde_json::from_str).collect::<Result<_, _>>()?;
            Ok((events.len() >= there.len()).then(|| cursors(&events)))
        })?;
        self.child.kill()?;
        self.child.wait()?;
        let is_same = heard == there;
        Ok(if is_same {
            vec![]
        } else {
            vec![format!(
                "the follower heard {} of {} events, or in another order",
                heard.len(),
                there.len()
            )]
        })
    }
}
