//! Finding the step that somebody means.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use super::{Plan, Step, StepNumber};

/// How many steps a wrong word is answered with.
const OFFERED: usize = 5;

/// How a step is named on the command line: by its number, or by the beginning of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepWord(String);

impl FromStr for StepWord {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.trim().to_owned()))
    }
}

impl fmt::Display for StepWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// No one step is meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// None is called so.
    #[error("there is no step {word:?}")]
    Unknown {
        /// What was asked for.
        word: String,
        /// Which it could be.
        could_be: Vec<(StepNumber, String)>,
    },
    /// More than one begins so.
    #[error("{word:?} begins more than one step")]
    Several {
        /// What was asked for.
        word: String,
        /// All that begin so.
        all: Vec<(StepNumber, String)>,
    },
}

impl Plan {
    /// The step that is meant.
    pub fn find(&self, word: &StepWord) -> Result<&Step, FindError> {
        if let Ok(number) = word.0.parse::<usize>() {
            let step = number
                .checked_sub(1)
                .and_then(|index| self.steps.get(index));
            return step.ok_or_else(|| self.unknown(word));
        }
        let wanted = word.0.to_lowercase();
        let begins = |step: &&Step| step.title.to_lowercase().starts_with(&wanted);
        let found: Vec<_> = self.steps.iter().filter(begins).collect();
        let whole: Vec<_> = found
            .iter()
            .copied()
            .filter(|step| step.title.to_lowercase() == wanted)
            .collect();
        match (&found[..], &whole[..]) {
            ([], _) => Err(self.unknown(word)),
            _ if wanted.is_empty() => Err(self.unknown(word)),
            ([step], _) | (_, [step]) => Ok(step),
            (several, _) => Err(FindError::Several {
                word: word.0.clone(),
                all: named(several.iter().copied()),
            }),
        }
    }

    /// Those that have the word in them; else those that are not done.
    fn unknown(&self, word: &StepWord) -> FindError {
        let wanted = word.0.to_lowercase();
        let has = |step: &&Step| step.title.to_lowercase().contains(&wanted);
        let mut could_be = named(self.steps.iter().filter(has).take(OFFERED));
        if could_be.is_empty() {
            let open = self.steps.iter().filter(|step| !step.is_done());
            could_be = named(open.take(OFFERED));
        }
        FindError::Unknown {
            word: word.0.clone(),
            could_be,
        }
    }
}

fn named<'plan>(steps: impl Iterator<Item = &'plan Step>) -> Vec<(StepNumber, String)> {
    steps
        .map(|step| (step.number, step.title.clone()))
        .collect()
}
