//! The one process on this machine that does something with a package: receives it, or gives it to another store.
//!
//! The ledger's claim keeps others away, but it outlives its claimant for an hour. Whoever has the kernel lock beside the package knows
//! that an earlier claimant of this machine is dead, and goes on in its place: a command that was killed can be repeated at once.

use std::time::Duration;

use handoff_api::ExitCode;
use handoff_core::lease::Ttl;
use handoff_core::package::{KeyId, PackageCommand, PackageRefusal, PackageState, Receipt};
use handoff_core::{Fence, PackageId, PackageRecord};
use handoff_engine::depot::Grasped;
use handoff_operations::{Failure, Project};
use handoff_store::StoreError;

use super::life;
use crate::cli::queue::KeyArg;

/// How long a claim lasts: longer than checks take. On another machine it is what somebody waits after a crash of ours.
const CLAIM: Duration = Duration::from_secs(3600);

/// A package that nobody else on this machine does anything with.
pub(crate) struct Grasp {
    package: PackageId,
    /// The key of a machine is what others know it by.
    machine: KeyId,
    _grasped: Grasped,
}

impl Grasp {
    /// Takes hold of a package, unless somebody else does something with it.
    pub(crate) fn take(package: PackageId, desk: &mut Project) -> Result<Self, Failure> {
        let depot = desk.depot();
        let machine = depot.own_key()?.public().id();
        let grasped = depot.grasp(package)?.ok_or_else(|| taken(package))?;
        Ok(Self {
            package,
            machine,
            _grasped: grasped,
        })
    }

    /// Gets the exclusive right to receive it, or to give it away.
    pub(crate) fn claim(&self, desk: &mut Project) -> Result<Fence, Failure> {
        let command = PackageCommand::Claim {
            ttl: Ttl::new(CLAIM).expect("an hour is within the limits"),
            machine: Some(self.machine.clone()),
        };
        let record = self.tell(command, desk)?;
        if matches!(record.state, PackageState::Expired { .. }) {
            let at = record.label.expires_at;
            let (id, refusal) = (self.package, PackageRefusal::Expired { at });
            return Err(StoreError::PackageRefused { id, refusal }.into());
        }
        Ok(record.fence)
    }

    /// It is free again at once, and not only when the claim runs out. If that fails too, it runs out.
    pub(crate) fn give_back(&self, fence: Fence, desk: &mut Project) {
        let command = PackageCommand::Release {
            fence: Some(fence),
            reason: "it came to nothing".parse().ok(),
        };
        self.tell(command, desk).ok();
    }

    /// How it was received here, if it was and cannot be again.
    pub(crate) fn receipt<'a>(&self, record: &'a PackageRecord) -> Option<&'a Receipt> {
        record.receipt_of(&self.machine)
    }

    /// What was received came to nothing, and it can be received again.
    pub(crate) fn put_back(&self, fence: Fence, desk: &mut Project) -> Result<(), Failure> {
        let machine = self.machine.clone();
        let command = PackageCommand::Return { fence, machine };
        self.tell(command, desk).map(drop)
    }

    fn tell(&self, command: PackageCommand, desk: &mut Project) -> Result<PackageRecord, Failure> {
        life::change(desk, self.package, command, KeyArg { key: None })
    }
}

fn taken(package: PackageId) -> Failure {
    let text = format!("somebody on this machine is doing something with {package}");
    Failure::new(ExitCode::Conflict, text).hint(format!(
        "see what became of it: `handoff package show {package}`"
    ))
}
