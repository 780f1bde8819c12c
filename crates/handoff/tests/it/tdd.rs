//! The built-in workflow `tdd` on small real projects, with the runners that their people use.

use std::collections::BTreeMap;
use std::ffi::OsString;

use handoff_testkit::kata::{ITEMS, Kata, PROOFS, Troupe};
use handoff_testkit::skip_without;

use crate::stage::Stage;

/// Three tests: two are written and made to pass, one is covered already. A test that failed before the run stays as it is.
fn grows(kata: &Kata) {
    if skip_without(kata.language.needs) {
        return;
    }
    let mut stage = Stage::new();
    let troupe = Troupe::engage(&mut stage.env, kata, &[]);
    kata.lay(&stage.repo);
    let base = stage.repo.head();
    let words = "workflow run tdd --goal Sums. --name calc --script";
    let words = words.split(' ').map(OsString::from);
    stage.run(words.chain([troupe.script().into()])).success();

    assert_eq!(steps(&stage), PROOFS);
    let branch = "refs/heads/handoff/calc";
    let files = stage.repo.files_of(branch).into_iter();
    let files: BTreeMap<_, _> = files
        .map(|path| (path.clone(), stage.repo.file_of(branch, &path)))
        .collect();
    let end = kata.end();
    let expected: BTreeMap<_, _> = { end.files() }
        .map(|(path, text)| (path.to_owned(), text.to_owned()))
        .collect();
    let of_project = |(path, _): &(String, String)| expected.contains_key(path);
    let files: BTreeMap<_, _> = files.into_iter().filter(of_project).collect();
    assert_eq!(files, expected);
    let subjects = stage.repo.git([
        "log",
        "--format=%s",
        "--reverse",
        &format!("{base}..{branch}"),
    ]);
    assert_eq!(subjects.lines().collect::<Vec<_>>(), subjects_expected());
    let worktrees = stage.repo.git(["worktree", "list"]);
    assert_eq!(worktrees.lines().count(), 1, "{worktrees}");
    stage.say("doctor --audit").success();
}

fn steps(stage: &Stage) -> Vec<String> {
    let run = stage.json("workflow status calc");
    let steps = run["steps"].as_array().unwrap().iter();
    let told = steps.map(|it| format!("{} {}", it["phase"], it["outcome"]).replace('"', ""));
    told.collect()
}

/// Refactoring that changed nothing has no commit.
fn subjects_expected() -> Vec<String> {
    let [add, subtract, any_order] = ITEMS;
    [
        "plan: Sums.".to_owned(),
        format!("test: {add}"),
        format!("feat: {add}"),
        format!("refactor: {add}"),
        "plan: Sums.".to_owned(),
        format!("test: {subtract}"),
        format!("feat: {subtract}"),
        "plan: Sums.".to_owned(),
        format!("test: {any_order}"),
        "plan: Sums.".to_owned(),
    ]
    .to_vec()
}

#[test]
fn a_project_in_rust_grows_by_three_tests() {
    grows(&Kata::rust());
}

#[test]
fn a_project_in_python_grows_by_three_tests() {
    grows(&Kata::python());
}

#[test]
fn a_project_in_javascript_grows_by_three_tests() {
    grows(&Kata::javascript());
}
