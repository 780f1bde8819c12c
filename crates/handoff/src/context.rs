//! What each command gets: where it works, what this process was started with, and where to say things.

use std::ffi::OsString;
use std::ops::{Deref, DerefMut};

use handoff_operations::Workplace;

use crate::ambient::{Invocation, TerminalFacts};
use crate::output::{Format, Output};

/// What each command gets.
pub(crate) struct Context {
    here: Workplace,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) terminal: TerminalFacts,
    pub(crate) out: Output,
}

impl Context {
    pub(crate) fn new(invocation: Invocation, format: Format) -> Self {
        Self {
            out: Output::new(&invocation, format),
            here: Workplace::new(invocation.ambient),
            arguments: invocation.arguments,
            terminal: invocation.terminal,
        }
    }

    /// One that is for nobody to see: of somebody who works beside.
    pub(crate) fn quiet(invocation: Invocation) -> Self {
        Self::new(invocation, Format::Text)
    }

    /// For somebody who works beside.
    pub(crate) fn invocation(&self) -> Invocation {
        Invocation {
            arguments: self.arguments.clone(),
            ambient: self.ambient.clone(),
            terminal: self.terminal.clone(),
        }
    }

    /// Whether a question can be asked: of a person, never of a program.
    pub(crate) fn can_ask(&self) -> bool {
        self.terminal.can_ask && !self.out.is_json()
    }
}

/// A command works at a place as an operation does; besides, it can say things.
impl Deref for Context {
    type Target = Workplace;

    fn deref(&self) -> &Workplace {
        &self.here
    }
}

impl DerefMut for Context {
    fn deref_mut(&mut self) -> &mut Workplace {
        &mut self.here
    }
}
