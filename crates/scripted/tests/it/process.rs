//! The scripted agent as a process.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};

use crate::stage::Stage;

/// A running agent; it is killed when the test is done with it.
pub(crate) struct Process {
    pub(crate) stage: Stage,
    child: Child,
    stdin: ChildStdin,
    stdout: Option<ChildStdout>,
    shown: String,
}

/// A process that the test has to end, whatever happens.
pub(crate) struct Leftover(pub(crate) Pid);

impl Process {
    pub(crate) fn start(stage: Stage, script: &str) -> Self {
        let path = stage.script(script);
        let mut child = command(&stage).arg(&path).spawn().unwrap();
        Self {
            stage,
            stdin: child.stdin.take().unwrap(),
            stdout: child.stdout.take(),
            child,
            shown: String::new(),
        }
    }

    /// Reads the output until it contains `part`, and gives all of it.
    pub(crate) fn until(&mut self, part: &str) -> &str {
        let mut chunk = [0; 1024];
        while !self.shown.contains(part) {
            let length = self.output().read(&mut chunk).unwrap();
            assert_ne!(length, 0, "ended after: {}", self.shown);
            self.shown
                .push_str(str::from_utf8(&chunk[..length]).unwrap());
        }
        &self.shown
    }

    /// Reads the output to its end: until no process holds it any more.
    pub(crate) fn rest(&mut self) -> &str {
        let mut rest = String::new();
        self.output().read_to_string(&mut rest).unwrap();
        self.shown.push_str(&rest);
        &self.shown
    }

    pub(crate) fn output_is_held(&self) -> bool {
        let output = self.stdout.as_ref().expect("nobody closed it");
        let mut descriptors = [PollFd::new(output, PollFlags::IN)];
        poll(&mut descriptors, Some(&Timespec::default())).unwrap();
        !descriptors[0].revents().contains(PollFlags::HUP)
    }

    fn output(&mut self) -> &mut ChildStdout {
        self.stdout.as_mut().expect("nobody closed it")
    }

    pub(crate) fn close_output(&mut self) {
        self.stdout = None;
    }

    pub(crate) fn type_line(&mut self, line: &str) {
        writeln!(self.stdin, "{line}").unwrap();
    }

    pub(crate) fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub(crate) fn end(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    pub(crate) fn complaint(mut self) -> (Option<i32>, String) {
        let mut complaint = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        stderr.read_to_string(&mut complaint).unwrap();
        (self.end().code(), complaint)
    }
}

#[expect(clippy::disallowed_methods, reason = "the process is what is tested")]
fn command(stage: &Stage) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scripted-agent"));
    command
        .env_clear()
        .envs(&stage.environment)
        .current_dir(stage.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail if it has ended, which is as well.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Leftover {
    /// The process whose id stands after `label` in `text`.
    pub(crate) fn named_in(text: &str, label: &str) -> Self {
        let (_, after) = text.split_once(label).expect(text);
        let digits = after.split(|character: char| !character.is_ascii_digit());
        let pid = digits.map(str::parse).find_map(Result::ok).expect(text);
        Self(Pid::from_raw(pid).expect(text))
    }

    /// The line of the kernel's account of it that begins with `key`.
    #[cfg(target_os = "linux")]
    pub(crate) fn status(&self, key: &str) -> String {
        let path = format!("/proc/{}/status", self.0.as_raw_nonzero());
        let status = std::fs::read_to_string(path).unwrap();
        let value = status.lines().find_map(|line| line.strip_prefix(key));
        value.expect(key).trim().to_owned()
    }
}

impl Drop for Leftover {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = kill_process(self.0, Signal::KILL);
    }
}
