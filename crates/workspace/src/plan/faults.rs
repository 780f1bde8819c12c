//! What other parsers of such plans were seen to get wrong, and what ours says.

use super::{CURRENT_STEP, Marker, PLAN, Plan, Severity, Verdict};

/// A verdict in a word, the problems with their lines, and the boxes.
#[track_caller]
fn read(text: &str) -> (String, Vec<String>, String) {
    let plan = Plan::parse(text);
    let verdict = match plan.verdict() {
        Verdict::Invalid => "invalid".to_owned(),
        Verdict::NotInitialised => "not initialised".to_owned(),
        Verdict::NothingRemaining => "nothing remaining".to_owned(),
        Verdict::Blocked => "blocked".to_owned(),
        Verdict::Ready { current } => format!("ready {current}"),
    };
    let problems = plan.problems.iter().map(|problem| {
        let mark = match problem.severity() {
            Severity::Error => "E",
            Severity::Warning => "W",
        };
        format!("{mark} {problem}")
    });
    let boxes = plan.steps.iter().map(|step| match &step.marker {
        Marker::Done => 'x',
        Marker::Current => '>',
        Marker::Pending => '_',
        Marker::Blocked { .. } => '!',
        Marker::Unknown { .. } => '?',
    });
    (verdict, problems.collect(), boxes.collect())
}

fn steps(lines: &str) -> String {
    format!("# {PLAN}\n{lines}")
}

#[track_caller]
fn assert_reads(text: &str, verdict: &str, boxes: &str, problems: &[&str]) {
    let problems: Vec<_> = problems.iter().map(|it| (*it).to_owned()).collect();
    let expected = (verdict.to_owned(), problems, boxes.to_owned());
    assert_eq!(read(text), expected, "{text}");
}

#[test]
fn the_verdicts() {
    for (lines, verdict, boxes) in [
        ("", "not initialised", ""),
        ("Not yet generated.\n", "not initialised", ""),
        ("- [ ] a\n- [ ] b\n", "ready 1", "__"),
        ("- [x] a\n- [ ] b\n- [>] c\n", "ready 3", "x_>"),
        ("- [x] a\n- [X] b\n", "nothing remaining", "xx"),
        ("- [!] a\n  blocked: why\n- [ ] b\n", "ready 2", "!_"),
        ("- [x] a\n- [!] b\n  blocked: why\n", "blocked", "x!"),
    ] {
        assert_reads(&steps(lines), verdict, boxes, &[]);
    }
}

#[test]
fn every_kind_of_list_item_can_be_a_step() {
    let text = steps("- [x] a\n* [x] b\n+ [x] c\n1. [x] d\n2) [x] e\n-\t[ ] f\n");
    assert_reads(&text, "ready 6", "xxxxx_", &[]);
}

#[test]
fn a_number_sign_in_fenced_code_does_not_end_the_plan() {
    for fence in ["```", "~~~~", "``````"] {
        let text = steps(&format!(
            "- [x] a\n  {fence}sh\n  # run\n# all\n  {fence}\n- [ ] b\n"
        ));
        assert_reads(&text, "ready 2", "x_", &[]);
    }
}

#[test]
fn a_longer_fence_is_not_closed_by_a_shorter_one() {
    let text = steps("- [x] a\n````\n```\n# no\n````\n- [ ] b\n");
    assert_reads(&text, "ready 2", "x_", &[]);
}

#[test]
fn a_box_in_code_or_in_a_comment_is_no_step() {
    let text = steps(
        "- [>] a\n```\n- [>] no\n```\n<!-- - [>] no -->\n<!--\n- [>] no\n-->\n- ```\n  - [>] no\n  ```\n",
    );
    assert_reads(&text, "ready 1", ">", &[]);
}

#[test]
fn code_or_a_comment_that_never_ends_is_not_passed_over() {
    let fence = "line 3: the fenced code that begins here never ends";
    assert_reads(
        &steps("- [x] a\n```\n- [ ] b\n"),
        "invalid",
        "x",
        &[&format!("E {fence}")],
    );
    let comment = "line 3: the comment that begins here never ends";
    assert_reads(
        &steps("- [x] a\n<!-- x\n- [ ] b\n"),
        "invalid",
        "x",
        &[&format!("E {comment}")],
    );
}

#[test]
fn a_number_sign_below_a_step_does_not_end_the_plan() {
    assert_reads(&steps("- [x] a\n  # note\n- [ ] b\n"), "ready 2", "x_", &[]);
}

#[test]
fn a_box_that_cannot_be_read_is_unfinished() {
    for found in ["~", "-", "", "done", " x ", "é", "in-progress"] {
        let text = steps(&format!("- [x] a\n- [{found}] b\n"));
        let problem = format!(
            "E line 3: step 2 has the box `[{found}]`; it can be `[ ]`, `[>]`, `[x]` or `[!]`"
        );
        assert_reads(&text, "invalid", "x?", &[&problem]);
    }
}

