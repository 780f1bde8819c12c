//! What the process that asks was given: environment, working directory, program. A door reads it once and hands it down.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use handoff_session::place::Places;
use handoff_session::sender;
use handoff_session::side::Side;
use handoff_store::postgres::Access;

/// What the process was given.
#[derive(Debug, Clone)]
pub struct Ambient {
    pub environment: BTreeMap<OsString, OsString>,
    /// None when the directory was deleted under us.
    pub cwd: Option<PathBuf>,
    /// This very program, to be started again.
    pub program: Option<PathBuf>,
    /// How this process gets at the server of its ledger. Clones share the connection.
    pub access: Access,
    /// Where this process comes from, once somebody has looked.
    pub side: OnceLock<Side>,
}

impl Ambient {
    /// What a door has read.
    #[must_use]
    pub fn new(
        environment: BTreeMap<OsString, OsString>,
        cwd: Option<PathBuf>,
        program: Option<PathBuf>,
    ) -> Self {
        Self {
            environment,
            cwd,
            program,
            access: Access::default(),
            side: OnceLock::new(),
        }
    }

    /// Where this process comes from, by the processes above it.
    pub fn side(&self) -> Side {
        *self.side.get_or_init(|| {
            let places = self.handoff_home().map(Places::new);
            sender::own_side(None, places.as_ref())
        })
    }

    /// A variable that is set to something.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|it| !it.is_empty())
    }

    /// A variable as text; what is not text counts as not set.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.variable(name).and_then(OsStr::to_str)
    }

    /// A directory variable; a relative one is ignored, as the XDG rules say.
    pub fn directory(&self, name: &str) -> Option<&Path> {
        self.variable(name)
            .map(Path::new)
            .filter(|path| path.is_absolute())
    }

    /// Where state is kept.
    pub fn handoff_home(&self) -> Option<PathBuf> {
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
    pub fn config_file(&self) -> Option<PathBuf> {
        let base = self.directory("XDG_CONFIG_HOME").map(Path::to_owned);
        let base = base.or_else(|| self.directory("HOME").map(|home| home.join(".config")));
        base.map(|base| base.join("handoff/config.toml"))
    }
}
