//! The holder of the session that a command is given in.

use std::path::PathBuf;

use handoff_api::ExitCode;
use handoff_core::Action;
use handoff_operations::Failure;
use handoff_operations::project::caller;
use handoff_session::{Client, ClientError, environment};

use crate::context::Context;

/// The holder of the own session, found by the environment alone: an agent may be quicker than its record is written.
pub(super) struct OwnHolder {
    pub(super) session: String,
    socket: PathBuf,
}

impl OwnHolder {
    /// Nothing outside of a session.
    pub(super) fn find(ctx: &Context) -> Result<Option<Self>, Failure> {
        caller(&ctx.ambient)?.may(Action::Tell)?;
        let session = ctx.ambient.text(environment::SESSION);
        let found = session.zip(ctx.ambient.directory(environment::SOCKET));
        Ok(found.map(|(session, socket)| Self {
            session: session.to_owned(),
            socket: socket.to_owned(),
        }))
    }

    pub(super) fn ask<T>(
        &self,
        ask: impl FnOnce(&Client) -> Result<T, ClientError>,
    ) -> Result<T, Failure> {
        ask(&Client::new(&self.socket)).map_err(|error| {
            let text = "cannot reach the holder of this session";
            Failure::new(ExitCode::Unavailable, text).because(&error)
        })
    }
}
