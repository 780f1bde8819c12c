//! Paths of files a script may change.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Component, PathBuf};

use serde::Deserialize;

/// A path beneath the working directory: relative, of plain names only.
///
/// A script someone tries by mistake must not reach their other files, so a path out of the
/// directory is refused when the script is read. The player refuses symbolic links on top.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "PathBuf")]
pub struct InnerPath(PathBuf);

/// A path that is not known to stay beneath the working directory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` does not stay beneath the working directory; use a relative path without `..`",
    .0.display()
)]
pub struct OuterPath(pub PathBuf);

impl InnerPath {
    /// The names from the working directory down to the file, and the file's own.
    pub fn split(&self) -> (Vec<&OsStr>, &OsStr) {
        let mut names: Vec<&OsStr> = self.0.iter().collect();
        let file = names.pop().expect("an inner path has at least one name");
        (names, file)
    }
}

impl TryFrom<PathBuf> for InnerPath {
    type Error = OuterPath;

    fn try_from(path: PathBuf) -> Result<Self, OuterPath> {
        let mut plain = PathBuf::new();
        for component in path.components() {
            match component {
                Component::Normal(name) => plain.push(name),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(OuterPath(path));
                }
            }
        }
        if plain.as_os_str().is_empty() {
            return Err(OuterPath(path));
        }
        Ok(Self(plain))
    }
}

impl fmt::Display for InnerPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_paths_are_inner() {
        for path in ["a", "src/lib.rs", "./a", "a/./b", "a//b", "..a/b..", "-"] {
            assert!(InnerPath::try_from(PathBuf::from(path)).is_ok(), "{path}");
        }
        for path in ["", ".", "..", "/", "/etc/passwd", "../a", "a/../b", "a/.."] {
            assert!(InnerPath::try_from(PathBuf::from(path)).is_err(), "{path}");
        }
    }

    #[test]
    fn splits_into_directories_and_file() {
        let path = InnerPath::try_from(PathBuf::from("a//b/./c.rs")).unwrap();
        let (directories, file) = path.split();
        assert_eq!(directories, ["a", "b"]);
        assert_eq!(file, "c.rs");
    }
}
