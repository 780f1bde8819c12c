//! Files on their way to the disk, before anybody waits for them.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _};

/// Lets the kernel begin to write a file out, and does not wait for it. Nothing is promised: whoever wants it on stable storage
/// syncs it, which then finds most of its work done, for all files of which it was begun at once.
pub fn begin_writeback(file: impl AsFd) -> io::Result<()> {
    let file = file.as_fd().as_raw_fd();
    #[expect(unsafe_code, reason = "no safe way to ask the kernel for this")]
    // SAFETY: the descriptor is borrowed for the call, which takes numbers only.
    let begun = unsafe { libc::sync_file_range(file, 0, 0, libc::SYNC_FILE_RANGE_WRITE) };
    if begun == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_file_can_be_written_out_and_a_pipe_cannot() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"text").unwrap();
        begin_writeback(&file).unwrap();
        let (pipe, _other) = io::pipe().unwrap();
        assert!(begin_writeback(&pipe).is_err());
    }
}
