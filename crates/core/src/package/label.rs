//! What stands on a package: all that lists and decisions need without opening it.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::checked_text::checked_text;
use crate::context::words;
use crate::{CommitId, Digest, FeatureName, PackageId, ProjectId, StoreId, TaskId, Timestamp};

words! {
    /// What a package is about, in the words of whoever made it: a clone, a customer, a ticket.
    SubjectId, "a subject", 200;
    /// A phase of some pipeline.
    PhaseName, "a phase", 100;
    /// The session a package comes from. Of ours it is the id; others call theirs what they like.
    SessionRef, "a session", 200;
    /// Where to go on.
    ResumePoint, "a resume point", 1000;
    /// The version of a pipeline.
    PipelineVersion, "a version", 100;
    /// Who made a package.
    Actor, "a name", 200;
    /// Who or what a package was handed to.
    Recipient, "a recipient", 400;
}

/// The beginning of the digest of a public key, as people compare it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyId(String);

/// A text that names no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the id of a key is `key_` and 16 lower-case hexadecimal digits")]
pub struct KeyIdError;

checked_text!(KeyId, KeyIdError, |text| {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let digits = text.strip_prefix("key_");
    let is_id = digits.is_some_and(|it| it.len() == 16 && it.bytes().all(is_hex));
    is_id.then_some(()).ok_or(KeyIdError)
});

/// Who a package is for. Whoever is not, cannot receive it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Audience {
    /// The machine with this key.
    Key(KeyId),
    /// A project.
    Project(ProjectId),
    /// A ledger.
    Store(StoreId),
}

/// A text that names no audience.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "an audience is the id of a key (`key_…`), of a project (`proj_…`) or of a store (`store_…`)"
)]
pub struct AudienceError;

impl fmt::Display for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(id) => fmt::Display::fmt(id, f),
            Self::Project(id) => fmt::Display::fmt(id, f),
            Self::Store(id) => fmt::Display::fmt(id, f),
        }
    }
}

impl FromStr for Audience {
    type Err = AudienceError;

    fn from_str(text: &str) -> Result<Self, AudienceError> {
        let key = text.parse().ok().map(Self::Key);
        key.or_else(|| text.parse().ok().map(Self::Project))
            .or_else(|| text.parse().ok().map(Self::Store))
            .ok_or(AudienceError)
    }
}

impl TryFrom<String> for Audience {
    type Error = AudienceError;

    fn try_from(text: String) -> Result<Self, AudienceError> {
        text.parse()
    }
}

impl From<Audience> for String {
    fn from(audience: Audience) -> Self {
        audience.to_string()
    }
}

/// What a package was made for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum PackageKind {
    /// By hand.
    Manual,
    /// At the end of a task.
    Task,
    /// Something that ran was paused.
    Pause,
    /// It is to go on somewhere else.
    Transfer,
}

impl PackageKind {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Task => "task",
            Self::Pause => "pause",
            Self::Transfer => "transfer",
        }
    }
}

/// The format of a file that was imported without a seal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ForeignFormat {
    /// JSON of the Handoff Protocol CL2-052.
    HandoffProtocol,
}

impl ForeignFormat {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::HandoffProtocol => "handoff-protocol",
        }
    }
}

/// Where the content of a package comes from if its sealer did not make it: a file without a seal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Provenance {
    /// What kind of file it was.
    pub format: ForeignFormat,
    /// The id that the file gives itself.
    pub id: SubjectId,
    /// SHA-256 of the file.
    #[schemars(with = "String")]
    pub sha256: Digest,
    /// The key of the machine that imported it.
    #[schemars(with = "String")]
    pub imported_by: KeyId,
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (format, id) = (self.format.word(), &self.id);
        let (sha256, key) = (self.sha256.short(), &self.imported_by);
        write!(
            f,
            "{format} file `{id}` (sha256 {sha256}…), imported by {key}"
        )
    }
}

/// What stands on a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Label {
    /// Which package.
    pub id: PackageId,
    /// What it was made for.
    pub kind: PackageKind,
    /// When, by the clock of whoever made it.
    pub created_at: Timestamp,
    /// From when on nobody can receive it; none is never.
    pub expires_at: Option<Timestamp>,
    /// The project it comes from.
    pub project: ProjectId,
    /// The session it comes from.
    pub session_id: Option<SessionRef>,
    /// What it is about.
    pub subject_id: Option<SubjectId>,
    /// The task it comes from.
    pub task: Option<TaskId>,
    /// The feature it comes from.
    pub feature: Option<FeatureName>,
    /// The phase that ended.
    pub source_phase: Option<PhaseName>,
    /// The phase that is to go on.
    pub target_phase: Option<PhaseName>,
    /// The commit it was made at.
    pub commit: Option<CommitId>,
    /// Who it is for; nobody named is everybody.
    #[schemars(with = "Vec<String>")]
    pub audience: Vec<Audience>,
    /// Whether it can be received once only.
    pub single_use: bool,
    /// Where the content comes from; none if whoever sealed it made it. Packages of older versions have none in either case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
}

impl Label {
    /// The most that it can be for.
    pub const MOST_AUDIENCE: usize = 16;

    /// Whether its time is over.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|expires| now >= expires)
    }

    /// Whether it is for one of these.
    pub fn is_for(&self, receiver: &[Audience]) -> bool {
        self.audience.is_empty() || self.audience.iter().any(|it| receiver.contains(it))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn label(expires_at: Option<Timestamp>) -> Label {
        Label {
            id: PackageId::from_uuid(Uuid::from_u128(1)),
            kind: PackageKind::Manual,
            created_at: Timestamp::UNIX_EPOCH,
            expires_at,
            project: ProjectId::from_uuid(Uuid::from_u128(2)),
            session_id: None,
            subject_id: None,
            task: None,
            feature: None,
            source_phase: None,
            target_phase: None,
            commit: None,
            audience: vec![],
            single_use: true,
            provenance: None,
        }
    }

    #[test]
    fn it_is_over_at_the_very_moment_and_never_without_one() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let brief = label(Some(at(10)));
        assert!(!brief.is_expired(at(9)) && brief.is_expired(at(10)) && brief.is_expired(at(11)));
        assert!(!label(None).is_expired(Timestamp::MAX));
    }

    #[test]
    fn it_is_for_everybody_or_for_those_it_names() {
        let (ours, theirs) = ([1, 2].map(|it| ProjectId::from_uuid(Uuid::from_u128(it)))).into();
        let receiver = [Audience::Project(ours)];
        let mut named = label(None);
        assert!(named.is_for(&receiver));
        named.audience = vec![Audience::Project(theirs)];
        assert!(!named.is_for(&receiver));
        named.audience.push(Audience::Project(ours));
        assert!(named.is_for(&receiver));
    }
}
