use super::*;
use crate::ownership::RepoPath;
use crate::workflow::{BUILT_IN, GraphStyle};

fn read(text: &str) -> Result<Workflow, DefinitionError> {
    Workflow::read("mine".parse().unwrap(), text)
}

fn told(text: &str) -> Vec<String> {
    match read(text) {
        Err(DefinitionError::Flawed(flaws)) => flaws.iter().map(ToString::to_string).collect(),
        Err(error @ DefinitionError::Unreadable { .. }) => vec![error.to_string()],
        Ok(_) => vec![],
    }
}

const ONE: &str = r#"schema_version = 1
description = "d"

[[phases]]
name = "a"
role = "r"
prompt = "p"
proof = "checks"
next = "end"
"#;

#[test]
fn what_comes_with_the_program_can_be_read() {
    for (name, text) in BUILT_IN {
        let workflow = Workflow::read(name.parse().unwrap(), text);
        assert!(workflow.is_ok(), "{name}: {:?}", told(text));
    }
}

#[test]
fn a_definition_is_read_with_defaults() {
    let workflow = read(ONE).unwrap();
    let phase = workflow.first();
    assert_eq!((phase.retries, phase.commit.as_str()), (2, "a:"));
    assert_eq!((workflow.most, workflow.needs_suite()), (200, false));
}

#[test]
fn every_mistake_is_told_with_its_line() {
    let text = r#"schema_version = 2
description = "d"
colour = "red"

[tests]
command = "make test"
format = "xml"
paths = ["../x"]

[[phases]]
name = "a"
prompt = "p"
proof = "faith"
retries = -1
may = ["@everything"]
next = "b"
"#;
    assert_eq!(
        told(text),
        [
            "line 3: there is no field `colour`",
            "line 1: schema version 2 is not known; this program reads version 1",
            "line 7: format: `xml` is not one of `cargo`, `tap`, `junit`, `exit`",
            "line 8: paths: `../x` has a `.` or `..` segment",
            "line 10: phase `a`: `role` is missing",
            "line 13: phase `a`: proof: `faith` is not one of `plan`, `red`, `green`, `same`, `checks`, `until`",
            "line 14: phase `a`: retries: -1 is not between 0 and 100",
            "line 15: phase `a`: may: `@everything` is not one of `@tests`, `@config` and `@declared`",
        ]
    );
    assert_eq!(told("a = ["), ["line 1: unclosed array, expected `]`"]);
}

#[test]
fn every_way_must_lead_somewhere() {
    let with = |next: &str, proof: &str| {
        let text = ONE.replace("next = \"end\"", next);
        told(&text.replace("proof = \"checks\"", &format!("proof = \"{proof}\"")))
    };
    assert_eq!(
        with("next = \"b\"", "checks"),
        ["line 9: phase `a`: next: there is no phase `b`"]
    );
    assert_eq!(
        with("next = { red = \"end\" }", "red"),
        ["line 9: phase `a`: next: its proof can come to `covered`, which leads nowhere"]
    );
    assert_eq!(
        with("next = { done = \"end\", odd = \"end\" }", "same"),
        ["line 9: phase `a`: next: its proof never comes to `odd`"]
    );
    assert_eq!(
        with("next = { good = \"end\", bad = \"a\" }", "checks"),
        [
            "line 9: phase `a`: next has several outcomes; `gives` must ask its session for one, in a field `outcome`"
        ]
    );
    assert_eq!(
        with("next = \"a\"", "checks"),
        ["line 5: phase `a`: no way leads from it to the end"]
    );
    let two = format!(
        "{ONE}\n{}",
        &ONE[ONE.find("[[").unwrap()..].replace("\"a\"", "\"b\"")
    );
    assert_eq!(
        told(&two),
        ["line 12: phase `b`: no way leads to it from `a`"]
    );
}

#[test]
fn a_role_has_its_paths() {
    let text = BUILT_IN.iter().find(|(name, _)| *name == "tdd").unwrap().1;
    let text = format!(
        "{}\n[tests]\ncommand = \"pytest\"\nformat = \"junit\"\npaths = [\"tests/\"]\nconfig = [\"conftest.py\"]\n{}",
        &text[..text.find("[[").unwrap()],
        &text[text.find("[[").unwrap()..]
    );
    let workflow = read(&text).unwrap();
    let may = |phase: &str, path: &str, stubs: &[RepoPath]| {
        let phase = workflow.phase(&phase.parse().unwrap()).unwrap();
        let path: RepoPath = path.parse().unwrap();
        phase.touch.allows(&path, workflow.suite.as_ref(), stubs)
    };
    assert!(may("red", "tests/test_a.py", &[]) && !may("red", "a.py", &[]));
    assert!(may("red", "a.py", &["a.py".parse().unwrap()]));
    assert!(!may(
        "red",
        "conftest.py",
        &["conftest.py".parse().unwrap()]
    ));
    assert!(may("green", "a.py", &[]) && !may("green", "tests/test_a.py", &[]));
    assert!(may("plan", "test-list.md", &[]) && !may("plan", "a.py", &[]));
}

