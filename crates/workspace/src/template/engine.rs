//! Rendering one text, strictly and within bounds.
//!
//! A template may come out of a repository of strangers. It can reach nothing but the values: there is no loader, so
//! nothing is included from disk; it has only text, variables and conditions ([`grammar`]); the number of steps and the
//! length of the result are bounded.

use std::io::{self, Write};

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, Value};

use handoff_core::visible;

use super::{Values, Variable, grammar};

/// Steps of the engine. The largest of ours needs some fifty.
const FUEL: u64 = 20_000;
/// The longest result. What is put in is limited to far less.
const LONGEST: usize = 4 * 1024 * 1024;

/// What is wrong with a template, and in which line.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) line: usize,
    pub(super) what: FaultKind,
}

#[derive(Debug)]
pub(super) enum FaultKind {
    Unknown(String),
    Syntax(String),
}

/// A text in which every variable is known to be one of `known`.
pub(super) struct Checked<'text> {
    text: &'text str,
}

impl<'text> Checked<'text> {
    pub(super) fn new(text: &'text str, known: &[Variable]) -> Result<Self, Fault> {
        if let Some(fault) = hidden_character(text) {
            return Err(fault);
        }
        let mentions = grammar::mentions(text, syntax())?;
        let is_known = |name: &str| known.iter().any(|it| it.name() == name);
        if let Some(unknown) = mentions.iter().find(|it| !is_known(it.name)) {
            return Err(Fault {
                line: unknown.line,
                what: FaultKind::Unknown(unknown.name.to_owned()),
            });
        }
        environment()
            .template_from_str(text)
            .map_err(|error| fault(&error))?;
        Ok(Self { text })
    }

    pub(super) fn render(&self, values: &Values) -> Result<String, Fault> {
        let pairs = values
            .iter()
            .map(|(variable, text)| (variable.name(), text));
        let mut bounded = Bounded(vec![]);
        environment()
            .template_from_str(self.text)
            .and_then(|template| {
                template.render_captured_to(Value::from_pairs(pairs), &mut bounded)?;
                Ok(())
            })
            .map_err(|error| fault(&error))?;
        Ok(String::from_utf8_lossy(&bounded.0).into_owned())
    }
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_fuel(Some(FUEL));
    environment.set_syntax(syntax());
    environment
}

fn syntax() -> SyntaxConfig {
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build();
    syntax.expect("the delimiters are the usual ones")
}

/// What could move the cursor of a terminal that the prompt is printed on, or hide something from its reader.
fn hidden_character(text: &str) -> Option<Fault> {
    let is_hiding = |line: &str| visible::hidden(line).any(|(_, it)| it != '\t');
    let line = text.split('\n').position(is_hiding)?;
    Some(Fault {
        line: line + 1,
        what: FaultKind::Syntax("there is a control character or an invisible one".to_owned()),
    })
}

pub(super) fn fault(error: &Error) -> Fault {
    let what = error
        .detail()
        .map_or_else(|| error.kind().to_string(), str::to_owned);
    Fault {
        line: error.line().unwrap_or(1),
        what: FaultKind::Syntax(what),
    }
}

/// Takes as much as a prompt may have and refuses the rest.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > LONGEST {
            return Err(io::Error::other("the result is too long"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
