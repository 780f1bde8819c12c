use handoff_git::{IgnoreRule, Ignoring};

use crate::stage::Stage;

fn ignoring(stage: &Stage) -> Ignoring {
    stage.git.ignoring(&stage.here()).unwrap()
}

fn rule(file: &str, line: usize, pattern: &str) -> Option<IgnoreRule> {
    Some(IgnoreRule {
        file: file.to_owned(),
        line,
        pattern: pattern.to_owned(),
    })
}

#[test]
fn the_rule_that_decides_is_named_whether_the_workspace_is_there_or_not() {
    let stage = Stage::new();
    assert_eq!((ignoring(&stage).rule, ignoring(&stage).tracked), (None, 0));
    stage.repo.write(".git/info/exclude", "a\n.handoff/\n");
    let found = ignoring(&stage);
    assert!(found.is_ignored());
    assert_eq!(found.rule, rule(".git/info/exclude", 2, ".handoff/"));
    stage.repo.write(".gitignore", "*.o\n\n!.handoff/\n");
    assert!(!ignoring(&stage).is_ignored());
    stage.repo.write(".handoff/x", "");
    let found = ignoring(&stage);
    assert!(!found.is_ignored());
    assert_eq!(found.rule, rule(".gitignore", 3, "!.handoff/"));
    stage.repo.write(".gitignore", "!.handoff/\n.handoff/*\n");
    assert_eq!(ignoring(&stage).rule, rule(".gitignore", 2, ".handoff/*"));
}

#[test]
fn what_is_tracked_stays_tracked_whatever_is_ignored() {
    let stage = Stage::new();
    stage
        .repo
        .write(".handoff/features/x/STATE.md", "1")
        .write(".handoff/config.toml", "")
        .write("a", "")
        .commit("first");
    stage.repo.write(".gitignore", ".handoff/\n");
    let found = ignoring(&stage);
    assert!(found.is_ignored());
    assert_eq!(found.tracked, 2);
}
