//! `handoff note` and `handoff decide`: what the next session has to know.

use std::fs;

use insta::assert_snapshot;

use crate::stage::Stage;

fn notes(stage: &Stage) -> String {
    fs::read_to_string(stage.repo.path().join(".handoff/features/login/SESSION.md")).unwrap()
}

#[test]
fn notes_go_into_their_sections_and_people_keep_their_words() {
    let stage = Stage::new();
    stage.say("init login").success();
    let own = "# Session\r\n\r\n## Open Questions\r\nNone.\r\n\r\n## My Own\r\n  as it is\t\r\n";
    stage.repo.write(".handoff/features/login/SESSION.md", own);
    assert_snapshot!(stage.run(["note", "--question", "Which port?"]).snapshot(), @"
    exit status: 0
    --- stdout ---
    Noted under Open Questions: Which port?
    ");
    stage.run(["note", "--dead-end", "Threads."]).success();
    stage.run(["note", "--blocker", "No key."]).success();
    stage
        .run(["note", "--file", "src/a.rs", "The core."])
        .success();
    stage.run(["note", "Mind the gap.\nTwice."]).success();
    let decided = stage.run(["decide", "Use SQLite.", "--because", "One file."]);
    assert_snapshot!(decided.snapshot(), @"
    exit status: 0
    --- stdout ---
    Noted under Decisions: Use SQLite. because: One file.
    ");
    assert_snapshot!(notes(&stage).replace('\r', "~"), @"
    # Session~
    ~
    ## Open Questions~
    - Which port?~
    ~
    ## My Own~
      as it is	~
    ~
    ## Dead Ends~
    ~
    - Threads.~
    ~
    ## Blockers~
    ~
    - No key.~
    ~
    ## Files That Matter~
    ~
    - `src/a.rs`: The core.~
    ~
    ## Notes~
    ~
    - Mind the gap.~
      Twice.~
    ~
    ## Decisions~
    ~
    - Use SQLite.~
      because: One file.~
    ");
}

#[test]
fn the_same_note_is_written_once() {
    let stage = Stage::new();
    stage.say("init login").success();
    stage.run(["note", "Once."]).success();
    let before = notes(&stage);
    assert_snapshot!(stage.run(["note", "Once.", "--json"]).snapshot(), @r#"
    exit status: 0
    --- stdout ---
    {"schema":"handoff.note/1","feature":"login","section":"Notes","entry":"Once.","is_repeat":true}
    "#);
    assert_eq!(notes(&stage), before);
    let noted = stage.say("events").success().stdout;
    assert_eq!(noted.matches("noted: Once.").count(), 1, "{noted}");
}

#[test]
fn what_cannot_be_noted_is_refused_and_nothing_changes() {
    let stage = Stage::new();
    stage.say("init login").success();
    let before = notes(&stage);
    for words in [
        &["note", ""][..],
        &["note", "x\n```\ny"],
        &["note", "\u{1b}[2J"],
        &["note", "x", "--file", "../x"],
        &["note", "x", "--blocker", "--question"],
        &["decide", "x"],
        &["decide", "x", "--because", " "],
    ] {
        stage.run(words).failure(2);
    }
    assert_eq!(notes(&stage), before);
    let session = ".handoff/features/login/SESSION.md";
    stage.repo.write(session, "# Notes\n```\n");
    assert_snapshot!(stage.run(["note", "x"]).snapshot(), @"
    exit status: 10
    --- stderr ---
    error: the notes cannot be edited: line 2: the fenced code that begins here never ends
    hint: see all that is wrong: `handoff validate`
    ");
    fs::remove_file(stage.repo.path().join(session)).unwrap();
    assert_snapshot!(stage.run(["note", "x"]).snapshot(), @"
    exit status: 3
    --- stderr ---
    error: the feature `login` has no `SESSION.md`
    hint: make what is missing, and nothing else: `handoff init login`
    ");
}
