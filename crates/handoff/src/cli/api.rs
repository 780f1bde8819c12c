//! `handoff api`: operations by name, for programs. What it reads and prints is JSON.

use std::io::Read as _;

use handoff_api::{ExitCode, OperationSchemaDocument, OperationsDocument};
use handoff_operations::Failure;
use handoff_operations::operation::{Effect, Forwarded};
use handoff_operations::registry::{self, Entry};
use serde_json::Value;

use super::errand::Reading;
use crate::context::Context;
use crate::output::{Format, Output, plain};

/// A request that is longer is none of ours.
const LONGEST: u64 = 4 * 1024 * 1024;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List the operations, with who may call them.
    List,
    /// Print what an operation takes and answers, as JSON Schema.
    Schema(Named),
    /// Call an operation: the request is JSON on standard input, the answer JSON on standard output.
    Call(Named),
}

#[derive(Debug, clap::Args)]
pub(super) struct Named {
    /// Its name in `handoff api list`.
    operation: String,
}

impl Command {
    /// What it reads, if it is done for a session: as the operation that it names.
    pub(super) fn reading(&self, barrier: Forwarded) -> Option<Reading> {
        let Self::Call(named) = self else {
            return None;
        };
        let entry = registry::find(&named.operation).ok()?;
        (entry.forwarded >= barrier).then_some(Reading::Input)
    }
}

pub(super) fn run(command: &Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    match command {
        Command::List => list(ctx)?,
        Command::Schema(named) => {
            speak_json(ctx);
            let schema = registry::find(&named.operation)?.schema();
            ctx.out.document(OperationSchemaDocument::SCHEMA, schema)?;
        }
        Command::Call(named) => {
            speak_json(ctx);
            perform(&registry::find(&named.operation)?, ctx)?;
        }
    }
    Ok(ExitCode::Done)
}

/// Programs read this, also what goes wrong.
fn speak_json(ctx: &mut Context) {
    ctx.out = Output::new(&ctx.invocation(), Format::Json);
}

fn perform(entry: &Entry, ctx: &mut Context) -> Result<(), Failure> {
    let answered = entry.call(request(&mut std::io::stdin())?, ctx)?;
    let key = answered.body.get("key").and_then(Value::as_str);
    let key = key.map(str::to_owned);
    let told = ctx.out.document(answered.schema, answered.body);
    told.map_err(|error| match entry.effect {
        Effect::Reads => Failure::from(error),
        Effect::Changes => Failure::from(error).after_change(key.as_deref()),
    })
}

fn list(ctx: &mut Context) -> Result<(), Failure> {
    let operations: Vec<_> = registry::ALL.iter().map(Entry::row).collect();
    if ctx.out.is_json() {
        ctx.out.document(
            OperationsDocument::SCHEMA,
            OperationsDocument { operations },
        )?;
        return Ok(());
    }
    for row in operations {
        let callers = row.callers.join(", ");
        ctx.out
            .line(format!("{}  {} ({callers})", row.name, row.effect))?;
        ctx.out.line(format!("  {}", plain(&row.description)))?;
    }
    Ok(())
}

/// Nothing at all is a request without fields.
fn request(input: &mut dyn std::io::Read) -> Result<Value, Failure> {
    let mut text = String::new();
    let read = input.take(LONGEST + 1).read_to_string(&mut text);
    read.map_err(|error| {
        Failure::usage("cannot read the request from standard input").because(&error)
    })?;
    if text.len() as u64 > LONGEST {
        let longest = LONGEST / (1024 * 1024);
        return Err(Failure::usage(format!(
            "a request has at most {longest} MiB"
        )));
    }
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_str(&text)
        .map_err(|error| Failure::usage("the request is not JSON").because(&error))
}
