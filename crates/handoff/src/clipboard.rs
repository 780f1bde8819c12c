//! The clipboard, as far as one can be reached.
//!
//! Programs that are there anyway are asked; a library that speaks X11 and Wayland itself would cost more than all
//! prompts together and could not keep the text once we have ended. Over SSH the terminal is asked to take it (OSC 52).
//! Nobody may depend on it: a prompt is printed first, whatever becomes of the copy.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use handoff_process::{Program, RunError, Stdin, output};

use crate::context::Context;
use crate::output::Stream;

/// Longer than any of these programs takes, unless it waits for a display that does not answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// Who took the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taker {
    /// A program.
    Program(&'static str),
    /// The terminal, if it understands the request; it does not answer.
    Terminal,
}

/// The text is on no clipboard.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClipboardError {
    #[error(
        "there is no clipboard here: none of wl-copy, xclip, xsel, pbcopy and clip.exe can be used"
    )]
    None,
    #[error("`{0}` does not work")]
    Run(&'static str, #[source] RunError),
    #[error("`{0}` does not take it")]
    Refused(&'static str),
    #[error("cannot write to the terminal")]
    Terminal(#[source] std::io::Error),
}

/// A program that takes text for the clipboard from its input.
struct Tool {
    name: &'static str,
    arguments: &'static [&'static str],
    /// The variable that says where its display is.
    display: Option<&'static str>,
}

const TOOLS: [Tool; 5] = [
    Tool {
        name: "wl-copy",
        arguments: &[],
        display: Some("WAYLAND_DISPLAY"),
    },
    Tool {
        name: "xclip",
        arguments: &["-selection", "clipboard"],
        display: Some("DISPLAY"),
    },
    Tool {
        name: "xsel",
        arguments: &["--clipboard", "--input"],
        display: Some("DISPLAY"),
    },
    Tool {
        name: "pbcopy",
        arguments: &[],
        display: None,
    },
    Tool {
        name: "clip.exe",
        arguments: &[],
        display: None,
    },
];

/// Puts a text on the clipboard.
pub(crate) fn copy(ctx: &mut Context, text: &str) -> Result<Taker, ClipboardError> {
    let mut failure = ClipboardError::None;
    for tool in TOOLS.iter().filter(|tool| tool.is_usable(ctx)) {
        match tool.take(ctx, text) {
            Ok(()) => return Ok(Taker::Program(tool.name)),
            Err(error) => failure = error,
        }
    }
    let Some(stream) = remote_terminal(ctx) else {
        return Err(failure);
    };
    let request = format!("\x1b]52;c;{}\x07", STANDARD.encode(text));
    ctx.out
        .terminal_request(&request, stream)
        .map_err(ClipboardError::Terminal)?;
    Ok(Taker::Terminal)
}

/// The stream on which the terminal at the other end of an SSH connection can be told something. Standard error comes
/// first: the other one may be on its way into a file.
fn remote_terminal(ctx: &Context) -> Option<Stream> {
    let is_remote = |name: &&str| ctx.ambient.variable(name).is_some();
    ["SSH_TTY", "SSH_CONNECTION"]
        .iter()
        .find(|it| is_remote(it))?;
    match (ctx.terminal.is_stderr_terminal, ctx.terminal.is_terminal) {
        (true, _) => Some(Stream::Stderr),
        (false, true) => Some(Stream::Stdout),
        (false, false) => None,
    }
}

impl Tool {
    fn is_usable(&self, ctx: &Context) -> bool {
        let has_display = |name| ctx.ambient.variable(name).is_some();
        self.display.is_none_or(has_display) && is_in_path(self.name, ctx)
    }

    fn take(&self, ctx: &Context, text: &str) -> Result<(), ClipboardError> {
        let output = output(&self.program(ctx, text), Some(PATIENCE))
            .map_err(|error| ClipboardError::Run(self.name, error))?;
        if output.exit.is_success() {
            Ok(())
        } else {
            Err(ClipboardError::Refused(self.name))
        }
    }

    /// The programs for X11 and Wayland stay behind to hand the text out. What we start ends with us, so they get a
    /// session of their own.
    fn program(&self, ctx: &Context, text: &str) -> Program {
        let program = match self.display {
            Some(_) if is_in_path("setsid", ctx) => {
                Program::new("setsid", "/").with_arguments(["--wait", self.name])
            }
            Some(_) | None => Program::new(self.name, "/"),
        };
        Program {
            environment: ctx.ambient.environment.clone(),
            stdin: Stdin::Bytes(text.as_bytes().to_vec()),
            ..program.with_arguments(self.arguments)
        }
    }
}

fn is_in_path(name: &str, ctx: &Context) -> bool {
    let path = ctx
        .ambient
        .variable("PATH")
        .unwrap_or_else(|| OsStr::new(""));
    let is_there = |directory: &Path| directory.is_absolute() && directory.join(name).is_file();
    std::env::split_paths(path).any(|directory| is_there(&directory))
}
