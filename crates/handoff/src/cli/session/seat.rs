//! Sitting at a session that others attend to.

use handoff_core::SessionId;
use handoff_operations::Failure;
use handoff_operations::session::start::find;
use handoff_session::control::Attachment;
use handoff_session::{Known, Standing};

use super::viewer::{self, Left};
use crate::context::Context;
use crate::output::plain;

/// A place at the terminal of a session.
pub(crate) struct Seat {
    known: Known,
}

impl Seat {
    /// Whether there is a terminal at which somebody could sit.
    pub(crate) fn is_there() -> bool {
        viewer::size().is_some()
    }

    /// The place at this session; none before it has begun.
    pub(crate) fn at(session: SessionId, ctx: &Context) -> Option<Self> {
        let known = find(session, ctx).ok()?;
        Some(Self { known })
    }

    /// Stays until the session ends or the person leaves. Says whether there was anything to sit at. That somebody else sits there
    /// already is said, and does no harm.
    pub(crate) fn sit_down(&self, ctx: &mut Context) -> Result<bool, Failure> {
        if self.known.standing != Standing::Live {
            return Ok(false);
        }
        match viewer::view(&self.known, Attachment::Write, ctx) {
            Ok(Left::Ended) => {}
            Ok(Left::Detached) => {
                viewer::say_detached(&self.known, ctx)?;
            }
            Err(failure) => ctx.out.note(plain(&failure.message))?,
        }
        Ok(true)
    }
}