#[test]
fn a_link_or_a_remark_in_brackets_is_no_step() {
    let text = steps("- [x] a\n- [a](b)\n- [a][b]\n- [see the notes] x\n- `[ ]` open\n- \\[ ] x\n");
    assert_reads(&text, "nothing remaining", "x", &[]);
}

#[test]
fn a_box_without_a_list_item_is_not_passed_over() {
    let problem = "E line 3: this box begins no list item, so it is no step; put `- ` before it";
    assert_reads(&steps("- [x] a\n[ ] b\n"), "invalid", "x", &[problem]);
}

#[test]
fn several_current_steps_are_named() {
    let problems = [
        "E line 3: step 2 is marked as current, and so is step 1",
        "E line 4: step 3 is marked as current, and so is step 1",
    ];
    assert_reads(
        &steps("- [>] a\n- [>] b\n- [>] c\n"),
        "invalid",
        ">>>",
        &problems,
    );
}

#[test]
fn headings_of_other_levels_and_manners_are_found() {
    for heading in [
        "## Execution Plan",
        "### execution plan ###",
        "# **Execution  Plan**:",
        "# EXECUTION PLAN",
        "\u{feff}# Execution Plan",
    ] {
        assert_reads(&format!("{heading}\r\n- [ ] a\r\n"), "ready 1", "_", &[]);
    }
}

#[test]
fn a_plan_goes_on_over_headings_below_its_own_and_ends_at_its_own_level() {
    let text =
        "## Execution Plan\n### One\n- [x] a\n#### Two\n- [ ] b\n## Remaining Steps\n- [ ] c\n";
    assert_reads(text, "ready 2", "x_", &[]);
}

#[test]
fn boxes_without_a_heading_for_them_are_not_passed_over() {
    for heading in [
        "",
        "# The Plan\n",
        "#Execution Plan\n",
        "#### Execution Plan\n",
        "  # Execution Plan\n",
    ] {
        let line = heading.lines().count() + 1;
        let problem = format!("E line {line}: there are boxes but no section `Execution Plan`");
        assert_reads(&format!("{heading}- [ ] a\n"), "invalid", "", &[&problem]);
    }
}

#[test]
fn a_second_plan_is_refused_and_its_steps_are_seen() {
    let problem = "E line 3: there is a second section `Execution Plan`; the first is at line 1";
    let text = "# Execution Plan\n- [x] a\n## Execution Plan\n- [ ] b\n";
    assert_reads(text, "invalid", "x_", &[problem]);
    let text = "# Execution Plan\n- [x] a\n# Execution Plan\n- [ ] b\n";
    assert_reads(text, "invalid", "x_", &[problem]);
}

#[test]
fn conflict_markers_are_named_as_such() {
    let text = steps("<<<<<<< HEAD\n- [x] a\n=======\n- [ ] a\n>>>>>>> other\n");
    let problems = [
        "E line 2: a merge conflict is not resolved",
        "E line 6: a merge conflict is not resolved",
    ];
    assert_reads(&text, "invalid", "x_", &problems);
}

#[test]
fn a_step_without_text_is_a_problem() {
    assert_reads(
        &steps("- [>]\n"),
        "invalid",
        ">",
        &["E line 2: step 1 has no text"],
    );
}

#[test]
fn a_plan_beside_scaffold_is_a_plan() {
    let text = format!("# {CURRENT_STEP}\nNot started\n\n# {PLAN}\nNot yet generated.\n- [ ] a\n");
    assert_reads(&text, "ready 1", "_", &[]);
}

#[test]
fn a_section_that_names_another_step_is_only_warned_about() {
    let text = format!("# {CURRENT_STEP}\n- AAA\n\n# {PLAN}\n- [x] AAA\n- [>] BBB\n");
    let problem =
        "W line 2: the section `Current Step` says something else than the plan: step 2 is current";
    assert_reads(&text, "ready 2", "x>", &[problem]);
}

#[test]
fn nested_steps_count_and_know_their_depth() {
    let text = steps("- [x] a\n  - [ ] b\n\t- [x] c\n- [ ] d\n   - [ ] e\n### x\n  - [ ] f\n");
    let plan = Plan::parse(&text);
    let depths: Vec<_> = plan.steps.iter().map(|step| step.depth).collect();
    assert_eq!(depths, [0, 1, 2, 0, 1, 0]);
    let problem = "W line 2: step 1 is done, but step 2 in it is not";
    assert_reads(&text, "ready 2", "x_x___", &[problem]);
}

#[test]
fn notes_and_the_reason_belong_to_their_step() {
    let text = steps(
        "- [!] a\n\n  More.\n  - Blocked: the key\n    ```\nx\n    ```\n\nNot a note.\n- [!] b\n",
    );
    let plan = Plan::parse(&text);
    let reason = Some("the key".to_owned());
    assert_eq!(plan.steps[0].marker, Marker::Blocked { reason });
    assert_eq!(plan.steps[0].notes, ["More.", "```", "x", "```"]);
    let problem = "W line 11: step 2 is blocked without a line `blocked: …` below it that says why";
    assert_reads(&text, "blocked", "!!", &[problem]);
}
