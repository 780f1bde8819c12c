//! Which session is meant, on the command line.

use std::path::PathBuf;

use handoff_operations::Failure;
use handoff_operations::session::SessionRef;
use handoff_session::Known;

use crate::context::Context;

/// A session on the command line.
#[derive(Debug, clap::Args)]
pub(crate) struct Address {
    /// Its name in this project, or its id.
    #[arg(long, value_name = "ID")]
    id: String,
    /// Look for the name in the project of this directory.
    #[arg(long, value_name = "PATH")]
    repo: Option<PathBuf>,
}

impl Address {
    /// As operations take it.
    pub(crate) fn session(&self) -> SessionRef {
        SessionRef::new(self.id.clone(), self.repo.clone())
    }

    /// The session, whether it lives or not.
    pub(crate) fn find(&self, ctx: &Context) -> Result<Known, Failure> {
        self.session().find(ctx)
    }

    /// The session, which must live.
    pub(crate) fn find_live(&self, ctx: &Context) -> Result<Known, Failure> {
        self.session().find_live(ctx)
    }
}
