//! Where an operation is done: for which process, in which repository, by which clocks and settings, with which ledger.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use handoff_api::ExitCode;
use handoff_core::time::Clock;
use handoff_core::{IdempotencyKey, StoreId};
use handoff_git::{Git, Repository};
use handoff_process::SystemClock;
use handoff_session::environment;
use handoff_store::Store;
use handoff_store::postgres::{Access, Password, Patience, PostgresStore};
use handoff_store::sqlite::{self, SqliteStore};
use handoff_workspace::trash::Stamp;

use crate::ambient::Ambient;
use crate::config::Config;
use crate::failure::Failure;
use crate::span::Span;

/// Where an operation is done, and for whom.
pub struct Workplace {
    /// What the process that asks was given.
    pub ambient: Ambient,
    /// The tree of the session in a sandbox for which this is done.
    pub tree: Option<Tree>,
    /// The repository that we stand in, once somebody has looked.
    pub repository: OnceCell<Repository>,
    /// The clocks of this machine, once somebody has asked which machine this is.
    clock: OnceCell<Rc<dyn Clock>>,
}

/// A tree whose owner is not believed.
#[derive(Debug, Clone)]
pub struct Tree {
    pub root: PathBuf,
    /// Where the repository is, whatever the tree says.
    pub common_dir: PathBuf,
}

impl Workplace {
    /// Of a process that was given this.
    #[must_use]
    pub const fn new(ambient: Ambient) -> Self {
        Self {
            ambient,
            tree: None,
            repository: OnceCell::new(),
            clock: OnceCell::new(),
        }
    }

    /// The working directory.
    pub fn cwd(&self) -> Result<&Path, Failure> {
        let gone = || Failure::failed("the working directory does not exist any more");
        self.ambient.cwd.as_deref().ok_or_else(gone)
    }

    /// Goes on as if it had been called in another directory.
    pub fn stand_in(&mut self, directory: PathBuf) {
        self.ambient.cwd = Some(directory);
        self.repository = OnceCell::new();
    }

    /// Where state is kept.
    pub fn home(&self) -> Result<std::path::PathBuf, Failure> {
        self.ambient.handoff_home().ok_or_else(|| {
            Failure::failed("there is no place for state: neither HANDOFF_HOME nor HOME is set")
                .hint("set HANDOFF_HOME to an absolute path")
        })
    }

    pub fn clock(&self) -> Result<Rc<dyn Clock>, Failure> {
        if let Some(clock) = self.clock.get() {
            return Ok(clock.clone());
        }
        let clock = SystemClock::read().map_err(|error| {
            Failure::failed("cannot read the clocks of this machine").because(&error)
        })?;
        Ok(self.clock.get_or_init(|| Rc::new(clock)).clone())
    }

    /// The time, for what is moved to the trash.
    pub fn stamp(&self) -> Result<Stamp, Failure> {
        Ok(Stamp::at(self.clock()?.now().wall))
    }

    /// How git is called: for a tree whose owner is not believed, held to the repository that is known.
    pub fn git(&self, at: &Repository) -> Git {
        let git = Git::new(self.ambient.environment.clone());
        match self.tree {
            Some(_) => git.bound_to(at),
            None => git,
        }
    }

    /// What a person set once for all repositories.
    pub fn config(&self) -> Result<Config, Failure> {
        match self.ambient.config_file() {
            Some(path) => Config::load(&path),
            None => Ok(Config::default()),
        }
    }

    /// The address of the server that has the ledger; none if it is embedded.
    pub fn ledger_url(&self) -> Result<Option<String>, Failure> {
        self.require_reach()?;
        let said = self.ambient.text("HANDOFF_STORE").map(str::to_owned);
        match said {
            Some(said) => Ok(Some(said)),
            None => Ok(self.config()?.store.url),
        }
    }

    /// Opens the embedded store, whatever else is named.
    pub fn open_embedded(&self) -> Result<SqliteStore, Failure> {
        let ambient = sqlite::Ambient {
            clock: self.clock()?,
            fresh_id: StoreId::from_uuid(handoff_process::mint()),
        };
        Ok(SqliteStore::open(&self.home()?, ambient)?)
    }

    /// Opens the store that the environment or the configuration names, else the embedded one.
    pub fn open_store(&self) -> Result<Box<dyn Store>, Failure> {
        let Some(url) = self.ledger_url()? else {
            return Ok(Box::new(self.open_embedded()?));
        };
        let config = self.config()?;
        let password = self.password(config.store.password_file.as_deref())?;
        let address = url.parse::<handoff_store::postgres::Address>()?;
        let access = self.access(config.store.patience)?;
        Ok(Box::new(PostgresStore::connect_with(
            address.with_password(password),
            StoreId::from_uuid(handoff_process::mint()),
            access,
        )?))
    }

    /// Refuses where the ledger is out of reach.
    fn require_reach(&self) -> Result<(), Failure> {
        if self.ambient.variable(environment::SANDBOX).is_some() {
            let text = "the ledger is out of reach in the sandbox of a session";
            return Err(Failure::new(ExitCode::Unavailable, text).hint(
                "what a session needs is done for it: safe-commit, send, reply, messages, done, block, heartbeat, context, dump, queue add, queue list, queue show",
            ));
        }
        if self.ambient.variable(environment::LEDGER).is_some() {
            let text = "the way to the ledger's server is not known inside a session";
            return Err(Failure::new(ExitCode::Unavailable, text).hint(
                "what a session needs is done for it: dump, done, block, heartbeat, queue, context, package, safe-commit, send, reply, messages",
            ));
        }
        Ok(())
    }

    /// For a process that stays: a server that was reached once is waited for as long as it takes.
    pub fn stay(&mut self) {
        self.ambient.access.patience = Patience::LASTING;
    }

    /// How the server is reached, with the patience that a person set.
    fn access(&self, configured: Option<Span>) -> Result<Access, Failure> {
        let mut access = self.ambient.access.clone();
        let set = self.ambient.text("HANDOFF_STORE_PATIENCE");
        let set = set.map(str::parse::<Span>).transpose().map_err(|error| {
            Failure::failed("HANDOFF_STORE_PATIENCE cannot be read").because(&error)
        })?;
        if let Some(span) = set.or(configured).map(Span::duration)
            && access.patience == Patience::BRIEF
        {
            access.patience = Patience {
                away: span,
                absent: span.min(Patience::BRIEF.absent),
            };
        }
        Ok(access)
    }

    /// The server's password, from a file or from the environment, never from an argument.
    fn password(&self, configured: Option<&Path>) -> Result<Option<Password>, Failure> {
        let file = self
            .ambient
            .variable("HANDOFF_STORE_PASSWORD_FILE")
            .map(Path::new)
            .or(configured);
        let Some(file) = file else {
            return Ok(self
                .ambient
                .text("PGPASSWORD")
                .map(|it| Password::new(it.to_owned())));
        };
        let secret = std::fs::read_to_string(file).map_err(|error| {
            Failure::failed(format!(
                "cannot read the password file `{}`",
                file.display()
            ))
            .because(&error)
        })?;
        Ok(Some(Password::new(
            secret.trim_end_matches('\n').to_owned(),
        )))
    }
}

/// A key for a request that was given none.
pub fn fresh_key() -> IdempotencyKey {
    let text = format!("key_{}", handoff_process::mint().simple());
    text.parse()
        .expect("a prefix and hexadecimal digits make a key")
}
