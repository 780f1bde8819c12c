//! Standard input, read with a deadline.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::clock::Deadline;

pub(crate) struct Input {
    descriptor: OwnedFd,
    unread: VecDeque<u8>,
}

/// Why there is nothing to read.
#[derive(Debug)]
pub(crate) enum ReadError {
    Ended,
    TimedOut,
    Failed(io::Error),
}

impl Input {
    pub(crate) const fn new(descriptor: OwnedFd) -> Self {
        Self {
            descriptor,
            unread: VecDeque::new(),
        }
    }

    pub(crate) fn next_byte(&mut self, deadline: Deadline) -> Result<u8, ReadError> {
        if self.unread.is_empty() {
            self.refill(deadline)?;
        }
        self.unread.pop_front().ok_or(ReadError::Ended)
    }

    /// The next line without its end. What stands before the end of the input is a line too.
    pub(crate) fn next_line(&mut self, deadline: Deadline) -> Result<String, ReadError> {
        let mut line = Vec::new();
        loop {
            match self.next_byte(deadline) {
                Ok(b'\n') => break,
                Ok(byte) => line.push(byte),
                Err(ReadError::Ended) if !line.is_empty() => break,
                Err(error) => {
                    self.put_back(&line);
                    return Err(error);
                }
            }
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Ok(String::from_utf8_lossy(&line).into_owned())
    }

    /// Everything up to the end of the input.
    pub(crate) fn rest(&mut self) -> io::Result<String> {
        let mut bytes = Vec::new();
        loop {
            match self.next_byte(Deadline::after(None)) {
                Ok(byte) => bytes.push(byte),
                Err(ReadError::Ended | ReadError::TimedOut) => break,
                Err(ReadError::Failed(error)) => return Err(error),
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn put_back(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().rev() {
            self.unread.push_front(*byte);
        }
    }

    fn refill(&mut self, deadline: Deadline) -> Result<(), ReadError> {
        self.wait(deadline)?;
        let mut chunk = [0; 4096];
        let read = || rustix::io::read(&self.descriptor, &mut chunk);
        match rustix::io::retry_on_intr(read) {
            Ok(length) => self.unread.extend(&chunk[..length]),
            // What a terminal says when its other side is gone.
            Err(Errno::IO) => {}
            Err(error) => return Err(ReadError::Failed(error.into())),
        }
        Ok(())
    }

    fn wait(&self, deadline: Deadline) -> Result<(), ReadError> {
        loop {
            // A time too long for the kernel is as good as no end.
            let remaining = deadline.remaining();
            let timeout = remaining.and_then(|left| Timespec::try_from(left).ok());
            let mut descriptors = [PollFd::new(&self.descriptor, PollFlags::IN)];
            match poll(&mut descriptors, timeout.as_ref()) {
                Ok(0) if deadline.has_passed() => return Err(ReadError::TimedOut),
                // An ignored signal interrupts `poll` like any other.
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(ReadError::Failed(error.into())),
            }
        }
    }
}

impl AsFd for Input {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}
