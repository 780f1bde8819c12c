//! One walk down the road, by what the agent did.

use std::time::Duration;

use handoff_core::TaskState;
use handoff_core::task::Evidence;
use handoff_engine::Ending;
use handoff_package::{Package, Shelf};

use crate::stage::{Stage, names, owning, spec, verified};

fn committed(evidence: &[Evidence]) -> Option<String> {
    evidence.iter().find_map(|proof| match proof {
        Evidence::Committed { commit, .. } => Some(commit.to_string()),
        Evidence::Verified { .. }
        | Evidence::Sealed { .. }
        | Evidence::Measured(_)
        | Evidence::Left { .. }
        | Evidence::Refused { .. }
        | Evidence::Used { .. }
        | Evidence::Gathered(_)
        | Evidence::Judged { .. } => None,
    })
}

/// The reason with which a walk came to nothing.
#[track_caller]
fn objection(ending: &Ending) -> String {
    match ending {
        Ending::Failed(reason) | Ending::Blocked(reason) | Ending::GivenBack(reason) => {
            reason.to_string()
        }
        Ending::Resting(rest) => rest.reason.to_string(),
        Ending::Done | Ending::CalledOff => panic!("nothing was wrong with it"),
    }
}

#[test]
fn accepted_work_is_committed_on_its_branch_and_nowhere_else() {
    let mut stage = Stage::new();
    // Somebody is in the middle of something in the main tree.
    stage.repo.write("staged.txt", "staged\n");
    stage.repo.git(["add", "staged.txt"]);
    stage
        .repo
        .write("README.md", "edited\n")
        .write("untracked.txt", "mine\n");
    let before = (
        stage.repo.head(),
        stage.repo.status(),
        stage.repo.git(["ls-files", "--stage"]),
    );

    let task = stage.add(verified("fix", "test -e src/new.rs"));
    let walked = stage.walk("mkdir src; echo new > src/new.rs; echo more >> README.md");
    assert_eq!(walked.ending, Ending::Done);

    let task = stage.task(task.id);
    let id = task.id.to_string();
    let branch = format!("handoff/fix-{}-1", &id[id.len() - 6..]);
    let commit = stage.repo.resolve(&branch).unwrap();
    assert_eq!(committed(&task.evidence), Some(commit.clone()));
    assert_eq!(stage.repo.changes_of(&commit), ["README.md", "src/new.rs"]);
    assert_eq!(
        stage.repo.resolve(&format!("{commit}^")),
        Some(before.0.clone())
    );
    assert_eq!(
        stage.repo.file_of(&commit, "README.md"),
        "# Fixture\nmore\n"
    );
    assert!(
        stage
            .repo
            .git(["log", "-1", "--format=%B", &commit])
            .starts_with("Do fix.\n")
    );

    let now = (
        stage.repo.head(),
        stage.repo.status(),
        stage.repo.git(["ls-files", "--stage"]),
    );
    assert_eq!(now, before);
    assert_eq!(stage.quarantined(&task), None);
    stage.assert_sound();
}

#[test]
fn with_nothing_ready_nothing_is_done() {
    let mut stage = Stage::new();
    let refs = stage.repo.refs();
    assert!(stage.try_walk("touch never").unwrap().is_none());
    assert_eq!(stage.repo.refs(), refs);
}

#[test]
fn a_failed_check_fails_the_task_and_keeps_the_work() {
    let mut stage = Stage::new();
    let base = stage.repo.head();
    let task = stage.add(verified("fix", "echo it is wrong; exit 3"));
    let walked = stage.walk("echo wrong > new.txt");
    assert_eq!(
        objection(&walked.ending),
        "`echo it is wrong; exit 3` exited with 3: it is wrong"
    );
    let task = stage.task(task.id);
    assert!(
        matches!(task.state, TaskState::Failed { .. }),
        "{:?}",
        task.state
    );
    assert_eq!(stage.branch(&task), Some(base));
    let kept = stage.quarantined(&task).unwrap();
    assert_eq!(stage.repo.changes_of(&kept), ["new.txt"]);
    assert_eq!(stage.repo.file_of(&kept, "new.txt"), "wrong\n");
    assert_eq!(
        names(&stage.places.packages(stage.project)),
        Vec::<String>::new()
    );
    stage.assert_sound();
}

