//! A holder that is killed: its session is lost, its agent is gone, and nobody waits for ever.

use rustix::process::Signal;

use super::hall::{Hall, Process};

#[test]
fn nothing_hangs_and_the_last_state_is_known() {
    let hall = Hall::new();
    let shell = hall.bash("lost");
    let (agent, holder) = (shell.agent(), shell.holder());
    let mut followers = [
        hall.events("lost"),
        hall.stage.start(["wait", "--id", "lost"]),
        hall.stage.start(["logs", "--id", "lost", "--follow"]),
        hall.stage.start(["pane", "--id", "lost", "--follow"]),
    ];
    followers[0].line();
    followers[3].line();
    holder.kill();
    assert!(agent.ends());
    let codes = followers.each_mut().map(crate::stage::Background::code);
    assert_eq!(codes, [Some(1), Some(1), Some(0), Some(1)]);
    let listed = hall.listed("lost");
    assert_eq!(
        (&listed["state"], &listed["last_state"]),
        (&"lost".into(), &"prompt".into())
    );
    let stopped = hall.stage.say("stop --id lost").failure(1);
    assert!(
        stopped
            .stderr
            .contains("`lost` is lost: its holder died; it was last seen prompt"),
        "{}",
        stopped.stderr
    );
}

#[test]
fn the_name_is_free_again() {
    let hall = Hall::new();
    let first = hall.bash("again");
    let agent = first.agent();
    first.holder().kill();
    assert!(agent.ends());
    hall.bash("again");
    assert_eq!(hall.listed("again")["state"], "prompt");
    let listed = hall.stage.json("ps");
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    let old = hall.stage.run(["logs", "--id", first.text("id")]);
    old.success();
}

/// A child in a session of its own, and one whose parent is gone.
const FAMILY: &str =
    "setsid sh -c '(sleep 1000 & echo $! >a); echo $$ >b; sleep 1000' & sleep 1000";

#[test]
fn whatever_a_killed_holder_had_below_it_is_gone_too() {
    let hall = Hall::new();
    let shell = hall.run("family", &["sh", "--", "-c", FAMILY]);
    let processes = ["a", "b"].map(|name| hall.process_in(name));
    shell.holder().kill();
    assert!(processes.iter().all(Process::ends));
}

#[test]
fn what_outlives_both_holder_and_warden_ends_when_the_lost_session_is_stopped() {
    let hall = Hall::new();
    let session = hall.run("both", &["sh", "--", "-c", FAMILY]);
    let processes = ["a", "b"].map(|name| hall.process_in(name));
    let other = hall.bash("other").agent();
    let (agent, holder, warden) = (session.agent(), session.holder(), session.warden());
    // Stopped first, so that it sees nothing of the other's death.
    warden.signal(Signal::STOP);
    holder.kill();
    warden.kill();
    assert!(agent.ends() && holder.ends() && warden.ends());
    assert_eq!(hall.listed("both")["state"], "lost");
    hall.stage.say("stop --id both").failure(1);
    assert!(processes.iter().all(Process::ends));
    assert!(other.lives());
}

#[test]
fn a_session_goes_on_without_its_warden() {
    let hall = Hall::new();
    let shell = hall.bash("alone");
    let warden = shell.warden();
    warden.kill();
    assert!(warden.ends());
    shell.types("exit 5");
    assert_eq!(hall.stage.say("wait --id alone").code(), Some(5));
}
