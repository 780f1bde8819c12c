//! What the commands about packages, contexts and keys say.

use handoff_core::context::{Entry, KeyFate, Policy};
use handoff_core::package::{Label, Origin, PackageStanding, Provenance};
use handoff_core::{PackageRecord, Timestamp};
use serde::Serialize;

/// A package in a list.
#[derive(Debug, Serialize)]
pub struct PackageRow {
    /// Which.
    pub id: String,
    /// Where it is.
    pub state: PackageStanding,
    /// Whether its bytes are as they were sealed, as far as the header tells.
    pub presence: &'static str,
    /// How often it was received.
    pub receipts: u32,
    /// Where its content comes from, as far as its label tells.
    pub origin: Origin,
    /// The task or the batch that it belongs to, where this ledger knows it: `task fix`, `batch discounts`.
    pub about: Option<String>,
    /// What stands on it.
    #[serde(flatten)]
    pub label: Label,
}

impl PackageRow {
    /// The row of a package.
    pub fn of(
        record: &PackageRecord,
        state: PackageStanding,
        presence: &'static str,
        about: Option<String>,
    ) -> Self {
        Self {
            about,
            id: record.label.id.to_string(),
            state,
            presence,
            receipts: record.receipts,
            origin: record.origin.of_content(record.label.provenance.is_some()),
            label: record.label.clone(),
        }
    }
}

/// What `package list` says.
#[derive(Debug, Serialize)]
pub struct PackagesDocument {
    /// The packages, newest first.
    pub packages: Vec<PackageRow>,
    /// What could not be used, in words; nothing of it was touched.
    pub damaged: Vec<String>,
    /// Whether there are more.
    pub has_more: bool,
}

impl PackagesDocument {
    /// The schema of `package list`.
    pub const SCHEMA: &str = "handoff.packages/1";
}

/// Who sealed a package.
#[derive(Debug, Clone, Serialize)]
pub struct SignerDocument {
    /// The id of the key.
    pub id: String,
    /// The key.
    pub key: String,
    /// `own`, `trusted`, `revoked` or `unknown`.
    pub standing: &'static str,
    /// What it is called here, if it is trusted.
    pub name: Option<String>,
}

/// The corruption check of a package.
#[derive(Debug, Serialize)]
pub struct IntegrityDocument {
    /// Always `sha256`.
    pub algorithm: &'static str,
    /// Of the payload.
    pub checksum: String,
    /// Whether bytes, signature and content are sound.
    pub valid: bool,
}

/// A whole package.
#[derive(Debug, Serialize)]
pub struct PackageDocument {
    /// Where it is.
    pub state: PackageStanding,
    /// Where its content comes from.
    pub origin: Origin,
    /// Who sealed it.
    pub signer: SignerDocument,
    /// The corruption check.
    pub integrity: IntegrityDocument,
    /// How many bytes the payload has.
    pub size: usize,
    /// What stands on it.
    pub label: Label,
    /// What is in it.
    pub payload: serde_json::Value,
}

impl PackageDocument {
    /// The schema of `package show`.
    pub const SCHEMA: &str = "handoff.package/1";
}

/// What a command did to a package.
#[derive(Debug, Serialize)]
pub struct PackageReceipt {
    /// Which package.
    pub id: String,
    /// Where it is now.
    pub state: PackageStanding,
    /// The number of the newest claim.
    pub fence: u64,
    /// When its time is over.
    pub expires_at: Option<Timestamp>,
    /// Where the bytes are, if they are a file here.
    pub path: Option<String>,
    /// What may be worth knowing.
    pub notes: Vec<String>,
}

impl PackageReceipt {
    /// The schema of the commands that change a package.
    pub const SCHEMA: &str = "handoff.package-receipt/1";
}

/// What became of a claim of a package.
#[derive(Debug, Clone, Serialize)]
pub struct ClaimOutcome {
    /// What is said.
    pub text: String,
    /// How to find out, in words.
    pub probe: Option<String>,
    /// `held`, `failed` or `not_run`.
    pub outcome: &'static str,
    /// Why not.
    pub why: Option<String>,
}

/// What `package verify` says.
#[derive(Debug, Clone, Serialize)]
pub struct VerificationDocument {
    /// Which package.
    pub id: String,
    /// Whether it may be received here and now.
    pub is_acceptable: bool,
    /// What speaks against it.
    pub objections: Vec<String>,
    /// Where it is.
    pub state: PackageStanding,
    /// Who sealed it.
    pub signer: SignerDocument,
    /// Where its content comes from.
    pub origin: Origin,
    /// The file that it was taken from, if its sealer did not make it.
    pub provenance: Option<Provenance>,
    /// How far the code has moved since: `current`, `ahead`, `behind`, `diverged` or `unknown`.
    pub drift: String,
    /// Its claims, probed again.
    pub claims: Vec<ClaimOutcome>,
    /// Where to go on.
    pub resume_point: Option<String>,
    /// `resolved` if that place exists here, else `unresolved`.
    pub resolution: &'static str,
    /// Why it is not resolved.
    pub unresolved: Option<String>,
}

