//! Packages of the Handoff Protocol CL2-052: JSON without a seal. They can be taken in; nobody vouches for them.

mod checksum;

use std::str::FromStr;

use handoff_core::context::{Author, ContextKey, Entry, Source, Tag};
use handoff_core::package::{
    Actor, PhaseName, PipelineVersion, ResumePoint, SessionRef, SubjectId,
};
use handoff_core::{Digest, JsonText, Timestamp};
use serde::Deserialize;

use crate::payload::{Checkpoint, CheckpointStatus, SerializedContext};
use checksum::Compact;

/// The longest file of the protocol.
pub const LIMIT: u64 = 24 * 1024 * 1024;

/// What a package of the protocol says, as far as it can be used here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsealed {
    /// What it is called there.
    pub id: SubjectId,
    /// The session it comes from.
    pub session: SessionRef,
    /// What it is about: `cloneId` there.
    pub subject: Option<SubjectId>,
    /// When it says it was made.
    pub created_at: Timestamp,
    /// When it says its time is over.
    pub expires_at: Option<Timestamp>,
    /// The phase that ended.
    pub source_phase: PhaseName,
    /// The phase that is to go on.
    pub target_phase: PhaseName,
    /// The shared context.
    pub context: SerializedContext,
    /// Where to go on.
    pub checkpoint: Checkpoint,
    /// The version of the pipeline.
    pub pipeline_version: Option<PipelineVersion>,
    /// Who made it.
    pub created_by: Actor,
    /// Why.
    pub reason: String,
}

