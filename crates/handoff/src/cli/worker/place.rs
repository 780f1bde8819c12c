//! Where the hands of a worker work: each opens the store for itself.

use std::time::Duration;

use handoff_engine::{Site, Walk, Walked};

use super::super::session::Spawner;
use crate::ambient::Ambient;
use crate::context::Context;
use crate::desk::Desk;
use crate::failure::Failure;
use crate::output::{Format, Output};

/// One who listens to the bell of the ledger looks up so often, in case nobody wants to know any more.
const LISTEN: Duration = Duration::from_secs(300);

/// The repository that a worker was started in.
pub(super) struct Place {
    ambient: Ambient,
    spawner: Spawner,
}

impl Place {
    pub(super) fn new(ctx: &Context, spawner: Spawner) -> Self {
        Self {
            ambient: ctx.ambient.clone(),
            spawner,
        }
    }

    fn context(&self) -> Context {
        Context {
            out: Output::new(&self.ambient, Format::Text),
            ambient: self.ambient.clone(),
            tree: None,
        }
    }
}

impl Site for Place {
    type Error = Failure;

    fn walk(&self, walk: Walk, arrived: &mut dyn FnMut(Walked)) -> Result<(), Failure> {
        let ctx = self.context();
        let clock = ctx.clock()?;
        let mut desk = Desk::open(&ctx)?;
        let mut workshop = desk.workshop(&ctx, &*clock)?;
        Ok(walk.walk(&mut workshop, &self.spawner, arrived)?)
    }

    fn listen(&self, heard: &mut dyn FnMut() -> bool) -> Result<(), Failure> {
        let store = self.context().open_store()?;
        let mut bell = store.bell()?;
        while heard() {
            bell.wait(LISTEN)?;
        }
        Ok(())
    }
}
