//! How an operation says that it did not work: a kind, a sentence, causes, and what is safe to do next.
//!
//! Hints are attached here, where library errors meet the service layer. A hint never destroys anything: agents
//! do what error texts say.

mod backup;
mod ledger;
mod package;
mod workspace;

pub use workspace::{unusable, unwritten};

use std::error::Error;
use std::io;

use handoff_api::{ErrorDocument, ExitCode};
use handoff_core::caller::Forbidden;
use handoff_core::resource::Resource;
use rustix::io::Errno;

/// Why a command did not work.
#[derive(Debug)]
pub struct Failure {
    pub code: ExitCode,
    pub message: String,
    pub causes: Vec<String>,
    pub hints: Vec<String>,
    /// The reader of our output is gone: nothing to say, nobody to say it to.
    pub is_closed_pipe: bool,
}

impl Failure {
    pub fn new(code: ExitCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            code,
            message,
            causes: vec![],
            hints: vec![],
            is_closed_pipe: false,
        }
    }

    /// What an error says, with what it came from.
    pub fn of(code: ExitCode, error: &(dyn Error + 'static)) -> Self {
        let failure = Self::new(code, error.to_string()).naming_resource(error);
        match error.source() {
            Some(cause) => failure.because(cause),
            None => failure,
        }
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Failed, message)
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Usage, message)
    }

    /// Adds what it came from.
    #[must_use]
    pub fn because(mut self, cause: &(dyn Error + 'static)) -> Self {
        let mut next = Some(cause);
        while let Some(cause) = next {
            self.causes.push(cause.to_string());
            self = self.naming_resource(cause);
            next = cause.source();
        }
        self
    }

    /// If something is used up, that is what went wrong, whatever was tried.
    fn naming_resource(mut self, error: &(dyn Error + 'static)) -> Self {
        let Some(resource) = resource_of(error) else {
            return self;
        };
        if matches!(self.code, ExitCode::Failed | ExitCode::Unavailable) {
            self.code = ExitCode::NoSpace;
        }
        let advice = resource.advice();
        if !self.hints.iter().any(|it| it == advice) {
            self.hints.push(advice.to_owned());
        }
        self
    }

    /// Adds what an error came from, which is the message already.
    #[must_use]
    pub fn because_of_source(self, error: &dyn Error) -> Self {
        match error.source() {
            Some(cause) => self.because(cause),
            None => self,
        }
    }

    /// Adds something that is safe to try.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// It happened after something was recorded, when that was to be told: to the caller the outcome is unknown, and repeating with the
    /// key, if there is one, tells.
    #[must_use]
    pub fn after_change(self, key: Option<&str>) -> Self {
        if self.is_closed_pipe {
            return self;
        }
        let failure = Self {
            message: "the change is recorded, but the answer could not be shown".to_owned(),
            code: ExitCode::OutcomeUnknown,
            ..self
        };
        match key {
            Some(key) => failure.hint(repeat_with(key)),
            None => failure,
        }
    }

    pub fn document(&self) -> ErrorDocument {
        ErrorDocument {
            error: self.code.word(),
            exit_code: self.code.number(),
            message: self.message.clone(),
            causes: self.causes.clone(),
            hints: self.hints.clone(),
        }
    }
}

/// What is safe to do when it is not known whether a change happened.
pub(crate) fn repeat_with(key: &str) -> String {
    format!(
        "repeat the same command with `--key {key}`: it tells what happened, and does it only once"
    )
}

/// What is used up, by the answer of the system in an error.
fn resource_of(error: &(dyn Error + 'static)) -> Option<Resource> {
    let number = error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::raw_os_error)
        .or_else(|| error.downcast_ref::<Errno>().map(|it| it.raw_os_error()));
    number.and_then(Resource::of_errno)
}

impl From<io::Error> for Failure {
    /// For writing output; everything else has a message of its own.
    fn from(error: io::Error) -> Self {
        let failure = Self::failed("cannot write the output").because(&error);
        Self {
            is_closed_pipe: error.kind() == io::ErrorKind::BrokenPipe,
            ..failure
        }
    }
}

impl From<Forbidden> for Failure {
    fn from(error: Forbidden) -> Self {
        Self::new(ExitCode::Forbidden, error.to_string())
    }
}