/// A file that is no package of the protocol.
#[derive(Debug, thiserror::Error)]
pub enum ProtocolError {
    /// Not such JSON.
    #[error("it is not a package of the Handoff Protocol")]
    Json(#[source] serde_json::Error),
    /// A version of the protocol that is not known.
    #[error("version {0:?} of the Handoff Protocol is unknown here")]
    Version(String),
    /// A checksum that is not of what the file says.
    #[error("Integrity check failed: `{field}` is not the checksum of `{of}`")]
    Integrity {
        /// The checksum.
        field: &'static str,
        /// What it should be of.
        of: String,
    },
    /// A field that cannot be used.
    #[error("`{field}` cannot be used: {why}")]
    Field {
        /// Which.
        field: String,
        /// Why.
        why: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Foreign {
    id: String,
    session_id: String,
    #[serde(alias = "cloneId")]
    subject_id: Option<String>,
    created_at: String,
    source_phase: String,
    target_phase: String,
    context: ForeignContext,
    checkpoint: ForeignCheckpoint,
    metadata: ForeignMetadata,
    integrity: Option<ForeignIntegrity>,
}

#[derive(Deserialize)]
struct ForeignContext {
    entries: Vec<ForeignEntry>,
    checksum: Option<String>,
}

#[derive(Deserialize)]
struct ForeignIntegrity {
    algorithm: String,
    checksum: String,
}

#[derive(Deserialize)]
struct ForeignEntry {
    key: String,
    value: String,
    #[serde(default)]
    metadata: ForeignEntryMetadata,
}

#[derive(Deserialize, Default)]
struct ForeignEntryMetadata {
    source: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ForeignCheckpoint {
    #[serde(rename = "phase")]
    phase_name: String,
    step: u32,
    total_steps: u32,
    status: CheckpointStatus,
    resume_point: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ForeignMetadata {
    version: String,
    pipeline_version: Option<String>,
    created_by: String,
    reason: String,
    expires_at: Option<String>,
}

/// Reads a package of the protocol. Checksums that it has must be right; they need no secret, so they do not vouch for it.
pub fn read(bytes: &[u8]) -> Result<Unsealed, ProtocolError> {
    let foreign: Foreign = serde_json::from_slice(bytes).map_err(ProtocolError::Json)?;
    let metadata = foreign.metadata;
    if metadata.version != "1.0" {
        return Err(ProtocolError::Version(metadata.version));
    }
    let text = std::str::from_utf8(bytes).expect("JSON that was parsed is UTF-8");
    check(&foreign.context, foreign.integrity.as_ref(), text)?;
    let created_by = field::<Actor>("metadata.createdBy", &metadata.created_by)?;
    let created_at: Timestamp = field("createdAt", &foreign.created_at)?;
    let entries = entries(&foreign.context, &created_by, created_at)?;
    let expires = metadata.expires_at.as_deref();
    let pipeline = metadata.pipeline_version.as_deref();
    Ok(Unsealed {
        id: field("id", &foreign.id)?,
        session: field("sessionId", &foreign.session_id)?,
        subject: optional("cloneId", foreign.subject_id.as_deref())?,
        created_at,
        expires_at: optional("metadata.expiresAt", expires)?,
        source_phase: field("sourcePhase", &foreign.source_phase)?,
        target_phase: field("targetPhase", &foreign.target_phase)?,
        context: SerializedContext::of(entries),
        checkpoint: foreign.checkpoint.read()?,
        pipeline_version: optional("metadata.pipelineVersion", pipeline)?,
        created_by,
        reason: metadata.reason,
    })
}

fn check(
    context: &ForeignContext,
    integrity: Option<&ForeignIntegrity>,
    document: &str,
) -> Result<(), ProtocolError> {
    if let Some(other) = integrity.filter(|it| it.algorithm != "sha256") {
        return Err(ProtocolError::Field {
            field: "integrity.algorithm".to_owned(),
            why: format!("{:?} is not `sha256`", other.algorithm),
        });
    }
    let compact = Compact::of(document);
    let of_context = context.checksum.as_deref();
    let of_package = integrity.map(|it| it.checksum.as_str());
    for (field, told, path) in [
        ("context.checksum", of_context, &["context", "entries"][..]),
        ("integrity.checksum", of_package, &["context"][..]),
    ] {
        let is_of = |told: &str| compact.digest_of(path).as_ref().map(Digest::as_str) == Some(told);
        if told.is_some_and(|told| !is_of(told)) {
            let of = path.join(".");
            return Err(ProtocolError::Integrity { field, of });
        }
    }
    Ok(())
}

impl ForeignCheckpoint {
    fn read(&self) -> Result<Checkpoint, ProtocolError> {
        Ok(Checkpoint {
            phase: field("checkpoint.phase", &self.phase_name)?,
            step: self.step,
            total_steps: self.total_steps,
            status: self.status,
            resume_point: field::<ResumePoint>("checkpoint.resumePoint", &self.resume_point)?,
        })
    }
}

fn entries(
    context: &ForeignContext,
    by: &Actor,
    at: Timestamp,
) -> Result<Vec<Entry>, ProtocolError> {
    let author: Author = field("metadata.createdBy", by.as_str())?;
    let read = |entry: &ForeignEntry| {
        let name = |part: &str| format!("context.entries[{}].{part}", entry.key);
        let tags = entry.metadata.tags.iter();
        let tags = tags.map(|tag| field::<Tag>(&name("metadata.tags"), tag));
        let source = entry.metadata.source.as_deref();
        Ok(Entry {
            key: field::<ContextKey>(&name("key"), &entry.key)?,
            value: JsonText::parse(&entry.value).map_err(|error| ProtocolError::Field {
                field: name("value"),
                why: error.to_string(),
            })?,
            source: optional::<Source>(&name("metadata.source"), source)?,
            tags: tags.collect::<Result<_, _>>()?,
            author: author.clone(),
            at,
        })
    };
    context.entries.iter().map(read).collect()
}

fn field<T: FromStr<Err: std::fmt::Display>>(name: &str, text: &str) -> Result<T, ProtocolError> {
    text.parse().map_err(|error: T::Err| ProtocolError::Field {
        field: name.to_owned(),
        why: error.to_string(),
    })
}

fn optional<T: FromStr<Err: std::fmt::Display>>(
    name: &str,
    text: Option<&str>,
) -> Result<Option<T>, ProtocolError> {
    text.map(|text| field(name, text)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(created_at: &str, value: &str) -> String {
        let value = serde_json::Value::from(value);
        let entries = format!(
            r#"[{{"key":"a.b","value":{value},"metadata":{{"source":"x","tags":["t"],"more":1}}}}]"#
        );
        whole(created_at, &entries, None, None)
    }

    fn whole(
        created_at: &str,
        entries: &str,
        of_entries: Option<&str>,
        of_context: Option<&str>,
    ) -> String {
        let right = Digest::of(entries.as_bytes());
        let of_entries = of_entries.unwrap_or(right.as_str());
        let context = format!(r#"{{"entries":{entries},"size":1,"checksum":"{of_entries}"}}"#);
        let right = Digest::of(context.as_bytes());
        let of_context = of_context.unwrap_or(right.as_str());
        format!(
            r#"{{"id":"hof-abc123","sessionId":"s1","cloneId":"clone-7","createdAt":"{created_at}",
            "sourcePhase":"analysis","targetPhase":"synthesis",
            "context":{context},
            "checkpoint":{{"phase":"analysis","step":2,"totalSteps":5,"status":"paused","resumePoint":"analysis:2"}},
            "metadata":{{"version":"1.0","pipelineVersion":"3","createdBy":"system","reason":"manual","expiresAt":"2026-03-01T00:00:00+02:00"}},
            "integrity":{{"algorithm":"sha256","checksum":"{of_context}"}}}}"#
        )
    }

    const AT: &str = "2026-02-20T10:00:00Z";
    const ENTRIES: &str = r#"[{"key":"a","value":"\"é\\u0041\"","metadata":{"tags":[]}},{"key":"b","value":"{\"x\": [1]}"}]"#;

    #[test]
    fn right_checksums_are_accepted_in_every_spelling_of_the_file() {
        let written = whole(AT, ENTRIES, None, None);
        let spaced = ENTRIES.replace(r#"{"key":"#, "{ \"key\" :\n");
        let escaped = ENTRIES
            .replace('é', r"\u00e9")
            .replace("\"key\"", r#""\u006bey""#);
        for entries in [&*spaced, &*escaped] {
            let other = written.replace(ENTRIES, entries);
            assert_ne!(other, written);
            read(other.as_bytes()).unwrap();
        }
        let without = written.replace("checksum", "other");
        assert!(
            read(without.as_bytes()).is_err(),
            "an algorithm without a checksum"
        );
        read(written.as_bytes()).unwrap();
    }

    #[test]
    fn wrong_checksums_are_errors() {
        let zeros = "0".repeat(64);
        let right = whole(AT, ENTRIES, None, None);
        let upper = Digest::of(ENTRIES.as_bytes()).as_str().to_uppercase();
        for (what, file) in [
            (
                "wrong digest of entries",
                whole(AT, ENTRIES, Some(&zeros), None),
            ),
            (
                "wrong digest of context",
                whole(AT, ENTRIES, None, Some(&zeros)),
            ),
            ("no digest at all", whole(AT, ENTRIES, Some("no"), None)),
            (
                "another spelling of the digest",
                whole(AT, ENTRIES, Some(&upper), None),
            ),
            ("a changed value", right.replace("[1]", "[2]")),
            (
                "a changed key",
                right.replace(r#""key":"a""#, r#""key":"c""#),
            ),
            ("a changed tag", right.replace("[]", r#"["t"]"#)),
            (
                "a changed size",
                right.replace(r#""size":1"#, r#""size":2"#),
            ),
            (
                "an added member",
                right.replace(r#""size":1"#, r#""size":1,"more":1"#),
            ),
        ] {
            assert_ne!(file, right, "{what}");
            let error = read(file.as_bytes()).unwrap_err().to_string();
            assert!(
                error.starts_with("Integrity check failed"),
                "{what}: {error}"
            );
        }
        let md5 = right.replace("sha256", "md5");
        let error = read(md5.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("integrity.algorithm"), "{error}");
    }

    #[test]
    fn all_fields_are_read_and_the_value_keeps_its_spelling() {
        let read = read(example("2026-02-20T10:00:00.000Z", "[9007199254740993]").as_bytes());
        let package = read.unwrap();
        assert_eq!(package.subject, Some("clone-7".parse().unwrap()));
        assert_eq!(
            package.context.entries[0].value.as_str(),
            "[9007199254740993]"
        );
        let expires = package.expires_at.unwrap();
        assert_eq!(expires.to_string(), "2026-02-28T22:00:00Z");
        assert_eq!(package.checkpoint.resume_point.as_str(), "analysis:2");
    }

    #[test]
    fn a_bad_date_or_value_is_told_by_its_field() {
        for (created, value, field) in [
            ("2026-02-30T10:00:00Z", "1", "createdAt"),
            ("2026-02-20 10:00", "1", "createdAt"),
            (
                "2026-02-20T10:00:00Z",
                "undefined",
                "context.entries[a.b].value",
            ),
            ("2026-02-20T10:00:00Z", "NaN", "context.entries[a.b].value"),
        ] {
            let error = read(example(created, value).as_bytes()).unwrap_err();
            assert!(error.to_string().contains(field), "{error}");
        }
    }
}
