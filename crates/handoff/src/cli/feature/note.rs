//! `handoff note`: something worth knowing, for whoever comes next.

use handoff_api::{ExitCode, NoteReceipt};
use handoff_core::FeatureEvent;
use handoff_core::feature::{Mark, NoteKind};
use handoff_core::ownership::RepoPath;
use handoff_core::task::Reason;
use handoff_operations::Failure;
use handoff_operations::feature::FeatureSite;
use handoff_operations::feature::pen::Pen;
use handoff_workspace::Document;
use handoff_workspace::notebook::{AppendError, Passage, Topic, append};

use super::choice::FeatureArg;
use crate::context::Context;
use crate::output::one_line;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What is worth knowing.
    text: Passage,
    #[command(flatten)]
    kind: KindArg,
    #[command(flatten)]
    choice: FeatureArg,
}

/// What it is about; without any of these it is a note.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct KindArg {
    /// Something that was tried and does not work.
    #[arg(long)]
    dead_end: bool,
    /// Something that keeps the work from going on.
    #[arg(long)]
    blocker: bool,
    /// Something that nobody has answered yet.
    #[arg(long)]
    question: bool,
    /// A file worth reading first, from the root of the repository.
    #[arg(long, value_name = "PATH")]
    file: Option<RepoPath>,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let (kind, topic) = args.kind.meaning();
    let entry = match &args.kind.file {
        Some(path) => passage(&format!("`{path}`: {}", args.text.as_str()))?,
        None => args.text.clone(),
    };
    let text = recorded(&entry)?;
    let event = |mark| FeatureEvent::Noted { kind, text, mark };
    write(&args.choice, topic, &entry, event, ctx)
}

impl KindArg {
    const fn meaning(&self) -> (NoteKind, Topic) {
        if self.dead_end {
            (NoteKind::DeadEnd, Topic::DeadEnds)
        } else if self.blocker {
            (NoteKind::Blocker, Topic::Blockers)
        } else if self.question {
            (NoteKind::Question, Topic::Questions)
        } else if self.file.is_some() {
            (NoteKind::File, Topic::Files)
        } else {
            (NoteKind::Note, Topic::Notes)
        }
    }
}

/// Puts an entry into the notes, records it and says so.
pub(super) fn write(
    choice: &FeatureArg,
    topic: Topic,
    entry: &Passage,
    event: impl FnOnce(Mark) -> FeatureEvent,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let site = FeatureSite::find(ctx)?;
    let pen = Pen::take(&site, &choice.choice())?;
    let text = pen.read(Document::Session)?;
    let appended = append(&text, topic, entry).map_err(|error| refused(&error))?;
    if !appended.is_repeat {
        pen.write(ctx, Document::Session, &appended.text, event)?;
    }
    let receipt = NoteReceipt {
        feature: pen.feature.name.to_string(),
        section: appended.section,
        entry: entry.as_str().to_owned(),
        is_repeat: appended.is_repeat,
    };
    report(receipt, ctx)
}

fn report(receipt: NoteReceipt, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        ctx.out.document(NoteReceipt::SCHEMA, receipt)?;
        return Ok(ExitCode::Done);
    }
    let verb = if receipt.is_repeat {
        "Already under"
    } else {
        "Noted under"
    };
    let (section, entry) = (one_line(&receipt.section), one_line(&receipt.entry));
    ctx.out.line(format!("{verb} {section}: {entry}"))?;
    Ok(ExitCode::Done)
}

fn refused(error: &AppendError) -> Failure {
    let AppendError::Structure(_) = error;
    Failure::new(ExitCode::Damaged, error.to_string())
        .hint("see all that is wrong: `handoff validate`")
}

/// A text as it goes into the notes.
pub(super) fn passage(text: &str) -> Result<Passage, Failure> {
    text.parse()
        .map_err(|error| Failure::usage("the text cannot be noted").because(&error))
}

/// A text as the ledger takes it.
pub(super) fn recorded(text: &Passage) -> Result<Reason, Failure> {
    text.as_str()
        .parse()
        .map_err(|error| Failure::usage("the text cannot be recorded").because(&error))
}
