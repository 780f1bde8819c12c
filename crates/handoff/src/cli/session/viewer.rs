//! Sitting at a session's terminal with one's own. The holder answers what the agent asks its terminal; ours is only shown
//! pictures, so that it is never asked anything.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use handoff_api::ExitCode;
use handoff_operations::Failure;
use handoff_operations::session::{lost, unreachable};
use handoff_process::Size;
use handoff_session::control::Attachment;
use handoff_session::{Client, ClientError, Known};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::stdio::{stdin, stdout};
use rustix::termios::{isatty, tcgetwinsize};

use super::raw_terminal::RawTerminal;
use crate::context::Context;

/// `Ctrl-]`.
const DETACH: u8 = 0x1d;
/// How soon a window that was made larger is noticed.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// The person's own screen is put aside.
const ENTER: &[u8] = b"\x1b[?1049h";
/// Whatever the agent switched on is off again, and the own screen is back.
const LEAVE: &[u8] =
    b"\x1b[?2004l\x1b[?1l\x1b>\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\
                      \x1b[0m\x1b[?25h\x1b[0 q\x1b[?1049l";

/// Why a viewer left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Detached,
    Ended,
}

/// The size of the person's terminal, if there is one.
pub(super) fn size() -> Option<Size> {
    let is_terminal = isatty(stdin()) && isatty(stdout());
    let size = is_terminal.then(|| tcgetwinsize(stdout()).ok()).flatten()?;
    let size = Size {
        rows: size.ws_row,
        columns: size.ws_col,
    };
    // A terminal that does not know its size says zero.
    Some(if size.rows == 0 || size.columns == 0 {
        Size::DETACHED
    } else {
        size.bounded()
    })
}

/// Shows a session until it ends or the person leaves.
pub(super) fn view(
    known: &Known,
    attachment: Attachment,
    ctx: &mut Context,
) -> Result<Left, Failure> {
    let client = Client::new(&known.record.socket);
    let stream = match client.attach(attachment) {
        Ok(stream) => stream,
        // A program may end before anybody has sat down.
        Err(ClientError::Connect(..)) => return Ok(Left::Ended),
        Err(ClientError::Refused { status: 409, .. }) => return Err(occupied(known)),
        Err(error) => return Err(unreachable(known, &error)),
    };
    let mut visit = Visit {
        client,
        stream,
        attachment,
        size: None,
    };
    let raw = RawTerminal::enter()?;
    ctx.out.raw(ENTER)?;
    let left = visit.stay(ctx);
    ctx.out.raw(LEAVE).ok();
    drop(raw);
    Ok(left?)
}

fn occupied(known: &Known) -> Failure {
    let name = &known.record.name;
    let text = format!("somebody else types at `{name}` already");
    Failure::new(ExitCode::Conflict, text)
        .hint(format!("look on: `handoff attach --id {name} --read-only`"))
}

/// What an ended session exits with.
pub(super) fn ended(known: &Known) -> Result<u8, Failure> {
    let ended = known.record.ended.as_ref().ok_or_else(|| lost(known))?;
    Ok(ended.exit.exit_code())
}

pub(super) fn say_detached(known: &Known, ctx: &mut Context) -> Result<u8, Failure> {
    let name = &known.record.name;
    ctx.out.note(format!(
        "{name} goes on. Sit down again: `handoff attach --id {name}`."
    ))?;
    Ok(ExitCode::Done.number())
}

struct Visit {
    client: Client,
    stream: UnixStream,
    attachment: Attachment,
    size: Option<Size>,
}

impl Visit {
    fn stay(&mut self, ctx: &mut Context) -> io::Result<Left> {
        let timeout = Timespec::try_from(LOOK_AGAIN).ok();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            self.follow_size();
            let keyboard = stdin();
            let mut fds = [
                PollFd::new(&self.stream, PollFlags::IN),
                PollFd::from_borrowed_fd(keyboard, PollFlags::IN),
            ];
            match poll(&mut fds, timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            let (has_picture, has_keys) =
                (!fds[0].revents().is_empty(), !fds[1].revents().is_empty());
            if has_picture {
                match self.stream.read(&mut buffer)? {
                    0 => return Ok(Left::Ended),
                    length => ctx.out.raw(&buffer[..length])?,
                }
            }
            if has_keys && self.press(&mut buffer)? == Left::Detached {
                return Ok(Left::Detached);
            }
        }
    }

    /// Passes keys on. Says `Ended` while the person stays.
    fn press(&mut self, buffer: &mut [u8]) -> io::Result<Left> {
        let length = match rustix::io::read(stdin(), &mut *buffer) {
            Ok(length) => length,
            Err(Errno::INTR | Errno::AGAIN) => return Ok(Left::Ended),
            // The terminal is gone, and the person with it.
            Err(_) => return Ok(Left::Detached),
        };
        let keys = &buffer[..length];
        let end = keys.iter().position(|key| *key == DETACH);
        if self.attachment == Attachment::Write {
            // A holder that is gone is noticed by its stream.
            self.stream.write_all(&keys[..end.unwrap_or(length)]).ok();
        }
        Ok(if end.is_some() || length == 0 {
            Left::Detached
        } else {
            Left::Ended
        })
    }

    /// The one who types decides how large the session is.
    fn follow_size(&mut self) {
        let now = size();
        if self.attachment == Attachment::Write && now != self.size {
            self.size = now;
            if let Some(size) = now {
                // If it fails, the picture stays as large as it was.
                self.client.resize(size).ok();
            }
        }
    }
}
