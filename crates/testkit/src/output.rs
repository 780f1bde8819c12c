//! What a program under test printed, and how it ended.

use std::process::{Command, ExitStatus};

use serde_json::Value;

use crate::Normalizer;

/// The end of a program, with its output as text.
#[derive(Clone, Debug)]
pub struct Output {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
    command_line: String,
    normalizer: Normalizer,
}

impl Output {
    pub(crate) fn new(
        command: &Command,
        output: std::process::Output,
        normalizer: Normalizer,
    ) -> Self {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let command_line = words
            .map(|word| word.to_string_lossy())
            .collect::<Vec<_>>()
            .join(" ");
        Self {
            status: output.status,
            stdout: lossy(output.stdout),
            stderr: lossy(output.stderr),
            command_line,
            normalizer,
        }
    }

    /// Passes the output on, when the program ended well.
    ///
    /// # Panics
    /// When it did not.
    #[track_caller]
    pub fn success(self) -> Self {
        assert!(
            self.status.success(),
            "`{}` failed: {}",
            self.command_line,
            self.report()
        );
        self
    }

    /// Passes the output on, when the program ended with this exit code.
    ///
    /// # Panics
    /// When it ended with another one, or by a signal.
    #[track_caller]
    pub fn failure(self, code: i32) -> Self {
        assert_eq!(
            self.code(),
            Some(code),
            "`{}`: {}",
            self.command_line,
            self.report()
        );
        self
    }

    /// The exit code, or nothing when a signal ended the program.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The one JSON document on standard output.
    ///
    /// # Panics
    /// When there is none, or more than one.
    #[track_caller]
    #[must_use]
    pub fn json(&self) -> Value {
        self.parse(&self.stdout)
    }

    /// One JSON document a line, as streams print them.
    ///
    /// # Panics
    /// When a line is none.
    #[track_caller]
    #[must_use]
    pub fn json_lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| self.parse(line)).collect()
    }

    /// Standard output as it may stand in a snapshot.
    #[must_use]
    pub fn normalized_stdout(&self) -> String {
        self.normalizer.normalize(&self.stdout)
    }

    /// Standard error as it may stand in a snapshot.
    #[must_use]
    pub fn normalized_stderr(&self) -> String {
        self.normalizer.normalize(&self.stderr)
    }

    /// Exit code and both streams as they may stand in a snapshot; an empty stream is left out.
    #[must_use]
    pub fn snapshot(&self) -> String {
        self.normalizer.normalize(&self.report())
    }

    #[track_caller]
    fn parse(&self, text: &str) -> Value {
        match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) => {
                panic!(
                    "`{}` printed no JSON ({error}): {}",
                    self.command_line,
                    self.report()
                )
            }
        }
    }

    fn report(&self) -> String {
        let mut report = self.status.to_string();
        for (name, stream) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !stream.is_empty() {
                report = format!(
                    "{report}\n--- {name} ---\n{}",
                    stream.trim_end_matches('\n')
                );
            }
        }
        report + "\n"
    }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
