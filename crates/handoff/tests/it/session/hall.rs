//! A repository with sessions in it, all of which end with the test.

use std::os::fd::OwnedFd;
use std::time::Duration;

use handoff_session::Client;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::Value;

use crate::stage::{Background, PATIENCE, Stage};

/// A repository with sessions in it. Dropping it ends them.
pub(super) struct Hall {
    pub(super) stage: Stage,
}

impl Hall {
    pub(super) fn new() -> Self {
        let stage = Stage::new();
        Self { stage }
    }

    /// Starts a session in the background; `words` are those of the shell, without quotes.
    #[track_caller]
    pub(super) fn run(&self, name: &str, words: &[&str]) -> Guest {
        let start = ["run", "--detach", "--json", "--id", name];
        let started = self.stage.run(start.iter().chain(words)).success();
        Guest {
            name: name.to_owned(),
            session: started.json(),
        }
    }

    /// A session that somebody else started.
    pub(super) fn known(&self, name: &str) -> Guest {
        Guest {
            name: name.to_owned(),
            session: self.listed(name),
        }
    }

    /// A shell that says nothing but what it is told to.
    #[track_caller]
    pub(super) fn bash(&self, name: &str) -> Guest {
        let guest = self.run(name, &["bash", "--", "--norc", "--noprofile"]);
        self.until(name, "\"state\":\"prompt\"");
        guest
    }

    /// Waits until something of this kind has happened to a session.
    #[track_caller]
    pub(super) fn until(&self, name: &str, part: &str) {
        let events = self.events(name);
        while !events.line().contains(part) {}
    }

    /// What happens to a session, as it happens.
    pub(super) fn events(&self, name: &str) -> Background {
        self.stage.start(["events", "--id", name])
    }

    /// What is in this file of the repository, as soon as it is like this.
    pub(super) fn file_with(&self, name: &str, is_there: impl Fn(&str) -> bool) -> String {
        let path = self.stage.repo.path().join(name);
        loop {
            match std::fs::read_to_string(&path) {
                Ok(text) if is_there(&text) => return text,
                Ok(_) | Err(_) => pause(),
            }
        }
    }

    /// The process whose number is in this file of the repository, as soon as it is there.
    pub(super) fn process_in(&self, name: &str) -> Process {
        let number = self.file_with(name, |text| text.ends_with('\n'));
        Process::watch(&Value::from(number.trim().parse::<i64>().unwrap()))
    }

    /// How a session is listed.
    #[track_caller]
    pub(super) fn listed(&self, name: &str) -> Value {
        let list = self.stage.json("ps --ended");
        let mut sessions = list["sessions"].as_array().unwrap().iter().rev();
        sessions.find(|it| it["name"] == name).unwrap().clone()
    }
}

impl Drop for Hall {
    fn drop(&mut self) {
        let list = self.stage.say("ps --all --json");
        let Some(list) = list.json_lines().pop() else {
            return;
        };
        for session in list["sessions"].as_array().into_iter().flatten() {
            if session["state"] != "lost" {
                // It may have ended by itself; the agent ends with its holder.
                kill_process(pid(&session["holder_pid"]), Signal::KILL).ok();
            }
        }
    }
}

/// A session that was started.
pub(super) struct Guest {
    name: String,
    session: Value,
}

impl Guest {
    pub(super) fn client(&self) -> Client {
        Client::new(self.session["socket"].as_str().unwrap())
    }

    /// Types a line.
    #[track_caller]
    pub(super) fn types(&self, line: &str) {
        self.client().input(&format!("{line}\r")).unwrap();
    }

    /// Waits until its screen shows this.
    #[track_caller]
    pub(super) fn shows(&self, part: &str) {
        let name = &self.name;
        let shown = || self.client().screen().unwrap().lines.join("\n");
        let is_there = (0..2000).any(|_| {
            pause();
            shown().contains(part)
        });
        assert!(is_there, "{name} does not show {part:?}:\n{}", shown());
    }

    pub(super) fn agent(&self) -> Process {
        Process::watch(&self.session["pid"])
    }

    pub(super) fn holder(&self) -> Process {
        Process::watch(&self.session["holder_pid"])
    }

    /// The process behind the holder.
    pub(super) fn warden(&self) -> Process {
        let journal = std::path::Path::new(self.text("events_log_path"));
        let record = std::fs::read(journal.with_file_name("session.json")).unwrap();
        let record: Value = serde_json::from_slice(&record).unwrap();
        Process::watch(&record["warden"])
    }

    pub(super) fn text(&self, field: &str) -> &str {
        self.session[field].as_str().unwrap()
    }
}

/// A process under watch: its number cannot come to mean another one.
pub(super) struct Process {
    pid: Pid,
    pidfd: OwnedFd,
}

impl Process {
    pub(super) fn watch(number: &Value) -> Self {
        let pid = pid(number);
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).unwrap();
        Self { pid, pidfd }
    }

    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    pub(super) fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).unwrap();
    }

    pub(super) fn ends(&self) -> bool {
        self.ends_within(PATIENCE)
    }

    pub(super) fn lives(&self) -> bool {
        !self.ends_within(Duration::ZERO)
    }

    fn ends_within(&self, patience: Duration) -> bool {
        let timeout = Timespec::try_from(patience).unwrap();
        poll(
            &mut [PollFd::new(&self.pidfd, PollFlags::IN)],
            Some(&timeout),
        ) == Ok(1)
    }
}

fn pid(number: &Value) -> Pid {
    let number = number.as_i64().unwrap();
    Pid::from_raw(i32::try_from(number).unwrap()).unwrap()
}

/// Between two looks at a level that nobody tells of.
pub(super) fn pause() {
    let moment = Timespec::try_from(Duration::from_millis(10)).unwrap();
    poll(&mut [], Some(&moment)).unwrap();
}
