//! What all faults share: the tier and its counts, the dice, the stores, the binary, and the list of results.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use handoff_testkit::Need;
use handoff_testkit::postgres::{Cluster, Database, Disk};
use serde::Serialize;
use tempfile::TempDir;

use super::dice::Dice;
use super::door::Door;
use super::product::Product;
use super::{Fault, Stores};
use handoff_chores::{output, product, program};

/// How often each fault is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Tier {
    Small,
    Full,
}

impl Tier {
    /// What gates a change makes the same choices each time: a failure can be repeated, and is never chance. The full
    /// tier makes new ones, and what those find becomes a case of its own.
    pub(super) fn seed(self) -> u64 {
        match self {
            Self::Small => 20_261_118,
            Self::Full => Dice::fresh_seed(),
        }
    }
}

/// What a trial found out.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// How many times the harm was done.
    pub(super) count: usize,
    /// What is worth knowing beside the verdict.
    pub(super) note: String,
    /// What must not be; empty when the promise holds.
    pub(super) complaints: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(super) enum Outcome {
    Passed,
    Failed { complaints: Vec<String> },
    Skipped { missing: &'static str },
}

/// One line of the report.
#[derive(Debug, Serialize)]
pub(super) struct Trial {
    fault: &'static str,
    what: String,
    count: usize,
    note: String,
    seed: u64,
    seconds: f64,
    #[serde(flatten)]
    pub(super) outcome: Outcome,
}

pub(super) struct Stage {
    pub(super) tier: Tier,
    seed: u64,
    stores: Stores,
    cluster: Option<Cluster>,
    binary: PathBuf,
    fault: &'static str,
    trials: Vec<Trial>,
}

/// A store of a trial's own, gone with it.
#[derive(Debug)]
pub(super) struct Lodging {
    pub(super) door: Door,
    pub(super) scratch: TempDir,
    _database: Option<Database>,
}

impl Lodging {
    pub(super) fn outside(&self) -> &Path {
        self.scratch.path()
    }
}

impl Stage {
    /// # Errors
    /// When the binary does not build or no server starts.
    pub(super) fn set_up(
        tier: Tier,
        seed: u64,
        stores: Stores,
        binary: Option<PathBuf>,
    ) -> Result<Self> {
        let binary = binary.map_or_else(|| product::build("release"), Ok)?;
        let cluster = match stores {
            Stores::Sqlite => None,
            Stores::Postgres | Stores::Both => {
                Some(Cluster::start(Disk::Synced).context("cannot start a private PostgreSQL")?)
            }
        };
        output::say(&format!("campaign: seed {seed}"));
        Ok(Self {
            tier,
            seed,
            stores,
            cluster,
            binary: binary.canonicalize().context("the binary is not there")?,
            fault: "",
            trials: Vec::new(),
        })
    }

    /// The number of the tier.
    pub(super) fn count<N>(&self, small: N, full: N) -> N {
        match self.tier {
            Tier::Small => small,
            Tier::Full => full,
        }
    }

    /// The same for a fault whichever faults ran before it.
    pub(super) fn dice(&self, what: &str) -> Dice {
        let mut seed = self.seed;
        for byte in self.fault.bytes().chain(what.bytes()) {
            seed = seed.wrapping_mul(31).wrapping_add(u64::from(byte));
        }
        Dice::new(seed)
    }

    /// A store of each kind that is wanted, with its name.
    pub(super) fn lodgings(&self) -> Result<Vec<(&'static str, Lodging)>> {
        let mut lodgings = Vec::new();
        if self.stores != Stores::Postgres {
            let scratch = tempfile::tempdir()?;
            let door = Door::Sqlite(scratch.path().join("home"));
            lodgings.push((
                "sqlite",
                Lodging {
                    door,
                    scratch,
                    _database: None,
                },
            ));
        }
        if let Some(cluster) = &self.cluster {
            let database = Database::create(cluster.url())?;
            let door = Door::Postgres(database.url().to_owned());
            let scratch = tempfile::tempdir()?;
            let _database = Some(database);
            lodgings.push((
                "postgres",
                Lodging {
                    door,
                    scratch,
                    _database,
                },
            ));
        }
        Ok(lodgings)
    }

    /// The binary in a repository of its own, on the embedded store.
    pub(super) fn product(&self) -> Product {
        Product::new(&self.binary)
    }

    /// The same on a store of each kind, with its name.
    pub(super) fn products(&self) -> Result<Vec<(&'static str, Product, Lodging)>> {
        let settle = |(name, lodging): (&'static str, Lodging)| {
            let mut product = self.product();
            product.use_store(&lodging.door);
            (name, product, lodging)
        };
        Ok(self.lodgings()?.into_iter().map(settle).collect())
    }

    /// Does harm and judges it. Whatever goes wrong on the way is a failure too.
    pub(super) fn trial(&mut self, what: &str, work: impl FnOnce(&Self) -> Result<Findings>) {
        let (result, took) = program::timed(|| {
            catch_unwind(AssertUnwindSafe(|| work(self))).unwrap_or_else(|panic| panicked(&*panic))
        });
        let findings = result.unwrap_or_else(|error| Findings {
            complaints: vec![format!("{error:#}")],
            ..Findings::default()
        });
        let Findings {
            count,
            note,
            complaints,
        } = findings;
        let outcome = match complaints.is_empty() {
            true => Outcome::Passed,
            false => Outcome::Failed { complaints },
        };
        self.record(what, count, note, took, outcome);
    }

    pub(super) fn attempt(&mut self, fault: &Fault) {
        self.fault = fault.id;
        output::say(&format!("{}: {}", fault.id, fault.title));
        if let Err(error) = (fault.run)(self) {
            let complaints = vec![format!("{error:#}")];
            let outcome = Outcome::Failed { complaints };
            self.record("set-up", 0, String::new(), Duration::ZERO, outcome);
        }
    }

    pub(super) fn skip(&mut self, fault: &Fault, missing: Need) {
        self.fault = fault.id;
        handoff_testkit::skip(&format!("campaign {}", fault.id), missing);
        let missing = missing.absence();
        let outcome = Outcome::Skipped { missing };
        self.record(fault.title, 0, String::new(), Duration::ZERO, outcome);
    }

    pub(super) fn into_trials(self) -> Vec<Trial> {
        self.trials
    }

    fn record(&mut self, what: &str, count: usize, note: String, took: Duration, outcome: Outcome) {
        let trial = Trial {
            fault: self.fault,
            what: what.to_owned(),
            count,
            note,
            seed: self.seed,
            seconds: took.as_secs_f64(),
            outcome,
        };
        show(&trial);
        self.trials.push(trial);
    }
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> Result<Findings> {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    Err(anyhow!("panic: {}", text.unwrap_or("without words")))
}

/// How many complaints a person reads; the report has them all.
const SHOWN: usize = 12;

fn show(trial: &Trial) {
    let Trial {
        fault,
        what,
        count,
        note,
        seed,
        seconds,
        outcome,
    } = trial;
    let word = match outcome {
        Outcome::Passed => "passed".to_owned(),
        Outcome::Failed { complaints } => format!("FAILED ({})", complaints.len()),
        Outcome::Skipped { missing } => format!("SKIPPED ({missing})"),
    };
    let note = if note.is_empty() {
        String::new()
    } else {
        format!(", {note}")
    };
    output::say(&format!(
        "  {fault} {what}: {count} times{note}, seed {seed}, {seconds:.1} s: {word}"
    ));
    if let Outcome::Failed { complaints } = outcome {
        for complaint in complaints.iter().take(SHOWN) {
            output::say(&format!("    {complaint}"));
        }
    }
}

/// Says where a long trial is.
pub(super) fn progress(fault: &str, done: usize, all: usize) {
    if all >= 10 && done > 0 && done < all && done.is_multiple_of(all.div_ceil(10)) {
        output::say(&format!("    {fault}: {done} of {all}"));
    }
}
