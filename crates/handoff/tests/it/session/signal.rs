//! Signals to an agent, sent by its holder.

use insta::assert_snapshot;

use super::hall::Hall;

/// It says what it gets, and has a child that says nothing.
const LISTENER: &str = "trap 'echo got one' USR1; trap 'echo not yet' TERM; sleep 1000 & echo $! >child; while :; do wait; done";

#[test]
fn a_signal_reaches_the_agent_alone_or_all_that_it_started() {
    let hall = Hall::new();
    let agent = hall.run("ears", &["sh", "--", "-c", LISTENER]);
    let child = hall.process_in("child");
    assert_snapshot!(hall.stage.say("signal --id ears sigusr1").snapshot(), @r"
    exit status: 0
    --- stdout ---
    ears got USR1
    ");
    agent.shows("got one");
    assert!(child.lives());
    let sent = hall.stage.json("signal --id ears TERM --all");
    assert_eq!(sent["processes"].as_array().unwrap().len(), 2);
    agent.shows("not yet");
    assert!(child.ends() && agent.agent().lives());
    let events = hall.stage.say("events --id ears --snapshot").json_lines();
    let signalled = events.iter().filter(|it| it["type"] == "signalled");
    let signals: Vec<_> = signalled.map(|it| it["signal"].clone()).collect();
    assert_eq!(signals, ["USR1", "TERM"]);
    hall.stage.say("signal --id ears KILL").success();
    assert_eq!(hall.stage.say("wait --id ears").code(), Some(128 + 9));
}

#[test]
fn a_session_that_it_started_is_not_part_of_an_agent() {
    let hall = Hall::new();
    let start =
        "$0 run --detach --id inner sh -- -c 'exec sleep 1000'; echo begun; exec sleep 1000";
    let own = hall.stage.env.binary().to_str().unwrap();
    let outer = hall.run("outer", &["sh", "--", "-c", start, own]);
    outer.shows("begun");
    hall.stage.say("signal --id outer --all KILL").success();
    hall.stage.say("wait --id outer").failure(128 + 9);
    let inner = hall.listed("inner");
    assert!(
        inner["exit_code"].is_null() && inner["state"] != "lost",
        "{inner}"
    );
}

#[test]
fn what_is_no_signal_or_has_nobody_to_get_it_is_refused() {
    let mut hall = Hall::new();
    hall.run("over", &["sh", "--", "-c", "exit"]);
    hall.stage.say("wait --id over").success();
    assert_snapshot!(hall.stage.say("signal --id over STOP").snapshot(), @r"
    exit status: 2
    --- stderr ---
    error: invalid value 'STOP' for '<SIGNAL>': a signal is one of HUP, INT, QUIT, USR1, USR2, TERM, CONT, WINCH, KILL

    For more information, try '--help'.
    ");
    hall.stage.say("signal --id over").failure(2);
    hall.stage.say("signal --id over INT").failure(4);
    hall.stage.say("signal --id nobody INT").failure(3);
    hall.bash("lives");
    hall.stage
        .env
        .set("HANDOFF_SESSION", "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60");
    hall.stage.env.set("HANDOFF_ROLE", "sub-task");
    hall.stage.say("signal --id lives INT").failure(9);
}
