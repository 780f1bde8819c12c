//! Packages as the ledger knows them: what their label says, who has the right to receive them, and what became of them.
//!
//! The bytes are the business of `handoff-package`; here it is decided who may do what with them, and when.

mod decide;
mod event;
mod label;
mod record;

pub use decide::{PackageCommand, PackageRefusal, SKEW};
pub use event::{Claim, Origin, PackageEvent, Receipt};
pub use label::{
    Actor, Audience, AudienceError, ForeignFormat, KeyId, KeyIdError, Label, PackageKind,
    PhaseName, PipelineVersion, Provenance, Recipient, ResumePoint, SessionRef, SubjectId,
};
pub use record::{HistoryError, PackageRecord, PackageStanding, PackageState};
