//! Sealing: what the next session needs, in a package that is durable before the ledger names it.

use handoff_core::context::Entry;
use handoff_core::package::{Label, Origin, PackageKind, PhaseName, SessionRef};
use handoff_core::task::{Evidence, Report, Summary};
use handoff_core::{
    Caller, CommitId, ContextScope, IdempotencyKey, PackageId, PackageRecord, SessionId, Task,
    TreeState,
};
use handoff_package::payload::{
    Checkpoint, CheckpointStatus, Claim, Metadata, PayloadVersion, Probe, SerializedContext,
};
use handoff_package::resumption::TASK;
use handoff_package::{Clean, Package, Payload};
use handoff_store::{contexts, packages, read};

use crate::error::EngineError;
use crate::judgement::prove;
use crate::package_rules::PackageRules;
use crate::places::Attempt;
use crate::workshop::Workshop;

/// Writes the package of an attempt and records it.
pub(crate) fn seal(
    workshop: &mut Workshop<'_>,
    task: &Task,
    session: SessionId,
    evidence: &[Evidence],
) -> Result<PackageId, EngineError> {
    if let Some(sealed) = sealed_before(workshop, task, session)? {
        return Ok(sealed);
    }
    let scope = ContextScope::Task(task.id);
    let shared = read(workshop.store, |tx| contexts::matching(tx, scope, None))?;
    let shared = shared.into_values().map(|(_, entry)| entry).collect();
    let package = Package {
        label: label(workshop, task, session, evidence),
        payload: payload(task, evidence, shared, &workshop.rules),
    };
    let key = format!("{}/{}/package", task.id, task.fence);
    let key: IdempotencyKey = key.parse().expect("ids and a word make a key");
    // Nobody is there to be asked, and the work is done: marks stand where the secrets were.
    let (package, _) = Clean::redact(package)?;
    let kept = workshop
        .depot()
        .keep(&package, Origin::Made, &Caller::Worker, &key)?;
    let evidence = Evidence::Sealed {
        package: kept.label.id,
        digest: kept.digest.to_string(),
    };
    prove(workshop, task, &evidence, "seal")?;
    Ok(kept.label.id)
}

/// What a worker that died since has sealed already.
fn sealed_before(
    workshop: &mut Workshop<'_>,
    task: &Task,
    session: SessionId,
) -> Result<Option<PackageId>, EngineError> {
    let left = read(workshop.store, |tx| packages::of_task(tx, task.id))?;
    let by = session_ref(session);
    let is_ours = |it: &&PackageRecord| {
        it.label.kind == PackageKind::Task && it.label.session_id.as_ref() == Some(&by)
    };
    let Some(record) = left.iter().rfind(is_ours) else {
        return Ok(None);
    };
    let evidence = Evidence::Sealed {
        package: record.label.id,
        digest: record.digest.to_string(),
    };
    prove(workshop, task, &evidence, "seal")?;
    Ok(Some(record.label.id))
}

fn label(workshop: &Workshop<'_>, task: &Task, session: SessionId, evidence: &[Evidence]) -> Label {
    let now = workshop.clock.now().wall;
    Label {
        id: PackageId::from_uuid(handoff_process::mint()),
        kind: PackageKind::Task,
        created_at: now,
        expires_at: workshop.rules.expiry(now),
        project: task.project,
        session_id: Some(session_ref(session)),
        subject_id: None,
        task: Some(task.id),
        feature: None,
        source_phase: Some(phase()),
        target_phase: Some(phase()),
        commit: committed(evidence),
        audience: vec![],
        single_use: false,
        provenance: None,
    }
}

fn session_ref(session: SessionId) -> SessionRef {
    session
        .to_string()
        .parse()
        .expect("the id of a session refers to it")
}

fn phase() -> PhaseName {
    TASK.parse().expect("a word is the name of a phase")
}

fn payload(
    task: &Task,
    evidence: &[Evidence],
    shared: Vec<Entry>,
    rules: &PackageRules,
) -> Payload {
    let branch = Attempt::of(task).branch(task);
    let point = format!("after task {}", task.spec.name);
    Payload {
        context: SerializedContext::of(shared),
        checkpoint: Some(Checkpoint {
            phase: phase(),
            step: 1,
            total_steps: 1,
            status: CheckpointStatus::Completed,
            resume_point: point.parse().expect("a name makes a resume point"),
        }),
        metadata: Metadata {
            version: PayloadVersion::One,
            pipeline_version: rules.pipeline_version.clone(),
            created_by: "worker".parse().expect("a word is a name"),
            reason: "the task is done and proved".parse().expect("a reason"),
            foreign_id: None,
        },
        tree: committed(evidence).map(|commit| TreeState {
            branch: branch.as_str().parse().ok(),
            commit: Some(commit),
            dirty: None,
        }),
        task_name: Some(task.spec.name.clone()),
        fence: Some(task.fence),
        task: None,
        brief: Some(task.spec.brief.clone()),
        summary: task.report.as_ref().and_then(words),
        session: None,
        batch: None,
        run: None,
        decisions: vec![],
        dead_ends: vec![],
        proofs: evidence.to_vec(),
        claims: evidence.iter().filter_map(claim).collect(),
        required: rules.required.iter().cloned().collect(),
        attachments: vec![],
    }
}

/// What a session says it did. The result of a phase is its words: what it is to be like is said by its schema. One that is too
/// large for that is told where it is asked for.
fn words(report: &Report) -> Option<Summary> {
    let result: Option<Summary> =
        { report.result.as_ref() }.and_then(|it| it.as_str().parse().ok());
    match (&report.summary, result) {
        (Some(summary), Some(result)) => {
            let both = format!("{summary}\n\n{result}").parse().ok();
            both.or_else(|| Some(summary.clone()))
        }
        (summary, result) => summary.clone().or(result),
    }
}

/// What was proved here can be probed elsewhere.
fn claim(evidence: &Evidence) -> Option<Claim> {
    let commit = settled(evidence)?.clone();
    Some(Claim {
        text: "the work is in this history".parse().expect("a reason"),
        probe: Some(Probe::Commit { commit }),
    })
}

pub(crate) fn committed(evidence: &[Evidence]) -> Option<CommitId> {
    evidence.iter().find_map(settled).cloned()
}

/// The commit that something is known of: that it was made, or what it proves.
fn settled(evidence: &Evidence) -> Option<&CommitId> {
    let proved = || evidence.verdict().map(|it| &it.commit);
    evidence.commit().or_else(proved)
}

#[cfg(test)]
mod tests {
    use handoff_core::JsonText;

    use super::*;

    #[test]
    fn a_result_that_is_too_large_for_words_takes_none_away() {
        let report = |length: usize| Report {
            summary: "Done.".parse().ok(),
            result: JsonText::of_text(&"x".repeat(length)).ok(),
        };
        let told = |length| words(&report(length)).unwrap().to_string();
        assert_eq!(told(1), "Done.\n\n\"x\"");
        for length in [Summary::LIMIT - 4, Summary::LIMIT] {
            assert_eq!(told(length), "Done.");
        }
    }
}
