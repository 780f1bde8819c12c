//! Who a session is: what its agent finds in its environment, and what its token is good for.

use std::fs;
use std::path::Path;

use handoff_session::{ClientError, Token, environment};
use serde_json::Value;

use super::hall::{Guest, Hall};

/// What the agent of a session finds under this name.
fn found(hall: &Hall, shell: &Guest, name: &str) -> String {
    let file = hall.stage.repo.path().join("found");
    fs::remove_file(&file).ok();
    shell.types(&format!("printf '%s\\n' \"${name}\" > .f; mv .f found"));
    loop {
        if let Ok(text) = fs::read_to_string(&file) {
            return text.trim_end().to_owned();
        }
        super::hall::pause();
    }
}

fn token(hall: &Hall, shell: &Guest) -> Token {
    found(hall, shell, environment::TOKEN).parse().unwrap()
}

#[test]
fn an_agent_knows_its_session_and_so_do_the_commands_that_it_runs() {
    let hall = Hall::new();
    let shell = hall.bash("inner");
    assert_eq!(found(&hall, &shell, environment::SESSION), shell.text("id"));
    assert_eq!(found(&hall, &shell, environment::NAME), "inner");
    assert_eq!(found(&hall, &shell, environment::ROLE), "main");
    assert_eq!(found(&hall, &shell, environment::AGENT), "bash");
    assert_eq!(
        found(&hall, &shell, environment::SOCKET),
        shell.text("socket")
    );
    let program = hall.stage.env.binary().display().to_string();
    shell.types(&format!("{program} queue claim any; echo code=$?"));
    shell.shows("code=9");
}

#[test]
fn an_agent_is_on_record_before_its_first_act() {
    let hall = Hall::new();
    let sessions = hall.stage.env.handoff_home().join("sessions");
    let record = format!("{}/$HANDOFF_SESSION/session.json", sessions.display());
    // Not by `cp`, which copies nothing if the record is replaced between its two looks at it, as it is when the agent's number is known.
    let words = format!("cat {record} > seen; exec sleep 1000");
    hall.run("quick", &["sh", "--", "-c", &words]);
    let path = hall.stage.repo.path().join("seen");
    let seen = loop {
        let text = fs::read_to_string(&path).unwrap_or_default();
        match serde_json::from_str::<Value>(&text) {
            Ok(record) => break record,
            Err(_) => super::hall::pause(),
        }
    };
    assert_eq!(seen["name"], "quick");
    hall.stage
        .say("run nothing-like-this --detach --id never")
        .failure(3);
    let names: Vec<Value> = hall.stage.json("ps --all --ended")["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].clone())
        .collect();
    assert_eq!(names, ["quick"]);
}

#[test]
fn a_token_acts_only_as_its_own_session() {
    let hall = Hall::new();
    let (one, two) = (hall.bash("one"), hall.bash("two"));
    let token = token(&hall, &one);
    let own = one.client().with_token(token.clone()).caller().unwrap();
    let own = serde_json::to_value(own).unwrap();
    assert_eq!(own["caller"]["type"], "session");
    assert_eq!(
        (&own["caller"]["session"], &own["name"]),
        (&Value::from(one.text("id")), &"one".into())
    );
    let person = serde_json::to_value(one.client().caller().unwrap()).unwrap();
    assert_eq!(person["caller"]["type"], "person");
    let stranger = two.client().with_token(token).caller();
    assert!(
        matches!(stranger, Err(ClientError::Refused { status: 403, .. })),
        "{stranger:?}"
    );
}

#[test]
fn a_token_is_nowhere_but_in_the_environment() {
    let hall = Hall::new();
    let shell = hall.bash("quiet");
    let token = token(&hall, &shell);
    // The shell has printed it into a file of ours; the transcript has only the command.
    fs::remove_file(hall.stage.repo.path().join("found")).unwrap();
    let secret = token.reveal().as_bytes();
    let has_it = |bytes: &[u8]| bytes.windows(secret.len()).any(|it| it == secret);
    let directory = Path::new(shell.text("output_log_path")).parent().unwrap();
    for file in fs::read_dir(directory).unwrap() {
        let file = file.unwrap().path();
        assert!(!has_it(&fs::read(&file).unwrap()), "{}", file.display());
    }
    for pid in ["pid", "holder_pid"] {
        let pid = hall.listed("quiet")[pid].to_string();
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap();
        assert!(!has_it(&line), "{pid}");
    }
}

#[test]
fn the_documentation_names_every_variable() {
    let page = include_str!("../../../../../docs/environment.md");
    for name in environment::OF_ONE_SESSION {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}
