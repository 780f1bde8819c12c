//! The mark that says which project a repository is, and which store owns it.
//!
//! It lies in the git common directory: linked worktrees share it, clones do not have it, and moving the repository
//! is harmless. Because it names the store too, two homes cannot split one project silently.

use std::fmt;
use std::str::FromStr;

use crate::{ProjectId, StoreId};

/// Who this repository is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProjectMark {
    /// The project.
    pub project: ProjectId,
    /// The store that has its tasks.
    pub store: StoreId,
}

/// A mark that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected one line with a project id and a store id")]
pub struct MarkError;

impl fmt::Display for ProjectMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", self.project, self.store)
    }
}

impl FromStr for ProjectMark {
    type Err = MarkError;

    fn from_str(text: &str) -> Result<Self, MarkError> {
        let line = text.strip_suffix('\n').ok_or(MarkError)?;
        let (project, store) = line.split_once(' ').ok_or(MarkError)?;
        match (project.parse(), store.parse()) {
            (Ok(project), Ok(store)) => Ok(Self { project, store }),
            _ => Err(MarkError),
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_torn_mark_is_not_a_mark() {
        let mark = ProjectMark {
            project: ProjectId::from_uuid(Uuid::from_u128(1)),
            store: StoreId::from_uuid(Uuid::from_u128(2)),
        };
        let text = mark.to_string();
        assert_eq!(text.parse(), Ok(mark));
        for cut in 0..text.len() {
            assert_eq!(
                text[..cut].parse::<ProjectMark>(),
                Err(MarkError),
                "cut at {cut}"
            );
        }
    }
}