#[test]
fn an_agent_that_fails_fails_the_task_and_its_work_is_not_even_checked() {
    let mut stage = Stage::new();
    let marker = stage.env.work().join("checked");
    let task = stage.add(verified("fix", &format!("touch {}", marker.display())));
    let walked = stage.walk("echo half > new.txt; echo 'no key' >&2; exit 7");
    assert_eq!(objection(&walked.ending), "the agent exited with 7: no key");
    let task = stage.task(task.id);
    assert!(matches!(task.state, TaskState::Failed { .. }));
    assert!(!marker.exists());
    let kept = stage.quarantined(&task).unwrap();
    assert_eq!(stage.repo.changes_of(&kept), ["new.txt"]);
    stage.assert_sound();
}

#[test]
fn an_agent_that_dies_by_a_signal_fails_the_task() {
    let mut stage = Stage::new();
    stage.add(spec("fix"));
    let walked = stage.walk("kill -9 $$");
    assert_eq!(objection(&walked.ending), "the agent was ended by signal 9");
    stage.assert_sound();
}

#[test]
fn a_change_outside_of_the_ownership_blocks_and_commits_nothing() {
    let mut stage = Stage::new();
    let base = stage.repo.head();
    let task = stage.add(owning("fix", "src/"));
    let walked = stage.walk("mkdir src; echo in > src/in.rs; echo out > out.txt; rm README.md");
    assert_eq!(
        objection(&walked.ending),
        "the session changed what it does not own: `README.md`, `out.txt`"
    );
    let task = stage.task(task.id);
    assert!(matches!(task.state, TaskState::Blocked { .. }));
    assert_eq!(stage.branch(&task), Some(base));
    assert_eq!(committed(&task.evidence), None);
    let kept = stage.quarantined(&task).unwrap();
    assert_eq!(
        stage.repo.changes_of(&kept),
        ["README.md", "out.txt", "src/in.rs"]
    );
    stage.assert_sound();
}

#[test]
fn a_foreign_change_that_the_agent_committed_blocks_too() {
    let mut stage = Stage::new();
    let task = stage.add(owning("fix", "src/"));
    let walked = stage.walk("echo out > out.txt; git add out.txt; git commit -qm sneaky");
    assert_eq!(
        objection(&walked.ending),
        "the session changed what it does not own: `out.txt`"
    );
    let task = stage.task(task.id);
    assert!(matches!(task.state, TaskState::Blocked { .. }));
    assert_eq!(committed(&task.evidence), None);
    assert_eq!(
        names(&stage.places.packages(stage.project)),
        Vec::<String>::new()
    );
    let kept = stage.branch(&task).unwrap();
    assert_eq!(stage.repo.file_of(&kept, "out.txt"), "out\n");
    stage.assert_sound();
}

#[test]
fn an_agent_that_commits_by_itself_is_taken_at_its_commit() {
    let mut stage = Stage::new();
    let task = stage.add(spec("fix"));
    let walked = stage.walk("echo one > one.txt; git add one.txt; git commit -qm own");
    assert_eq!(walked.ending, Ending::Done);
    let task = stage.task(task.id);
    let tip = stage.branch(&task).unwrap();
    assert_eq!(committed(&task.evidence), Some(tip.clone()));
    assert_eq!(stage.repo.git(["log", "-1", "--format=%s", &tip]), "own");
    stage.assert_sound();
}

#[test]
fn what_an_agent_left_uncommitted_is_committed_on_top_of_its_own() {
    let mut stage = Stage::new();
    let task = stage.add(spec("fix"));
    stage.walk("echo one > one.txt; git add one.txt; git commit -qm own; echo two > two.txt");
    let task = stage.task(task.id);
    let tip = stage.branch(&task).unwrap();
    assert_eq!(committed(&task.evidence), Some(tip.clone()));
    assert_eq!(stage.repo.changes_of(&tip), ["two.txt"]);
    assert_eq!(stage.repo.changes_of(&format!("{tip}^")), ["one.txt"]);
    assert_eq!(stage.quarantined(&task), None);
    stage.assert_sound();
}

