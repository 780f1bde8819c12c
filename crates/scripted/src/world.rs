//! All the scripted agent knows of its surroundings.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

pub type Environment = BTreeMap<OsString, OsString>;

/// What an agent finds when it is started.
///
/// The streams are descriptors, not readers and writers: commands inherit them, a timeout needs
/// `poll`, and reading a message needs the mode of the terminal.
#[derive(Debug)]
pub struct World {
    pub environment: Environment,
    /// The directory that relative paths start from and that a script's files stay beneath.
    pub cwd: PathBuf,
    pub stdin: OwnedFd,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
}
