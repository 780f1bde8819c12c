use handoff_core::context::Entry;
use handoff_core::package::{Label, PackageKind};
use handoff_core::task::Evidence;
use handoff_core::{Fence, JsonText, PackageId, ProjectId, Timestamp};
use handoff_package::payload::{
    Checkpoint, CheckpointStatus, Claim, Metadata, PayloadVersion, Probe, SerializedContext,
};
use handoff_package::{KeyPair, Package, Payload};
use uuid::Uuid;

pub(crate) fn key() -> KeyPair {
    KeyPair::from_secret(&[7; 32])
}

pub(crate) fn entry(key: &str, value: &str) -> Entry {
    Entry {
        key: key.parse().unwrap(),
        value: JsonText::parse(value).unwrap(),
        source: Some("test".parse().unwrap()),
        tags: vec!["a".parse().unwrap()],
        author: "person".parse().unwrap(),
        at: Timestamp::UNIX_EPOCH,
    }
}

pub(crate) fn package() -> Package {
    let commit = "0123456789".repeat(4);
    Package {
        label: Label {
            id: PackageId::from_uuid(Uuid::from_u128(1)),
            kind: PackageKind::Task,
            created_at: Timestamp::from_second(1_800_000_000).unwrap(),
            expires_at: Some(Timestamp::from_second(1_800_086_400).unwrap()),
            project: ProjectId::from_uuid(Uuid::from_u128(2)),
            session_id: Some("s1".parse().unwrap()),
            subject_id: Some("clone-7".parse().unwrap()),
            task: None,
            feature: None,
            source_phase: Some("analysis".parse().unwrap()),
            target_phase: None,
            commit: Some(commit.parse().unwrap()),
            audience: vec![],
            single_use: true,
        },
        payload: Payload {
            context: SerializedContext::of([
                entry("a", "9007199254740993"),
                entry("b", r#"{"x": 1.0}"#),
            ]),
            checkpoint: Some(Checkpoint {
                phase: "analysis".parse().unwrap(),
                step: 2,
                total_steps: 5,
                status: CheckpointStatus::Paused,
                resume_point: "analysis:2".parse().unwrap(),
            }),
            metadata: Metadata {
                version: PayloadVersion::One,
                pipeline_version: None,
                created_by: "person".parse().unwrap(),
                reason: "manual".parse().unwrap(),
                foreign_id: None,
            },
            tree: None,
            task_name: Some("fix-bug".parse().unwrap()),
            fence: Some(Fence::new(2)),
            brief: Some(
                "Fix the bug.\n\"Quotes\" and \u{202e} too."
                    .parse()
                    .unwrap(),
            ),
            summary: Some("Fixed.".parse().unwrap()),
            decisions: vec![],
            dead_ends: vec![],
            proofs: vec![Evidence::Committed {
                branch: "handoff/fix-bug-2".parse().unwrap(),
                commit: commit.parse().unwrap(),
            }],
            claims: vec![Claim {
                text: "it works".parse().unwrap(),
                probe: Some(Probe::CleanTree),
            }],
            required: vec!["a".parse().unwrap()],
            attachments: vec![],
        },
    }
}
