//! One agent under supervision.
//!
//! A *holder* is a small process for one session. It owns the terminal that the agent runs on, and is the only writer
//! of the session's directory. Everybody else reads that directory or asks the holder by its socket.
//!
//! | module | noun |
//! |---|---|
//! | [`place`] | where the files of sessions lie |
//! | [`record`] | `session.json`: what a session is, and how it ended |
//! | [`journal`] | `events.jsonl`: what happened to it |
//! | [`transcript`] | `transcript.log`: every byte that the agent printed |
//! | [`catalogue`] | the sessions there are, and whether they live |
//! | [`notice`] | what a holder says at its lock |
//! | [`screen`] | what the agent's terminal shows, and what a terminal answers |
//! | [`signs`], [`state`] | what is seen of the agent, and what follows |
//! | [`native`] | what the agent writes down for itself |
//! | [`rehearsal`] | what would follow from a recorded terminal |
//! | [`message`], [`inbox`] | what is said to the agent, and `inbox.jsonl`, where that is kept |
//! | [`delivery`], [`paste`], [`keyboard`], [`prompt_line`] | how it is typed, from what is seen |
//! | [`dialog`], [`choosing`] | what an agent asks, and making a choice |
//! | [`turn`], [`outcome`] | from a message to the next prompt, and how it came to that |
//! | [`silence`], [`stall`], [`hook`] | whether it prints, whether it is stuck, and which files it is told of |
//! | [`control`] | requests and answers on the socket, and who is let in |
//! | `private_state`, [`toolchain`] | what an agent and its tools have in a sandbox, in the place of what is the person's |
//! | [`confinement`], [`side`] | how an agent is held, and on which side of the walls somebody stands |
//! | [`environment`], [`token`] | what an agent knows of its own session, and what proves that it is in it |
//! | [`client`] | asking a holder |
//! | [`holder`] | the loop that puts them together |
//!
//! A holder never opens the store and never runs git, so that neither a migration nor a lock can disturb an agent at
//! work. It has one thread and no async runtime: see `docs/design/0008-sessions.md`.

mod attempts;
pub mod catalogue;
pub mod choosing;
pub mod client;
pub mod confinement;
pub mod control;
pub mod delivery;
pub mod dialog;
pub mod environment;
pub mod gain;
pub mod holder;
pub mod hook;
pub mod inbox;
pub mod journal;
pub mod keyboard;
pub mod last_word;
mod line_file;
pub mod message;
pub mod native;
pub mod notice;
pub mod outcome;
pub mod paste;
pub mod place;
pub mod plain_text;
mod private_state;
pub mod prompt_line;
pub mod record;
pub mod rehearsal;
pub mod screen;
pub mod sender;
pub mod side;
pub mod signs;
pub mod silence;
pub mod stall;
pub mod state;
pub mod status_report;
pub mod token;
pub mod toolchain;
pub mod transcript;
pub mod turn;

pub use catalogue::{Known, Standing};
pub use client::{Client, ClientError};
pub use confinement::{Bounds, Confinement, SandboxOff};
pub use holder::{Holder, Opening};
pub use notice::Notice;
pub use place::Places;
pub use record::Record;
pub use state::{Phase, Source, State, Verdict};
pub use token::Token;