#[test]
fn a_workflow_is_drawn() {
    let text = BUILT_IN.iter().find(|(name, _)| *name == "tdd").unwrap().1;
    let workflow = read(text).unwrap();
    assert_eq!(
        workflow.graph(GraphStyle::Text),
        "plan      ── complete ──► end\n          ── next ──► red\n          ── restructure ──► refactor\nred       ── covered ──► plan\n          ── red ──► green\n\
         green     ── done ──► refactor\nrefactor  ── done ──► plan\n"
    );
    assert_eq!(
        workflow.graph(GraphStyle::Mermaid),
        "stateDiagram-v2\n    [*] --> plan\n    plan --> [*]: complete\n    plan --> red: next\n    plan --> refactor: restructure\n    red --> plan: covered\n    \
         red --> green: red\n    green --> refactor: done\n    refactor --> plan: done\n"
    );
}

#[test]
fn what_cannot_be_played_is_refused() {
    let with = |next: &str| told(&ONE.replace("next = \"end\"", next));
    assert_eq!(
        with("next = { good = \"end\" }"),
        ["line 9: phase `a`: next: its proof can come to `done`, which leads nowhere"]
    );
    assert_eq!(
        with("next = \"end\"\nask = \"Is it good?\""),
        ["line 10: phase `a`: ask: there is no gate at which it would be asked"]
    );
    assert_eq!(
        with("next = \"end\"\ntakes = [\"context:\"]"),
        [
            "line 10: phase `a`: takes: a key has 1 to 200 bytes, all of them to be seen, and no space at its ends"
        ]
    );
    let whole =
        "[tests]\ncommand = \"make test\"\nformat = \"exit\"\npaths = [\"t/\"]\n\n[[phases]]";
    let text = ONE.replace("[[phases]]", whole);
    let text = text.replace(
        "proof = \"checks\"\nnext = \"end\"",
        "proof = \"red\"\nnext = { red = \"end\", covered = \"end\" }",
    );
    assert_eq!(
        told(&text),
        ["line 6: proof `red` needs a suite that names its tests; the format `exit` does not"]
    );
}

const SPLIT: &str = r#"schema_version = 1
description = "d"

[[phases]]
name = "a"
role = "r"
prompt = "p"
proof = "checks"

[phases.next.done]
fan_out = "file:batch.toml"
join = "b"
degraded = "a"

[[phases]]
name = "b"
role = "r"
prompt = "p"
proof = "checks"
next = "end"
"#;

#[test]
fn a_phase_can_be_split_into_a_batch() {
    let workflow = read(SPLIT).unwrap();
    let way = workflow.first().next.values().next().unwrap();
    assert_eq!(
        way.to_string(),
        "a batch (file:batch.toml), then b, or a if parts are missing"
    );
    assert_eq!(
        workflow.graph(GraphStyle::Text),
        "a  ── done ──► a batch (file:batch.toml), then b, or a if parts are missing\n\
         b  ── done ──► end\n"
    );
    assert_eq!(
        workflow.graph(GraphStyle::Mermaid),
        "stateDiagram-v2\n    [*] --> a\n    a --> a_done: done\n    a_done --> b: joined\n    a_done --> a: degraded\n    b --> [*]: done\n"
    );
    let json = serde_json::to_string(&workflow).unwrap();
    assert_eq!(serde_json::from_str::<Workflow>(&json).unwrap(), workflow);
}

#[test]
fn what_is_wrong_with_a_fan_out_is_told_where_it_stands() {
    let with = |from: &str, to: &str| told(&SPLIT.replace(from, to));
    assert_eq!(
        with(
            "fan_out = \"file:batch.toml\"",
            "fan_out = \"somewhere\"\ncolour = 1"
        ),
        [
            "line 10: phase `a`: there is no field `colour`",
            "line 10: phase `a`: next: `somewhere` is neither `result`, for the field `batch` of the result, nor `file:PATH`",
        ]
    );
    assert_eq!(
        with("join = \"b\"\ndegraded = \"a\"", "degraded = \"c\""),
        ["line 10: phase `a`: `join` is missing"]
    );
    assert_eq!(
        with("degraded = \"a\"", "degraded = \"c\""),
        ["line 10: phase `a`: next: there is no phase `c`"]
    );
    assert_eq!(
        with("\"file:batch.toml\"", "\"result\""),
        [
            "line 10: phase `a`: next: the batch of `done` is to be in the result; `gives` must ask for it, in a field `batch`"
        ]
    );
    assert_eq!(
        with(
            "proof = \"checks\"\n\n[phases.next",
            "proof = \"checks\"\nmay = [\"plan.md\"]\n\n[phases.next"
        ),
        [
            "line 11: phase `a`: next: the batch of `done` is to be in `batch.toml`, which the phase may not touch"
        ]
    );
}
