//! A path in a working tree, as git stores it: bytes, relative to the root, segments separated by `/`.
//!
//! Unlike a [`RepoPath`] it may be anything that a file can be called. What cannot be committed by
//! name is refused when a path is located, before anything is tried.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use handoff_core::ownership::RepoPath;

use crate::git::printable;

/// A path in a working tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(Vec<u8>);

/// Why a path is none that can be committed by name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathRefusal {
    /// It leads out of the tree.
    #[error("`{path}` is outside of the working tree")]
    Outside {
        /// As it was given.
        path: String,
    },
    /// It is the tree itself.
    #[error("`{path}` is the whole tree; name the files that are meant")]
    Root {
        /// As it was given.
        path: String,
    },
    /// It is in git's own directory.
    #[error("`{path}` belongs to git itself")]
    GitDirectory {
        /// As it was given.
        path: String,
    },
    /// A directory on its way is a link.
    #[error("`{path}` lies beyond the symbolic link `{link}`")]
    BeyondLink {
        /// As it was given.
        path: String,
        /// The link.
        link: String,
    },
    /// A directory on its way is a repository of its own.
    #[error("`{path}` lies in `{repository}`, which is a git repository of its own")]
    OtherRepository {
        /// As it was given.
        path: String,
        /// Its root.
        repository: String,
    },
}

impl TreePath {
    /// What `given`, said at `cwd`, names in the tree at `root`. Both directories are real paths.
    pub fn locate(root: &Path, cwd: &Path, given: &OsStr) -> Result<Self, PathRefusal> {
        let shown = || printable(&given.to_string_lossy());
        let path = normal(&cwd.join(given));
        let inside = path.strip_prefix(root).ok().map(Path::to_owned);
        let inside = inside.or_else(|| through_links(&path, root));
        let Some(inside) = inside else {
            return Err(PathRefusal::Outside { path: shown() });
        };
        if inside.as_os_str().is_empty() {
            return Err(PathRefusal::Root { path: shown() });
        }
        check_way(root, &inside, &shown())?;
        Ok(Self(inside.into_os_string().into_vec()))
    }

    /// A path that git named.
    pub(crate) fn from_git(bytes: &[u8]) -> Self {
        Self(bytes.to_owned())
    }

    /// As git stores it.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Relative to the root.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// The same for ownership; none if it is not UTF-8, which nobody can own.
    #[must_use]
    pub fn to_repo_path(&self) -> Option<RepoPath> {
        str::from_utf8(&self.0).ok()?.parse().ok()
    }

    /// A pathspec that means this path and nothing else.
    pub(crate) fn pathspec(&self) -> OsString {
        let mut spec = b":(top,literal)".to_vec();
        spec.extend(&self.0);
        OsString::from_vec(spec)
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&String::from_utf8_lossy(&self.0)))
    }
}

/// Each path, ended by NUL.
pub(crate) fn joined<'path>(paths: impl IntoIterator<Item = &'path TreePath>) -> Vec<u8> {
    paths
        .into_iter()
        .flat_map(|path| path.0.iter().copied().chain([0]))
        .collect()
}

/// The same back.
pub(crate) fn split(bytes: &[u8]) -> Vec<TreePath> {
    let names = bytes.split(|&byte| byte == 0);
    names
        .filter(|name| !name.is_empty())
        .map(TreePath::from_git)
        .collect()
}

/// Without `.` and `..`, by the letters alone: what a link in the middle leads to is another question.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                normal.push(component);
            }
        }
    }
    normal
}

/// The tree may have been reached by a link; the last name stays as it is, for it may be a link itself.
fn through_links(path: &Path, root: &Path) -> Option<PathBuf> {
    let parent = path.parent()?.canonicalize().ok()?;
    let real = parent.join(path.file_name()?);
    real.strip_prefix(root).ok().map(Path::to_owned)
}

fn check_way(root: &Path, inside: &Path, shown: &str) -> Result<(), PathRefusal> {
    let is_git = |name: &OsStr| name.eq_ignore_ascii_case(".git");
    if inside.iter().any(is_git) {
        return Err(PathRefusal::GitDirectory {
            path: shown.to_owned(),
        });
    }
    let above = inside.ancestors().skip(1);
    for directory in above.filter(|it| !it.as_os_str().is_empty()) {
        let real = root.join(directory);
        let named = || printable(&directory.to_string_lossy());
        if real.is_symlink() {
            return Err(PathRefusal::BeyondLink {
                path: shown.to_owned(),
                link: named(),
            });
        }
        if real.join(".git").symlink_metadata().is_ok() {
            return Err(PathRefusal::OtherRepository {
                path: shown.to_owned(),
                repository: named(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use handoff_testkit::TestEnv;

    use super::*;

    fn located(root: &Path, cwd: &str, given: &str) -> Result<String, PathRefusal> {
        TreePath::locate(root, &root.join(cwd), OsStr::new(given)).map(|path| path.to_string())
    }

    #[test]
    fn a_path_is_found_from_wherever_it_is_said() {
        let env = TestEnv::without_binary();
        let root = env.work();
        fs::create_dir_all(root.join("src/deep")).unwrap();
        symlink(&root, env.root().join("also")).unwrap();
        symlink("src", root.join("link")).unwrap();
        fs::create_dir_all(root.join("sub/.git")).unwrap();

        let said = |cwd, given| located(&root, cwd, given);
        assert_eq!(said("src", "a").unwrap(), "src/a");
        assert_eq!(said("src/deep", "../a").unwrap(), "src/a");
        assert_eq!(said("", "./src//a").unwrap(), "src/a");
        assert_eq!(said("", "-m").unwrap(), "-m");
        assert_eq!(said("", "link").unwrap(), "link");
        let by_link = env.root().join("also/src/a");
        assert_eq!(said("", by_link.to_str().unwrap()).unwrap(), "src/a");
    }

    #[test]
    fn what_cannot_be_committed_by_name_is_refused() {
        let env = TestEnv::without_binary();
        let root = env.work();
        fs::create_dir_all(root.join("src")).unwrap();
        symlink("src", root.join("link")).unwrap();
        fs::create_dir_all(root.join("sub/.git")).unwrap();

        let table = [
            ("..", "`..` is outside of the working tree"),
            (".", "`.` is the whole tree; name the files that are meant"),
            (
                "src/../.git/config",
                "`src/../.git/config` belongs to git itself",
            ),
            ("a/.GIT/x", "`a/.GIT/x` belongs to git itself"),
            ("link/a", "`link/a` lies beyond the symbolic link `link`"),
            (
                "sub/a",
                "`sub/a` lies in `sub`, which is a git repository of its own",
            ),
        ];
        for (given, says) in table {
            assert_eq!(located(&root, "", given).unwrap_err().to_string(), says);
        }
    }
}
