//! The parts that other processes play in a fault: xtask runs itself again, told by its arguments which
//! part is its own. Each prints a line for every step, which is how the conductor knows when to strike.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use handoff_core::ProjectId;
use handoff_files::Dir;
use handoff_files::atomic::{self, Mode, WriteError};
use handoff_store::tasks::Which;
use handoff_store::{read, tasks};
use rustix::process::{Signal, set_parent_process_death_signal};

use super::clerk::Clerk;
use super::door::Door;
use super::history::{Act, Refused, Reply};
use handoff_chores::{Verdict, output};

/// Play a part in a fault; started by `campaign`.
#[derive(Args, Debug)]
pub(crate) struct PartArgs {
    #[command(subcommand)]
    part: Part,
}

#[derive(Debug, Subcommand)]
enum Part {
    /// Claim and complete, until all is done and nothing more will come.
    Work(Place),
    /// Add tasks.
    Add {
        #[command(flatten)]
        place: Place,
        /// Stop after so many.
        #[arg(long)]
        count: Option<usize>,
    },
    /// Hold a lease by heartbeats until it is lost.
    Hold {
        #[command(flatten)]
        place: Place,
        #[arg(long)]
        ttl_seconds: u64,
    },
    /// Create and replace files.
    Write { directory: PathBuf, acks: PathBuf },
}

/// Where a part works.
#[derive(Args, Debug)]
struct Place {
    #[arg(long)]
    door: Door,
    #[arg(long)]
    project: ProjectId,
    #[arg(long)]
    history: PathBuf,
    /// When this file is there nothing more will come.
    #[arg(long)]
    end: PathBuf,
}

pub(crate) fn run(args: &PartArgs) -> Result<Verdict> {
    // Whoever started us may be killed, and nobody else would end us.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    match &args.part {
        Part::Work(place) => work(place)?,
        Part::Add { place, count } => add(place, *count)?,
        Part::Hold { place, ttl_seconds } => hold(place, Duration::from_secs(*ttl_seconds))?,
        Part::Write { directory, acks } => write(directory, acks)?,
    }
    Ok(Verdict::Good)
}

impl Place {
    fn clerk(&self) -> Result<Clerk> {
        Clerk::open(&self.door, self.project, &self.history)
    }

    /// The names and keys of a history begin alike, and no other history's do.
    fn prefix(&self) -> Result<&str> {
        let name = self.history.file_name().and_then(|name| name.to_str());
        name.context("the history has no name")
    }
}

/// How long to wait for a bell: leases run out without ringing it.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

fn work(place: &Place) -> Result<()> {
    let mut clerk = place.clerk()?;
    let mut bell = clerk.store.bell()?;
    let mut last = take_over(&mut clerk)?;
    let mut number = clerk.inherited.len();
    loop {
        let act = match last {
            Some((Act::Claim, Reply::Done { task, fence, .. })) => Act::Complete { task, fence },
            _ => Act::Claim,
        };
        let is_last_round = place.end.exists();
        number += 1;
        let reply = clerk.ask(&format!("{}-{number}", place.prefix()?), &act)?;
        output::say(&format!("{reply:?}"));
        if reply == Reply::Nothing {
            if is_last_round && open_tasks(&mut clerk, 1)? == 0 {
                return Ok(());
            }
            bell.wait(LOOK_AGAIN)?;
        }
        last = Some((act, reply));
    }
}

/// Repeats the call in whose middle the clerk before us was killed, with its key.
fn take_over(clerk: &mut Clerk) -> Result<Option<(Act, Reply)>> {
    let Some(call) = clerk
        .inherited
        .last()
        .filter(|call| call.is_open())
        .cloned()
    else {
        return Ok(None);
    };
    let reply = clerk.ask(&call.key, &call.act)?;
    output::say(&format!("{reply:?}"));
    Ok(Some((call.act, reply)))
}

/// How many tasks have not come to their end, counted up to a limit.
fn open_tasks(clerk: &mut Clerk, limit: u32) -> Result<usize> {
    let project = clerk.project;
    let page = read(&mut *clerk.store, |tx| {
        tasks::page(tx, project, Which::Open, None, limit)
    })?;
    Ok(page.len())
}

/// Adders go ahead of workers by a bounded number of tasks, or most of the run would be adding.
const AHEAD: u32 = 40;

fn add(place: &Place, count: Option<usize>) -> Result<()> {
    let mut clerk = place.clerk()?;
    let mut bell = clerk.store.bell()?;
    take_over(&mut clerk)?;
    let mut number = clerk.inherited.len();
    while !place.end.exists() && count.is_none_or(|count| number < count) {
        if count.is_none() && open_tasks(&mut clerk, AHEAD)? == AHEAD as usize {
            bell.wait(LOOK_AGAIN)?;
            continue;
        }
        number += 1;
        let name = format!("{}-{number}", place.prefix()?);
        let reply = clerk.ask(&name, &Act::Add { name: name.clone() })?;
        output::say(&format!("{reply:?}"));
    }
    Ok(())
}

/// Claims, renews three times in each term, and says what it is told. When the lease is lost it
/// tries to complete all the same.
fn hold(place: &Place, ttl: Duration) -> Result<()> {
    let mut clerk = place.clerk()?.with_ttl(ttl)?;
    let mut bell = clerk.store.bell()?;
    let claimed = clerk.ask("hold-claim", &Act::Claim)?;
    output::say(&format!("{claimed:?}"));
    let Reply::Done { task, fence, .. } = claimed else {
        return Ok(());
    };
    for number in 1.. {
        // Our own writes ring the bell too; only silence lets the time pass.
        while bell.wait(ttl / 3)? == handoff_store::Ring::Rung {}
        let task = task.clone();
        let act = Act::Renew { task, fence };
        let renewed = clerk.ask(&format!("hold-{number}"), &act)?;
        output::say(&format!("{renewed:?}"));
        if renewed == Reply::Refused(Refused::LeaseLost) {
            break;
        }
    }
    let completed = clerk.ask("hold-complete", &Act::Complete { task, fence })?;
    output::say(&format!("{completed:?}"));
    Ok(())
}

/// Acknowledges each file after it was written: `new NAME` once, `old NUMBER` for each content.
fn write(directory: &Path, acks: &Path) -> Result<()> {
    use std::io::Write as _;
    let dir = Dir::create_private(directory)?;
    let mut acks = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(acks)?;
    for number in 1_u32.. {
        let name = format!("new-{number}");
        let content = file_content(number);
        let created = atomic::create_new(&dir, &name, &content, Mode::Private);
        let replaced = created.and_then(|()| atomic::replace(&dir, "old", &content, Mode::Private));
        match replaced {
            Ok(()) => acks.write_all(format!("{number}\n").as_bytes())?,
            Err(WriteError::AlreadyExists(_)) => {}
            Err(error) => return Err(error.into()),
        }
        output::say(&name);
    }
    Ok(())
}

/// Longer than a page, and telling its number at both ends.
pub(super) fn file_content(number: u32) -> Vec<u8> {
    format!("{number}\n").repeat(3000).into_bytes()
}
