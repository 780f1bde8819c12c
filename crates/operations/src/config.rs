//! The user's configuration: `$XDG_CONFIG_HOME/handoff/config.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZeroU16, NonZeroU32};
use std::path::{Path, PathBuf};

use handoff_agents::adapter::StatePlace;
use handoff_core::batch::Rules;
use handoff_core::check_limits::CheckLimits;
use handoff_core::package::{PackageKind, PhaseName, PipelineVersion};
use handoff_core::{AgentName, ContextKey};
use handoff_engine::PackageRules;
use handoff_engine::gc::Limits;
use handoff_package::resumption::TASK;
use handoff_session::Confinement;
use serde::Deserialize;

use crate::failure::Failure;
use crate::opener::Opener;
use crate::span::Span;

/// What a person set once for all repositories.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    #[serde(default)]
    pub store: StoreConfig,
    #[serde(default)]
    pub upgrade: UpgradeConfig,
    #[serde(default)]
    pub package: PackageConfig,
    #[serde(default)]
    pub worker: WorkerConfig,
    #[serde(default)]
    pub notify: NotifyConfig,
    #[serde(default)]
    pub batch: BatchConfig,
    #[serde(default)]
    pub sandbox: SandboxConfig,
    #[serde(default)]
    pub gc: GcConfig,
    #[serde(default)]
    pub sessions: SessionsConfig,
    #[serde(default)]
    pub checks: ChecksConfig,
}

/// What a check may use, all of its processes together.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChecksConfig {
    /// How long it may run.
    pub time: Option<Span>,
    /// Its memory in MiB; without it half of the machine's.
    pub memory_megabytes: Option<NonZeroU32>,
    /// How many processes it may have at the same time.
    pub processes: Option<NonZeroU32>,
    /// What it may print, in MiB, at most 256.
    pub output_megabytes: Option<NonZeroU32>,
    /// What it may write, in MiB.
    pub disk_megabytes: Option<NonZeroU32>,
}

impl ChecksConfig {
    /// The bounds on a machine with this many bytes of memory.
    pub fn limits(&self, machine_memory: Option<u64>) -> CheckLimits {
        const MIB: u64 = 1024 * 1024;
        let usual = CheckLimits::usual(machine_memory);
        let bytes = |setting: Option<NonZeroU32>, usual| {
            setting.map_or(usual, |it| u64::from(it.get()) * MIB)
        };
        CheckLimits {
            time: self.time.map_or(usual.time, Span::duration),
            memory: bytes(self.memory_megabytes, usual.memory),
            processes: self.processes.map_or(usual.processes, NonZeroU32::get),
            // Suites are read as a whole, and more than this of one is not.
            output: bytes(self.output_megabytes, usual.output).min(usual.output),
            disk: bytes(self.disk_megabytes, usual.disk),
        }
    }
}

/// What sessions may do to each other.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionsConfig {
    /// Whether a session may answer the dialogs of sessions that it started, and type at their terminals.
    #[serde(default)]
    pub may_answer_children: bool,
}

/// How much `gc` leaves.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GcConfig {
    /// Sessions that ended before this go.
    pub sessions: Option<Span>,
    /// What they printed goes earlier.
    pub transcripts: Option<Span>,
    /// Packages that nobody can receive any more since before this go.
    pub packages: Option<Span>,
    /// How much all sessions together may take, in MiB: the oldest go first.
    pub megabytes: Option<u64>,
    /// The same for packages.
    pub package_megabytes: Option<u64>,
}

impl GcConfig {
    /// How much is left; `older_than` stands in the place of all times.
    pub fn limits(&self, older_than: Option<Span>) -> Limits {
        const MIB: u64 = 1024 * 1024;
        let usual = Limits::default();
        let span = |setting: Option<Span>, usual| {
            let chosen = older_than.or(setting);
            chosen.map_or(usual, Span::duration)
        };
        let bytes = |megabytes: Option<u64>| megabytes.map(|it| it.saturating_mul(MIB));
        Limits {
            sessions: span(self.sessions, usual.sessions),
            transcripts: span(self.transcripts, usual.transcripts),
            packages: span(self.packages, usual.packages),
            bytes: bytes(self.megabytes),
            package_bytes: bytes(self.package_megabytes),
        }
    }
}

/// How workers work.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerConfig {
    /// How many tasks are worked on at the same time.
    pub slots: Option<NonZeroU16>,
    /// The agent for tasks that ask for none of their own.
    pub agent: Option<AgentName>,
    /// How many tasks at most one agent works on at the same time.
    #[serde(default)]
    pub limits: BTreeMap<AgentName, NonZeroU16>,
    /// How long it takes at least from one start to the next.
    pub stagger: Option<Span>,
    /// How a person gets to see its sessions.
    #[serde(default)]
    pub spawn: Opener,
    /// What opens a tab for the agent `tab`.
    #[serde(default)]
    pub tab: Opener,
    /// How long a tab may take to answer.
    pub tab_timeout: Option<Span>,
    /// How sessions of tasks are held, of every role: `worktree` or `none`.
    pub sandbox: Option<Confinement>,
}

