//! Making the workspace and features in it: what is missing is made, and no byte of what is there is changed.

use std::path::Path;

use handoff_core::FeatureName;
use handoff_files::atomic::{self, Mode};
use handoff_files::{Dir, DirError, WriteError};

use crate::config;
use crate::context_source::ContextScan;
use crate::feature::{Document, Feature};
use crate::language::Language;
use crate::template::{Template, TemplateError, Templates, Values, Variable};
use crate::workspace::{FEATURES, FOLDER, Workspace, WorkspaceError};

/// What a new feature begins with.
#[derive(Debug)]
pub struct Scaffold {
    texts: Vec<(Document, String)>,
}

/// What was made of a feature.
#[derive(Debug, PartialEq, Eq)]
pub struct Made {
    /// Its documents that were not there before.
    pub documents: Vec<Document>,
}

/// A workspace or feature could not be made. What was made before stays, and the next try goes on from there.
#[derive(Debug, thiserror::Error)]
pub enum ScaffoldError {
    /// A directory cannot be made or opened.
    #[error(transparent)]
    Place(#[from] DirError),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// It was made and cannot be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

impl Scaffold {
    /// Renders the documents of a new feature, before anything is touched: a template that cannot be used must
    /// not leave half a feature.
    pub fn render(
        templates: &Templates,
        name: &FeatureName,
        language: &Language,
        context: &ContextScan,
    ) -> Result<Self, TemplateError> {
        let values = Values::new(name, language)
            .with(Variable::ContextSources, context.found_lines())
            .with(Variable::ContextGaps, context.gap_lines());
        let text = |document| -> Result<_, TemplateError> {
            let rendered = templates.render(Template::of(document), &values)?;
            Ok((document, rendered.text))
        };
        let texts = Document::ALL
            .into_iter()
            .map(text)
            .collect::<Result<_, _>>()?;
        Ok(Self { texts })
    }
}

impl Workspace {
    /// The workspace below `root`, made if it is missing.
    pub fn create(root: &Path) -> Result<Self, ScaffoldError> {
        let dir = Dir::open(root)?.make_dir(FOLDER)?;
        dir.make_dir(FEATURES)?;
        let workspace = Self::at(dir);
        write_missing(workspace.dir(), config::FILE, config::INITIAL)?;
        Ok(workspace)
    }

    /// The folder of a feature, with what is missing of it.
    pub fn make_feature(
        &self,
        name: &FeatureName,
        scaffold: &Scaffold,
    ) -> Result<Made, ScaffoldError> {
        let dir = self.dir().make_dir(FEATURES)?.make_dir(name.as_str())?;
        let mut documents = vec![];
        for (document, text) in &scaffold.texts {
            if write_missing(&dir, document.file_name(), text)? == Written::Now {
                documents.push(*document);
            }
        }
        Ok(Made { documents })
    }
}

#[derive(PartialEq, Eq)]
enum Written {
    Now,
    Before,
}

fn write_missing(dir: &Dir, name: &str, text: &str) -> Result<Written, ScaffoldError> {
    // Most often it is there already, and looking costs no sync.
    if dir.entry(name)?.is_some() {
        return Ok(Written::Before);
    }
    match atomic::create_new(dir, name, text.as_bytes(), Mode::Shared) {
        Ok(()) => Ok(Written::Now),
        Err(WriteError::AlreadyExists(_)) => Ok(Written::Before),
        Err(error) => Err(error.into()),
    }
}

/// How much of a document somebody has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worth {
    /// There is no such file.
    Missing,
    /// There is nothing in it.
    Empty,
    /// It is as it was made.
    Untouched,
    /// Somebody wrote in it.
    Written,
}

impl Worth {
    /// Whether there is something to read.
    #[must_use]
    pub fn is_written(self) -> bool {
        self == Self::Written
    }
}

impl Feature {
    /// How much of a document somebody has written. It is compared with what the templates make, not searched for
    /// a sentence of theirs: a good document may well say "not written yet" somewhere.
    pub fn worth(
        &self,
        document: Document,
        templates: &Templates,
        language: &Language,
    ) -> Result<Worth, WorthError> {
        let Some(text) = self.read(document)? else {
            return Ok(Worth::Missing);
        };
        if text.trim_start_matches('\u{feff}').trim().is_empty() {
            return Ok(Worth::Empty);
        }
        let template = Template::of(document);
        let values = Values::new(&self.name, language)
            .with(Variable::ContextSources, GAP)
            .with(Variable::ContextGaps, GAP);
        for templates in [templates, &Templates::embedded()] {
            if is_made_by(&templates.render(template, &values)?.text, &text) {
                return Ok(Worth::Untouched);
            }
        }
        Ok(Worth::Written)
    }
}

/// What a document is worth cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum WorthError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] DirError),
    /// What it is compared with cannot be made.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

/// Stands where the repository was described when the document was made: it may look different now.
const GAP: &str = "\u{0}";

/// Whether `text` is `made`, whatever stands in the gaps and whatever an editor did to blank lines and line ends.
fn is_made_by(made: &str, text: &str) -> bool {
    fn lines(text: &str) -> impl Iterator<Item = &str> {
        let text = text.trim_start_matches('\u{feff}');
        text.lines()
            .map(str::trim_end)
            .filter(|line| !line.is_empty())
    }
    let mut found = lines(text).peekable();
    for expected in lines(made) {
        if expected.contains(GAP) {
            while found
                .next_if(|line| ContextScan::has_written(line))
                .is_some()
            {}
        } else if found.next() != Some(expected) {
            return false;
        }
    }
    found.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_person_wrote_makes_a_document_different() {
        let made = "# Login\n\n\0\n\n## Goal\n\n(why)\n";
        for text in [
            "# Login\n\n- `README.md`\n- `src/`\n\n## Goal\n\n(why)\n",
            "\u{feff}# Login\r\n## Goal  \r\n(why)",
        ] {
            assert!(is_made_by(made, text), "{text}");
        }
        for text in [
            "# Login\n- mine\n## Goal\n(why)\n",
            "# Login\n## Goal\n",
            "# Login\n## Goal\n(why)\nBecause.\n",
            "# Login\n## Goal\nLog in.\n",
        ] {
            assert!(!is_made_by(made, text), "{text}");
        }
    }
}
