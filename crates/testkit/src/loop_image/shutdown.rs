//! The request that makes a filesystem stop as if its power had failed.

#![expect(
    unsafe_code,
    reason = "no safe wrapper of FS_IOC_SHUTDOWN exists; 2026-11-15"
)]

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::ioctl::{Opcode, Setter, ioctl, opcode};

/// `_IOR('X', 125, __u32)` of `linux/fs.h`. XFS had it first, ext4 and others took it over.
const FS_IOC_SHUTDOWN: Opcode = opcode::read::<u32>(b'X', 125);

/// `FS_SHUTDOWN_FLAGS_NOLOGFLUSH`: what the journal holds in memory is lost as well.
const NO_LOG_FLUSH: u32 = 2;

pub(super) fn go_down(mount_point: &Path) -> io::Result<()> {
    let root = File::open(mount_point)?;
    // SAFETY: despite its name the request only reads the `u32` its argument points to, which is
    // what `Setter` passes.
    let request = unsafe { Setter::<FS_IOC_SHUTDOWN, u32>::new(NO_LOG_FLUSH) };
    // SAFETY: the request touches no memory of this process.
    unsafe { ioctl(root, request) }?;
    Ok(())
}
