use handoff_core::task::Evidence;
use handoff_core::{Fence, PackageId, ProjectId, TaskId, Timestamp};
use handoff_package::Package;
use uuid::Uuid;

pub(crate) fn package() -> Package {
    let commit = "0123456789".repeat(4).parse().unwrap();
    Package {
        id: PackageId::from_uuid(Uuid::from_u128(1)),
        project: ProjectId::from_uuid(Uuid::from_u128(2)),
        task: TaskId::from_uuid(Uuid::from_u128(3)),
        task_name: "fix-bug".parse().unwrap(),
        fence: Fence::new(2),
        created_at: Timestamp::from_second(1_800_000_000).unwrap(),
        branch: "handoff/fix-bug-2".parse().unwrap(),
        commit: Some(commit),
        brief: "Fix the bug.\n\"Quotes\" and \u{202e} too."
            .parse()
            .unwrap(),
        summary: Some("Fixed.".parse().unwrap()),
        evidence: vec![Evidence::Committed {
            branch: "handoff/fix-bug-2".parse().unwrap(),
            commit: "0123456789".repeat(4).parse().unwrap(),
        }],
    }
}
