//! Names that no path in a repository may have.
//!
//! One automaton serves both uses, so they cannot drift apart: [`RepoPath`](super::RepoPath) reads a
//! whole segment with it, and the overlap decision runs it beside two globs so that an example is
//! never `..` or `.git`.

/// What the characters of a segment read so far could still turn out to be.
///
/// `Free` is first because a search without guard needs exactly one state, number 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SegmentGuard {
    /// Nothing that follows can make the name a refused one.
    Free,
    Empty,
    Dot,
    DotDot,
    DotG,
    DotGi,
    G,
    Gi,
    Git,
    GitTilde,
    /// A name of Git's own directory.
    GitDirectory,
}

impl SegmentGuard {
    /// How many states there are.
    pub(super) const COUNT: usize = Self::GitDirectory as usize + 1;

    /// Reads a whole segment.
    pub(super) fn read(segment: &str) -> Self {
        segment.chars().fold(Self::Empty, Self::step)
    }

    /// Reads one more character.
    pub(super) fn step(self, character: char) -> Self {
        match (self, character.to_ascii_lowercase()) {
            (_, ignored) if is_ignored_by_filesystems(ignored) => self,
            (Self::Empty, '.') => Self::Dot,
            (Self::Empty, 'g') => Self::G,
            (Self::Dot, '.') => Self::DotDot,
            (Self::Dot, 'g') => Self::DotG,
            (Self::DotG, 'i') => Self::DotGi,
            (Self::DotGi, 't') => Self::GitDirectory,
            (Self::G, 'i') => Self::Gi,
            (Self::Gi, 't') => Self::Git,
            (Self::Git, '~') => Self::GitTilde,
            // The 8.3 short name that NTFS gives to `.git`.
            (Self::GitTilde, '1') => Self::GitDirectory,
            // Windows and SMB drop trailing dots and spaces.
            (Self::GitDirectory, '.' | ' ') => Self::GitDirectory,
            _ => Self::Free,
        }
    }

    /// Whether a segment may end here.
    pub(super) fn is_allowed(self) -> bool {
        !matches!(
            self,
            Self::Empty | Self::Dot | Self::DotDot | Self::GitDirectory
        )
    }
}

/// Code points that HFS+ skips when it compares names: `.g\u{200c}it` opens `.git` there
/// (CVE-2014-9390; the list is that of Git's `next_hfs_char`).
fn is_ignored_by_filesystems(character: char) -> bool {
    matches!(
        character,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_the_git_directory_is_recognised() {
        for name in [
            ".git",
            ".GIT",
            ".Git",
            ".git.",
            ".git . .",
            "git~1",
            "GIT~1",
            "git~1 ",
            ".g\u{200c}it",
            "\u{feff}.git",
        ] {
            assert_eq!(
                SegmentGuard::read(name),
                SegmentGuard::GitDirectory,
                "{name:?}"
            );
        }
    }

    #[test]
    fn names_that_only_resemble_it_are_allowed() {
        for name in [
            ".gitignore",
            ".github",
            "git",
            "g",
            "gi",
            ".g",
            ".gi",
            "git~",
            "git~2",
            "git~10",
            ".git.x",
            ".gix",
            "...",
            "..a",
            ".a",
            "a.",
            " ",
            "git.",
            "xgit~1",
            ".xgit",
        ] {
            assert!(SegmentGuard::read(name).is_allowed(), "{name:?}");
        }
    }

    #[test]
    fn empty_and_dot_names_are_not_allowed() {
        for name in ["", ".", "..", "\u{200c}"] {
            assert!(!SegmentGuard::read(name).is_allowed(), "{name:?}");
        }
    }
}
