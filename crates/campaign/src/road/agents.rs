//! What the agents of the road do, as scripts, and what can be seen of it afterwards.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::yard::Yard;

fn script(yard: &Yard, text: &str) -> Result<PathBuf> {
    let path = yard.scratch().join("agent.toml");
    fs::write(&path, text)?;
    Ok(path)
}

/// Each part waits, then writes its file; the fan-in has nothing to do.
pub(super) fn parts(yard: &Yard, parts: usize, span: Duration) -> Result<PathBuf> {
    let mut text = format!("[[step]]\nwait = \"{}ms\"\n", span.as_millis());
    for number in 0..parts {
        write!(
            text,
            "[[step]]\nwhen = {{ env = \"HANDOFF_TASK\", is = \"spread.p{number}\" }}\n\
             write = {{ path = \"p{number}/new\", text = \"text\" }}\n"
        )?;
    }
    script(yard, &text)
}

/// Waits, then writes.
pub(super) fn waiting(yard: &Yard, span: Duration) -> Result<PathBuf> {
    let wait = format!("[[step]]\nwait = \"{}ms\"\n", span.as_millis());
    script(
        yard,
        &(wait + "[[step]]\nwrite = { path = \"new\", text = \"text\" }\n"),
    )
}

/// Makes a directory with the name of its task outside of all trees, which works once: two agents of one task would meet.
pub(super) fn alone(yard: &Yard) -> Result<PathBuf> {
    let place = yard.scratch().join("met");
    fs::create_dir_all(&place)?;
    let place = place.to_str().context("a path that is text")?;
    let line = format!("mkdir '{place}'/$HANDOFF_TASK || touch '{place}'/twice; echo x > new");
    script(
        yard,
        &format!("[[step]]\nrun = [\"sh\", \"-c\", \"{line}\"]\n"),
    )
}

pub(super) fn met_each_other(yard: &Yard) -> Option<String> {
    let met = yard.scratch().join("met/twice");
    met.exists()
        .then(|| "two agents worked on one task".to_owned())
}

/// Prints numbered lines for a while; the one whose task is `brief` only as long as this file is not there.
pub(super) fn printing(yard: &Yard, lines: usize, brief: &str) -> Result<PathBuf> {
    let signal = ending(yard);
    let signal = signal.to_str().context("a path that is text")?;
    let line = format!(
        "[ $HANDOFF_TASK != {brief} ] || while [ ! -e '{signal}' ]; do sleep 0.01; done; \
         i=0; while [ $i -lt {lines} ]; do echo line $i; i=$((i+1)); [ $HANDOFF_TASK = {brief} ] || sleep 0.01; done; echo x > new"
    );
    script(
        yard,
        &format!("[[step]]\nrun = [\"sh\", \"-c\", \"{line}\"]\n"),
    )
}

/// Once it is there, the agent that prints without a pause does so and ends.
pub(super) fn ending(yard: &Yard) -> PathBuf {
    yard.scratch().join("end")
}

/// Complains of a transcript that is not, byte for byte, what such an agent prints.
pub(super) fn wrong_transcript(yard: &Yard, session: &str, lines: usize) -> Result<Option<String>> {
    let home = yard.hostel.product.home();
    let path = home.join("sessions").join(session).join("transcript.log");
    let found = fs::read(&path).with_context(|| path.display().to_string())?;
    let printed: String = (0..lines).map(|line| format!("line {line}\r\n")).collect();
    let is_whole = found
        .windows(printed.len())
        .any(|it| it == printed.as_bytes());
    Ok((!is_whole).then(|| format!("the transcript of {session} is not what was printed")))
}
