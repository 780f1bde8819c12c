//! How a prompt reaches its user: printed in any case, with a short view for a person beside it, and on the clipboard
//! if that can be.

use std::ffi::{OsStr, OsString};

use handoff_api::{ExitCode, PromptDocument, TemplateDocument};
use handoff_core::FeatureName;
use handoff_operations::Failure;
use handoff_workspace::template::{Origin, Provenance};
use handoff_workspace::{Notice, Rendered};

use crate::cli::session::run::{self, SeatArgs};
use crate::clipboard::{self, Taker};
use crate::context::Context;
use crate::output::{Tone, one_line, plain};

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct DeliveryArgs {
    /// Put the prompt on the clipboard too.
    #[arg(long)]
    copy: bool,
    /// Print the bare prompt and nothing else.
    #[arg(long)]
    raw: bool,
    /// Start this agent and make the prompt its first message, instead of printing it.
    #[arg(long, value_name = "AGENT", conflicts_with_all = ["copy", "raw"])]
    run: Option<OsString>,
    #[command(flatten)]
    seat: SeatArgs,
}

/// A prompt, and what a person sees beside it.
pub(super) struct Delivery<'a> {
    /// The word for it: `start`, `continue`.
    pub(super) purpose: &'static str,
    pub(super) feature: Option<&'a FeatureName>,
    pub(super) rendered: &'a Rendered,
    /// How things stand, each with a label.
    pub(super) view: Vec<(&'static str, String)>,
    /// What is worth saying about the settings.
    pub(super) notices: &'a [Notice],
    /// What to do with it.
    pub(super) next: String,
}

/// Prints it first: whatever becomes of the clipboard, the prompt is there.
pub(super) fn deliver(
    delivery: &Delivery<'_>,
    args: &DeliveryArgs,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let text = &delivery.rendered.text;
    if let Some(agent) = &args.run {
        return begin(agent, delivery, args, ctx);
    }
    if ctx.out.is_json() {
        let is_copied = args.copy.then(|| clipboard::copy(ctx, text).is_ok());
        ctx.out
            .document(PromptDocument::SCHEMA, delivery.document(is_copied))?;
        return Ok(ExitCode::Done);
    }
    if ctx.terminal.is_terminal {
        ctx.out.raw(plain(text).as_bytes())?;
    } else {
        ctx.out.raw(text.as_bytes())?;
    }
    if !args.raw {
        delivery.show(ctx)?;
    }
    if args.copy {
        copy(text, args, ctx)?;
    }
    Ok(ExitCode::Done)
}

/// One act from a feature to a session at work on it.
fn begin(
    agent: &OsStr,
    delivery: &Delivery<'_>,
    args: &DeliveryArgs,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    let feature = delivery
        .feature
        .map_or_else(String::new, |name| format!(" {name}"));
    let description = format!("{}{feature}", delivery.purpose);
    let text = delivery.rendered.text.clone();
    let session = run::Args::new(agent.to_owned(), &args.seat, text, description);
    Ok(match run::run(&session, ctx)? {
        0 => ExitCode::Done,
        _ => ExitCode::Failed,
    })
}

/// A copy that fails is worth a warning, and no more: the prompt was printed.
fn copy(text: &str, args: &DeliveryArgs, ctx: &mut Context) -> Result<(), Failure> {
    let sentence = match clipboard::copy(ctx, text) {
        Ok(_) if args.raw => return Ok(()),
        Ok(Taker::Program(name)) => format!("The prompt is on the clipboard (`{name}`)."),
        Ok(Taker::Terminal) => {
            "The terminal was asked to put the prompt on the clipboard (OSC 52); not every terminal does."
                .to_owned()
        }
        Err(error) => {
            let failure = Failure::failed("").because(&error);
            let heading = ctx.out.styled(Tone::Attention, "warning:");
            let causes = plain(&failure.causes.join(": "));
            format!("{heading} the prompt is not on the clipboard: {causes}")
        }
    };
    Ok(ctx.out.note(sentence)?)
}

impl Delivery<'_> {
    fn document(&self, is_copied: Option<bool>) -> PromptDocument {
        PromptDocument {
            purpose: self.purpose,
            feature: self.feature.map(ToString::to_string),
            prompt: self.rendered.text.clone(),
            template: template_document(&self.rendered.provenance),
            is_copied,
        }
    }

    fn show(&self, ctx: &mut Context) -> Result<(), Failure> {
        let feature = self.feature.map(|name| format!(" for `{name}`"));
        let title = format!("handoff {}{}", self.purpose, feature.unwrap_or_default());
        let title = ctx.out.styled(Tone::Strong, &title);
        ctx.out.note(format!("\n{title}"))?;
        let template = self.rendered.provenance.to_string();
        let rows = self
            .view
            .iter()
            .map(|(label, text)| (*label, text.as_str()));
        for (label, text) in rows.chain([("template", template.as_str())]) {
            let label = ctx.out.styled(Tone::Faint, &format!("{label:<10}"));
            ctx.out.note(format!("  {label}  {}", one_line(text)))?;
        }
        for notice in self.notices {
            ctx.out.note(format!("  {}", one_line(&in_words(notice))))?;
        }
        ctx.out.note(format!("Next: {}", self.next))?;
        Ok(())
    }
}

/// What is worth saying about the settings, in a sentence.
pub(super) fn in_words(notice: &Notice) -> String {
    match notice {
        Notice::Foreign => {
            "`.handoff/config.toml` belongs to another tool and is left alone; the defaults apply."
                .to_owned()
        }
        Notice::Unquoted { line } => {
            format!("`.handoff/config.toml` line {line}: the language should stand in quotes.")
        }
        Notice::Unknown { line, key } => {
            format!(
                "`.handoff/config.toml` line {line}: `{key}` is not a setting and means nothing."
            )
        }
    }
}

pub(super) fn template_document(provenance: &Provenance) -> TemplateDocument {
    let path = match &provenance.origin {
        Origin::Embedded => None,
        Origin::Customised(path) => Some(path.display().to_string()),
    };
    TemplateDocument {
        name: provenance.template.file_name(),
        is_customised: path.is_some(),
        path,
        digest: provenance.digest.clone(),
    }
}
