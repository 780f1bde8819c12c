//! What the process was given: arguments, environment, working directory, terminal. Read once, here, and
//! handed down as values.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use handoff_session::place::Places;
use handoff_session::sender;
use handoff_session::side::Side;
use handoff_store::postgres::Access;

/// What the process was given.
#[derive(Debug, Clone)]
pub(crate) struct Ambient {
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: BTreeMap<OsString, OsString>,
    /// None when the directory was deleted under us.
    pub(crate) cwd: Option<PathBuf>,
    /// This very program, to be started again.
    pub(crate) program: Option<PathBuf>,
    pub(crate) is_terminal: bool,
    /// Whether what goes to standard error is seen.
    pub(crate) is_stderr_terminal: bool,
    /// Whether somebody can read a question and answer it.
    pub(crate) can_ask: bool,
    pub(crate) width: Option<u16>,
    pub(crate) height: Option<u16>,
    /// How this process gets at the server of its ledger. Clones share the connection.
    pub(crate) access: Access,
    /// Where this process comes from, once somebody has looked.
    pub(crate) side: OnceLock<Side>,
}

impl Ambient {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment"
    )]
    pub(crate) fn collect() -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let is_stderr_terminal = std::io::stderr().is_terminal();
        let size = is_terminal.then(|| rustix::termios::tcgetwinsize(rustix::stdio::stdout()));
        let size = size.and_then(Result::ok);
        Self {
            arguments: std::env::args_os().collect(),
            environment: std::env::vars_os().collect(),
            cwd: std::env::current_dir().ok(),
            program: std::env::current_exe().ok(),
            is_terminal,
            is_stderr_terminal,
            can_ask: is_stderr_terminal && std::io::stdin().is_terminal(),
            width: size.map(|size| size.ws_col).filter(|width| *width > 0),
            height: size.map(|size| size.ws_row).filter(|height| *height > 0),
            access: Access::default(),
            side: OnceLock::new(),
        }
    }

    /// Where this process comes from, by the processes above it.
    pub(crate) fn side(&self) -> Side {
        *self.side.get_or_init(|| {
            let places = self.handoff_home().map(Places::new);
            sender::own_side(None, places.as_ref())
        })
    }

    /// Where the process stands now, which moves with its directory.
    #[expect(
        clippy::disallowed_methods,
        reason = "what was read at the beginning is where the directory was"
    )]
    pub(crate) fn working_directory() -> Option<PathBuf> {
        std::env::current_dir().ok()
    }

    /// A variable that is set to something.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|it| !it.is_empty())
    }

    /// A variable as text; what is not text counts as not set.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.variable(name).and_then(OsStr::to_str)
    }

    /// A directory variable; a relative one is ignored, as the XDG rules say.
    pub(crate) fn directory(&self, name: &str) -> Option<&Path> {
        self.variable(name)
            .map(Path::new)
            .filter(|path| path.is_absolute())
    }

    /// Where state is kept.
    pub(crate) fn handoff_home(&self) -> Option<PathBuf> {
        let below = |base: &Path| base.join("handoff");
        let named = self.directory("HANDOFF_HOME").map(Path::to_owned);
        named
            .or_else(|| self.directory("XDG_STATE_HOME").map(below))
            .or_else(|| {
                self.directory("HOME")
                    .map(|home| home.join(".local/state/handoff"))
            })
    }

    /// Where the user's configuration is.
    pub(crate) fn config_file(&self) -> Option<PathBuf> {
        let base = self.directory("XDG_CONFIG_HOME").map(Path::to_owned);
        let base = base.or_else(|| self.directory("HOME").map(|home| home.join(".config")));
        base.map(|base| base.join("handoff/config.toml"))
    }
}
