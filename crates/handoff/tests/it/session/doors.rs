//! One operation, three doors: the command line, `handoff api call`, and a call in this very process give the same document.

use std::collections::BTreeMap;
use std::ffi::OsString;

use handoff_operations::changes::{ChangeWaiter, News};
use handoff_operations::{Ambient, Workplace, registry};
use serde_json::{Value, json};

use super::hall::Hall;
use crate::stage::{PATIENCE, Stage};

impl Stage {
    /// Calls an operation by its name at the command line.
    #[track_caller]
    fn api(&self, operation: &str, request: &Value) -> Value {
        let command = self.command(["api", "call", operation]);
        let input = request.to_string();
        let answered = self.env.run_with_input(command, input.as_bytes());
        let document = answered.success().json();
        let schema = self.json(&format!("api schema {operation}"));
        jsonschema::validate(&schema["response"], &document)
            .unwrap_or_else(|error| panic!("{operation}: {error}"));
        document
    }

    /// The same without a program.
    #[track_caller]
    fn perform(&self, operation: &str, request: &Value) -> Value {
        let answered = registry::find(operation)
            .and_then(|entry| entry.call(request.clone(), &self.workplace()))
            .unwrap_or_else(|failure| panic!("{failure:?}"));
        let mut document = answered.body;
        document["schema"] = answered.schema.into();
        document
    }

    /// Where the program would work that is started in the repository.
    fn workplace(&self) -> Workplace {
        let command = self.command([""; 0]);
        let environment: BTreeMap<OsString, OsString> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        let cwd = Some(self.repo.path().to_owned());
        let program = Some(self.env.binary().to_owned());
        Workplace::new(Ambient::new(environment, cwd, program))
    }

    #[track_caller]
    fn same_at_every_door(&self, words: &str, operation: &str, request: &Value) -> Value {
        let document = self.json(words);
        assert_eq!(
            self.api(operation, request),
            document,
            "api call {operation}"
        );
        assert_eq!(self.perform(operation, request), document, "{operation}");
        document
    }
}

#[test]
fn a_task_is_added_and_shown_alike() {
    let stage = Stage::new();
    // The first to ask adds it; whoever repeats that is told so.
    stage
        .say("queue add fix --brief Now. --own src/ --verify true --key k1")
        .success();
    let request =
        json!({ "name": "fix", "brief": "Now.", "own": ["src/"], "check": "true", "key": "k1" });
    let words = "queue add fix --brief Now. --own src/ --verify true --key k1";
    let added = stage.same_at_every_door(words, "add_task", &request);
    assert_eq!(added["is_repeat"], true);
    let shown = stage.same_at_every_door("queue show fix", "see_task", &json!({ "task": "fix" }));
    assert_eq!(shown["id"], added["task"]["id"]);
}

#[test]
fn what_goes_on_is_seen_alike() {
    let stage = Stage::new();
    stage.feature("discounts", "- [ ] **Step 1**: Parse.\n");
    stage.add("fix");
    let seen = stage.same_at_every_door("status", "overview", &json!({}));
    assert_eq!(
        (&seen["feature"], &seen["project"]["tasks"]["queued"]),
        (&"discounts".into(), &1.into())
    );
    let other = json!({ "feature": "discounts" });
    stage.same_at_every_door("status --feature discounts", "overview", &other);
}

#[test]
fn a_session_is_listed_and_told_something_alike() {
    let hall = Hall::new();
    hall.bash("work");
    let request = json!({ "session": { "id": "work" }, "text": "echo hello", "wait_for": "answer", "key": "k1" });
    let told = hall.stage.api("send_message", &request);
    assert_eq!(told["answer"]["text"], "hello");
    let words = "send --id work --wait-for answer --key k1 --message";
    let words: Vec<_> = words.split(' ').chain(["echo hello", "--json"]).collect();
    let by_words = hall.stage.run(words).success().json();
    assert_eq!(by_words, told);
    assert_eq!(hall.stage.perform("send_message", &request), told);

    // Ages go on meanwhile.
    let settled = |mut document: Value| {
        let session = document["sessions"][0].as_object_mut().unwrap();
        for age in ["state_age_seconds", "log_idle_s"] {
            session.remove(age);
        }
        document
    };
    let listed = settled(hall.stage.json("ps"));
    assert_eq!(settled(hall.stage.api("list_sessions", &json!({}))), listed);
    assert_eq!(
        settled(hall.stage.perform("list_sessions", &json!({}))),
        listed
    );
}

