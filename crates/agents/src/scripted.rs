//! The script of the built-in scripted agent: what an agent does, step by step, in TOML.
//!
//! ```toml
//! [[step]]
//! print = "Reading the brief…\n"
//!
//! [[step]]
//! expect = "continue"
//! timeout = "5s"
//!
//! [[step]]
//! write = { path = "src/lib.rs", text = "// {line}\n" }
//! ```
//!
//! A step has exactly one action key, the action's options beside it, and on any step a `when`.
//! [`Action`] lists the actions; the documentation of each kind gives its keys. A list of steps
//! stands inside a step as `[[step.steps]]` (a group, or with `repeat = n` a loop) and
//! `[[step.on.1]]` (what follows an answer): a script is a tree, without labels or jumps.
//!
//! Texts replace `{name}`, see [`Text`].
//!
//! Parsing is strict and pure. An unknown key, a wrong type, a path that leaves the working
//! directory or a signal that cannot be ignored is a [`ScriptError`] with line, column and step,
//! before anything is played.

mod action;
mod error;
mod flood;
mod inner_path;
mod parse;
mod period;
mod raw_bytes;
mod script;
mod signal;
mod text;
mod variable;
mod when;

pub use action::{
    Action, Answer, AnswerBy, Append, Arguments, Ask, BracketedPaste, Bytes, Delete, Die, Exit,
    Expect, FileText, Git, Hang, Ignore, LeaveScreen, Message, Osc, OscEnd, Pace, PaceUnit, Print,
    PromptContains, ReadPrompt, Repeat, Run, Screen, Spawn, Spin, Title, True, Wait, WaitFor,
    Write,
};
pub use error::{Position, Problem, ScriptError};
pub use flood::{Flood, Pattern};
pub use inner_path::{InnerPath, OuterPath};
pub use period::Period;
pub use raw_bytes::RawBytes;
pub use script::{Script, Step, StepName};
pub use signal::{IgnorableSignal, Signal};
pub use text::Text;
pub use variable::VariableName;
pub use when::{Subject, Test, When};
