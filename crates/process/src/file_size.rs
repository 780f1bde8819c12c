//! The limit on how long files may become.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGXFSZ;

/// Lets a write that would go past the limit fail instead of ending the process without a word.
///
/// With a handler and not by ignoring the signal: what is started from here gets the default back.
pub fn survive_size_limit() -> io::Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map(drop)
}
