//! Results of parts brought together with real git, by what the parts did.

use std::time::Duration;

use handoff_core::batch::{Manifest, Opening, Rules};
use handoff_core::lease::Ttl;
use handoff_core::task::{Command, Ending, Evidence, Omission, TaskSpec};
use handoff_core::{Batch, BatchId, Caller, Task, TaskId, TaskState};
use handoff_engine::fan_in::Gathering;
use handoff_engine::{Attempt, fan_in};
use handoff_git::Repository;
use handoff_store::queue::{Agents, Change, Request, TenureWish, submit};
use handoff_store::{read, tasks};

use crate::stage::Stage;

/// A batch of these parts: name, paths, and more.
fn open(stage: &mut Stage, head: &str, parts: &[(&str, &str, &str)]) -> Batch {
    open_after(stage, None, head, parts)
}

/// The same, that waits for a task outside of it.
fn open_after(
    stage: &mut Stage,
    after: Option<TaskId>,
    head: &str,
    parts: &[(&str, &str, &str)],
) -> Batch {
    let part = |(id, owns, more): &(&str, &str, &str)| {
        format!(
            "[[sub_tasks]]\nid = \"{id}\"\nbrief = \"x\"\nfile_ownership = [\"{owns}\"]\n{more}\n"
        )
    };
    let parts: String = parts.iter().map(part).collect();
    let text =
        format!("schema_version = 2\nbatch_id = \"b\"\nfan_in_task = \"merge\"\n{head}\n{parts}");
    let manifest = Manifest::read(&text, Rules::default()).unwrap();
    let id = || TaskId::from_uuid(handoff_process::mint());
    let opening = Opening {
        batch: BatchId::from_uuid(handoff_process::mint()),
        parts: manifest.parts.iter().map(|_| id()).collect(),
        fan_in: id(),
        next: id(),
        base: stage.repo.head().parse().unwrap(),
        after,
        run: None,
    };
    let request = Request {
        by: Caller::Person,
        key: handoff_process::mint().to_string().parse().unwrap(),
        change: Change::OpenBatch {
            opening: Box::new(opening),
            project: stage.project,
            manifest: Box::new(manifest),
        },
    };
    let answer = submit(&mut stage.store, &request).unwrap().answer;
    answer.into_batch().unwrap()
}

/// The fan-in, claimed, with a tree of its own.
fn claimed(stage: &mut Stage, batch: &Batch) -> (Task, Repository) {
    let task = claim_next(stage);
    assert_eq!(task.id, batch.spec.fan_in);
    std::fs::create_dir_all(stage.places.worktrees(stage.project)).unwrap();
    let (path, branch) = (stage.worktree(&task), Attempt::of(&task).branch(&task));
    let git = stage.git();
    let at = git.add_worktree(stage.repository(), &path, &branch, &batch.spec.base);
    (task, at.unwrap())
}

fn gather(stage: &mut Stage, batch: &Batch) -> Gathering {
    let (task, at) = claimed(stage, batch);
    let once = fan_in::gather(&mut stage.workshop(), &task, &at).unwrap();
    // Whoever was killed in the middle does it again.
    let again = fan_in::gather(&mut stage.workshop(), &task, &at).unwrap();
    assert_eq!(once, again);
    let root = at.worktree_root().unwrap();
    assert_eq!(stage.git().head(&at).unwrap(), once.tip);
    let status = stage
        .repo
        .git(["-C", root.to_str().unwrap(), "status", "--porcelain"]);
    assert_eq!(status, "");
    once
}

fn files(stage: &Stage, gathering: &Gathering) -> Vec<String> {
    let tree = stage
        .repo
        .git(["ls-tree", "-r", "--name-only", gathering.tip.as_str()]);
    tree.lines().map(str::to_owned).collect()
}

fn names<'a>(parts: impl IntoIterator<Item = &'a handoff_core::PartName>) -> Vec<&'a str> {
    parts
        .into_iter()
        .map(handoff_core::PartName::as_str)
        .collect()
}

