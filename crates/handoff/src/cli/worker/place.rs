//! Where the hands of a worker work: each opens the store for itself.

use std::sync::Arc;
use std::time::Duration;

use handoff_engine::{EngineError, Milestone, Site, Stock, Walk, Workshop};
use handoff_operations::{Failure, Project};

use super::super::session::Spawner;
use crate::ambient::Invocation;
use crate::context::Context;

/// One who listens to the bell of the ledger looks up so often, in case nobody wants to know any more.
const LISTEN: Duration = Duration::from_secs(300);

/// The repository that a worker was started in.
pub(super) struct Place {
    invocation: Invocation,
    spawner: Spawner,
    /// All hands take from one.
    stock: Arc<Stock>,
}

impl Place {
    pub(super) fn new(ctx: &Context, spawner: Spawner) -> Self {
        Self {
            invocation: ctx.invocation(),
            spawner,
            stock: Arc::default(),
        }
    }

    /// A workshop of one's own.
    fn with_workshop<T>(
        &self,
        work: impl FnOnce(&mut Workshop<'_>) -> Result<T, EngineError>,
    ) -> Result<T, Failure> {
        let ctx = self.context();
        let clock = ctx.clock()?;
        let mut desk = Project::open(&ctx)?;
        let mut workshop = desk.workshop(&ctx, &*clock)?;
        workshop.stock = Arc::clone(&self.stock);
        Ok(work(&mut workshop)?)
    }

    fn context(&self) -> Context {
        Context::quiet(self.invocation.clone())
    }
}

impl Site for Place {
    type Error = Failure;

    fn walk(&self, walk: Walk, passed: &mut dyn FnMut(Milestone)) -> Result<(), Failure> {
        self.with_workshop(|workshop| walk.walk(workshop, &self.spawner, passed))
    }

    fn lay_in(&self, wanted: usize) -> Result<(), Failure> {
        self.with_workshop(|workshop| self.stock.lay_in(workshop, wanted))
    }

    fn clear_stock(&self) -> Result<(), Failure> {
        if self.stock.close() {
            return Ok(());
        }
        self.with_workshop(|workshop| self.stock.clear(workshop))
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
