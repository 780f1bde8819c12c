//! Tests that share a file with the code they test: the proof is a weaker one, and says so.

use std::ffi::OsString;
use std::fs;

use handoff_testkit::kata::{Kata, Troupe};
use handoff_testkit::skip_without;

use super::AGENT;
use crate::stage::Stage;

const LIB: &str = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    \
                   #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n}\n";

const PLAN: &str = r#"
[ -e test-list.md ] || printf '%s\n' '- [ ] subtracts' '- [ ] adds nothing' > test-list.md
echo '{"summary":"planned"}' | "$HANDOFF" done --result -
"#;

/// First the old test asks for less, then a new one comes behind it; the second line of the list is covered.
const RED: &str = r#"
add_test() { sed -i '$d' src/lib.rs; printf '%s\n' '' '    #[test]' "    fn $1() {" "        assert_eq!($2);" '    }' '}' >> src/lib.rs; }
if grep -q 'fn sub' src/lib.rs; then
  add_test adds_nothing 'add(1, 0), 1'
  echo '{"test":"adds_nothing"}' | "$HANDOFF" done --result -
elif grep -q 'were there before' "$HANDOFF_PROMPT_FILE"; then
  sed -i '1i pub fn sub(_a: i32, _b: i32) -> i32 {\n    0\n}\n' src/lib.rs
  add_test subtracts 'sub(3, 2), 1'
  echo '{"test":"subtracts","stubs":["src/lib.rs"]}' | "$HANDOFF" done --result -
else
  sed -i 's/assert_eq!(add(1, 2), 3)/assert!(true)/' src/lib.rs
  add_test subtracts '1, 2'
  echo '{"test":"subtracts","stubs":["src/lib.rs"]}' | "$HANDOFF" done --result -
fi
"#;

/// First the test is bent, then the code is written.
const GREEN: &str = r#"
if grep -q 'are not as they were' "$HANDOFF_PROMPT_FILE"; then
  sed -i 's/_a: i32, _b: i32/a: i32, b: i32/; s/^    0$/    a - b/' src/lib.rs
else
  sed -i 's/sub(3, 2), 1/sub(3, 2), 0/' src/lib.rs
fi
echo '{"summary":"subtracts"}' | "$HANDOFF" done --result -
"#;

const REFACTOR: &str = r#"
echo '{"summary":"nothing"}' | "$HANDOFF" done --result -
"#;

#[test]
fn inline_tests_are_proved_by_their_text_and_that_is_said() {
    let kata = Kata::rust();
    if skip_without(kata.language.needs) {
        return;
    }
    let mut stage = Stage::new();
    let manifest = "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    stage.repo.write("Cargo.toml", manifest);
    stage.repo.write(".gitignore", "/target\nCargo.lock\n");
    stage.repo.write("src/lib.rs", LIB);
    stage.repo.commit("a calculator");
    let acts = stage.env.work().join("own-acts");
    fs::create_dir(&acts).unwrap();
    for (phase, act) in [
        ("plan", PLAN),
        ("red", RED),
        ("green", GREEN),
        ("refactor", REFACTOR),
    ] {
        fs::write(acts.join(phase), act).unwrap();
    }
    // Cargo is found as the project of the kata finds it.
    Troupe::engage(&mut stage.env, &kata, &[]);
    stage.env.set("ACTS", &acts);
    let script = stage.script("agent.toml", AGENT);
    let words = "workflow run tdd --goal Sums. --name calc --script";
    let words = words.split(' ').map(OsString::from);
    let told = stage.run(words.chain([script.into()])).success().stdout;
    assert!(told.contains("weaker proof: inline tests"), "{told}");

    let run = stage.json("workflow status calc");
    let steps = run["steps"].as_array().unwrap().iter();
    let steps: Vec<_> = steps
        .map(|it| {
            let weaker = if it["weaker"].is_null() {
                ""
            } else {
                " weaker"
            };
            format!("{} {}{weaker}", it["phase"], it["outcome"]).replace('"', "")
        })
        .collect();
    assert_eq!(
        steps,
        [
            "plan next",
            "red red weaker",
            "green done weaker",
            "refactor done",
            "plan next",
            "red covered weaker",
            "plan complete",
        ]
    );
    let log = stage.say("workflow log calc").success().stdout;
    for said in [
        "refused (check failed): the tests in `src/lib.rs` were there before",
        "refused (check failed): the tests in `src/lib.rs` are not as they were",
        "phase `red` proved: red, by a weaker proof (inline tests)",
    ] {
        assert!(log.contains(said), "{said}: {log}");
    }
}
