//! `handoff workflow list`, `show`, `validate`, `graph` and `trust`.

use handoff_api::{
    ContractsDocument, ExitCode, FlawDocument, WorkflowCheckDocument, WorkflowDocument,
    WorkflowRow, WorkflowsDocument,
};
use handoff_core::caller::Action;
use handoff_core::workflow::{DefinitionError, Gate, GraphStyle, Phase, Scope};
use handoff_core::{Workflow, WorkflowName};
use handoff_operations::{Failure, project};

use super::source::Source;
use crate::context::Context;
use crate::output::{Reply, Table, Tone, plain};

#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// Its name.
    name: WorkflowName,
    /// The definition itself, to be copied into `.handoff/workflows/` and changed.
    #[arg(long)]
    raw: bool,
    /// What each phase takes and what it gives, as JSON Schema.
    #[arg(long, conflicts_with = "raw")]
    schemas: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ValidateArgs {
    /// Its name; all of them without.
    name: Option<WorkflowName>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GraphArgs {
    /// Its name.
    name: WorkflowName,
    /// As Mermaid, for whatever draws that.
    #[arg(long)]
    mermaid: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    /// Its name.
    name: WorkflowName,
    /// Without a question: you have read it.
    #[arg(long)]
    yes: bool,
}

pub(super) fn list(ctx: &mut Context) -> Result<ExitCode, Failure> {
    let rows: Vec<_> = Source::all(ctx)?.iter().map(row).collect();
    if ctx.out.is_json() {
        let document = WorkflowsDocument { workflows: rows };
        ctx.out.document(WorkflowsDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let mut table = Table::new(&["NAME", "FROM", "PHASES", "FOR"]);
    for row in rows {
        table.row([
            (Tone::Strong, row.name),
            (Tone::Faint, row.origin),
            (Tone::Plain, row.phases.join(" ")),
            (Tone::Plain, row.description),
        ]);
    }
    ctx.out.table(&table.wrapped())?;
    Ok(ExitCode::Done)
}

fn row(source: &Source) -> WorkflowRow {
    let (phases, description) = match source.read() {
        Ok(workflow) => {
            let phases = workflow.phases.iter().map(|it| it.name.to_string());
            (phases.collect(), workflow.description.to_string())
        }
        Err(error) => (vec![], format!("cannot be run: {error}")),
    };
    WorkflowRow {
        name: source.name.to_string(),
        origin: source.place(),
        phases,
        description,
    }
}

pub(super) fn show(args: &ShowArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let source = Source::named(&args.name, ctx)?;
    if args.raw {
        // What a terminal would take for orders stays out of it.
        let lines = source.text.lines().map(|it| format!("{}\n", plain(it)));
        ctx.out.raw(lines.collect::<String>().as_bytes())?;
        return Ok(ExitCode::Done);
    }
    let workflow = source.workflow()?;
    if args.schemas {
        return show_schemas(&workflow, ctx);
    }
    if ctx.out.is_json() {
        let document = WorkflowDocument {
            origin: source.place(),
            is_trusted: source.is_trusted(ctx)?,
            workflow,
        };
        ctx.out.document(WorkflowDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    let name = ctx.out.styled(Tone::Strong, workflow.name.as_str());
    let place = ctx.out.styled(Tone::Faint, &plain(&source.place()));
    ctx.out.line(format!(
        "{name}  {place}\n{}\n",
        plain(workflow.description.as_str())
    ))?;
    ctx.out.table(&phases(&workflow))?;
    if let Some(suite) = &workflow.suite {
        ctx.out
            .line(format!("\ntests: {}", plain(suite.command.as_str())))?;
    }
    if !source.is_trusted(ctx)? {
        ctx.out.note(format!(
            "Its commands do not run yet. Read it, then `handoff workflow trust {}`.",
            workflow.name
        ))?;
    }
    Ok(ExitCode::Done)
}

/// They are for programs, whoever asks.
fn show_schemas(workflow: &Workflow, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let document = ContractsDocument::of(workflow);
    if ctx.out.is_json() {
        ctx.out.document(ContractsDocument::SCHEMA, document)?;
    } else {
        let text = serde_json::to_string_pretty(&document).unwrap_or_default();
        ctx.out.line(text)?;
    }
    Ok(ExitCode::Done)
}

fn phases(workflow: &Workflow) -> Table {
    let mut table = Table::new(&["PHASE", "PROOF", "MAY TOUCH", "CHECKS", "THEN"]);
    for phase in &workflow.phases {
        let checks: Vec<_> = phase.checks.iter().map(ToString::to_string).collect();
        table.row([
            (Tone::Strong, phase.name.to_string()),
            (Tone::Plain, phase.proof.word().to_owned()),
            (Tone::Plain, touch(phase)),
            (Tone::Plain, checks.join("; ")),
            (Tone::Plain, then(phase)),
        ]);
    }
    table.wrapped()
}

fn touch(phase: &Phase) -> String {
    let may = phase.touch.may.iter().map(Scope::text);
    let not = phase
        .touch
        .may_not
        .iter()
        .map(|it| format!("not {}", it.text()));
    let all: Vec<_> = may.chain(not).collect();
    if all.is_empty() {
        "anything".to_owned()
    } else {
        all.join(", ")
    }
}

fn then(phase: &Phase) -> String {
    let gate = match phase.gate {
        Some(Gate::Human) => "a person, then ",
        None => "",
    };
    let ways = phase
        .next
        .iter()
        .map(|(outcome, next)| format!("{outcome}: {next}"));
    format!("{gate}{}", ways.collect::<Vec<_>>().join(", "))
}

pub(super) fn validate(args: &ValidateArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let sources = match &args.name {
        Some(name) => vec![Source::named(name, ctx)?],
        None => Source::all(ctx)?,
    };
    let mut is_sound = true;
    for source in sources {
        let problems = problems(&source);
        is_sound &= problems.is_empty();
        tell_problems(&source, problems, ctx)?;
    }
    Ok(if is_sound {
        ExitCode::Done
    } else {
        ExitCode::Failed
    })
}

fn problems(source: &Source) -> Vec<FlawDocument> {
    match source.read() {
        Ok(_) => vec![],
        Err(DefinitionError::Unreadable { line, what }) => vec![FlawDocument {
            line,
            phase: None,
            message: what,
        }],
        Err(DefinitionError::Flawed(flaws)) => {
            let told = flaws.into_iter().map(|flaw| FlawDocument {
                line: flaw.line,
                phase: flaw.within,
                message: flaw.fault.to_string(),
            });
            told.collect()
        }
    }
}

fn tell_problems(
    source: &Source,
    problems: Vec<FlawDocument>,
    ctx: &mut Context,
) -> Result<(), Failure> {
    let name = source.name.to_string();
    if ctx.out.is_json() {
        let document = WorkflowCheckDocument { name, problems };
        ctx.out.document(WorkflowCheckDocument::SCHEMA, document)?;
        return Ok(());
    }
    if problems.is_empty() {
        let good = ctx.out.styled(Tone::Good, "nothing is wrong with it");
        ctx.out.line(format!("{name}: {good}"))?;
    }
    let place = plain(&source.place());
    for flaw in problems {
        let phase = flaw
            .phase
            .map_or_else(String::new, |it| format!("phase `{it}`: "));
        let text = plain(&format!("{phase}{}", flaw.message));
        ctx.out.line(format!("{place}:{}: {text}", flaw.line))?;
    }
    Ok(())
}

pub(super) fn graph(args: &GraphArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let workflow = Source::named(&args.name, ctx)?.workflow()?;
    let style = if args.mermaid {
        GraphStyle::Mermaid
    } else {
        GraphStyle::Text
    };
    ctx.out.line(workflow.graph(style).trim_end())?;
    Ok(ExitCode::Done)
}

pub(super) fn trust(args: &TrustArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    project::require_person(Action::Trust, &ctx.ambient)?;
    let source = Source::named(&args.name, ctx)?;
    let workflow = source.workflow()?;
    let commands: Vec<_> = workflow.phases.iter().flat_map(|it| &it.checks).collect();
    let suite = workflow.suite.iter().map(|it| &it.command);
    for command in commands.into_iter().chain(suite) {
        ctx.out.note(format!("  {}", plain(command.as_str())))?;
    }
    if !args.yes {
        let reply = ctx.out.ask("Let these commands run on this machine?")?;
        if reply != Reply::Yes {
            return Err(Failure::failed("nothing was changed").hint("read it, and say `--yes`"));
        }
    }
    source.trust(ctx)?;
    ctx.out.note(format!(
        "The commands of `{}` may run as they are now.",
        source.name
    ))?;
    Ok(ExitCode::Done)
}
