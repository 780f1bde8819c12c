//! What a workflow is, after all checks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::next::{Next, Outcome};
use crate::ownership::{CaseRule, PathPattern, RepoPath};
use crate::task::{Brief, TimeLimit, VerifyCommand};
use crate::text::StepTitle;
use crate::{AgentName, ContextKey, JsonText, Ownership, PhaseName, WorkflowName};

/// What a workflow is. There is no way to have one but [`Workflow::read`] and the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workflow {
    /// What it is called.
    pub name: WorkflowName,
    /// What it is good for, in a sentence.
    pub description: StepTitle,
    /// How the tests are run; without it that is found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<Suite>,
    /// The most phases that a run may have: a loop without end is a fault.
    pub most: u32,
    /// The most tokens that its sessions may use together, as far as their agents say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_tokens: Option<u64>,
    /// Its phases; a run begins with the first.
    pub phases: Vec<Phase>,
}

impl Workflow {
    /// The phase of this name.
    pub fn phase(&self, name: &PhaseName) -> Option<&Phase> {
        self.phases.iter().find(|it| it.name == *name)
    }

    /// The phase that a run begins with.
    pub fn first(&self) -> &Phase {
        &self.phases[0]
    }

    /// Every command that it names: whoever trusts it has read these.
    pub fn commands(&self) -> impl Iterator<Item = &VerifyCommand> {
        let checks = self.phases.iter().flat_map(|it| &it.checks);
        checks.chain(self.suite.iter().map(|it| &it.command))
    }

    /// Whether any phase is proved by tests.
    pub fn needs_suite(&self) -> bool {
        self.phases.iter().any(|it| it.proof.needs_suite())
    }
}

/// How the tests of a project are run and read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suite {
    /// What runs them all.
    pub command: VerifyCommand,
    /// How its results are read.
    pub format: SuiteFormat,
    /// The file in which it leaves them, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<RepoPath>,
    /// Where the tests are.
    pub tests: Ownership,
    /// What decides how they are run: whoever may not touch the tests may not touch this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Ownership>,
}

/// How the results of a test suite are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuiteFormat {
    /// What `cargo test` prints.
    Cargo,
    /// The Test Anything Protocol, as `node --test --test-reporter=tap` speaks it.
    Tap,
    /// A file of JUnit XML: `report`, or where `$HANDOFF_REPORT` says.
    Junit,
    /// The exit code: the whole suite is one test.
    Exit,
}

impl SuiteFormat {
    pub(super) const ALL: [Self; 4] = [Self::Cargo, Self::Tap, Self::Junit, Self::Exit];

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Cargo => "cargo",
            Self::Tap => "tap",
            Self::Junit => "junit",
            Self::Exit => "exit",
        }
    }
}

/// One step of a workflow, in a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// What it is called.
    pub name: PhaseName,
    /// Who its session is to be.
    pub role: StepTitle,
    /// The agent; without it, the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// What it is to do.
    pub prompt: Brief,
    /// What it gets besides the goal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub takes: Vec<Input>,
    /// The JSON Schema of its result; without it none is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gives: Option<JsonText>,
    /// What it may change.
    pub touch: Touch,
    /// What proves that it is over.
    pub proof: Proof,
    /// Commands that must succeed besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// What its commit begins with.
    pub commit: StepTitle,
    /// How often it is tried again after a refusal.
    pub retries: u32,
    /// How long a session may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<TimeLimit>,
    /// Who must agree before the run goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    /// What they are asked there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<StepTitle>,
    /// Where each outcome leads.
    pub next: BTreeMap<Outcome, Next>,
}

/// Something that a session gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Input {
    /// What an earlier phase handed over last.
    Result {
        /// Which phase.
        phase: PhaseName,
    },
    /// A file of the repository.
    File {
        /// Which.
        path: RepoPath,
    },
    /// A value of the project's shared context.
    Context {
        /// Under which key.
        key: ContextKey,
    },
}

/// What a session may change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Touch {
    /// Only these; anything if there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may: Vec<Scope>,
    /// None of these, whatever else is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_not: Vec<Scope>,
}

/// Some paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Scope {
    /// Where the tests are.
    Tests,
    /// What decides how tests are run.
    Config,
    /// What the session declares in its result as stubs.
    Declared,
    /// What a pattern covers.
    Paths {
        /// The pattern.
        pattern: PathPattern,
    },
}

impl Touch {
    /// Whether a path may be changed.
    pub fn allows(&self, path: &RepoPath, suite: Option<&Suite>, declared: &[RepoPath]) -> bool {
        let is_in = |scope: &Scope| scope.covers(path, suite, declared);
        let is_wanted = self.may.is_empty() || self.may.iter().any(is_in);
        is_wanted && !self.may_not.iter().any(is_in)
    }
}

impl Scope {
    fn covers(&self, path: &RepoPath, suite: Option<&Suite>, declared: &[RepoPath]) -> bool {
        let within =
            |owner: Option<&Ownership>| owner.is_some_and(|it| it.covers(path, CaseRule::NATIVE));
        match self {
            Self::Tests => within(suite.map(|it| &it.tests)),
            Self::Config => within(suite.and_then(|it| it.config.as_ref())),
            Self::Declared => declared.contains(path),
            Self::Paths { pattern } => within(Ownership::new(vec![pattern.clone()]).ok().as_ref()),
        }
    }

    /// The word or the pattern.
    pub fn text(&self) -> String {
        match self {
            Self::Tests => "@tests".to_owned(),
            Self::Config => "@config".to_owned(),
            Self::Declared => "@declared".to_owned(),
            Self::Paths { pattern } => pattern.to_string(),
        }
    }
}

/// What proves that a phase is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// The list of tests can be read, and has one that is next, or none.
    Plan,
    /// A new test fails for a reason that was expected, or passes and is covered.
    Red,
    /// That test passes, and nothing else broke.
    Green,
    /// The same tests with the same results.
    Same,
    /// A valid result, and the checks.
    Checks,
    /// The checks decide where it goes on; both ways are legal.
    Until,
}

impl Proof {
    pub(super) const ALL: [Self; 6] = [
        Self::Plan,
        Self::Red,
        Self::Green,
        Self::Same,
        Self::Checks,
        Self::Until,
    ];

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Red => "red",
            Self::Green => "green",
            Self::Same => "same",
            Self::Checks => "checks",
            Self::Until => "until",
        }
    }

    /// Whether the test suite is run for it.
    pub const fn needs_suite(self) -> bool {
        match self {
            Self::Red | Self::Green | Self::Same => true,
            Self::Plan | Self::Checks | Self::Until => false,
        }
    }

    /// What it can come to; none where the definition names the outcomes.
    pub const fn outcomes(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Plan => Some(&["complete", "next"]),
            Self::Red => Some(&["covered", "red"]),
            Self::Green | Self::Same => Some(&["done"]),
            Self::Until => Some(&["failed", "passed"]),
            Self::Checks => None,
        }
    }

    /// What it can come to besides, where the definition says where that leads.
    pub const fn more_outcomes(self) -> &'static [&'static str] {
        match self {
            Self::Plan => &["restructure"],
            Self::Red | Self::Green | Self::Same | Self::Until | Self::Checks => &[],
        }
    }
}

/// A command that must succeed.
pub type Check = VerifyCommand;

/// Who must agree before a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// A person.
    Human,
}
