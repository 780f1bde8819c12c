//! `handoff context get`, `list` and `history`.

use handoff_api::{
    ContextChangeDocument, ContextDocument, ContextEntryDocument, ContextHistoryDocument, ExitCode,
};
use handoff_core::context::{ContextPattern, Tag};
use handoff_core::{ContextKey, ContextScope, Event, StreamId};
use handoff_operations::{Failure, Project};
use handoff_store::{contexts, events, read};

use super::ScopeArg;
use crate::context::Context;
use crate::output::{Table, Tone, one_line, plain};

#[derive(Debug, clap::Args)]
pub(crate) struct GetArgs {
    /// Which.
    name: ContextKey,
    #[command(flatten)]
    scope: ScopeArg,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Only keys like this: `*` stands for anything, `?` for one character.
    pattern: Option<ContextPattern>,
    /// Only those with this tag.
    #[arg(long, value_name = "TAG")]
    tag: Option<Tag>,
    #[command(flatten)]
    scope: ScopeArg,
}

#[derive(Debug, clap::Args)]
pub(crate) struct HistoryArgs {
    /// Of which key.
    name: ContextKey,
    #[command(flatten)]
    scope: ScopeArg,
}

fn absent(key: &ContextKey) -> Failure {
    Failure::new(ExitCode::NotFound, format!("there is no `{key}`"))
        .hint("see what there is: `handoff context list`")
}

pub(super) fn get(args: &GetArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = Project::peek(ctx)?.ok_or_else(|| absent(&args.name))?;
    let scope = args.scope.resolve(&mut desk)?;
    let found = read(&mut *desk.store, |tx| contexts::get(tx, scope, &args.name))?;
    let (version, entry) = found.ok_or_else(|| absent(&args.name))?;
    if ctx.out.is_json() {
        let document = ContextEntryDocument::of(version, &entry);
        ctx.out.document(ContextEntryDocument::SCHEMA, document)?;
    } else {
        ctx.out.line(plain(entry.value.as_str()))?;
    }
    Ok(ExitCode::Done)
}

pub(super) fn list(args: &ListArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let (scope, entries) = match Project::peek(ctx)? {
        Some(mut desk) => {
            let scope = args.scope.resolve(&mut desk)?;
            (scope.to_string(), matching(&mut desk, scope, args)?)
        }
        None => (String::new(), vec![]),
    };
    if ctx.out.is_json() {
        let document = ContextDocument { scope, entries };
        ctx.out.document(ContextDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    if entries.is_empty() {
        ctx.out
            .note("There is nothing. Write a value: `handoff context set NAME VALUE`.")?;
        return Ok(ExitCode::Done);
    }
    let mut table = Table::new(&["KEY", "VERSION", "AUTHOR", "VALUE"]);
    for entry in &entries {
        table.row([
            (Tone::Strong, entry.key.clone()),
            (Tone::Faint, entry.version.to_string()),
            (Tone::Faint, entry.author.clone()),
            (Tone::Plain, entry.value.clone()),
        ]);
    }
    ctx.out.table(&table)?;
    Ok(ExitCode::Done)
}

fn matching(
    desk: &mut Project,
    scope: ContextScope,
    args: &ListArgs,
) -> Result<Vec<ContextEntryDocument>, Failure> {
    let pattern = args.pattern.as_ref();
    let found = read(&mut *desk.store, |tx| {
        contexts::matching(tx, scope, pattern)
    })?;
    let is_tagged = |tags: &[Tag]| args.tag.as_ref().is_none_or(|tag| tags.contains(tag));
    Ok(found
        .values()
        .filter(|(_, entry)| is_tagged(&entry.tags))
        .map(|(version, entry)| ContextEntryDocument::of(*version, entry))
        .collect())
}

pub(super) fn history(args: &HistoryArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = Project::peek(ctx)?.ok_or_else(|| absent(&args.name))?;
    let scope = args.scope.resolve(&mut desk)?;
    let changes = changes(&mut desk, scope, &args.name)?;
    if changes.is_empty() {
        return Err(absent(&args.name));
    }
    if ctx.out.is_json() {
        let document = ContextHistoryDocument {
            scope: scope.to_string(),
            key: args.name.to_string(),
            changes,
        };
        ctx.out.document(ContextHistoryDocument::SCHEMA, document)?;
        return Ok(ExitCode::Done);
    }
    for change in changes {
        let at = change.at.strftime("%Y-%m-%d %H:%M:%S");
        let value = change.value.as_deref().unwrap_or("(removed)");
        let (version, by) = (change.version, change.by);
        ctx.out
            .line(format!("{version}  {at}  {by}  {}", one_line(value)))?;
    }
    Ok(ExitCode::Done)
}

fn changes(
    desk: &mut Project,
    scope: ContextScope,
    key: &ContextKey,
) -> Result<Vec<ContextChangeDocument>, Failure> {
    let stream = StreamId::Context(scope);
    let history = read(&mut *desk.store, |tx| events::history(tx, stream, u64::MAX))?;
    let mut changes = vec![];
    for envelope in history {
        let Event::Context(event) = &envelope.event else {
            continue;
        };
        if let Some(value) = event.about(key) {
            changes.push(ContextChangeDocument {
                version: envelope.seq,
                at: envelope.at,
                by: envelope.by.to_string(),
                value: value.map(|entry| entry.value.to_string()),
            });
        }
    }
    Ok(changes)
}
