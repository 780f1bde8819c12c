//! Attacks that are no script of one session: on a commit while it is made, on the queue, by kills. Each is tried by tests of its own,
//! which are named here, and which must be there.

use super::table::End::{self, Detected, NotCovered, Refused};

pub(super) struct Answer {
    /// What handoff-fanout's report (section 4) and the promises call it.
    pub(super) marks: &'static str,
    pub(super) attack: &'static str,
    /// In a shared tree, in a worktree, in a worktree in the sandbox.
    pub(super) ends: [End; 3],
    /// Files below `crates/`, and functions in them.
    pub(super) tests: &'static [&'static str],
}

const fn answer(
    marks: &'static str,
    attack: &'static str,
    ends: [End; 3],
    tests: &'static [&'static str],
) -> Answer {
    Answer {
        marks,
        attack,
        ends,
        tests,
    }
}

const EVERYWHERE: [End; 3] = [Refused; 3];

pub(super) const ANSWERS: &[Answer] = &[
    answer(
        "G9",
        "a session that never heard of the guard",
        EVERYWHERE,
        &["handoff/tests/it/git_guard.rs::hooks_stop_what_the_guard_cannot_see"],
    ),
    answer(
        "H1",
        "a plain commit sweeps in what a peer staged",
        EVERYWHERE,
        &[
            "handoff/tests/it/git_guard.rs::what_is_staged_must_be_expected",
            "git/tests/it/safe_commit.rs::exactly_the_declared_paths_are_committed_and_all_else_stays",
        ],
    ),
    answer(
        "H4, H5",
        "a move that hides a deletion, `:` in a list of names",
        EVERYWHERE,
        &[
            "handoff/tests/it/git_guard.rs::what_is_staged_must_be_expected",
            "handoff/tests/it/safe_commit.rs::paths_come_from_the_environment_as_well",
        ],
    ),
    answer(
        "H6",
        "line breaks, quotes, tabs, bytes that are no text, `-` first: in names of files",
        EVERYWHERE,
        &["git/tests/it/safe_commit.rs::odd_names_are_only_names"],
    ),
    answer(
        "H7",
        "hooks that are missing, or displaced by a hook manager",
        [Detected, Detected, Refused],
        &[
            "handoff/tests/it/git_guard.rs::a_hooks_path_is_called_and_put_back",
            "handoff/tests/it/ref_watch.rs::hooks_of_one_worktree_alone_are_named_and_nothing_is_left",
        ],
    ),
    answer(
        "S1, D16",
        "a peer has staged files",
        EVERYWHERE,
        &[
            "git/tests/it/safe_commit.rs::exactly_the_declared_paths_are_committed_and_all_else_stays",
            "campaign/src/commits/crowd.rs::staging",
        ],
    ),
    answer(
        "S3",
        "a plain `git commit` while one is being made",
        EVERYWHERE,
        &[
            "git/tests/it/safe_commit.rs::a_commit_of_somebody_else_meanwhile_is_not_undone",
            "git/tests/it/safe_commit.rs::what_somebody_stages_meanwhile_stays_staged",
        ],
    ),
    answer(
        "S4",
        "a file that is staged in part",
        EVERYWHERE,
        &["git/tests/it/safe_commit.rs::two_versions_need_a_word"],
    ),
    answer(
        "S5",
        "two edit the same file",
        [NotCovered, Refused, Refused],
        &["git/tests/it/safe_commit.rs::who_edits_the_same_file_in_the_same_tree_is_in_the_commit"],
    ),
    answer(
        "S6",
        "a refusal that leaves files staged",
        EVERYWHERE,
        &[
            "git/tests/it/safe_commit.rs::what_is_refused_leaves_nothing_behind",
            "git/tests/it/safe_commit_hooks.rs::a_hook_that_says_no_is_heard",
        ],
    ),
    answer(
        "S7",
        "a hook that stages more",
        EVERYWHERE,
        &[
            "git/tests/it/safe_commit_hooks.rs::a_hook_that_stages_more_is_found_before_anything_moves",
        ],
    ),
    answer(
        "S8",
        "a peer commits before the commit is checked",
        EVERYWHERE,
        &["git/tests/it/safe_commit.rs::a_commit_of_somebody_else_meanwhile_is_not_undone"],
    ),
    answer(
        "S9",
        "options among the paths",
        EVERYWHERE,
        &[
            "handoff/tests/it/safe_commit.rs::a_path_is_one_however_it_is_spelled_and_is_never_an_option",
        ],
    ),
    answer(
        "S10",
        "another home, another lock",
        EVERYWHERE,
        &["handoff/tests/it/safe_commit.rs::two_homes_commit_one_after_the_other"],
    ),
    answer(
        "S11, D15",
        "the holder of the lock is killed, alone or above a living child; six who want it, 400 times",
        EVERYWHERE,
        &[
            "files/tests/it/lock.rs::a_living_child_of_a_dead_holder_does_not_keep_the_lock",
            "campaign/src/commits/crowd.rs::lock",
        ],
    ),
    answer(
        "S12, D02",
        "killed anywhere: locks that stay, half a commit",
        EVERYWHERE,
        &[
            "git/tests/it/safe_commit_repair.rs::a_lock_is_removed_only_with_proof",
            "campaign/src/commits/kills.rs::kills",
        ],
    ),
    answer(
        "S13",
        "a holder that hangs",
        EVERYWHERE,
        &["handoff/tests/it/safe_commit.rs::who_waits_is_told_for_whom"],
    ),
    answer(
        "S14",
        "a merge under way",
        EVERYWHERE,
        &[
            "git/tests/it/safe_commit.rs::a_merge_is_concluded_with_its_own_paths_and_the_declared_ones",
        ],
    ),
    answer(
        "S15",
        "deletions, links, submodules, the first commit",
        EVERYWHERE,
        &[
            "git/tests/it/safe_commit.rs::links_submodules_and_changed_kinds_are_committed",
            "git/tests/it/safe_commit.rs::the_first_commit_of_a_branch_is_made",
        ],
    ),
    answer(
        "S16",
        "nothing to commit",
        EVERYWHERE,
        &["handoff/tests/it/safe_commit.rs::wrong_input_gets_a_clear_answer_and_changes_nothing"],
    ),
    answer(
        "D17",
        "changes that were prepared before a peer committed",
        EVERYWHERE,
        &["campaign/src/commits/person.rs::stale"],
    ),
    answer(
        "D18",
        "a sub-task that commits, stashes and moves refs by every way it finds",
        EVERYWHERE,
        &["campaign/src/commits/roles.rs::roles"],
    ),
    answer(
        "D19",
        "ownership that meets by link, `..`, glob, move, case or submodule; a commit beyond it",
        EVERYWHERE,
        &[
            "core/src/ownership/overlap.rs::verdicts_of_the_seed_are_corrected",
            "core/src/ownership/overlap.rs::case_decides_only_where_the_filesystem_folds_it",
            "campaign/src/commits/owners.rs::owners",
        ],
    ),
    answer(
        "D43",
        "programs in the configuration, hooks and attributes of a repository; names like options",
        EVERYWHERE,
        &[
            "git/tests/it/hostile.rs::no_call_runs_a_program_that_the_repository_names",
            "git/tests/it/hostile.rs::a_look_runs_no_filter_of_the_repository",
            "campaign/src/commits/person.rs::looking",
        ],
    ),
    answer(
        "",
        "a hook manager that takes edits off the disk, beside another session",
        EVERYWHERE,
        &[
            "handoff/tests/it/session/company.rs::hooks_that_take_edits_away_do_not_run_beside_another_session",
        ],
    ),
    answer(
        "A1, A2",
        "names of tasks that are paths, options, line breaks",
        EVERYWHERE,
        &["handoff/tests/it/refusal.rs::a_bad_name_is_a_usage_error_wherever_it_is_given"],
    ),
    answer(
        "A3, A4, A8",
        "reports and manifests that lead outside, or are about the task of another",
        EVERYWHERE,
        &[
            "handoff/tests/it/fan_out/defects.rs::a_report_is_of_a_part_by_whoever_has_it_and_no_name_is_a_path",
        ],
    ),
    answer(
        "A5, A10",
        "a link where a file is written, text that a shell would run",
        EVERYWHERE,
        &[
            "handoff/tests/it/fan_out/defects.rs::a_baton_is_written_through_no_link_and_says_nothing_to_a_shell",
        ],
    ),
    answer(
        "A6",
        "a file read while it is written",
        EVERYWHERE,
        &[
            "files/tests/it/atomic.rs::a_reader_beside_four_replacing_writers_always_finds_a_whole_file",
        ],
    ),
    answer(
        "A7",
        "the same name twice, or from two repositories",
        EVERYWHERE,
        &[
            "handoff/tests/it/fan_out/defects.rs::a_name_is_one_task_until_that_has_ended_and_then_another",
            "handoff/tests/it/project.rs::two_repositories_in_folders_of_the_same_name_never_meet",
        ],
    ),
    answer(
        "A9",
        "a report while the queue is stopped",
        EVERYWHERE,
        &[
            "handoff/tests/it/fan_out/defects.rs::what_is_dumped_or_reported_while_the_queue_is_held_is_kept",
        ],
    ),
    answer(
        "A11",
        "half of a manifest is valid",
        EVERYWHERE,
        &["handoff/tests/it/batch.rs::all_mistakes_of_a_manifest_are_told_and_nothing_is_opened"],
    ),
    answer(
        "W1, W5, W7",
        "a watchdog that works in one place only, stays away, or ends strangers",
        EVERYWHERE,
        &[
            "handoff/tests/it/fan_out/defects.rs::a_watchdog_works_anywhere_again_and_again_and_touches_no_stranger",
        ],
    ),
    answer(
        "W2, W3, W9",
        "a crash between the last part and its fan-in, or two last parts at once",
        EVERYWHERE,
        &[
            "store/tests/it/contract/batches.rs::racing_finishers_make_one_fan_in_ready",
            "handoff/tests/it/worker.rs::a_watchdog_judges_what_a_dead_worker_left",
        ],
    ),
    answer(
        "W4",
        "a second fan-in beside a living one",
        EVERYWHERE,
        &["handoff/tests/it/crash.rs::a_second_worker_leaves_a_live_session_alone"],
    ),
    answer(
        "W6, W8",
        "a heartbeat without an agent, a suspicion that stays",
        EVERYWHERE,
        &[
            "files/tests/it/lock.rs::a_killed_holder_frees_the_lock_at_once",
            "handoff/tests/it/session/care.rs::a_stuck_agent_is_told_to_go_on_and_then_left_in_peace",
        ],
    ),
    answer(
        "W10",
        "a damaged manifest",
        EVERYWHERE,
        &["core/src/batch/reading/tests.rs::what_cannot_be_read_is_told_by_its_line"],
    ),
];

#[test]
fn the_tests_that_are_named_are_there() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let crates = crates.unwrap();
    let is_there = |test: &str| {
        let (file, name) = test.split_once("::").unwrap();
        let text = std::fs::read_to_string(crates.join(file)).unwrap_or_default();
        text.contains(&format!("fn {name}("))
    };
    let named = ANSWERS.iter().flat_map(|it| it.tests);
    let gone: Vec<_> = named.filter(|test| !is_there(test)).collect();
    assert_eq!(gone, Vec::<&&str>::new());
}
