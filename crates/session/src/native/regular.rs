//! Opens a file that an agent could have made anything of: a pipe that nobody writes to would hold up whoever opens it.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Opens a regular file to read it; a link, a pipe or a device is refused, and nothing waits.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, mknodat};

    use super::*;

    #[test]
    fn only_a_regular_file_is_opened_and_a_pipe_holds_up_nobody() {
        let place = tempfile::TempDir::new().unwrap();
        let (file, pipe, link) = (
            place.path().join("file"),
            place.path().join("pipe"),
            place.path().join("link"),
        );
        std::fs::write(&file, "x").unwrap();
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(open(&file).is_ok());
        for other in [&pipe, &link, &place.path().to_path_buf()] {
            assert!(open(other).is_err(), "{other:?}");
        }
    }
}
