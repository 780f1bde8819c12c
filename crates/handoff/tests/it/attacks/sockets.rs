//! Servers that do for whoever comes what they may not do themselves: tmux, ssh agents, DBus, container daemons. Ours writes what it
//! is told into the main tree, and answers when it has.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;
use std::thread;

use handoff_process::Kernel;
use handoff_process::sandbox::Cover;

use super::table::End::{NotCovered, Refused};
use super::table::{Column, End};

/// How one gets to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Path,
    Variable,
    Abstract,
}

impl Way {
    pub(super) const ALL: [Self; 3] = [Self::Path, Self::Variable, Self::Abstract];

    /// Its row in the table.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Path => "a server (tmux, ssh agent, DBus, containers) by the path of its socket",
            Self::Variable => "the same by the variable that names it",
            Self::Abstract => "a server by an abstract name",
        }
    }

    /// Where the attacker looks for it, in Python.
    pub(super) const fn place(self) -> &'static str {
        match self {
            Self::Path => "os.environ['SERVER']",
            Self::Variable => "os.environ['SSH_AUTH_SOCK']",
            Self::Abstract => "chr(0) + os.environ['SERVER']",
        }
    }

    /// How it ends, on this kernel.
    pub(super) fn end(self, column: Column) -> End {
        let is_held = |cover| Kernel::read().covers(cover);
        let is_refused = match (column, self) {
            (Column::Shared | Column::Worktree, _) => false,
            (Column::Landlock, Self::Path) => is_held(Cover::Sockets),
            (Column::Landlock, Self::Variable) => true,
            (Column::Landlock, Self::Abstract) => is_held(Cover::AbstractSockets),
        };
        if is_refused { Refused } else { NotCovered }
    }

    /// The last column, for all kernels.
    pub(super) const fn sandboxed(self) -> &'static str {
        match self {
            Self::Path => "**not covered** before Linux 7.1",
            Self::Variable => "refused",
            Self::Abstract => "refused; **not covered** before Linux 6.12",
        }
    }
}

/// What asks a server.
pub(super) fn script(way: Way) -> String {
    format!(
        "python3 -c \"
import os, socket
server = socket.socket(socket.AF_UNIX)
server.connect({})
server.sendall(b'asked' + b'\\\\n')
server.recv(9)
\"",
        way.place()
    )
}

/// Serves at a path, and at the abstract name that is the same text, as long as the test lives.
pub(super) fn serve(socket: &Path, victim: &Path) {
    let listener = UnixListener::bind(socket).unwrap();
    let name = SocketAddr::from_abstract_name(socket.as_os_str().as_encoded_bytes()).unwrap();
    for listener in [listener, UnixListener::bind_addr(&name).unwrap()] {
        let victim = victim.to_owned();
        thread::spawn(move || {
            for guest in listener.incoming().flatten() {
                // One who leaves again is nobody's loss.
                answer(&guest, &victim).unwrap_or_default();
            }
        });
    }
}

fn answer(mut guest: &UnixStream, victim: &Path) -> std::io::Result<()> {
    let mut line = String::new();
    BufReader::new(guest).read_line(&mut line)?;
    fs::write(victim, line)?;
    guest.write_all(b"done")
}
