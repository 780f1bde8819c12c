//! A holder that is told to end: it ends the session first, and says how it ended.

use rustix::process::Signal;

use super::hall::Hall;

/// A child in a session of its own, which does not listen.
const FAMILY: &str = "setsid sh -c 'trap \"\" TERM HUP INT; echo $$ >deaf; while :; do sleep 1000; done' & exec sleep 1000";

#[test]
fn all_of_a_session_ends_with_its_holder_and_that_is_on_record() {
    let hall = Hall::new();
    for (name, signal) in [
        ("term", Signal::TERM),
        ("int", Signal::INT),
        ("hup", Signal::HUP),
    ] {
        let session = hall.run(name, &["sh", "--", "-c", FAMILY]);
        let agent = session.agent();
        let deaf = hall.process_in("deaf");
        session.holder().signal(signal);
        assert!(agent.ends() && deaf.ends(), "{name}");
        let code = hall.stage.run(["wait", "--id", name]).code();
        let listed = hall.listed(name);
        assert_eq!((&listed["state"], code), (&"exited".into(), Some(143)));
        std::fs::remove_file(hall.stage.repo.path().join("deaf")).unwrap();
    }
}

#[test]
fn a_warden_that_is_told_to_end_passes_it_on() {
    let hall = Hall::new();
    let shell = hall.bash("told");
    let warden = shell.warden();
    warden.signal(Signal::TERM);
    assert!(warden.ends());
    assert_eq!(hall.listed("told")["state"], "exited");
}

#[test]
fn an_agent_that_stands_still_is_woken_to_end() {
    let hall = Hall::new();
    let idle = hall.run("still", &["sh", "--", "-c", "exec sleep 1000"]);
    let agent = idle.agent();
    agent.signal(Signal::STOP);
    assert_eq!(hall.stage.json("stop --id still")["by"], "term");
    assert!(!agent.lives());
}