#[test]
fn an_agent_that_changes_nothing_is_done_without_a_commit() {
    let mut stage = Stage::new();
    let base = stage.repo.head();
    let task = stage.add(verified("look", "true"));
    assert_eq!(stage.walk("cat README.md").ending, Ending::Done);
    let task = stage.task(task.id);
    assert_eq!(stage.branch(&task), Some(base));
    assert_eq!(committed(&task.evidence), None);
    assert_eq!(
        task.evidence.len(),
        2,
        "verified and sealed: {:?}",
        task.evidence
    );
    stage.assert_sound();
}

#[test]
fn deleted_and_moved_files_are_committed_as_such() {
    let mut stage = Stage::new();
    stage
        .repo
        .write("old.txt", "old\n")
        .write("dir/gone.txt", "x\n");
    stage.repo.commit("more files");
    let task = stage.add(spec("tidy"));
    assert_eq!(
        stage.walk("mv old.txt new.txt; rm -r dir").ending,
        Ending::Done
    );
    let task = stage.task(task.id);
    let tip = stage.branch(&task).unwrap();
    assert_eq!(stage.repo.files_of(&tip), ["README.md", "new.txt"]);
    assert_eq!(stage.quarantined(&task), None);
    stage.assert_sound();
}

#[test]
fn ignored_files_stay_out_of_the_commit() {
    let mut stage = Stage::new();
    stage.repo.write(".gitignore", "target/\n");
    stage.repo.commit("ignore");
    let task = stage.add(owning("build", "src/"));
    assert_eq!(
        stage.walk("mkdir src target; touch src/a target/b").ending,
        Ending::Done
    );
    let task = stage.task(task.id);
    assert_eq!(
        stage.repo.changes_of(&stage.branch(&task).unwrap()),
        ["src/a"]
    );
    stage.assert_sound();
}

#[test]
fn the_package_opens_and_has_the_evidence() {
    let mut stage = Stage::new();
    let task = stage.add(verified("fix", "test -e new.txt"));
    stage.walk("echo new > new.txt");
    let task = stage.task(task.id);
    let Some(Evidence::Sealed { package, digest }) = task.evidence.last() else {
        panic!("{:?}", task.evidence);
    };
    let shelf = Shelf::at(stage.places.packages(stage.project));
    let opened = shelf.load(*package, &digest.parse().unwrap()).unwrap();
    let Package { label, payload } = opened.package;
    assert_eq!(
        (label.task, payload.fence, payload.brief),
        (
            Some(task.id),
            Some(task.fence),
            Some(task.spec.brief.clone())
        )
    );
    assert_eq!(payload.proofs, task.evidence[..2]);
    assert_eq!(label.commit.map(|it| it.to_string()), stage.branch(&task));
}

#[test]
fn the_package_is_as_a_person_set_packages_to_be() {
    let mut stage = Stage::new();
    stage.rules.ttl = Some(Duration::from_secs(60));
    stage.rules.pipeline_version = Some("3".parse().unwrap());
    let task = stage.add(spec("fix"));
    stage.walk("true");
    let task = stage.task(task.id);
    let Some(Evidence::Sealed { package, digest }) = task.evidence.last() else {
        panic!("{:?}", task.evidence);
    };
    let shelf = Shelf::at(stage.places.packages(stage.project));
    let opened = shelf.load(*package, &digest.parse().unwrap()).unwrap();
    let Package { label, payload } = opened.package;
    let lives = label
        .expires_at
        .map(|at| at.duration_since(label.created_at));
    assert_eq!(lives.map(|it| it.as_secs()), Some(60));
    assert_eq!(
        payload.metadata.pipeline_version,
        stage.rules.pipeline_version
    );
    stage.rules.required = ["phase.a".parse().unwrap()].into();
    stage.add(spec("next"));
    let why = objection(&stage.walk("true").ending);
    assert!(why.contains("lacks `phase.a`"), "{why}");
}