impl VerificationDocument {
    /// The schema of `package verify`.
    pub const SCHEMA: &str = "handoff.verification/1";
}

/// What `package receive` says.
#[derive(Debug, Serialize)]
pub struct ReceivedDocument {
    /// What was found before it was received.
    #[serde(flatten)]
    pub verification: VerificationDocument,
    /// The context that took it in.
    pub into: String,
    /// By which policy.
    pub policy: Policy,
    /// What became of each key.
    pub report: Vec<KeyFate>,
    /// What to tell the next session.
    pub prompt: String,
}

impl ReceivedDocument {
    /// The schema of `package receive`.
    pub const SCHEMA: &str = "handoff.received/1";
}

/// What `package attachment` says.
#[derive(Debug, Serialize)]
pub struct AttachmentDocument {
    /// Of which package.
    pub package: String,
    /// What it is called there.
    pub name: String,
    /// Of its content.
    pub sha256: String,
    /// How many bytes it has.
    pub size: u64,
    /// Where it was written to.
    pub path: String,
}

impl AttachmentDocument {
    /// The schema of `package attachment`.
    pub const SCHEMA: &str = "handoff.attachment/1";
}

/// What a transfer says: the answer of the Handoff Protocol.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TransferDocument {
    /// Which package.
    pub handoff_id: String,
    /// Who has it now.
    pub target_process: String,
    /// Since when; none while it is only offered.
    pub transferred_at: Option<Timestamp>,
}

impl TransferDocument {
    /// The schema of `transfer` and `package send`.
    pub const SCHEMA: &str = "handoff.transfer/1";
}

/// What `package gc` says.
#[derive(Debug, Serialize)]
pub struct SweepDocument {
    /// What dead writers left.
    pub leftovers: usize,
    /// Files of packages that are consumed, expired, transferred or deleted.
    pub packages: usize,
    /// Attachments that no package has any more.
    pub attachments: usize,
    /// Files that the ledger does not know. They are left as they are.
    pub unknown: Vec<String>,
    /// Whether anything was done.
    pub is_dry_run: bool,
}

impl SweepDocument {
    /// The schema of `package gc`.
    pub const SCHEMA: &str = "handoff.package-gc/1";
}

/// A value of a context.
#[derive(Debug, Serialize)]
pub struct ContextEntryDocument {
    /// What it is called.
    pub key: String,
    /// The number of the event that wrote it.
    pub version: u64,
    /// The value: JSON, as text, in its own spelling.
    pub value: String,
    /// Where it comes from.
    pub source: Option<String>,
    /// What it can be found by.
    pub tags: Vec<String>,
    /// Who wrote it.
    pub author: String,
    /// When.
    pub at: Timestamp,
}

impl ContextEntryDocument {
    /// The schema of `context get`.
    pub const SCHEMA: &str = "handoff.context-entry/1";

    /// A value with its version.
    pub fn of(version: u64, entry: &Entry) -> Self {
        Self {
            key: entry.key.to_string(),
            version,
            value: entry.value.to_string(),
            source: entry.source.as_ref().map(ToString::to_string),
            tags: entry.tags.iter().map(ToString::to_string).collect(),
            author: entry.author.to_string(),
            at: entry.at,
        }
    }
}

/// What `context list` says.
#[derive(Debug, Serialize)]
pub struct ContextDocument {
    /// Whose context.
    pub scope: String,
    /// Its values.
    pub entries: Vec<ContextEntryDocument>,
}

impl ContextDocument {
    /// The schema of `context list`.
    pub const SCHEMA: &str = "handoff.context/1";
}

/// What `context set` and `context rm` say.
#[derive(Debug, Serialize)]
pub struct ContextReceipt {
    /// Whose context.
    pub scope: String,
    /// Which key.
    pub key: String,
    /// The number of the event.
    pub version: u64,
    /// Whether anything had to be changed.
    pub is_changed: bool,
    /// What makes repeating it harmless.
    pub key_of_request: String,
    /// Whether it had been done before.
    pub is_repeat: bool,
}

impl ContextReceipt {
    /// The schema of a change of a context.
    pub const SCHEMA: &str = "handoff.context-receipt/1";
}

/// One step in the history of a key.
#[derive(Debug, Serialize)]
pub struct ContextChangeDocument {
    /// The number of the event.
    pub version: u64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: String,
    /// The value from then on; none if it was removed.
    pub value: Option<String>,
}

/// What `context history` says.
#[derive(Debug, Serialize)]
pub struct ContextHistoryDocument {
    /// Whose context.
    pub scope: String,
    /// Which key.
    pub key: String,
    /// What happened to it, oldest first.
    pub changes: Vec<ContextChangeDocument>,
}

impl ContextHistoryDocument {
    /// The schema of `context history`.
    pub const SCHEMA: &str = "handoff.context-history/1";
}

/// What `keys list`, `keys trust`, `keys revoke` and `keys export` say.
#[derive(Debug, Serialize)]
pub struct KeysDocument {
    /// The keys.
    pub keys: Vec<SignerDocument>,
}

impl KeysDocument {
    /// The schema of the commands about keys.
    pub const SCHEMA: &str = "handoff.keys/1";
}
