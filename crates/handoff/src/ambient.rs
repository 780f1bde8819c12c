//! What this process was started with: arguments, environment, working directory, terminal. Read once, here, and handed down
//! as values.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use handoff_operations::Ambient;

/// What this process was started with.
#[derive(Debug, Clone)]
pub(crate) struct Invocation {
    pub(crate) arguments: Vec<OsString>,
    pub(crate) ambient: Ambient,
    pub(crate) terminal: TerminalFacts,
}

/// What is known of the terminal, if there is one.
#[derive(Debug, Clone, Default)]
pub(crate) struct TerminalFacts {
    pub(crate) is_terminal: bool,
    /// Whether what goes to standard error is seen.
    pub(crate) is_stderr_terminal: bool,
    /// Whether somebody can read a question and answer it.
    pub(crate) can_ask: bool,
    pub(crate) width: Option<u16>,
    pub(crate) height: Option<u16>,
}

impl Invocation {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment"
    )]
    pub(crate) fn collect() -> Self {
        let ambient = Ambient::new(
            std::env::vars_os().collect(),
            std::env::current_dir().ok(),
            std::env::current_exe().ok(),
        );
        Self {
            arguments: std::env::args_os().collect(),
            ambient,
            terminal: TerminalFacts::read(),
        }
    }

    /// Where the process stands now, which moves with its directory.
    #[expect(
        clippy::disallowed_methods,
        reason = "what was read at the beginning is where the directory was"
    )]
    pub(crate) fn working_directory() -> Option<PathBuf> {
        std::env::current_dir().ok()
    }
}

impl TerminalFacts {
    fn read() -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let is_stderr_terminal = std::io::stderr().is_terminal();
        let size = is_terminal.then(|| rustix::termios::tcgetwinsize(rustix::stdio::stdout()));
        let size = size.and_then(Result::ok);
        Self {
            is_terminal,
            is_stderr_terminal,
            can_ask: is_stderr_terminal && std::io::stdin().is_terminal(),
            width: size.map(|size| size.ws_col).filter(|width| *width > 0),
            height: size.map(|size| size.ws_row).filter(|height| *height > 0),
        }
    }
}
