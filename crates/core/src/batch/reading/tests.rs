use super::*;
use crate::Ownership;

/// What the earlier tool accepted, with every field it knew.
const SEED: &str = r#"{
  "schema_version": 2,
  "batch_id": "b-2026-05-29-01",
  "fan_in_task": "post-batch-merge",
  "next_after_fanin": "deploy-staging",
  "split_rationale": "two halves",
  "amdahl_estimate": {"estimated_speedup": 1.8, "serial_minutes": 5},
  "timeout_hours": 3,
  "workspace": "/home/me/app",
  "created_at": "2026-05-29T10:00:00",
  "sub_tasks": [
    {"id": "api", "brief": "The routes.", "estimated_minutes": 20, "depends_on": [],
     "file_ownership": [{"type": "prefix", "path": "src/api/"}, {"type": "exact", "path": "README.md"}]},
    {"id": "ui", "brief": "The pages.", "estimated_minutes": 30,
     "file_ownership": [{"type": "glob", "path": "web/**/*.ts"}]}
  ]
}"#;

const OURS: &str = r#"
schema_version = 2
batch_id = "discounts"
fan_in_task = "merge-discounts"
overlap = "serialise"

[fan_in]
brief = "Make the parts agree."
verify = "make test"
agent = "claude"
estimated_minutes = 4

[next_after_fanin]
task = "announce"
brief = "Write the release note."

[[sub_tasks]]
id = "model"
brief = "The rule."
file_ownership = ["src/model.rs"]
verify = "cargo test model"
agent = "codex"

[[sub_tasks]]
id = "pages"
brief = "The pages."
file_ownership = ["src/", "exact:[id].tsx"]
depends_on = ["model"]
"#;

fn read(text: &str) -> Result<Manifest, ManifestError> {
    Manifest::read(text, Rules::default())
}

