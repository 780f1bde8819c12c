//! Where the text of a message comes from.

use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use handoff_api::ExitCode;
use handoff_operations::Failure;
use handoff_operations::session::send::check_text;

use crate::cli::errand::Reading;

#[derive(Debug, clap::Args)]
pub(in crate::cli::session) struct Text {
    /// What to say; without it `--message`, `--file` or standard input.
    #[arg(value_name = "TEXT")]
    words: Vec<String>,
    /// What to say.
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["words", "file"])]
    message: Option<String>,
    /// Say what is in this file; `-` is standard input.
    #[arg(long, value_name = "PATH", conflicts_with = "words")]
    file: Option<PathBuf>,
}

impl Text {
    /// The text, if there is one that can be sent.
    pub(in crate::cli::session) fn read(&self) -> Result<String, Failure> {
        let text = self.find()?;
        check_text(&text)?;
        Ok(text)
    }

    /// What is read for it.
    pub(in crate::cli::session) fn reading(&self) -> Reading {
        match (&self.message, self.file.as_deref()) {
            (Some(_), _) => Reading::Nothing,
            (None, Some(path)) if path.as_os_str() != "-" => Reading::File(path.to_owned()),
            (None, None) if !self.words.is_empty() => Reading::Nothing,
            (None, Some(_) | None) => Reading::Input,
        }
    }

    fn find(&self) -> Result<String, Failure> {
        match (&self.message, self.file.as_deref()) {
            (Some(message), _) => Ok(message.clone()),
            (None, Some(path)) if path.as_os_str() != "-" => file(path),
            (None, None) if !self.words.is_empty() => Ok(self.words.join(" ")),
            (None, Some(_) | None) => stdin(),
        }
    }
}

fn file(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| {
        let text = format!("cannot read the message in `{}`", path.display());
        let code = if error.kind() == ErrorKind::NotFound {
            ExitCode::NotFound
        } else {
            ExitCode::Failed
        };
        Failure::new(code, text).because(&error)
    })
}

fn stdin() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|error| {
        Failure::failed("cannot read the message from standard input").because(&error)
    })?;
    Ok(text)
}
