//! A backup that is made while others work and are killed.

use std::process::{Child, Command, Stdio};

use super::tables::Tables;
use super::{back_up, restore};
use crate::stage::Stage;

const ROUNDS: usize = 3;

/// Adds, claims and completes for ever; each line is something that was acknowledged.
const WORK: &str = "n=0; while :; do n=$((n+1)); \"$0\" queue add $1-$n --brief x >/dev/null && echo $1-$n; \
                    \"$0\" queue claim >/dev/null 2>&1; \"$0\" package create --resume-point x >/dev/null 2>&1; \
                    \"$0\" context set $1 $n >/dev/null 2>&1; done";

/// A group of processes that is killed as a whole.
struct Clerk(Child);

impl Clerk {
    fn start(stage: &Stage, name: &str, told: &std::path::Path) -> Self {
        use std::os::unix::process::CommandExt as _;
        let mut shell: Command = stage.env.command("sh");
        shell.current_dir(stage.repo.path());
        shell.args(["-c", WORK]).arg(stage.env.binary()).arg(name);
        shell.stdin(Stdio::null());
        shell.stdout(std::fs::File::create(told).unwrap());
        Self(shell.process_group(0).spawn().unwrap())
    }
}

impl Drop for Clerk {
    fn drop(&mut self) {
        let group = i32::try_from(self.0.id()).unwrap();
        let group = rustix::process::Pid::from_raw(group).unwrap();
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_backup_under_load_is_the_ledger_at_one_moment() {
    let stage = Stage::new();
    stage.repo.commit("first");
    stage.add("first");
    for round in 0..ROUNDS {
        let told: Vec<_> = (0..3)
            .map(|it| stage.env.work().join(format!("told-{round}-{it}")))
            .collect();
        let clerks: Vec<_> = { told.iter().enumerate() }
            .map(|(number, told)| Clerk::start(&stage, &format!("r{round}c{number}"), told))
            .collect();
        let said = || -> Vec<String> {
            let texts = told.iter().map(|it| std::fs::read_to_string(it).unwrap());
            texts
                .flat_map(|it| it.lines().map(str::to_owned).collect::<Vec<_>>())
                .collect()
        };
        while said().len() < 3 {
            std::thread::yield_now();
        }
        let acknowledged = said();
        let backup = back_up(&stage, &format!("round-{round}"));
        drop(clerks);
        let copy = Tables::of(&backup);
        let live = Tables::of(&stage.env.handoff_home());
        assert!(live.begins_like(&copy, "events"), "round {round}");
        assert!(copy.count("events") > 1);
        restore(&stage, &backup);
        Tables::of(&stage.env.handoff_home()).assert_continues(&copy);
        for name in acknowledged {
            stage.say(&format!("queue show {name}")).success();
        }
        stage.say("doctor --audit").success();
    }
}
