//! Names that people choose. One rule at every entry, so that each name is at once a safe file name, a safe part of
//! a git ref and safe to print: `[a-z0-9][a-z0-9._-]{0,63}`, without `..`, not ending in `.` or `.lock`.
//!
//! Upper case is refused rather than folded: two names that differ only by case cannot exist, so
//! they cannot meet on a file system that folds case.

use serde::{Deserialize, Serialize};

use crate::checked_text::checked_text;

/// The longest name, in bytes.
pub const MAX_LEN: usize = 64;

/// Why a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The text is empty.
    #[error("a name cannot be empty")]
    Empty,
    /// The text is too long; most names have at most [`MAX_LEN`].
    #[error("a name has at most {limit} characters here, this one has {len}")]
    TooLong {
        /// How many bytes it has.
        len: usize,
        /// How many it may have.
        limit: usize,
    },
    /// A character that no name has.
    #[error(
        "{character:?} cannot stand at place {place} of a name; use a-z, 0-9, `.`, `_` and `-`, \
         beginning with a letter or digit"
    )]
    Character {
        /// The offending character.
        character: char,
        /// Its place, counted from one.
        place: usize,
    },
    /// Git would not accept the name as part of a ref.
    #[error(
        "a name cannot contain `..` nor end in `.` or `.lock`, because it becomes part of a git ref"
    )]
    NotARef,
}

fn check(text: &str) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty);
    }
    if text.len() > MAX_LEN {
        return Err(NameError::TooLong {
            len: text.len(),
            limit: MAX_LEN,
        });
    }
    if let Some((index, character)) = text.chars().enumerate().find(|&(i, c)| !is_allowed(i, c)) {
        return Err(NameError::Character {
            character,
            place: index + 1,
        });
    }
    if text.contains("..") || text.ends_with('.') || text.ends_with(".lock") {
        return Err(NameError::NotARef);
    }
    Ok(())
}

fn is_allowed(index: usize, character: char) -> bool {
    match character {
        'a'..='z' | '0'..='9' => true,
        '.' | '_' | '-' => index > 0,
        _ => false,
    }
}

/// What people call a feature: a folder, and the last part of prompts and reports. Narrower than the name of a
/// task: `[a-z0-9-]` without a dash at either end or two in a row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FeatureName(String);

checked_text!(FeatureName, FeatureNameError, check_feature);

/// Why a text is not the name of a feature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FeatureNameError {
    /// Not a name at all.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A character that no feature has in its name.
    #[error(
        "{character:?} cannot stand at place {place} of the name of a feature; use a-z, 0-9 and single dashes between them, \
         such as `user-login`"
    )]
    Character {
        /// The offending character.
        character: char,
        /// Its place, counted from one.
        place: usize,
    },
    /// A dash where none can be.
    #[error(
        "the name of a feature has only a-z, 0-9 and single dashes between them, such as `user-login`"
    )]
    NotASlug,
}

fn check_feature(text: &str) -> Result<(), FeatureNameError> {
    let is_allowed = |character: char| matches!(character, 'a'..='z' | '0'..='9' | '-');
    let mut characters = text.chars().enumerate();
    if let Some((index, character)) = characters.find(|(_, it)| !is_allowed(*it)) {
        return Err(FeatureNameError::Character {
            character,
            place: index + 1,
        });
    }
    if text.contains("--") || text.starts_with('-') || text.ends_with('-') {
        return Err(FeatureNameError::NotASlug);
    }
    Ok(check(text)?)
}

/// What people call a task; unique among the live tasks of a project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskName(String);

checked_text!(TaskName, NameError, check);

/// What people call a session; unique among the live sessions of a project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionName(String);

checked_text!(SessionName, NameError, check);

/// What people call a batch; unique among the live batches of a project, and the last part of the branch on which its
/// results come together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BatchName(String);

checked_text!(BatchName, NameError, check);

impl BatchName {
    /// The task that a part of this batch is: two batches may have parts of the same name.
    pub fn task(&self, part: &PartName) -> Result<TaskName, NameError> {
        format!("{self}.{part}").parse()
    }
}

/// What people call a part of a batch; unique within it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PartName(String);

checked_text!(PartName, NameError, check);

/// What a workflow is called: the name of its file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkflowName(String);

checked_text!(WorkflowName, NameError, check);

/// What a phase is called; unique within its workflow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PhaseName(String);

checked_text!(PhaseName, NameError, |text| check_short(text, 20));

/// What people call a run of a workflow; unique among the live runs of a project, and the last part of the branch on which its
/// work is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunName(String);

checked_text!(RunName, NameError, |text| check_short(text, 32));

impl RunName {
    /// The task that an attempt at a phase is.
    pub fn task(&self, number: u32, phase: &PhaseName) -> TaskName {
        let name = format!("{self}.{number}-{phase}");
        name.parse()
            .expect("two short names and a number make a name")
    }
}

/// A name that becomes part of another one.
fn check_short(text: &str, limit: usize) -> Result<(), NameError> {
    let len = text.len();
    if len > limit {
        return Err(NameError::TooLong { len, limit });
    }
    check(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ordinary_names_pass() {
        for text in [
            "a",
            "fix-bug-123",
            "0",
            "v1.2_x",
            "done",
            "a--b",
            &"x".repeat(64),
        ] {
            assert_eq!(text.parse::<TaskName>().unwrap().as_str(), text);
        }
    }

    /// The corpus of PROMISES D39 that concerns names.
    #[test]
    fn hostile_names_are_refused() {
        let long = "x".repeat(300);
        let corpus = [
            "",
            ".",
            "..",
            "../x",
            "a/../b",
            "/etc/passwd",
            "a/b",
            "a\\b",
            "abc\n",
            "\nabc",
            "a b",
            "a\0b",
            "-a",
            "--help",
            ".git",
            ".hidden",
            "a..b",
            "a.",
            "a.lock",
            "A",
            "Fix",
            "CON",
            "é",
            "e\u{301}",
            "a\u{200b}",
            "a\u{202e}b",
            "\u{1b}[31m",
            "..%2f",
            "a:b",
            "a~1",
            "a^",
            "a*",
            "a?",
            "a[b",
            "@{",
            "_a",
            long.as_str(),
        ];
        for text in corpus {
            assert!(text.parse::<TaskName>().is_err(), "{text:?} was accepted");
        }
    }

    #[test]
    fn a_feature_is_named_by_words_with_dashes() {
        for text in ["a", "user-login", "2fa", "archived"] {
            assert!(text.parse::<FeatureName>().is_ok(), "{text:?}");
        }
        for text in [
            "",
            "-a",
            "a-",
            "a--b",
            "a.archived",
            "a_b",
            "A",
            "../x",
            "a/b",
            ".",
        ] {
            assert!(text.parse::<FeatureName>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_error_names_the_character_and_its_place() {
        assert_eq!(
            "fix bug".parse::<TaskName>().unwrap_err(),
            NameError::Character {
                character: ' ',
                place: 4
            }
        );
    }

    proptest! {
        /// What `git check-ref-format` refuses, and what a path or a terminal would misread.
        #[test]
        fn no_accepted_name_is_dangerous(text in ".{0,80}") {
            if text.parse::<TaskName>().is_ok() {
                let is_safe = |b: u8| b.is_ascii_graphic() && !b"/\\~^:?*[@{ ".contains(&b);
                prop_assert!(text.bytes().all(is_safe));
                prop_assert!(!text.starts_with(['.', '-']) && !text.contains("..") && !text.ends_with('.'));
                prop_assert!(!text.ends_with(".lock") && text.len() <= MAX_LEN);
            }
        }
    }
}