#[test]
fn what_has_landed_is_said_alike() {
    let stage = Stage::new();
    stage.add("fix");
    let script = "[[step]]\nwrite = { path = \"new.txt\", text = \"new\" }\n";
    let script = stage.script("script.toml", script);
    let words = ["worker", "--once", "--script", script.to_str().unwrap()];
    stage.run(words).success();
    let landed = stage.api("land", &json!({ "what": "fix" }));
    assert_eq!(
        (&landed["into"], &landed["commits"]),
        (&"main".into(), &1.into())
    );
    stage.same_at_every_door("land fix", "land", &json!({ "what": "fix" }));
}

#[test]
fn a_session_starts_at_the_api_and_is_the_one_of_the_command_line() {
    let hall = Hall::new();
    let request = json!({ "agent": "bash", "arguments": ["--norc"], "name": "work", "description": "for a test" });
    let started = hall.stage.api("start_session", &request);
    let listed = hall.listed("work");
    assert_eq!(started["id"], listed["id"]);
    assert_eq!(listed["description"], "for a test");
}

#[test]
fn a_request_that_cannot_be_read_changes_nothing_and_says_what_is_wrong() {
    let stage = Stage::new();
    let refused = |operation: &str, input: &str, code: i32| {
        let command = stage.command(["api", "call", operation, "--json"]);
        let refused = stage.env.run_with_input(command, input.as_bytes());
        let document = refused.failure(code).json();
        document["message"].as_str().unwrap().to_owned()
    };
    assert_eq!(refused("add_task", "{", 2), "the request is not JSON");
    let unread = "the request of `add_task` cannot be read";
    for request in [
        "[]",
        "{}",
        r#"{ "name": "../x", "brief": "b" }"#,
        r#"{ "name": "x", "brief": "b", "verify": "true" }"#,
        r#"{ "name": "x", "brief": "b", "own": "src" }"#,
    ] {
        assert_eq!(refused("add_task", request, 2), unread, "{request}");
    }
    assert_eq!(
        refused("no_such", "{}", 3),
        "there is no operation \"no_such\""
    );
    assert_eq!(stage.json("queue list")["tasks"], json!([]));
}

#[test]
fn a_task_that_is_added_while_nobody_can_be_told_is_an_unknown_outcome_with_its_key() {
    let stage = Stage::new();
    let words = "queue add fix --brief b --key k1";
    let mut command = stage.command(words.split(' '));
    command.stdout(
        std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap(),
    );
    let told = command.output().unwrap();
    assert_eq!(told.status.code(), Some(7));
    assert!(
        String::from_utf8_lossy(&told.stderr).contains("--key k1"),
        "{told:?}"
    );
    assert_eq!(stage.json(words)["is_repeat"], true);
}

#[test]
fn a_follower_is_told_of_what_a_session_does() {
    let hall = Hall::new();
    hall.bash("work");
    let here = hall.stage.workplace();
    let mut waiter = ChangeWaiter::at(&here).unwrap();
    waiter.arm(&[], &here);
    // Neither the ledger nor a name changes by it: its journal alone tells.
    hall.stage.say("send --id work --no-wait hello").success();
    assert_eq!(waiter.wait(Some(PATIENCE)).unwrap(), News::Something);
}

#[test]
fn a_refused_call_is_an_error_document_without_being_asked_for_json() {
    let stage = Stage::new();
    let command = stage.command(["api", "call", "see_task"]);
    let refused = stage.env.run_with_input(command, br#"{ "task": "fix" }"#);
    assert_eq!(refused.failure(3).json()["error"], "not_found");
}

#[test]
fn inside_a_session_a_call_is_judged_as_the_operation_that_it_names() {
    let hall = Hall::new();
    hall.stage.add("fix");
    hall.bash("work");
    let program = hall.stage.env.binary().display().to_string();
    let called = |operation: &str, request: &str, word: &str| {
        let call = format!("{program} api call {operation} --json <<< '{request}'");
        hall.answer("work", &format!("{call} | grep -o '{word}' | head -1"))
    };
    let task = r#"{ "task": "fix" }"#;
    assert_eq!(called("see_task", task, "handoff.task/1"), "handoff.task/1");
    let what = r#"{ "what": "fix" }"#;
    assert_eq!(called("land", what, "forbidden"), "forbidden");
    let own = r#"{ "session": { "id": "work" }, "choice": "yes" }"#;
    assert_eq!(called("answer", own, "forbidden"), "forbidden");
}
