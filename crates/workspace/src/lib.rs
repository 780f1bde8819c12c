//! The feature workspace in `.handoff/`: what a person wants built, how far it is, and the prompts
//! that carry it from one session to the next.
//!
//! | module | noun |
//! |---|---|
//! | [`workspace`] | the folder `.handoff/` of a repository, and which feature is current |
//! | [`feature`] | the folder of one feature, and its five documents |
//! | [`scaffold`] | what a new workspace and a new feature begin with |
//! | [`switch`] | choosing the current feature |
//! | [`listing`] | which features there are, and which were put away |
//! | [`trash`] | cleaning up, and taking it back |
//! | [`config`] | the settings of a workspace |
//! | [`context_source`] | what a repository has that explains it |
//! | [`exclude`] | the line in git's `info/exclude` |
//! | [`briefing`] | what the next session is told, within a budget |
//! | [`quote`] | text from files as data in a prompt |
//! | [`language`] | the language that documents are written in |
//! | [`inspection`] | everything that is wrong with a workspace |
//! | [`markdown`] | a document as lines that keep every byte |
//! | [`notebook`] | the notes in `SESSION.md` |
//! | [`plan`] | the steps in `STATE.md`, what is wrong with them, and the one that is current |
//! | [`trust`] | which commands of a repository may run |
//! | [`essence`] | what a person wrote in a document |
//! | [`prompt`] | the prompts that plan a feature and begin its work |
//! | [`template`] | the texts that documents and prompts are made from |
//!
//! The documents belong to people and agents: whatever this crate does not understand stays as it
//! is, byte for byte. It runs nothing, asks git nothing, opens no store and reads no clock; what it
//! needs to know of the code comes in as a value.

#![warn(missing_docs)]

pub mod briefing;
pub mod config;
pub mod context_source;
pub mod essence;
pub mod exclude;
pub mod feature;
pub mod inspection;
pub mod language;
pub mod listing;
pub mod markdown;
pub mod notebook;
pub mod plan;
pub mod prompt;
pub mod quote;
pub mod scaffold;
pub mod switch;
pub mod template;
pub mod trash;
pub mod trust;
pub mod workspace;

pub use config::{Budget, Check, Config, ConfigError, Notice};
pub use context_source::{ContextScan, ContextSource};
pub use feature::{Document, Feature};
pub use language::{Language, LanguageError};
pub use notebook::Notebook;
pub use plan::{Plan, Verdict};
pub use scaffold::{Made, Scaffold, ScaffoldError, Worth, WorthError};
pub use template::{Rendered, Template, TemplateError, Templates, Values, Variable};
pub use workspace::{Current, Workspace, WorkspaceError};
