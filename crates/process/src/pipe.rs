//! Our end of a pipe that a program prints to. Reading never blocks.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pipe::fcntl_getpipe_size;

use crate::capture::{Bound, Captured, Overflow};

/// A pipe and what came out of it.
#[derive(Debug)]
pub(crate) struct Pipe {
    file: Option<File>,
    captured: Captured,
}

/// What one look into a pipe found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    Some(usize),
    Nothing,
}

/// A pipe could not be read, or not be held.
#[derive(Debug)]
pub(crate) enum PipeError {
    Read(io::Error),
    Overflow(Overflow),
}

impl Pipe {
    pub(crate) fn new(end: OwnedFd, bound: Bound) -> io::Result<Self> {
        fcntl_setfl(&end, fcntl_getfl(&end)? | OFlags::NONBLOCK)?;
        Ok(Self {
            file: Some(end.into()),
            captured: Captured::new(bound),
        })
    }

    /// What to wait on; nothing once the other end is closed.
    pub(crate) fn open_end(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref().map(AsFd::as_fd)
    }

    pub(crate) const fn captured(&self) -> &Captured {
        &self.captured
    }

    pub(crate) fn read_some(&mut self) -> Result<Reading, PipeError> {
        let Some(file) = &mut self.file else {
            return Ok(Reading::Nothing);
        };
        let mut buffer = [0; 8 * 1024];
        match file.read(&mut buffer) {
            Ok(0) => self.file = None,
            Ok(length) => {
                self.captured
                    .push(&buffer[..length])
                    .map_err(PipeError::Overflow)?;
                return Ok(Reading::Some(length));
            }
            Err(error) if is_temporary(&error) => {}
            Err(error) => return Err(PipeError::Read(error)),
        }
        Ok(Reading::Nothing)
    }

    /// What an ended program printed lies in the pipe, so at most a pipe's worth is read: a
    /// stranger that left the group with our pipe open must not keep us here.
    pub(crate) fn read_rest(&mut self) -> Result<(), PipeError> {
        let Some(end) = self.open_end() else {
            return Ok(());
        };
        let mut left = fcntl_getpipe_size(end).map_err(|errno| PipeError::Read(errno.into()))?;
        while left > 0
            && let Reading::Some(length) = self.read_some()?
        {
            left = left.saturating_sub(length);
        }
        self.close();
        Ok(())
    }

    pub(crate) fn close(&mut self) {
        self.file = None;
    }
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