#[test]
fn parts_that_are_done_come_together_in_the_order_of_the_manifest() {
    let mut stage = Stage::new();
    let parts = [
        ("one", "a/", "estimated_minutes = 5"),
        ("two", "b/", "estimated_minutes = 9"),
        ("none", "c/", "estimated_minutes = 1"),
    ];
    let batch = open(
        &mut stage,
        "[fan_in]\nverify = \"test -e a/f && test -e b/f\"",
        &parts,
    );
    let base = stage.repo.head();
    // The longest goes first; where it stands in the manifest is another matter.
    stage.walk("mkdir b; echo two > b/f");
    stage.walk("mkdir a; echo one > a/f");
    stage.walk("true");
    let gathering = gather(&mut stage, &batch);
    assert!(!gathering.needs_judgement(), "{gathering:?}");
    assert_eq!(
        names(gathering.merged.iter().map(|it| &it.part)),
        ["one", "two"]
    );
    assert_eq!(names(&gathering.unchanged), ["none"]);
    assert_eq!(files(&stage, &gathering), ["README.md", "a/f", "b/f"]);
    let message = stage
        .repo
        .git(["log", "-1", "--format=%B", gathering.tip.as_str()]);
    assert!(message.contains("Merge part two of b") && message.contains(&batch.id.to_string()));

    let task = stage.task(batch.spec.fan_in);
    let branch = fan_in::publish(&mut stage.workshop(), &task, &gathering.tip).unwrap();
    assert_eq!(
        stage.repo.resolve("refs/heads/handoff/b"),
        Some(gathering.tip.to_string())
    );
    assert_eq!((branch.as_str(), stage.repo.head()), ("handoff/b", base));
}

/// The next task is done with a commit that knows nothing of what others did, as one may be that comes from elsewhere.
fn begun_too_soon(stage: &mut Stage, content: &str) {
    let task = claim_next(stage);
    stage.repo.git(["checkout", "--quiet", "-b", "soon"]);
    stage.repo.write("f", content);
    stage.repo.git(["add", "f"]);
    stage.repo.git(["commit", "--quiet", "-m", "soon"]);
    let evidence = Evidence::Committed {
        branch: Attempt::of(&task).branch(&task),
        commit: stage.repo.head().parse().unwrap(),
    };
    stage.repo.git(["checkout", "--quiet", "-"]);
    let fence = task.fence;
    stage.tell(&task, Command::Prove { fence, evidence });
    let done = Command::Complete {
        fence: Some(fence),
        summary: None,
    };
    stage.tell(&task, done);
}

fn claim_next(stage: &mut Stage) -> Task {
    let change = Change::ClaimNext {
        project: stage.project,
        tenure: TenureWish::Timed {
            ttl: Ttl::default(),
        },
        agents: Agents::default(),
    };
    stage.submit(Caller::Worker, change)
}

#[test]
fn what_conflicts_is_left_out_and_told() {
    let mut stage = Stage::new();
    let parts = [("one", "f", ""), ("two", "f", ""), ("three", "g", "")];
    let batch = open(&mut stage, "overlap = \"serialise\"", &parts);
    stage.walk("echo one > f");
    begun_too_soon(&mut stage, "two");
    stage.walk("echo three > g");
    let gathering = gather(&mut stage, &batch);
    assert_eq!(
        names(gathering.merged.iter().map(|it| &it.part)),
        ["one", "three"]
    );
    let conflict = &gathering.conflicts[0];
    assert_eq!(
        (conflict.part.as_str(), conflict.paths.as_slice()),
        ("two", &["f".to_owned()][..])
    );
    let text = gathering.text();
    assert!(
        text.contains("## two conflicts") && text.contains("> f\n"),
        "{text}"
    );
    stage.repo.git(["cat-file", "-e", conflict.commit.as_str()]);
}

#[test]
fn parts_that_own_the_same_go_on_from_each_other() {
    let mut stage = Stage::new();
    // The longest goes first.
    let parts = [
        ("one", "f", "estimated_minutes = 1"),
        ("two", "f", "estimated_minutes = 5"),
        ("three", "f", "estimated_minutes = 9"),
        ("aside", "g", "estimated_minutes = 1"),
    ];
    let batch = open(&mut stage, "overlap = \"serialise\"", &parts);
    for _ in 0..3 {
        stage.walk("echo ${HANDOFF_TASK#b.} >> f");
        stage.pass(Duration::from_secs(1));
    }
    stage.walk("echo aside > g");
    let gathering = gather(&mut stage, &batch);
    assert!(!gathering.needs_judgement(), "{gathering:?}");
    assert_eq!(
        names(gathering.merged.iter().map(|it| &it.part)),
        ["three", "two", "one", "aside"]
    );
    let file = format!("{}:f", gathering.tip);
    assert_eq!(stage.repo.git(["show", &file]), "three\ntwo\none");
}

