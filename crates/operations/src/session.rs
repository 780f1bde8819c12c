//! Sessions: which one is meant, how one is started, what is known of it.

mod address;
pub mod assignment;
pub mod authority;
mod care;
pub mod dialog;
pub mod document;
pub mod launch;
pub mod lease_keeper;
pub mod letter;
pub mod list;
pub mod lost_turn;
mod random_name;
pub mod relief;
pub mod send;
pub mod start;
pub mod vigil;
pub mod way_out;

pub use address::{SessionRef, lost, parse_name, places, refused, unreachable, unreadable};
pub use care::Care;
pub use dialog::{AnswerDialog, SeeDialog};
pub use list::ListSessions;
pub use send::SendMessage;
pub use start::{StartSession, Wording};
