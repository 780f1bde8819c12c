//! The actions of a script, one type each; the fields are the keys.
//!
//! Adding an action: its type here, a line in `actions!`, and the player's match.

mod asking;
mod doing;
mod ending;
mod showing;

use serde::de::{Deserialize, Error as _};
use toml::de::ValueDeserializer;

use super::flood::Flood;
pub use asking::{Answer, AnswerBy, Ask, Expect, Message, PromptContains, ReadPrompt};
pub use doing::{
    Append, Arguments, Delete, FileText, Git, Ignore, Repeat, Run, Spawn, Wait, WaitFor, Write,
};
pub use ending::{Die, Exit, Hang, Spin};
pub use showing::{
    BracketedPaste, Bytes, LeaveScreen, Osc, OscEnd, Pace, PaceUnit, Print, Screen, Title,
};

macro_rules! actions {
    ($($key:literal => $kind:ident,)*) => {
        /// What a step does.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Action {
            $($kind($kind),)*
        }

        impl Action {
            /// The key of each action.
            pub const KEYS: &[&str] = &[$($key,)*];

            /// The key that makes a step this action.
            pub const fn key(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => $key,)*
                }
            }

            /// Reads the action called `key` out of a step.
            pub(super) fn read(
                key: &str,
                step: ValueDeserializer<'_>,
            ) -> Result<Self, toml::de::Error> {
                match key {
                    $($key => $kind::deserialize(step).map(Self::$kind),)*
                    _ => Err(toml::de::Error::custom(format!("unknown action `{key}`"))),
                }
            }
        }
    };
}

actions! {
    "print" => Print,
    "bytes" => Bytes,
    "title" => Title,
    "osc" => Osc,
    "bracketed_paste" => BracketedPaste,
    "screen" => Screen,
    "leave_screen" => LeaveScreen,
    "flood" => Flood,
    "expect" => Expect,
    "message" => Message,
    "ask" => Ask,
    "read_prompt" => ReadPrompt,
    "prompt_contains" => PromptContains,
    "write" => Write,
    "append" => Append,
    "delete" => Delete,
    "git" => Git,
    "run" => Run,
    "spawn" => Spawn,
    "ignore" => Ignore,
    "wait" => Wait,
    "wait_for" => WaitFor,
    "repeat" => Repeat,
    "spin" => Spin,
    "exit" => Exit,
    "die" => Die,
    "hang" => Hang,
}

/// The value of a key that only ever says `true`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(try_from = "bool")]
pub struct True;

impl TryFrom<bool> for True {
    type Error = &'static str;

    fn try_from(value: bool) -> Result<Self, Self::Error> {
        if value {
            Ok(Self)
        } else {
            Err("only `true` makes sense here; leave the step out instead")
        }
    }
}