#[test]
fn a_check_that_passed_on_what_was_brought_together_is_not_run_again() {
    let mut stage = Stage::new();
    let log = stage.places.worktrees(stage.project).join("log");
    let check = format!("echo checked >> {}", log.display());
    let check = format!("[fan_in]\nverify = \"{check}\"");
    let batch = open(&mut stage, &check, &[("one", "a", "")]);
    stage.walk("echo one > a");
    stage.walk("false");
    let fan_in = stage.task(batch.spec.fan_in);
    assert_eq!(fan_in.state.ending(), Some(Ending::Done));
    assert_eq!(std::fs::read_to_string(log).unwrap(), "checked\n");
}

#[test]
fn the_ledger_keeps_which_parts_are_in_the_result_and_which_are_not() {
    let mut stage = Stage::new();
    let check = "[fan_in]\nverify = \"! grep -q bad d/*\"";
    let needs = "depends_on = [\"p1\"]";
    let parts = [
        ("p0", "d/p0", ""),
        ("p1", "d/p1", ""),
        ("p2", "d/p2", needs),
        ("p3", "d/p3", ""),
    ];
    let batch = open(&mut stage, check, &parts);
    let own =
        "mkdir -p d; f=d/${HANDOFF_TASK#b.}; case $f in d/p1) echo bad;; *) echo ok;; esac > $f";
    for _ in 0..3 {
        stage.walk(own);
    }
    stage.walk(&format!("{own}; case $f in d/p3) exit 1;; esac"));
    // Its session has nothing to add.
    stage.walk("true");
    let fan_in = stage.task(batch.spec.fan_in);
    let gathered = fan_in.evidence.iter().find_map(Evidence::gathered);
    let gathered = gathered.unwrap();
    assert_eq!(names(&gathered.parts), ["p0"]);
    let left_out: Vec<_> = { gathered.left_out.iter() }
        .map(|it| (it.part.as_str(), it.why))
        .collect();
    let expected = [
        ("p1", Omission::FailedCheck),
        ("p2", Omission::BuiltOnFailed),
        ("p3", Omission::NotDone),
    ];
    assert_eq!(left_out, expected);
    let told = "Brought together: p0. Left out: p1 (the check fails with it), p2 (it is built on one with which the check fails), \
                p3 (it is not done).";
    let TaskState::Done { summary, .. } = &fan_in.state else {
        panic!("{:?}", fan_in.state);
    };
    assert_eq!(
        summary.as_ref().map(ToString::to_string).as_deref(),
        Some(told)
    );
}

#[test]
fn the_part_with_which_the_check_fails_is_found_and_left_out_with_what_is_built_on_it() {
    let mut stage = Stage::new();
    let check = "[fan_in]\nverify = \"! grep -rq bad d && echo fine\"";
    let parts: Vec<_> = ["p0", "p1", "p2", "p3", "p4"]
        .map(|it| (it, format!("d/{it}")))
        .into();
    let parts: Vec<_> = parts
        .iter()
        .map(|(id, owns)| (*id, owns.as_str(), ""))
        .collect();
    let batch = open(&mut stage, check, &parts);
    for content in ["ok", "bad", "ok", "bad", "ok"] {
        stage.walk(&format!(
            "mkdir -p d; echo {content} > d/$(printf %s \"$HANDOFF_TASK\" | tail -c 2)"
        ));
    }
    let gathering = gather(&mut stage, &batch);
    let culprits = gathering.failed_checks.iter().flat_map(|it| &it.part);
    assert_eq!(names(culprits), ["p1", "p3"]);
    assert_eq!(
        files(&stage, &gathering),
        ["README.md", "d/p0", "d/p2", "d/p4"]
    );
    assert!(gathering.text().contains("## The check fails with p1"));
}

