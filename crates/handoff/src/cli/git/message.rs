//! The message of a commit, and the trailers that lead back to the ledger.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use handoff_operations::{Ambient, Failure};

/// A message longer than this is a mistake.
const LIMIT: u64 = 1024 * 1024;
/// What a session is told of itself, and the trailer that says it.
const TRAILERS: [(&str, &str); 5] = [
    ("HANDOFF_TASK", "Handoff-Task"),
    ("HANDOFF_TASK_ID", "Handoff-Task-Id"),
    ("HANDOFF_FENCE", "Handoff-Fence"),
    ("HANDOFF_RUN", "Handoff-Run"),
    ("HANDOFF_SESSION", "Handoff-Session"),
];

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(super) struct MessageArgs {
    /// What the commit is about; several become paragraphs.
    #[arg(short, long, value_name = "TEXT")]
    message: Vec<String>,
    /// Take the message from a file; `-` is standard input.
    #[arg(short = 'F', long, value_name = "FILE")]
    file: Option<PathBuf>,
}

impl MessageArgs {
    /// Whether it comes from standard input, which then has no paths.
    pub(super) fn is_from_stdin(&self) -> bool {
        self.file.as_deref() == Some(Path::new("-"))
    }

    /// The file that it comes from.
    pub(super) fn file(&self) -> Option<&Path> {
        self.file.as_deref().filter(|_| !self.is_from_stdin())
    }

    pub(super) fn read(&self) -> Result<String, Failure> {
        let text = match &self.file {
            None => self.message.join("\n\n"),
            Some(_) if self.is_from_stdin() => {
                read(&mut std::io::stdin()).map_err(|error| unread(Path::new("-"), &error))?
            }
            Some(path) => {
                let opened = std::fs::File::open(path);
                opened
                    .and_then(|mut file| read(&mut file))
                    .map_err(|error| unread(path, &error))?
            }
        };
        if text.trim().is_empty() {
            return Err(Failure::usage("the message is empty"));
        }
        Ok(text)
    }
}

fn read(from: &mut dyn std::io::Read) -> std::io::Result<String> {
    let mut text = String::new();
    from.take(LIMIT).read_to_string(&mut text)?;
    Ok(text)
}

fn unread(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("cannot read the message from `{}`", path.display())).because(error)
}

/// The message of a session says which one it was, and for which task.
pub(super) fn with_trailers(message: &str, ambient: &Ambient) -> String {
    if ambient.text("HANDOFF_SESSION").is_none() {
        return message.to_owned();
    }
    let values = TRAILERS
        .iter()
        .filter_map(|(variable, key)| Some((*key, ambient.text(variable)?)));
    let trailers: Vec<_> = values
        .map(|(key, value)| format!("{key}: {value}"))
        .collect();
    append(message, &trailers)
}

fn append(message: &str, trailers: &[String]) -> String {
    let body = message.trim_end();
    let gap = if ends_in_trailers(body) { "\n" } else { "\n\n" };
    format!("{body}{gap}{}\n", trailers.join("\n"))
}

/// Whether the last paragraph consists of trailers already. A subject that looks like one is a subject.
fn ends_in_trailers(body: &str) -> bool {
    let Some((_, last)) = body.rsplit_once("\n\n") else {
        return false;
    };
    let is_trailer = |line: &str| {
        line.split_once(": ").is_some_and(|(key, _)| {
            !key.is_empty()
                && key
                    .bytes()
                    .all(|it| it.is_ascii_alphanumeric() || it == b'-')
        })
    };
    last.lines().all(is_trailer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailers_join_those_that_are_there() {
        let trailers = ["Handoff-Task: fix".to_owned()];
        let table = [
            ("area: what", "area: what\n\nHandoff-Task: fix\n"),
            ("a\n\nbody\n\n", "a\n\nbody\n\nHandoff-Task: fix\n"),
            (
                "a\n\nSigned-off-by: A <a@b>\n",
                "a\n\nSigned-off-by: A <a@b>\nHandoff-Task: fix\n",
            ),
            (
                "a\n\nnot: one\nbut text\n",
                "a\n\nnot: one\nbut text\n\nHandoff-Task: fix\n",
            ),
        ];
        for (message, expected) in table {
            assert_eq!(append(message, &trailers), expected);
        }
    }
}
