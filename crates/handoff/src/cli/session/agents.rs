//! `handoff agents`: the agents that are known.

mod rehearse;

use handoff_agents::AgentName;
use handoff_api::{AgentDocument, AgentsDocument, ExitCode};
use handoff_operations::Failure;
use handoff_operations::agent_catalogue::{self, Described};

use crate::context::Context;
use crate::output::{Table, Tone};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Add one: `handoff agents show claude` into `agents/NAME.toml` beside your `config.toml`, \
                        change it, and try it on a recording. What stands in a repository is never read."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print how an agent is described, as TOML.
    Show(ShowArgs),
    /// Tell what would be read from a recorded terminal.
    Try(rehearse::Args),
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    name: AgentName,
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match args.command {
        None => list(ctx),
        Some(Command::Show(args)) => show(&args, ctx),
        Some(Command::Try(args)) => rehearse::run(&args, ctx),
    }
}

fn list(ctx: &mut Context) -> Result<ExitCode, Failure> {
    let names = agent_catalogue::names(ctx)?;
    let agents: Result<Vec<Described>, Failure> = names
        .iter()
        .map(|name| agent_catalogue::require(name, ctx))
        .collect();
    let agents: Vec<AgentDocument> = agents?.iter().map(document).collect();
    if ctx.out.is_json() {
        ctx.out
            .document(AgentsDocument::SCHEMA, AgentsDocument { agents })?;
        return Ok(ExitCode::Done);
    }
    let mut table = Table::new(&["NAME", "WHAT", "STARTS", "FROM"]);
    for agent in agents {
        table.row([
            (Tone::Strong, agent.name),
            (Tone::Plain, agent.about),
            (Tone::Faint, agent.command.join(" ")),
            (Tone::Faint, agent.file.unwrap_or("built in".to_owned())),
        ]);
    }
    ctx.out.table(&table)?;
    Ok(ExitCode::Done)
}

fn show(args: &ShowArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let described = agent_catalogue::require(&args.name, ctx)?;
    if ctx.out.is_json() {
        let document = AgentDocument {
            description: Some(described.text.clone()),
            ..document(&described)
        };
        ctx.out.document(AgentDocument::SCHEMA, document)?;
    } else {
        for line in described.text.lines() {
            ctx.out.line(line)?;
        }
    }
    Ok(ExitCode::Done)
}

fn document(described: &Described) -> AgentDocument {
    let file = described.file.as_ref();
    AgentDocument {
        name: described.agent.name.to_string(),
        about: described.agent.adapter.about.clone(),
        command: described.agent.adapter.launch.command.clone(),
        file: file.map(|file| file.display().to_string()),
        description: None,
    }
}
