//! A skill as it lies in the directory of an agent.

use std::fs;
use std::path::{Path, PathBuf};

use handoff_core::Digest;
use handoff_files::{Dir, Mode, atomic};
use handoff_operations::Failure;

use super::catalogue::text_of;
use crate::output::Tone;

const FILE: &str = "SKILL.md";
const MARK: (&str, &str) = (
    "<!-- installed by `handoff skills install`, sha256 ",
    " -->",
);

/// A place for one skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Copy {
    name: String,
    directory: PathBuf,
}

/// What is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Absent,
    /// As this version has it.
    Current,
    /// As another version had it.
    Outdated,
    /// Ours, and then changed by somebody.
    Changed,
    /// Not ours.
    Foreign,
}

/// What is to be done with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Write,
    Remove,
    /// It was changed by somebody and stays.
    Leave,
}

impl State {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Absent => "-",
            Self::Current => "installed",
            Self::Outdated => "outdated",
            Self::Changed => "changed",
            Self::Foreign => "foreign",
        }
    }

    pub(super) const fn tone(self) -> Tone {
        match self {
            Self::Absent => Tone::Faint,
            Self::Current => Tone::Good,
            Self::Outdated | Self::Changed | Self::Foreign => Tone::Attention,
        }
    }
}

impl Step {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Write => "written",
            Self::Remove => "removed",
            Self::Leave => "left: somebody has changed it",
        }
    }
}

impl Copy {
    pub(super) fn new(shelf: &Path, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            directory: shelf.join(name),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn path(&self) -> PathBuf {
        self.directory.join(FILE)
    }

    /// Compares what is there with what it should be.
    pub(super) fn state(&self, wanted: &str) -> State {
        let is_there = self.directory.symlink_metadata().is_ok();
        match fs::read_to_string(self.path()) {
            Ok(text) => judge(&text, wanted),
            Err(_) if is_there => State::Foreign,
            Err(_) => State::Absent,
        }
    }

    pub(super) fn carry_out(&self, step: Step) -> Result<(), Failure> {
        let done = match step {
            Step::Write => self.write(),
            Step::Remove => self.remove(),
            Step::Leave => Ok(()),
        };
        done.map_err(|error| {
            let path = self.path();
            Failure::failed(format!("`{}` cannot be {}", path.display(), step.word()))
                .because(&error)
        })
    }

    fn write(&self) -> std::io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        let directory = Dir::open(&self.directory).map_err(std::io::Error::other)?;
        let text = marked(text_of(&self.name));
        atomic::replace(&directory, FILE, text.as_bytes(), Mode::Shared)
            .map_err(std::io::Error::other)
    }

    fn remove(&self) -> std::io::Result<()> {
        fs::remove_file(self.path())?;
        // Whatever else somebody put there stays, and so does the directory.
        fs::remove_dir(&self.directory).or(Ok(()))
    }
}

fn marked(text: &str) -> String {
    let (before, after) = MARK;
    format!("{text}\n{before}{}{after}\n", Digest::of(text.as_bytes()))
}

fn judge(text: &str, wanted: &str) -> State {
    if text == marked(wanted) {
        return State::Current;
    }
    let (before, after) = MARK;
    let Some((above, mark)) = text.trim_end().rsplit_once(before) else {
        return State::Foreign;
    };
    let above = above.strip_suffix('\n').unwrap_or(above);
    let digest = mark.strip_suffix(after);
    if digest == Some(Digest::of(above.as_bytes()).as_str()) {
        State::Outdated
    } else {
        State::Changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_is_told_from_what_was_changed_and_from_what_is_not_ours() {
        let table = [
            (marked("new"), State::Current),
            (marked("old"), State::Outdated),
            (marked("old").replace("old", "edited"), State::Changed),
            (format!("{}more\n", marked("old")), State::Changed),
            ("somebody else's".to_owned(), State::Foreign),
            (String::new(), State::Foreign),
        ];
        for (text, expected) in table {
            assert_eq!(judge(&text, "new"), expected, "{text}");
        }
    }
}