/// How a person is told that they are needed.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotifyConfig {
    /// A program and its arguments; what is needed is JSON on its standard input.
    #[serde(default)]
    pub command: Vec<String>,
}

/// How batches are made.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchConfig {
    /// The most parts that one may have.
    pub most: Option<usize>,
}

impl BatchConfig {
    /// What a batch is to be like here.
    pub fn rules(&self) -> Rules {
        let usual = Rules::default();
        Rules {
            most: self.most.unwrap_or(usual.most),
            ..usual
        }
    }
}

/// Which store to use.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreConfig {
    /// `postgres://…`; without it the embedded store is used.
    pub url: Option<String>,
    /// A file with nothing but the password.
    pub password_file: Option<PathBuf>,
    /// How long a command waits for a server that has no connection left, or starts.
    pub patience: Option<Span>,
}

/// How sessions are held.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxConfig {
    /// What `run` does when nobody says: `worktree` or `none`.
    pub default: Option<Confinement>,
    /// What sessions in a sandbox may change besides their worktree: build output, caches.
    #[serde(default)]
    pub write: Vec<StatePlace>,
}

/// Where releases come from.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpgradeConfig {
    /// What tells the newest release, in the form of GitHub's `releases/latest`.
    pub url: Option<String>,
}

/// How packages are made and received.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackageConfig {
    /// How long a package can be received when nobody says otherwise; `0s` is for ever.
    pub ttl: Option<Span>,
    /// The version of the pipeline here; packages of another one are not received unless somebody says so.
    pub pipeline_version: Option<PipelineVersion>,
    /// The context without which nobody can go on.
    #[serde(default)]
    pub required: RequiredContext,
    /// The phases of the pipeline, each with its number of steps.
    #[serde(default)]
    pub phases: BTreeMap<PhaseName, u32>,
}

impl PackageConfig {
    /// What of this concerns packages that are sealed on the road.
    pub fn rules(self) -> PackageRules {
        let phase = TASK.parse().ok();
        PackageRules {
            ttl: self.ttl.map(Span::duration).filter(|it| !it.is_zero()),
            required: self.required.of(PackageKind::Task, phase.as_ref()),
            pipeline_version: self.pipeline_version,
        }
    }
}

/// The keys without which nobody can go on.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequiredContext {
    /// In a package of this kind.
    #[serde(default)]
    kind: BTreeMap<PackageKind, Vec<ContextKey>>,
    /// In a package that goes on with this phase.
    #[serde(default)]
    phase: BTreeMap<PhaseName, Vec<ContextKey>>,
}

impl RequiredContext {
    /// The keys that a package needs, in order, each once.
    pub fn of(&self, kind: PackageKind, phase: Option<&PhaseName>) -> BTreeSet<ContextKey> {
        let by_kind = self.kind.get(&kind);
        let by_phase = phase.and_then(|phase| self.phase.get(phase));
        let keys = by_kind.into_iter().chain(by_phase).flatten();
        keys.cloned().collect()
    }
}

impl Config {
    /// Reads the file; no file is an empty one.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => {
                return Err(
                    Failure::failed(format!("cannot read `{}`", path.display())).because(&error)
                );
            }
        };
        Self::parse(&text).map_err(|error| mistake(path, &text, &error))
    }

    fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }
}

