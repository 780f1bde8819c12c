//! Real agent CLIs under our holder, against the scripted model, without a network: is the state that we publish the right one,
//! and how long after the moment that proves it?
//!
//! The agents are installed from their packages into the target directory, in pinned versions. What runs afterwards runs in a
//! network namespace with nothing but a loopback, with a home of its own and none of this machine's variables.

mod case;
mod house;
mod install;
mod isolation;
mod manners;
mod model_case;
mod report;
mod sandbox_case;
mod scene;
mod script_case;
mod shell_case;
mod text_case;
mod timeline;
mod trial;
mod witness;
mod worker_case;
mod workflow_case;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use handoff_chores::{Tally, Verdict, output, product};
use handoff_process::Size;

use report::Report;

/// Run real agents against a scripted model and check every state.
#[derive(Args, Debug, Default)]
pub(crate) struct AgentsArgs {
    /// Which; without any those that must pass
    names: Vec<Name>,
    /// A `handoff` that is there already; without it one is built
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Only cases whose name contains this
    #[arg(long, value_name = "WORD")]
    case: Option<String>,
    /// Leave homes, journals and transcripts in this directory
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// The terminal's size, as COLUMNSxROWS
    #[arg(long, value_name = "SIZE", default_value = "200x50")]
    size: TerminalSize,
    /// The colours of an agent that lets one choose them
    #[arg(long, default_value = "dark")]
    theme: Theme,
    /// Put a picture of the terminal for each state that is checked into this directory
    #[arg(long, value_name = "DIR")]
    pictures: Option<PathBuf>,
}

/// The same, already without a network.
#[derive(Args, Debug)]
pub(crate) struct AgentsInsideArgs {
    #[arg(required = true)]
    names: Vec<Name>,
    #[arg(long)]
    binary: PathBuf,
    #[arg(long)]
    case: Option<String>,
    #[arg(long)]
    keep: Option<PathBuf>,
    #[arg(long)]
    size: TerminalSize,
    #[arg(long)]
    theme: Theme,
    #[arg(long)]
    pictures: Option<PathBuf>,
    #[arg(long)]
    summary: PathBuf,
}

/// Which colours an agent uses. Codex asks its terminal, which is a dark one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Theme {
    #[default]
    Dark,
    Light,
}

impl Theme {
    const fn word(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
        }
    }
}

/// How large a terminal is.
#[derive(Clone, Copy, Debug)]
struct TerminalSize(Size);

impl FromStr for TerminalSize {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (columns, rows) = text.split_once('x').context("a size is like 80x24")?;
        let (columns, rows) = (columns.parse()?, rows.parse()?);
        Ok(Self(Size { rows, columns }))
    }
}

impl fmt::Display for TerminalSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}x{}", self.0.columns, self.0.rows)
    }
}

impl Default for TerminalSize {
    fn default() -> Self {
        Self(Size::DETACHED)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    Scripted,
    Bash,
    Claude,
    /// Claude Code that says nothing by its terminal, so that its hooks, its files and its screen must do. It writes its
    /// files up to 450 ms late, too near to the limit to count.
    ClaudeQuiet,
    Codex,
    Opencode,
    Gemini,
    Copilot,
    Aider,
}

impl Name {
    /// Those that a change must not break. The others are shown and may fail: they change without asking us.
    const GATING: [Self; 4] = [Self::Scripted, Self::Bash, Self::Claude, Self::Codex];

    /// What `handoff run` calls it.
    fn agent(self) -> String {
        match self {
            Self::ClaudeQuiet => Self::Claude.word(),
            Self::Scripted
            | Self::Bash
            | Self::Claude
            | Self::Codex
            | Self::Opencode
            | Self::Gemini
            | Self::Copilot
            | Self::Aider => self.word(),
        }
    }

    fn word(self) -> String {
        let value = self.to_possible_value().expect("no agent is hidden");
        value.get_name().to_owned()
    }
}

pub(crate) fn run(args: &AgentsArgs) -> Result<Verdict> {
    let tally = play(args)?;
    output::say(&tally.to_string());
    let is_good = tally.failed == 0 && tally.passed > 0;
    Ok(if is_good { Verdict::Good } else { Verdict::Bad })
}

/// The agents that must pass, with this program, for `cargo xtask test`.
pub(crate) fn gate(binary: PathBuf) -> Result<Tally> {
    play(&AgentsArgs {
        binary: Some(binary),
        ..AgentsArgs::default()
    })
}

fn play(args: &AgentsArgs) -> Result<Tally> {
    let mut names = args.names.clone();
    if names.is_empty() {
        names.extend(Name::GATING);
    }
    let binary = args
        .binary
        .clone()
        .map_or_else(|| product::build("release"), Ok)?;
    let mut tally = Tally::default();
    names.retain(|name| match install::provide(*name) {
        Ok(()) => true,
        Err(error) => {
            output::complain(&format!("{} cannot be installed: {error:#}", name.word()));
            tally.failed += 1;
            false
        }
    });
    if names.is_empty() {
        return Ok(tally);
    }
    let scratch = tempfile::tempdir()?;
    let summary = scratch.path().join("summary.json");
    let mut options: Vec<OsString> = names.iter().map(|name| name.word().into()).collect();
    options.extend(["--binary".into(), binary.canonicalize()?.into_os_string()]);
    options.extend(["--summary".into(), summary.clone().into_os_string()]);
    let case = args.case.iter().map(OsString::from);
    options.extend(case.flat_map(|word| ["--case".into(), word]));
    let keep = args.keep.iter().map(OsString::from);
    options.extend(keep.flat_map(|keep| ["--keep".into(), keep]));
    options.extend(["--size".into(), args.size.to_string().into()]);
    options.extend(["--theme".into(), args.theme.word().into()]);
    let pictures = args.pictures.iter().map(OsString::from);
    options.extend(pictures.flat_map(|pictures| ["--pictures".into(), pictures]));
    isolation::enter(&options)?;
    let text = std::fs::read(&summary).context("the agents were not played to the end")?;
    tally += serde_json::from_slice(&text)?;
    Ok(tally)
}

pub(crate) fn run_inside(args: &AgentsInsideArgs) -> Result<Verdict> {
    isolation::loopback()?;
    let mut report = Report::default();
    for name in &args.names {
        let stage = case::Stage {
            name: *name,
            binary: &args.binary,
            only: args.case.as_deref(),
            keep: args.keep.as_deref(),
            size: args.size.0,
            theme: args.theme,
            pictures: args.pictures.as_deref(),
        };
        stage.run(&mut report)?;
    }
    output::say(&report.table().to_string());
    let tally = report.tally();
    std::fs::write(&args.summary, serde_json::to_vec(&tally)?)?;
    Ok(Verdict::Good)
}
