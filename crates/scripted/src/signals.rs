//! Declining signals, and dying by one.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use handoff_agents::scripted::{IgnorableSignal, Signal};
use signal_hook::consts;
use signal_hook::{flag, low_level};

use crate::outcome::Failure;

/// Makes this process deaf to `signal`.
///
/// A handler that only notes the signal takes the place of the default action. Unlike a signal set
/// to be ignored, a handled one has its default action again in every command the agent runs.
pub(crate) fn ignore(signal: &IgnorableSignal) -> Result<(), Failure> {
    let signal = signal.signal();
    flag::register(number(signal), Arc::new(AtomicBool::new(false)))
        .map(drop)
        .map_err(|source| Failure::Ignore { signal, source })
}

/// Ends this process by `signal`, also if it is ignored; returns only if that fails.
pub(crate) fn die_by(signal: Signal) -> Failure {
    let source = match low_level::emulate_default_handler(number(signal)) {
        Ok(()) => io::Error::other("the signal did not end the process"),
        Err(error) => error,
    };
    Failure::Die { signal, source }
}

const fn number(signal: Signal) -> i32 {
    match signal {
        Signal::Abort => consts::SIGABRT,
        Signal::Alarm => consts::SIGALRM,
        Signal::Hangup => consts::SIGHUP,
        Signal::Interrupt => consts::SIGINT,
        Signal::Kill => consts::SIGKILL,
        Signal::Pipe => consts::SIGPIPE,
        Signal::Quit => consts::SIGQUIT,
        Signal::SegmentationFault => consts::SIGSEGV,
        Signal::Terminate => consts::SIGTERM,
        Signal::User1 => consts::SIGUSR1,
        Signal::User2 => consts::SIGUSR2,
    }
}
