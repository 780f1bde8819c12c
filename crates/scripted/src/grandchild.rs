//! A process the agent leaves behind.
//!
//! It is `sleep`, started through `/bin/sh`, because a shell can do what safe Rust cannot between
//! fork and exec. With `setsid` the program of that name (util-linux, BusyBox) makes the session;
//! without it on the machine the step fails. The process reports its own id as the last thing before
//! it becomes `sleep`, so what the step waits for is there when it goes on. (To ask the kernel for
//! the session would not do: in a process namespace the answer may be a session of no number.) With a double fork the shell puts it in the background
//! and ends, so that it belongs to init or a subreaper; then, as POSIX has it for such commands,
//! SIGINT and SIGQUIT are ignored as well. Otherwise it stays the agent's child, and a zombie if it
//! ends first.

use std::io::{self, BufRead, BufReader, Error};
use std::process::{Child, Command, Stdio};

use handoff_agents::scripted::Spawn;
use rustix::process::Pid;

use crate::command::Surroundings;

/// Starts it, and returns its id when it is what the script asks for.
pub(crate) fn spawn(spawn: &Spawn, surroundings: &Surroundings<'_>) -> io::Result<Pid> {
    let mut shell = start_shell(spawn, surroundings)?;
    let pid = reported_pid(&mut shell)?;
    if spawn.double_fork {
        shell.wait()?;
    }
    Ok(pid)
}

/// The agent's output is passed as the shell's *input*, because its output is the pipe on which it
/// reports the process id.
fn start_shell(spawn: &Spawn, surroundings: &Surroundings<'_>) -> io::Result<Child> {
    let mut command: Command = surroundings.command("/bin/sh")?;
    command
        .args(["-c", &shell_script(spawn)])
        .stdin(surroundings.stdout.share()?)
        .stdout(Stdio::piped())
        .spawn()
}

fn shell_script(spawn: &Spawn) -> String {
    let signals: Vec<&str> = spawn
        .ignores
        .iter()
        .map(|ignored| ignored.signal().name())
        .collect();
    let trap = match signals.as_slice() {
        [] => String::new(),
        signals => format!("trap '' {}; ", signals.join(" ")),
    };
    let setsid = if spawn.setsid { "setsid " } else { "" };
    let seconds = spawn.lifetime.as_duration().as_secs_f64();
    let output = if spawn.holds_terminal {
        ">&3"
    } else {
        ">/dev/null 2>&1"
    };
    let sleep = format!("echo $$; exec sleep {seconds:.3} {output} 3>&- </dev/null");
    let sleeper = format!("{setsid}/bin/sh -c '{sleep}'");
    if spawn.double_fork {
        format!("exec 3>&0; {trap}{sleeper} &")
    } else {
        format!("exec 3>&0; {trap}exec {sleeper}")
    }
}

fn reported_pid(shell: &mut Child) -> io::Result<Pid> {
    let stdout = shell.stdout.take().expect("the shell's output is a pipe");
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line)?;
    let pid = line.trim().parse().ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| Error::other("the shell did not report a process id"))
}
