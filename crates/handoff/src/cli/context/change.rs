//! `handoff context set` and `handoff context rm`.

use std::io::Read as _;

use handoff_api::{ContextReceipt, ExitCode};
use handoff_core::context::{ContextCommand, Expected, Source, Tag, Writing};
use handoff_core::{ContextKey, JsonText};
use handoff_operations::{Failure, Project};
use handoff_store::queue::{Answer, Change};

use super::ScopeArg;
use crate::cli::queue::KeyArg;
use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct SetArgs {
    /// What the value is called, such as `phase.result`.
    name: ContextKey,
    /// The value as JSON; `-` reads it from standard input. What is no JSON needs `--text`.
    value: String,
    /// Take the value as text, whatever it looks like.
    #[arg(long)]
    text: bool,
    /// Where it comes from.
    #[arg(long, value_name = "SOURCE")]
    source: Option<Source>,
    /// A word to find it by; may be given several times.
    #[arg(long, value_name = "TAG")]
    tag: Vec<Tag>,
    #[command(flatten)]
    expected: ExpectedArg,
    #[command(flatten)]
    scope: ScopeArg,
    #[command(flatten)]
    key: KeyArg,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RmArgs {
    /// Which.
    name: ContextKey,
    #[command(flatten)]
    expected: ExpectedArg,
    #[command(flatten)]
    scope: ScopeArg,
    #[command(flatten)]
    key: KeyArg,
}

impl SetArgs {
    pub(super) fn is_from_stdin(&self) -> bool {
        self.value == "-"
    }
}

/// Compare and set.
#[derive(Debug, clap::Args)]
struct ExpectedArg {
    /// Only if it still has this version; 0 means that it must not be there.
    #[arg(long, value_name = "VERSION")]
    if_version: Option<u64>,
}

impl ExpectedArg {
    const fn expected(&self) -> Expected {
        match self.if_version {
            None => Expected::Anything,
            Some(0) => Expected::Nothing,
            Some(version) => Expected::Version(version),
        }
    }
}

pub(super) fn set(args: SetArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let writing = Writing {
        value: value(&args)?,
        key: args.name.clone(),
        source: args.source,
        tags: args.tag,
    };
    let expected = args.expected.expected();
    let command = ContextCommand::Set { writing, expected };
    change(&args.scope, command, args.key, ctx)
}

fn value(args: &SetArgs) -> Result<JsonText, Failure> {
    let text = if args.value == "-" {
        let mut text = String::new();
        let limit = JsonText::LIMIT as u64 + 1;
        let read = std::io::stdin().take(limit).read_to_string(&mut text);
        read.map_err(|error| Failure::usage("cannot read the value").because(&error))?;
        text
    } else {
        args.value.clone()
    };
    let parsed = if args.text {
        JsonText::of_text(&text)
    } else {
        JsonText::parse(&text)
    };
    parsed.map_err(|error| {
        let failure = Failure::usage(format!("the value of `{}` cannot be kept", args.name));
        failure
            .because(&error)
            .hint("write JSON, such as `'{\"done\": true}'`, or say `--text` to keep it as text")
    })
}

pub(super) fn rm(args: RmArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let expected = args.expected.expected();
    let key = args.name;
    let command = ContextCommand::Remove { key, expected };
    change(&args.scope, command, args.key, ctx)
}

fn change(
    scope: &ScopeArg,
    command: ContextCommand,
    key: KeyArg,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let mut desk = Project::open(ctx)?;
    let scope = scope.resolve(&mut desk)?;
    let name = command.key().clone();
    let change = Change::Context {
        project: desk.id,
        scope,
        command,
    };
    let recorded = desk.submit(change, key.key)?;
    let Answer::Context { version, event, .. } = &recorded.receipt.answer else {
        return Err(Failure::new(
            ExitCode::Internal,
            "the answer is not about a context",
        ));
    };
    let receipt = ContextReceipt {
        scope: scope.to_string(),
        key: name.to_string(),
        version: *version,
        is_changed: event.is_some(),
        key_of_request: recorded.key.to_string(),
        is_repeat: recorded.receipt.is_repeat,
    };
    let shown = show(&receipt, ctx);
    shown.map_err(|failure| recorded.untold(failure))
}

fn show(receipt: &ContextReceipt, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        ctx.out.document(ContextReceipt::SCHEMA, receipt)?;
        return Ok(ExitCode::Done);
    }
    let again = if receipt.is_changed {
        ""
    } else {
        " (it was so already)"
    };
    let (key, version) = (&receipt.key, receipt.version);
    ctx.out.line(format!("{key}: version {version}{again}"))?;
    Ok(ExitCode::Done)
}
