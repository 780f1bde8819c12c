//! `handoff skills`: teaches agents to use sessions, by a file in the directory that each agent reads.
//!
//! A file of ours ends with a mark that holds the digest of what stands above it. So what a person changed, and what is not ours at
//! all, is told apart and left alone.

mod catalogue;
mod copy;
mod shelf;

use handoff_api::{ExitCode, SkillCopyDocument, SkillDocument, SkillsDocument};
use handoff_core::Action;
use handoff_operations::Failure;
use handoff_operations::project::require_person;

pub(super) use self::catalogue::SKILLS;
use self::copy::Copy;
use self::shelf::{Shelf, Wish};
use crate::context::Context;
use crate::output::{Table, Tone};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List the skills, and where they are installed.
    List(PlaceArgs),
    /// Write them for Claude Code and Codex; all, or those named.
    Install(ChangeArgs),
    /// Remove what was installed, and nothing else.
    Uninstall(ChangeArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct PlaceArgs {
    /// In this repository only.
    #[arg(long)]
    local: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ChangeArgs {
    /// `handoff-dispatch`, `handoff-chain` or `handoff-buddy`.
    names: Vec<String>,
    #[command(flatten)]
    place: PlaceArgs,
    /// Say what would be done.
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(command: &Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match command {
        Command::List(place) => list(place, ctx),
        Command::Install(args) => change(args, Wish::Install, ctx),
        Command::Uninstall(args) => change(args, Wish::Uninstall, ctx),
    }
}

fn list(place: &PlaceArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let shelves = Shelf::all(place.local, ctx)?;
    let copies = SKILLS.map(|skill| {
        let copies = shelves.iter().map(|shelf| shelf.copy(skill.name));
        (skill, copies.collect::<Vec<_>>())
    });
    if ctx.out.is_json() {
        let skills = copies.map(|(skill, copies)| SkillDocument {
            name: skill.name,
            summary: skill.summary,
            copies: copies.iter().map(|copy| document(copy, None)).collect(),
        });
        let skills = skills.into();
        ctx.out
            .document(SkillsDocument::SCHEMA, SkillsDocument { skills })?;
        return Ok(ExitCode::Done);
    }
    let mut table = Table::new(&["NAME", "CLAUDE", "CODEX", "WHAT"]);
    for (skill, copies) in copies {
        let state = |index: usize| {
            let state = copies[index].state(skill.text);
            (state.tone(), state.word().to_owned())
        };
        let summary = (Tone::Plain, skill.summary.to_owned());
        let name = (Tone::Strong, skill.name.to_owned());
        table.row([name, state(0), state(1), summary]);
    }
    ctx.out.table(&table)?;
    Ok(ExitCode::Done)
}

/// Everything is looked at before anything is changed: what cannot be done for one is done for none.
fn change(args: &ChangeArgs, wish: Wish, ctx: &mut Context) -> Result<ExitCode, Failure> {
    // A skill lets an agent run commands without asking.
    require_person(Action::Trust, &ctx.ambient)?;
    let skills = catalogue::named(&args.names)?;
    let shelves = Shelf::all(args.place.local, ctx)?;
    let mut steps = vec![];
    for shelf in &shelves {
        steps.extend(shelf.plan(&skills, wish)?);
    }
    for (copy, step) in &steps {
        if !args.dry_run {
            copy.carry_out(*step)?;
        }
    }
    if wish == Wish::Uninstall && !args.dry_run {
        shelves.iter().for_each(Shelf::remove_if_empty);
    }
    show(&steps, args, ctx)
}

fn show(
    steps: &[(Copy, copy::Step)],
    args: &ChangeArgs,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        let copies = steps.iter().map(|(copy, step)| document(copy, Some(*step)));
        let changes = handoff_api::SkillChangesDocument {
            is_dry_run: args.dry_run,
            copies: copies.collect(),
        };
        ctx.out
            .document(handoff_api::SkillChangesDocument::SCHEMA, changes)?;
        return Ok(ExitCode::Done);
    }
    let would = if args.dry_run { "would be " } else { "" };
    for (copy, step) in steps {
        let path = crate::output::plain(&copy.path().display().to_string());
        ctx.out.line(format!("{} {would}{}", path, step.word()))?;
    }
    if steps.is_empty() {
        ctx.out.note("There is nothing to do.")?;
    }
    Ok(ExitCode::Done)
}

fn document(copy: &Copy, step: Option<copy::Step>) -> SkillCopyDocument {
    let text = catalogue::text_of(copy.name());
    SkillCopyDocument {
        skill: copy.name().to_owned(),
        path: copy.path().display().to_string(),
        state: copy.state(text).word(),
        change: step.map(copy::Step::word),
    }
}
