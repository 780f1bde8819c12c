//! The feature workspace in `.handoff/`: what a person wants built, how far it is, and the prompts
//! that carry it from one session to the next.
//!
//! | module | noun |
//! |---|---|
//! | [`workspace`] | the folder `.handoff/` of a repository, and which feature is current |
//! | [`feature`] | the folder of one feature, and its five documents |
//! | [`language`] | the language that documents are written in |
//! | [`markdown`] | a document as lines that keep every byte |
//! | [`plan`] | the steps in `STATE.md`, what is wrong with them, and the one that is current |
//! | [`template`] | the texts that documents and prompts are made from |
//!
//! The documents belong to people and agents: whatever this crate does not understand stays as it
//! is, byte for byte. It runs nothing, asks git nothing, opens no store and reads no clock; what it
//! needs to know of the code comes in as a value.

#![warn(missing_docs)]

pub mod feature;
pub mod language;
pub mod markdown;
pub mod plan;
pub mod template;
pub mod workspace;

pub use feature::{Document, Feature};
pub use language::{Language, LanguageError};
pub use plan::{Plan, Verdict};
pub use template::{Rendered, Template, TemplateError, Templates, Values, Variable};
pub use workspace::{Current, Workspace, WorkspaceError};
