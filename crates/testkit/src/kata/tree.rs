//! The files of a project.

use std::collections::BTreeMap;

/// Each file with its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree(BTreeMap<String, String>);

impl Tree {
    #[must_use]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Self(files.collect())
    }

    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// # Panics
    /// When there is no such file.
    #[must_use]
    pub fn text(&self, path: &str) -> &str {
        self.0
            .get(path)
            .unwrap_or_else(|| panic!("there is no `{path}`"))
    }

    #[must_use]
    pub fn with(mut self, path: &str, text: impl Into<String>) -> Self {
        self.0.insert(path.to_owned(), text.into());
        self
    }

    #[must_use]
    pub fn without(mut self, path: &str) -> Self {
        self.0.remove(path);
        self
    }

    /// With more at the end of a file.
    #[must_use]
    pub fn appending(self, path: &str, text: &str) -> Self {
        let text = format!("{}{text}", self.text(path));
        self.with(path, text)
    }

    /// With one piece of a file replaced by another.
    ///
    /// # Panics
    /// When the piece is not there: then nothing would be tried.
    #[must_use]
    pub fn replacing(self, path: &str, old: &str, new: &str) -> Self {
        let text = self.text(path);
        assert!(text.contains(old), "`{path}` has no `{old}`:\n{text}");
        let text = text.replacen(old, new, 1);
        self.with(path, text)
    }

    /// What has to be written, and removed, to come here from another one.
    #[must_use]
    pub fn since<'a>(&'a self, before: &'a Self) -> (Vec<(&'a str, &'a str)>, Vec<&'a str>) {
        let written = self
            .files()
            .filter(|(path, text)| before.0.get(*path).is_none_or(|it| it != text));
        let gone = before.0.keys().filter(|it| !self.0.contains_key(*it));
        (written.collect(), gone.map(String::as_str).collect())
    }
}