#[test]
fn what_all_parts_waited_for_is_below_them() {
    let mut stage = Stage::new();
    let name = "opener".parse().unwrap();
    let opener = stage.add(TaskSpec::new(name, "x".parse().unwrap()));
    let check = "[fan_in]\nverify = \"test -e opened && ! grep -q bad d/*\"";
    let parts = [("p0", "d/p0", ""), ("p1", "d/p1", "")];
    let batch = open_after(&mut stage, Some(opener.id), check, &parts);
    stage.walk("echo x > opened");
    for _ in 0..2 {
        stage.walk(
            "mkdir -p d; f=d/${HANDOFF_TASK#b.}; case $f in d/p1) echo bad;; *) echo ok;; esac > $f",
        );
    }
    let gathering = gather(&mut stage, &batch);
    let culprits = gathering.failed_checks.iter().flat_map(|it| &it.part);
    assert_eq!(names(culprits), ["p1"]);
    let expected = ["README.md", "d/p0", "opened"];
    assert_eq!(files(&stage, &gathering), expected);
}

#[test]
fn a_check_that_fails_without_any_part_blames_none() {
    let mut stage = Stage::new();
    let batch = open(
        &mut stage,
        "[fan_in]\nverify = \"false\"",
        &[("one", "a", "")],
    );
    stage.walk("echo one > a");
    let gathering = gather(&mut stage, &batch);
    assert_eq!(gathering.failed_checks[0].part, None);
    assert_eq!(files(&stage, &gathering), ["README.md", "a"]);
}

#[test]
fn a_part_that_did_not_end_well_is_told_with_its_reason() {
    let mut stage = Stage::new();
    let batch = open(&mut stage, "", &[("one", "a", ""), ("two", "b", "")]);
    stage.walk("echo one > a");
    stage.walk("echo wrong > not-mine");
    let gathering = gather(&mut stage, &batch);
    assert_eq!(gathering.blocked[0].ending, Ending::Blocked);
    assert!(gathering.needs_judgement());
    let text = gathering.text();
    assert!(
        text.contains("## two is blocked")
            && text.contains("> the session changed what it does not own: `not-mine`"),
        "{text}"
    );
    let saved =
        "What it had written is saved; see it with `git show refs/handoff/quarantine/b.two-";
    assert!(text.contains(saved), "{text}");
}

#[test]
fn a_part_begins_with_what_it_needs() {
    let mut stage = Stage::new();
    let needs = "depends_on = [\"one\", \"two\"]";
    let batch = open(
        &mut stage,
        "",
        &[("one", "a", ""), ("two", "b", ""), ("three", "a", needs)],
    );
    stage.walk("echo one > a");
    stage.walk("echo two > b");
    let three = read(&mut stage.store, |tx| {
        tasks::get(tx, batch.spec.parts[2].task)
    })
    .unwrap();
    let beginning = fan_in::beginning(&mut stage.workshop(), &three)
        .unwrap()
        .unwrap();
    let tree = stage
        .repo
        .git(["ls-tree", "-r", "--name-only", beginning.commit.as_str()]);
    assert_eq!(tree.lines().collect::<Vec<_>>(), ["README.md", "a", "b"]);
    let one = stage.task(batch.spec.parts[0].task);
    let beginning = fan_in::beginning(&mut stage.workshop(), &one).unwrap();
    assert_eq!(beginning.unwrap().commit, batch.spec.base);
}

#[test]
fn what_an_earlier_batch_of_the_same_name_left_is_kept() {
    let mut stage = Stage::new();
    stage.repo.git(["checkout", "--quiet", "-b", "handoff/b"]);
    stage.repo.write("earlier", "x\n");
    stage.repo.git(["add", "earlier"]);
    stage.repo.git(["commit", "--quiet", "-m", "earlier"]);
    let earlier = stage.repo.head();
    stage.repo.git(["checkout", "--quiet", "-"]);
    let batch = open(&mut stage, "", &[("one", "a", "")]);
    stage.walk("echo one > a");
    let gathering = gather(&mut stage, &batch);
    let task = stage.task(batch.spec.fan_in);
    fan_in::publish(&mut stage.workshop(), &task, &gathering.tip).unwrap();
    let kept = format!("refs/handoff/quarantine/handoff/b-{}", &earlier[..12]);
    assert_eq!(stage.repo.resolve(&kept), Some(earlier));
    let cancel = Command::Release {
        fence: task.fence,
        reason: None,
    };
    stage.tell(&task, cancel);
}
