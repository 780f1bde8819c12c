//! The frame around each document.

use schemars::JsonSchema;
use serde::Serialize;

/// Something that goes out as one JSON object with its schema.
#[derive(Debug, Serialize)]
pub struct Document<T> {
    /// Name and version of the shape, such as `handoff.task/1`.
    pub schema: &'static str,
    /// The fields of that shape.
    #[serde(flatten)]
    pub body: T,
}

impl<T> Document<T> {
    /// Frames a body.
    pub const fn new(schema: &'static str, body: T) -> Self {
        Self { schema, body }
    }
}

/// The fields of a document, which know the name of their shape.
pub trait Body: Serialize + JsonSchema {
    /// Name and version of the shape.
    const SCHEMA: &'static str;
}

/// What operations answer with.
macro_rules! bodies {
    ($($name:ident),* $(,)?) => {
        $(impl Body for crate::$name {
            const SCHEMA: &'static str = Self::SCHEMA;
        })*
    };
}

bodies!(
    AnsweredDocument,
    BatchDocument,
    BatchReportDocument,
    BatchesDocument,
    DialogDocument,
    LandingDocument,
    MessageDocument,
    Receipt,
    RunDocument,
    RunsDocument,
    SessionDocument,
    SessionsDocument,
    StatusDocument,
    TaskDocument,
);