/// Says where and what, but not the text itself: there may be a password in it. What is said of `[worker]` is about names of
/// programs and agents.
fn mistake(path: &Path, text: &str, error: &toml::de::Error) -> Failure {
    let place = error.span().map_or(0, |span| span.start);
    let line = text.as_bytes()[..place.min(text.len())]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
        + 1;
    let what = format!("`{}` has a mistake in line {line}", path.display());
    let before = text.lines().take(line).map(str::trim);
    let section = before.filter(|it| it.starts_with('[')).last();
    if section == Some("[worker]") {
        return Failure {
            causes: vec![error.message().to_owned()],
            ..Failure::failed(what)
        };
    }
    Failure::failed(what).hint(
        "the settings are `[store]` with `url`, `password_file` and `patience`, `[upgrade]` with `url`, `[worker]` with `slots`, \
         `agent`, `limits`, `stagger`, `spawn`, `tab`, `tab_timeout` and `sandbox`, `[notify]` with `command`, `[batch]` with `most`, `[gc]` with `sessions`, `transcripts`, `packages`, `megabytes` and `package_megabytes`, `[checks]` with `time`, `memory_megabytes`, `processes`, `output_megabytes` and `disk_megabytes`, `[sessions]` with `may_answer_children`, `[sandbox]` with \
         `default` and `write`, and `[package]` with `ttl`, `pipeline_version`, `[package.required.kind]`, `[package.required.phase]` and \
         `[package.phases]`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_told_by_its_line_and_never_by_its_text() {
        let text = "[store]\nurll = \"postgres://me:hunter2@localhost/x\"\n";
        let error = Config::parse(text).unwrap_err();
        let failure = format!("{:?}", mistake(Path::new("config.toml"), text, &error));
        assert!(
            failure.contains("line 2") && !failure.contains("hunter2"),
            "{failure}"
        );
    }

    #[test]
    fn a_mistake_of_a_worker_is_told_in_its_own_words() {
        let told = |text: &str| {
            let error = Config::parse(text).unwrap_err();
            mistake(Path::new("config.toml"), text, &error).causes
        };
        let screen = told("[worker]\nspawn = \"screen\"\n").join("");
        assert!(
            screen.starts_with("\"screen\" is none of `detached`, `tmux`"),
            "{screen}"
        );
        let number = told("[worker]\nspawn = 1\n").join("");
        assert!(number.contains("neither a text nor a list"), "{number}");
        assert_eq!(told("[notify]\ncommand = \"https://secret\"\n"), [""; 0]);
    }

    #[test]
    fn a_package_needs_what_its_kind_and_its_phase_need() {
        let text = "[package]\nttl = \"12h\"\n[package.required.kind]\npause = [\"b\", \"a\"]\n\
                    [package.required.phase]\nsynthesis = [\"c\", \"a\"]\n[package.phases]\nsynthesis = 5\n";
        let package = Config::parse(text).unwrap().package;
        let phase = "synthesis".parse().unwrap();
        let keys = |kind, phase| {
            let keys = package.required.of(kind, phase).into_iter();
            keys.map(String::from).collect::<Vec<_>>()
        };
        assert_eq!(keys(PackageKind::Pause, Some(&phase)), ["a", "b", "c"]);
        assert_eq!(keys(PackageKind::Manual, Some(&phase)), ["a", "c"]);
        assert_eq!(keys(PackageKind::Manual, None), [""; 0]);
        assert_eq!(package.phases[&phase], 5);
        for wrong in [
            "[package]\nttl = \"soon\"",
            "[package]\nttl = 5",
            "[package.required.kind]\nfeature = [\"a\"]",
            "[package.required.phase]\na = [\" b\"]",
            "[package.phases]\na = -1",
        ] {
            assert!(Config::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_agent_has_a_limit_of_one_or_more() {
        let text = "[worker]\nlimits = { claude = 2 }\nstagger = \"2s\"\n";
        let worker = Config::parse(text).unwrap().worker;
        let limits: Vec<_> = worker
            .limits
            .iter()
            .map(|(name, most)| (name.as_str(), most.get()))
            .collect();
        assert_eq!(limits, [("claude", 2)]);
        assert_eq!(worker.stagger.unwrap().duration().as_secs(), 2);
        for wrong in [
            "limits = { claude = 0 }",
            "limits = { Claude = 1 }",
            "limits = 3",
            "stagger = 2",
        ] {
            assert!(
                Config::parse(&format!("[worker]\n{wrong}\n")).is_err(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_check_is_bounded_as_it_is_set_and_always_bounded() {
        let limits = |text: &str| {
            let config = Config::parse(&format!("[checks]\n{text}\n")).unwrap();
            config.checks.limits(Some(8 << 30))
        };
        let usual = CheckLimits::usual(Some(8 << 30));
        let table = [
            ("", usual),
            (
                "memory_megabytes = 64",
                CheckLimits {
                    memory: 64 << 20,
                    ..usual
                },
            ),
            (
                "processes = 3",
                CheckLimits {
                    processes: 3,
                    ..usual
                },
            ),
            (
                "output_megabytes = 1",
                CheckLimits {
                    output: 1 << 20,
                    ..usual
                },
            ),
            ("output_megabytes = 4096", usual),
            (
                "disk_megabytes = 9",
                CheckLimits {
                    disk: 9 << 20,
                    ..usual
                },
            ),
            (
                "time = \"5s\"",
                CheckLimits {
                    time: std::time::Duration::from_secs(5),
                    ..usual
                },
            ),
        ];
        for (text, expected) in table {
            assert_eq!(limits(text), expected, "{text}");
        }
        for wrong in ["memory_megabytes = 0", "processes = -1", "memory = 5"] {
            assert!(
                Config::parse(&format!("[checks]\n{wrong}\n")).is_err(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn an_unknown_setting_is_a_mistake() {
        assert!(Config::parse("[store]\nurl = \"postgres:///x\"\n").is_ok());
        assert!(Config::parse("[store]\nurll = \"postgres:///x\"\n").is_err());
    }
}
