//! Which text something was made from, and how that is said to whoever reads the result.

use std::fmt;
use std::path::PathBuf;

use super::{FOLDER, Template, Variable};

/// Where the briefing of a prompt stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placing {
    /// Where the template says, or there is none.
    AsWritten,
    /// In front of everything, because the template left it out.
    InFront,
}

/// Where a text came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The program.
    Embedded,
    /// A file in the workspace.
    Customised(PathBuf),
}

/// Which text something was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// Which one.
    pub template: Template,
    /// Where it came from.
    pub origin: Origin,
    /// The first twelve digits of its SHA-256.
    pub digest: String,
    /// Where the briefing stands.
    pub briefing: Placing,
}

impl Placing {
    const fn in_words(self) -> &'static str {
        match self {
            Self::AsWritten => "",
            Self::InFront => ", which leaves out the briefing; handoff put it in front",
        }
    }
}

impl Provenance {
    /// Says at the end of a prompt that its text is not the program's own. The file may have come with the repository,
    /// and whoever pastes the prompt has not necessarily seen it.
    pub(super) fn signed(&self, text: String) -> String {
        let is_prompt = self
            .template
            .variables()
            .contains(&Variable::LanguageInstruction);
        match &self.origin {
            Origin::Customised(_) if is_prompt => {
                let (text, file, digest) =
                    (text.trim_end(), self.template.file_name(), &self.digest);
                let placing = self.briefing.in_words();
                format!(
                    "{text}\n\n---\nThis prompt was made from the customised template `.handoff/{FOLDER}/{file}` ({digest}){placing}.\n"
                )
            }
            Origin::Customised(_) | Origin::Embedded => text,
        }
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            template, digest, ..
        } = self;
        match &self.origin {
            Origin::Embedded => write!(f, "{} (built in, {digest})", template.file_name()),
            Origin::Customised(path) => {
                let placing = self.briefing.in_words();
                write!(f, "{} (customised, {digest}){placing}", path.display())
            }
        }
    }
}