#[track_caller]
fn mistakes(text: &str) -> Vec<String> {
    match read(text) {
        Err(ManifestError::Mistaken(mistakes)) => {
            mistakes.iter().map(ToString::to_string).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// A manifest of these parts.
fn of_parts(head: &str, parts: &[&str]) -> String {
    let parts: Vec<_> = parts
        .iter()
        .map(|part| format!("[[sub_tasks]]\n{part}\n"))
        .collect();
    format!(
        "schema_version = 2\nbatch_id = \"b\"\nfan_in_task = \"merge\"\n{head}\n{}",
        parts.join("\n")
    )
}

fn part(id: &str, owns: &str, more: &str) -> String {
    format!("id = \"{id}\"\nbrief = \"x\"\nfile_ownership = [\"{owns}\"]\n{more}")
}

#[test]
fn the_schema_of_the_earlier_tool_is_taken_as_it_is() {
    let manifest = read(SEED).unwrap();
    assert_eq!(manifest.name.as_str(), "b-2026-05-29-01");
    assert_eq!(manifest.fan_in.task.as_str(), "post-batch-merge");
    assert_eq!(manifest.fan_in.estimate, Estimate::minutes(5.0));
    assert_eq!(manifest.next.unwrap().task().as_str(), "deploy-staging");
    let owns: Vec<_> = manifest.parts.iter().map(|part| &part.owns).collect();
    let texts = |owns: &Ownership| {
        owns.patterns()
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(owns[0]), ["README.md", "src/api/"]);
    assert_eq!(texts(owns[1]), ["web/**/*.ts"]);
    assert_eq!(manifest.parts[0].task.as_str(), "b-2026-05-29-01.api");
    assert_eq!(manifest.parts[1].limit.unwrap().0.as_secs(), 3 * 3600);
}

#[test]
fn toml_says_the_same_with_less() {
    let manifest = read(OURS).unwrap();
    let model = &manifest.parts[0];
    assert_eq!(model.agent.as_ref().unwrap().as_str(), "codex");
    assert_eq!(manifest.parts[1].after, ["model".parse().unwrap()]);
    assert_eq!(manifest.fan_in.verify.unwrap().as_str(), "make test");
    assert!(matches!(manifest.next, Some(Successor::Task { .. })));
}

#[test]
fn all_mistakes_are_told_at_once_with_their_places() {
    let text = r#"{
      "schema_version": 3, "batch_id": "a/b", "overlap": "maybe", "batchid": "x",
      "sub_tasks": [
        {"id": "one", "file_ownership": []},
        {"id": "../two", "brief": " ", "estimated_minutes": -1, "agent": "Claude",
         "file_ownership": ["../x", {"type": "prefix", "path": "src"}, 7, {"type": "dir", "path": "x"}], "owner": "me"}
      ]
    }"#;
    let expected = "\
there is no field `batchid`
schema_version: schema version 3 is not known; this program reads version 2
batch_id: '/' cannot stand at place 2 of a name; use a-z, 0-9, `.`, `_` and `-`, beginning with a letter or digit
overlap: `maybe` is neither `refuse` nor `serialise`
sub_tasks[0] (one): `brief` is missing
sub_tasks[0] (one).file_ownership: an ownership needs at least one pattern
sub_tasks[1] (../two): there is no field `owner`
sub_tasks[1] (../two).id: '.' cannot stand at place 1 of a name; use a-z, 0-9, `.`, `_` and `-`, beginning with a letter or digit
sub_tasks[1] (../two).brief: the brief is empty
sub_tasks[1] (../two).file_ownership[0]: `../x` has a `.` or `..` segment
sub_tasks[1] (../two).file_ownership[1]: prefix `src` does not end with `/`
sub_tasks[1] (../two).file_ownership[2]: a pattern is a text such as `src/`, or a table with `type` (exact, prefix or glob) and `path`
sub_tasks[1] (../two).file_ownership[3]: a pattern is a text such as `src/`, or a table with `type` (exact, prefix or glob) and `path`
sub_tasks[1] (../two).estimated_minutes: -1 minutes is not a time that work can take
sub_tasks[1] (../two).agent: `Claude` is no name for an agent: it takes a letter and then letters, digits and `-`, all small, at most 32
`fan_in_task` is missing";
    assert_eq!(mistakes(text).join("\n"), expected);
}

#[test]
fn one_mistake_hides_no_other() {
    let parts = [
        part("one", "src/", "depends_on = [\"nobody\"]"),
        part("one", "src/new.rs", "").replace("brief = \"", "brief = \"\" #"),
    ];
    let text = of_parts("", &[&parts[0], &parts[1]]).replace("batch_id = \"", "batch_id = \"../");
    let told = mistakes(&text).join("\n");
    for expected in [
        "batch_id: '.' cannot stand at place 1",
        "sub_tasks[0] (one): it depends on `nobody`",
        "sub_tasks[1] (one).brief: the brief is empty",
        "`src/` of `one` and `src/new.rs` of `one` overlap",
        "the name `one` is used twice",
    ] {
        assert!(told.contains(expected), "{expected:?} is not in {told}");
    }
}

#[test]
fn what_cannot_be_read_is_told_by_its_line() {
    let line = |text: &str| match read(text) {
        Err(ManifestError::Unreadable { line, .. }) => line,
        other => panic!("{other:?}"),
    };
    assert_eq!(line("{\n  \"schema_version\": 2,\n  \"batch_id\" 7\n}"), 3);
    let twice = read("{\"batch_id\": \"a\", \"batch_id\": \"b\"}").unwrap_err();
    assert!(twice.to_string().contains("\"batch_id\""), "{twice}");
    assert_eq!(line("schema_version = 2\n\n= 7\n"), 3);
    assert_eq!(line("[]"), 1);
}

/// Each row is a pair of parts that the earlier tool accepted, because it looked at the files of today.
#[test]
fn parts_that_could_meet_are_refused_with_both_owners_and_an_example() {
    for (left, right, example) in [
        ("src/", "src/new.py", "src/new.py"),
        ("newdir/", "newdir/", "newdir/a"),
        ("src/*.py", "src/new.py", "src/new.py"),
        ("src", "src/m.py", "src/m.py"),
    ] {
        let text = of_parts("", &[&part("a", left, ""), &part("b", right, "")]);
        let expected = format!(
            "sub_tasks: `{left}` of `a` and `{right}` of `b` overlap, for example at `{example}`; let one depend on the other, \
             or set overlap = \"serialise\""
        );
        assert_eq!(mistakes(&text), [expected]);
    }
}

#[test]
fn parts_may_want_the_same_paths_one_after_the_other() {
    let (first, last) = (
        part("a", "src/", ""),
        part("c", "src/m.rs", "depends_on = [\"b\"]"),
    );
    let between = part("b", "docs/", "depends_on = [\"a\"]");
    assert!(read(&of_parts("", &[&first, &between, &last])).is_ok());
    let beside = part("c", "src/m.rs", "");
    assert!(read(&of_parts("", &[&first, &beside])).is_err());
    assert!(read(&of_parts("overlap = \"serialise\"", &[&first, &beside])).is_ok());
}

#[test]
fn who_waits_for_whom_must_make_sense() {
    let text = of_parts(
        "",
        &[
            &part("a", "a/", "depends_on = [\"c\"]"),
            &part("b", "b/", "depends_on = [\"a\"]"),
            &part("c", "c/", "depends_on = [\"b\"]"),
            &part("d", "d/", "depends_on = [\"d\", \"x\", \"a\"]"),
        ],
    );
    assert_eq!(
        mistakes(&text),
        [
            "sub_tasks[3] (d): it depends on `x`, which is no part of this batch",
            "sub_tasks: these wait for each other: `a`, `b`, `c`",
            "sub_tasks: these wait for each other: `d`",
        ]
    );
}

#[test]
fn every_task_of_a_batch_has_a_name_of_its_own() {
    let (one, again) = (part("a", "a/", ""), part("a", "b/", ""));
    let text = of_parts("next_after_fanin = \"merge\"", &[&one, &again]);
    assert_eq!(
        mistakes(&text),
        [
            "the name `b.a` is used twice",
            "the name `merge` is used twice"
        ]
    );
    let long = part(&"x".repeat(63), "a/", "");
    assert_eq!(mistakes(&of_parts("", &[&long])).len(), 1);
}

#[test]
fn the_size_is_a_setting() {
    let parts: Vec<_> = (0..4)
        .map(|it| part(&format!("p{it}"), &format!("d{it}/"), ""))
        .collect();
    let parts: Vec<_> = parts.iter().map(String::as_str).collect();
    let with = |most| {
        let rules = Rules {
            most,
            ..Rules::default()
        };
        Manifest::read(&of_parts("", &parts), rules)
    };
    assert!(with(4).is_ok());
    let refused = with(3).unwrap_err();
    assert_eq!(refused.to_string(), "the manifest has a mistake");
    assert_eq!(
        mistakes(&of_parts("", &[])),
        ["sub_tasks: a batch has at least one part"]
    );
}

#[test]
fn nobody_owns_the_git_directory_or_the_world_outside() {
    for path in [".git/config", "/etc/passwd", "a/../b", "./"] {
        assert_eq!(
            mistakes(&of_parts("", &[&part("a", path, "")])).len(),
            1,
            "{path}"
        );
    }
}

#[test]
fn a_part_with_a_mistake_is_still_one_that_others_meet() {
    let parts = [
        part("one", "src/", "depends_on = [\"nobody\"]")
            .replace("[\"src/\"]", "[\"src/\", \"../x\"]"),
        part("one", "src/new.rs", ""),
        part("three", "../x", "depends_on = [\"four\"]"),
        part("four", "d/", "depends_on = [\"three\"]"),
    ];
    let parts: Vec<_> = parts.iter().map(String::as_str).collect();
    let expected = "\
sub_tasks[0] (one).file_ownership[1]: `../x` has a `.` or `..` segment
sub_tasks[2] (three).file_ownership[0]: `../x` has a `.` or `..` segment
sub_tasks[0] (one): it depends on `nobody`, which is no part of this batch
sub_tasks: these wait for each other: `three`, `four`
sub_tasks: `src/` of `one` and `src/new.rs` of `one` overlap, for example at `src/new.rs`; let one depend on the other, or set overlap = \"serialise\"
the name `b.one` is used twice";
    assert_eq!(mistakes(&of_parts("", &parts)).join("\n"), expected);
}

#[test]
fn values_of_another_kind_are_all_told() {
    let text = r#"{
      "schema_version": "2", "batch_id": 7, "fan_in_task": "merge", "fan_in": "x", "next_after_fanin": 3,
      "timeout_hours": "long", "workspace": [], "amdahl_estimate": {"serial_minutes": "5"},
      "sub_tasks": [7, {"id": 1, "brief": ["x"], "file_ownership": "src/", "depends_on": ["a", 2], "estimated_minutes": "1"}]
    }"#;
    let expected = "\
schema_version: the string \"2\" stands where a whole number is wanted
batch_id: the integer `7` stands where a text is wanted
timeout_hours: the string \"long\" stands where a number is wanted
sub_tasks[0]: the integer `7` stands where a table is wanted
sub_tasks[1].id: the integer `1` stands where a text is wanted
sub_tasks[1].brief: the list stands where a text is wanted
sub_tasks[1].file_ownership: the string \"src/\" stands where a list is wanted
sub_tasks[1].estimated_minutes: the string \"1\" stands where a number is wanted
sub_tasks[1].depends_on: the integer `2` stands where a text is wanted
amdahl_estimate.serial_minutes: the string \"5\" stands where a number is wanted
fan_in: the string \"x\" stands where a table is wanted
next_after_fanin: what comes after is the name of a task, or a table with `task` and `brief`
workspace: the list stands where a text is wanted";
    assert_eq!(mistakes(text).join("\n"), expected);
    let dated = of_parts("split_rationale = 2026-05-29\ntimeout_hours = nan", &[]);
    assert_eq!(mistakes(&dated).len(), 3, "{:?}", mistakes(&dated));
    assert_eq!(
        mistakes("schema_version = 2\nbatch_id = \"b\"\nfan_in_task = \"m\"\nsub_tasks = 3\n")
            .len(),
        1
    );
}

#[test]
fn a_mark_before_the_first_line_is_passed_over() {
    for text in [SEED, OURS] {
        assert_eq!(read(&format!("\u{feff}{text}")), read(text));
    }
}

#[test]
fn an_agent_that_nobody_knows_is_a_mistake_wherever_it_stands() {
    let text = OURS.replace(
        "task = \"announce\"",
        "task = \"announce\"\nagent = \"hal\"",
    );
    let rules = Rules {
        agents: Some(vec!["claude".parse().unwrap()]),
        ..Rules::default()
    };
    let Err(ManifestError::Mistaken(told)) = Manifest::read(&text, rules) else {
        panic!("it was accepted");
    };
    let told: Vec<_> = told.iter().map(ToString::to_string).collect();
    let unknown = |place: &str, name: &str| {
        format!(
            "{place}.agent: no agent is called `{name}`; `handoff agents` lists those that there are"
        )
    };
    assert_eq!(
        told,
        [
            unknown("sub_tasks[0] (model)", "codex"),
            unknown("next_after_fanin", "hal")
        ]
    );
}
