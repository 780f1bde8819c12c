//! Sessions as people and agents meet them: real agents on real terminals, each under a holder of its own.

mod attach;
mod beginning;
mod care;
mod company;
mod conversation;
mod described;
mod doors;
mod draft;
mod hall;
mod hazard;
mod identity;
mod journal;
mod life;
mod loss;
mod messages;
mod network;
mod outcomes;
mod pane;
mod pause;
mod refusal;
mod seat;
mod signal;
mod stop;
mod summons;
pub(crate) mod supervision;
mod tmux;
mod walls;
