//! The workflow: phases in roles, each a fresh session, and what proves that one is over.
//!
//! A definition is a TOML file. [`Workflow::read`] gives all mistakes at once, each with its line, and whatever it accepts can be
//! run: every outcome leads somewhere, every phase can be reached, and from every phase there is a way to the end.

mod contract;
mod definition;
mod draft;
mod fault;
mod graph;
mod next;
mod reading;
mod shape;

pub use contract::Contract;
pub use definition::{
    Check, Gate, Input, Phase, Proof, Scope, Suite, SuiteFormat, Touch, Workflow,
};
pub use fault::{DefinitionError, Fault, Flaw};
pub use graph::GraphStyle;
pub use next::{FanOut, Goal, ManifestSource, Next, Outcome};

/// The workflows that come with the program.
pub const BUILT_IN: [(&str, &str); 4] = [
    ("pipeline", include_str!("workflow/builtin/pipeline.toml")),
    (
        "plan-build-review",
        include_str!("workflow/builtin/plan-build-review.toml"),
    ),
    ("ralph", include_str!("workflow/builtin/ralph.toml")),
    ("tdd", include_str!("workflow/builtin/tdd.toml")),
];
