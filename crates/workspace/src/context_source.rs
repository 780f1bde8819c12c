//! What a repository has that explains it to a newcomer.

use std::path::Path;

/// Something that explains a repository, and whether a newcomer misses it.
#[derive(Debug, PartialEq, Eq)]
pub struct ContextSource {
    /// What it is called, with a slash if it is a directory.
    pub name: &'static str,
    /// Other names for the same.
    others: &'static [&'static str],
    weight: Weight,
}

/// How much a source is missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// An assistant works worse without it.
    High,
    /// Good to have.
    Optional,
    /// Says something where it exists; many repositories rightly have none.
    Incidental,
}

const fn source(name: &'static str, weight: Weight) -> ContextSource {
    ContextSource {
        name,
        others: &[],
        weight,
    }
}

static ALL: [ContextSource; 12] = [
    ContextSource {
        name: "README.md",
        others: &["README", "README.rst", "README.txt", "readme.md"],
        weight: Weight::High,
    },
    source("AGENTS.md", Weight::High),
    source("CLAUDE.md", Weight::Incidental),
    source("docs/", Weight::Optional),
    source("Cargo.toml", Weight::Incidental),
    source("package.json", Weight::Incidental),
    source("pyproject.toml", Weight::Incidental),
    source("go.mod", Weight::Incidental),
    source("Makefile", Weight::Incidental),
    source(".github/workflows/", Weight::Incidental),
    source("src/", Weight::Incidental),
    source("tests/", Weight::Incidental),
];

/// What was found, and what is missed.
#[derive(Debug, PartialEq, Eq)]
pub struct ContextScan {
    /// What is there.
    pub found: Vec<&'static ContextSource>,
    /// What a newcomer misses, the worst first.
    pub gaps: Vec<&'static ContextSource>,
}

impl ContextScan {
    /// Looks around in the root of a repository.
    #[must_use]
    pub fn of(root: &Path) -> Self {
        let (found, missing): (Vec<_>, Vec<_>) = ALL.iter().partition(|it| it.is_in(root));
        let is_missed = |it: &&ContextSource| it.weight != Weight::Incidental;
        Self {
            found,
            gaps: missing.into_iter().filter(is_missed).collect(),
        }
    }

    /// What is there, as a list for a document or a prompt.
    #[must_use]
    pub fn found_lines(&self) -> String {
        lines(&self.found)
    }

    /// What is missed, likewise.
    #[must_use]
    pub fn gap_lines(&self) -> String {
        lines(&self.gaps)
    }

    /// Whether a line of a document could have come from one of the lists.
    pub(crate) fn has_written(line: &str) -> bool {
        let line = line.trim();
        line == NOTHING || ALL.iter().any(|source| line == source.line())
    }
}

const NOTHING: &str = "- none of the usual files";

fn lines(sources: &[&ContextSource]) -> String {
    if sources.is_empty() {
        return NOTHING.to_owned();
    }
    let lines = sources.iter().map(|source| source.line());
    lines.collect::<Vec<_>>().join("\n")
}

impl ContextSource {
    /// Whether it is worth a request to write one.
    #[must_use]
    pub fn is_important(&self) -> bool {
        self.weight == Weight::High
    }

    fn line(&self) -> String {
        format!("- `{}`", self.name)
    }

    fn is_in(&self, root: &Path) -> bool {
        let is_there = |name: &str| match name.strip_suffix('/') {
            Some(directory) => root.join(directory).is_dir(),
            None => root.join(name).is_file(),
        };
        is_there(self.name) || self.others.iter().any(|name| is_there(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_found_and_what_matters_is_missed() {
        let place = tempfile::TempDir::new().unwrap();
        let names =
            |sources: &[&ContextSource]| -> Vec<_> { sources.iter().map(|it| it.name).collect() };
        let empty = ContextScan::of(place.path());
        assert_eq!(names(&empty.gaps), ["README.md", "AGENTS.md", "docs/"]);
        assert_eq!(empty.found_lines(), NOTHING);

        std::fs::write(place.path().join("README.rst"), "").unwrap();
        std::fs::create_dir_all(place.path().join(".github/workflows")).unwrap();
        // A file where a directory is meant explains nothing.
        std::fs::write(place.path().join("docs"), "").unwrap();
        let scan = ContextScan::of(place.path());
        assert_eq!(names(&scan.found), ["README.md", ".github/workflows/"]);
        assert_eq!(scan.gap_lines(), "- `AGENTS.md`\n- `docs/`");
        assert!(scan.gap_lines().lines().all(ContextScan::has_written));
    }
}
