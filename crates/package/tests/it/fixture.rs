use handoff_core::context::Entry;
use handoff_core::package::{Audience, ForeignFormat, Label, PackageKind, Provenance};
use handoff_core::task::Evidence;
use handoff_core::tree::Dirty;
use handoff_core::{Digest, Fence, JsonText, PackageId, ProjectId, TaskId, Timestamp, TreeState};
use handoff_package::payload::{
    Attachment, Checkpoint, CheckpointStatus, Claim, Metadata, PayloadVersion, Probe,
    SerializedContext, SessionState,
};
use handoff_package::{KeyPair, Package, Payload};
use uuid::Uuid;

pub(crate) fn key() -> KeyPair {
    KeyPair::from_secret(&[7; 32])
}

pub(crate) fn provenance() -> Provenance {
    Provenance {
        format: ForeignFormat::HandoffProtocol,
        id: "hof-1".parse().unwrap(),
        sha256: Digest::of(b"a file"),
        imported_by: key().public().id(),
    }
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
            provenance: None,
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
            task: None,
            brief: Some(
                "Fix the bug.\n\"Quotes\" and \u{202e} too."
                    .parse()
                    .unwrap(),
            ),
            summary: Some("Fixed.".parse().unwrap()),
            session: None,
            batch: None,
            run: None,
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

/// A package with something in every place.
pub(crate) fn full() -> Package {
    let mut package = package();
    let digest = Digest::of(b"x");
    let (label, payload) = (&mut package.label, &mut package.payload);
    label.task = Some(TaskId::from_uuid(Uuid::from_u128(3)));
    label.feature = Some("login".parse().unwrap());
    label.target_phase = Some("synthesis".parse().unwrap());
    label.audience = vec![Audience::Project(label.project)];
    payload.metadata.pipeline_version = Some("3".parse().unwrap());
    payload.metadata.foreign_id = Some("hof-1".parse().unwrap());
    payload.tree = Some(TreeState {
        branch: Some("main".parse().unwrap()),
        commit: label.commit.clone(),
        dirty: Some(Dirty {
            digest: Some(digest.clone()),
            files: 1,
        }),
    });
    payload.session = Some(SessionState {
        name: "one".parse().unwrap(),
        agent: "claude".parse().unwrap(),
        conversation: Some("c1".parse().unwrap()),
        turns: 3,
        answers: vec!["yes".parse().unwrap()],
        inbox: vec!["and then?".parse().unwrap()],
        screen: Some("$".parse().unwrap()),
    });
    payload.decisions = vec!["because".parse().unwrap()];
    payload.dead_ends = vec!["no".parse().unwrap()];
    payload.proofs.push(Evidence::Verified {
        command: "cargo test".parse().unwrap(),
        exit_code: Some(0),
        limit: None,
    });
    let probes = [
        Probe::Commit {
            commit: label.commit.clone().unwrap(),
        },
        Probe::File {
            path: "a/b.txt".parse().unwrap(),
            sha256: digest.clone(),
        },
        Probe::Check {
            name: "unit".parse().unwrap(),
        },
        Probe::Context {
            key: "a".parse().unwrap(),
            value: "1".parse().unwrap(),
        },
        Probe::Command {
            command: "true".parse().unwrap(),
        },
    ];
    payload.claims.extend(probes.map(|probe| Claim {
        text: "so".parse().unwrap(),
        probe: Some(probe),
    }));
    payload.attachments = vec![Attachment {
        name: "log.txt".parse().unwrap(),
        sha256: digest,
        size: 1,
    }];
    package
}