#[test]
fn a_second_attempt_has_a_branch_of_its_own() {
    let mut stage = Stage::new();
    let task = stage.add(spec("fix"));
    stage.walk("echo half > new.txt; exit 1");
    let first = stage.task(task.id);
    stage.tell(&first, handoff_core::task::Command::Retry);
    assert_eq!(
        stage.walk("test ! -e new.txt; echo whole > new.txt").ending,
        Ending::Done
    );
    let second = stage.task(task.id);
    assert_ne!(first.fence, second.fence);
    assert_eq!(
        stage
            .repo
            .file_of(&stage.branch(&second).unwrap(), "new.txt"),
        "whole\n"
    );
    assert_eq!(
        stage
            .repo
            .file_of(&stage.quarantined(&first).unwrap(), "new.txt"),
        "half\n"
    );
    stage.assert_sound();
}

#[test]
fn a_repository_without_a_commit_gives_the_task_back() {
    let mut stage = Stage::new();
    let task = stage.add(spec("fix"));
    stage.repo.git(["update-ref", "-d", "HEAD"]);
    assert!(stage.try_walk("true").is_err());
    handoff_engine::reconcile::all(&mut stage.workshop()).unwrap();
    assert_eq!(stage.task(task.id).state, TaskState::Queued);
}

#[test]
fn a_session_that_leaves_its_branch_moves_no_other() {
    let mut stage = Stage::new();
    let main = stage.repo.head();
    for (name, agent) in [
        ("detached", "git checkout -q --detach; echo x > x.txt"),
        (
            "on-main",
            "git checkout -q --ignore-other-worktrees main; echo x > x.txt",
        ),
    ] {
        let task = stage.add(spec(name));
        let walked = stage.walk(agent);
        assert!(matches!(walked.ending, Ending::Blocked(_)), "{walked:?}");
        let task = stage.task(task.id);
        let saved = stage.quarantined(&task).unwrap();
        assert_eq!(stage.repo.changes_of(&saved), ["x.txt"]);
    }
    assert_eq!(stage.repo.head(), main);
}

#[test]
fn what_only_the_check_leaves_is_not_committed() {
    let mut stage = Stage::new();
    let task = stage.add(verified("fix", "echo report > report.txt"));
    assert_eq!(stage.walk("echo x > x.txt").ending, Ending::Done);
    let task = stage.task(task.id);
    let commit = stage.branch(&task).unwrap();
    assert_eq!(stage.repo.changes_of(&commit), ["x.txt"]);
}

#[test]
fn a_repository_within_the_tree_blocks_its_task_and_nobody_else() {
    let mut stage = Stage::new();
    stage.add(spec("nested"));
    let nested = "git init -q inner; echo x > inner/x.txt; git -C inner add -A; \
                  git -C inner -c user.name=a -c user.email=a@b commit -qm x";
    let walked = stage.walk(nested);
    assert!(matches!(walked.ending, Ending::Blocked(_)), "{walked:?}");
    stage.add(spec("next"));
    assert_eq!(stage.walk("echo y > y.txt").ending, Ending::Done);
}

#[test]
fn an_agent_at_its_limit_puts_its_task_off_and_that_is_no_attempt() {
    let mut stage = Stage::new();
    let task = stage.add(spec("fix"));
    let agent = "echo begun > begun.txt; echo 'usage limit, try again in 2 hours'; \
                 printf '\\033]7501;state=blocked:kind=limit\\033\\\\'; exec sleep 1000";
    let Ending::Resting(rest) = stage.walk(agent).ending else {
        panic!("{:?}", stage.task(task.id).state);
    };
    assert_eq!(rest.trouble, handoff_core::rest::Trouble::Limit);
    assert_eq!(rest.reason.as_str(), "usage limit, try again in 2 hours");
    let now = stage.task(task.id);
    assert_eq!((now.state.clone(), now.attempts()), (TaskState::Queued, 0));
    assert!(stage.try_walk("true").unwrap().is_none(), "it rests");
    assert!(
        stage.quarantined(&now).is_some(),
        "what it had begun is kept"
    );
    stage.tell(&now, handoff_core::task::Command::Unhold);
    let told = "cp \"$HANDOFF_PROMPT_FILE\" told.md";
    assert_eq!(stage.walk(told).ending, Ending::Done);
    let now = stage.task(task.id);
    let branch = stage.branch(&now).unwrap();
    let told = stage.repo.file_of(&branch, "told.md");
    let saved = told.split("# What earlier attempts").nth(1).unwrap();
    assert!(saved.contains("`begun.txt`"), "{told}");
    stage.assert_sound();
}
