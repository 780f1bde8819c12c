//! Rendering one text, strictly and within bounds.
//!
//! A template may come out of a repository of strangers. It can reach nothing but the values: there is no loader, so
//! nothing is included from disk; the number of steps and the length of the result are bounded.

use std::io::{self, Write};

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, Value};

use super::{Values, Variable};
use crate::quote;

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
    is_briefing_placed: bool,
}

impl<'text> Checked<'text> {
    pub(super) fn new(text: &'text str, known: &[Variable]) -> Result<Self, Fault> {
        if let Some(fault) = hidden_character(text) {
            return Err(fault);
        }
        let environment = environment();
        let template = environment
            .template_from_str(text)
            .map_err(|error| fault(&error))?;
        let mut used: Vec<_> = template.undeclared_variables(false).into_iter().collect();
        used.sort_unstable();
        let is_known = |name: &str| {
            known.iter().any(|it| it.name() == name) || environment.globals().any(|it| it.0 == name)
        };
        let unknown = used.iter().filter(|name| !is_known(name));
        match unknown.map(|name| (line_of(text, name), name)).min() {
            Some((line, name)) => Err(Fault {
                line,
                what: FaultKind::Unknown(name.clone()),
            }),
            None => Ok(Self {
                text,
                is_briefing_placed: used.iter().any(|name| name == Variable::Briefing.name()),
            }),
        }
    }

    pub(super) const fn is_briefing_placed(&self) -> bool {
        self.is_briefing_placed
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
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build();
    environment.set_syntax(syntax.expect("the delimiters are the usual ones"));
    environment
}

/// What could move the cursor of a terminal that the prompt is printed on, or hide something from its reader.
fn hidden_character(text: &str) -> Option<Fault> {
    let is_hidden = |character: char| !quote::is_harmless(character);
    let line = text.split('\n').position(|line| line.contains(is_hidden))?;
    Some(Fault {
        line: line + 1,
        what: FaultKind::Syntax("there is a control character or an invisible one".to_owned()),
    })
}

fn fault(error: &Error) -> Fault {
    let what = error
        .detail()
        .map_or_else(|| error.kind().to_string(), str::to_owned);
    Fault {
        line: error.line().unwrap_or(1),
        what: FaultKind::Syntax(what),
    }
}

/// The first line that has the name in it as a word of its own. The engine tells which variables a template wants, but
/// not where.
fn line_of(text: &str, name: &str) -> usize {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let has_word = |line: &str| line.split(|it| !is_part(it)).any(|word| word == name);
    let in_tag = |line: &&str| line.contains("{{") || line.contains("{%");
    let place = text
        .lines()
        .position(|line| in_tag(&line) && has_word(line));
    let place = place.or_else(|| text.lines().position(has_word));
    place.map_or(1, |index| index + 1)
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
