//! Requests to a holder and its answers: HTTP/1.1 with JSON on a unix socket, one request a connection.
//!
//! | request | answer |
//! |---|---|
//! | `GET /v1/caller` | who the one that asks is |
//! | `GET /v1/status` | what is known of the session |
//! | `GET /v1/screen` | what its terminal shows |
//! | `GET /v1/screens` | the same as one line, and one more each time that it changes |
//! | `POST /v1/input` | `{"text": …}` or `{"base64": …}` is typed |
//! | `POST /v1/messages` | `{"text": …, "key": …}` is on the disk, and its id is the answer |
//! | `GET /v1/dialog` | what the agent asks a person |
//! | `POST /v1/answer` | `{"dialog": …, "choice": …}` is chosen if that is still asked |
//! | `POST /v1/replies` | `{"text": …}` is on the disk, for whoever started the session |
//! | `POST /v1/errand` | `{"words": …, "directory": …}`: a command of this program is run outside of the sandbox, for the session; answered when it has ended |
//! | `POST /v1/interrupt` | the keys that end a turn are pressed |
//! | `POST /v1/signal` | `{"signal": …, "to": "agent"}` (or `"all"`) is sent, and who got it is the answer |
//! | `POST /v1/resize` | `{"rows": …, "columns": …}` |
//! | `POST /v1/stop` | `{"grace_ms": …}`; answered when nothing is left |
//! | `GET /v1/attach?mode=write` | the connection becomes what a terminal shows and what is typed; `mode=read` only looks |
//!
//! The version in the path is the protocol's own: holders outlive upgrades of the program.

pub mod errand;
pub mod gate;
pub mod http;
pub mod message;
mod reach;
mod screenshot;

pub use errand::{Errand, Returned};
pub use gate::{Entrance, Gate};
pub use http::{Head, Headers, HttpError};
pub use message::{
    Asking, Attachment, Choosing, Interrupted, ROUTES, Recognised, Reply, Request, Sent, Signalled,
    Status, Stopped,
};
pub use reach::Reach;
pub use screenshot::Screenshot;
