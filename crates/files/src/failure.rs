//! How a failed system call becomes a variant of an operation's error.
//!
//! It never decides what a failure means for an operation; that is the error's own business.

use std::io;
use std::path::{Path, PathBuf};

/// Turns the error of one step into its variant, naming the path the step was about.
pub(crate) fn at<E, S: Into<io::Error>>(
    path: &Path,
    variant: fn(PathBuf, io::Error) -> E,
) -> impl FnOnce(S) -> E {
    move |source| variant(path.to_path_buf(), source.into())
}

/// Whether the disk, or the user's share of it, is full.
pub(crate) fn is_out_of_space(source: &io::Error) -> bool {
    matches!(
        source.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    #[test]
    fn a_full_disk_and_a_used_up_quota_are_out_of_space_and_a_broken_disk_is_not() {
        let verdicts = [Errno::NOSPC, Errno::DQUOT, Errno::IO, Errno::FBIG]
            .map(|errno| is_out_of_space(&errno.into()));
        assert_eq!(verdicts, [true, true, false, false]);
    }
}
