//! A connection, by whichever way it came.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A connection.
pub(super) enum Stream {
    Local(UnixStream),
    Network(TcpStream),
}

impl Stream {
    /// The address of one who came by the network.
    pub(super) fn network_peer(&self) -> Option<SocketAddr> {
        match self {
            Self::Local(_) => None,
            Self::Network(stream) => stream.peer_addr().ok(),
        }
    }

    /// From now on writing waits, but not longer than this.
    pub(super) fn wait_to_write(&self, patience: Duration) -> io::Result<()> {
        match self {
            Self::Local(stream) => {
                stream.set_nonblocking(false)?;
                stream.set_write_timeout(Some(patience))
            }
            Self::Network(stream) => {
                stream.set_nonblocking(false)?;
                stream.set_write_timeout(Some(patience))
            }
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Local(stream) => stream.read(buffer),
            Self::Network(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Local(stream) => stream.write(bytes),
            Self::Network(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Local(stream) => stream.as_fd(),
            Self::Network(stream) => stream.as_fd(),
        }
    }
}
