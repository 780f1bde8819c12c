//! Which session is meant: by the name it has in its project, or by its id.

use std::path::{Path, PathBuf};

use handoff_api::ExitCode;
use handoff_core::{ProjectId, SessionId, SessionName};
use handoff_session::catalogue::{self, CatalogueError};
use handoff_session::{ClientError, Known, Places, Standing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::project::{project_at, project_here};
use crate::workplace::Workplace;

/// Which session is meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionRef {
    /// Its name in this project, or its id.
    pub id: String,
    /// Look for the name in the project of this directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<PathBuf>,
}

impl SessionRef {
    /// By name or id, in the project of a directory.
    #[must_use]
    pub const fn new(id: String, repo: Option<PathBuf>) -> Self {
        Self { id, repo }
    }

    /// The session, whether it lives or not.
    pub fn find(&self, here: &Workplace) -> Result<Known, Failure> {
        let places = places(here)?;
        let found = match self.id.parse::<SessionId>() {
            Ok(id) => catalogue::by_id(&places, id),
            Err(_) => {
                let name = parse_name(&self.id)?;
                match self.project(here)? {
                    Some(project) => catalogue::by_name(&places, project, &name),
                    None => Ok(None),
                }
            }
        };
        found.map_err(|error| unreadable(&error))?.ok_or_else(|| {
            let text = format!("there is no session {:?} in this project", self.id);
            Failure::new(ExitCode::NotFound, text).hint("see what there is: `handoff ps --all`")
        })
    }

    /// The project in which a name is meant. For a session in a sandbox it is the one that its holder knows: what its tree says
    /// is the session's own word.
    fn project(&self, here: &Workplace) -> Result<Option<ProjectId>, Failure> {
        match &self.repo {
            Some(_) if here.tree.is_some() => Err(Failure::new(
                ExitCode::Forbidden,
                "a session in a sandbox means the sessions of its own project",
            )),
            Some(repo) => project_at(repo),
            None => project_here(here),
        }
    }

    /// The session, which must live.
    pub fn find_live(&self, here: &Workplace) -> Result<Known, Failure> {
        let known = self.find(here)?;
        let name = &known.record.name;
        match known.standing {
            Standing::Live => Ok(known),
            Standing::Ended => Err(Failure::new(
                ExitCode::Conflict,
                format!("the session `{name}` has ended"),
            )
            .hint(format!(
                "see what it printed: `handoff logs --id {}`",
                self.id
            ))),
            Standing::Lost => Err(lost(&known)),
        }
    }
}

/// The holder of a session died without a word.
pub fn lost(known: &Known) -> Failure {
    let last = last_state(&known.directory);
    let text = format!(
        "the session `{}` is lost: its holder died{last}",
        known.record.name
    );
    Failure::failed(text).hint(format!(
        "see what it printed: `handoff logs --id {}`",
        known.record.id
    ))
}

fn last_state(directory: &Path) -> String {
    let last = handoff_session::journal::last_state(directory);
    match last.ok().flatten() {
        None => String::new(),
        Some((state, None)) => format!("; it was last seen {}", state.word()),
        Some((state, Some(kind))) => {
            format!("; it was last seen {} ({})", state.word(), kind.word())
        }
    }
}

pub fn parse_name(text: &str) -> Result<SessionName, Failure> {
    text.parse().map_err(|error| {
        Failure::usage(format!("{text:?} is not the name of a session")).because(&error)
    })
}

pub fn places(here: &Workplace) -> Result<Places, Failure> {
    Ok(Places::new(here.home()?))
}

pub fn unreadable(error: &CatalogueError) -> Failure {
    let code = match error {
        CatalogueError::Record(_) | CatalogueError::Name(..) => ExitCode::Damaged,
        CatalogueError::Directory(_) | CatalogueError::Lock(_) => ExitCode::Unavailable,
    };
    Failure::new(code, "cannot look at the sessions").because(error)
}

/// A holder that says no to what was asked of it, and why; `told` puts its reason into a sentence.
pub fn refused(known: &Known, error: &ClientError, told: impl FnOnce(&str) -> String) -> Failure {
    let name = &known.record.name;
    match error {
        ClientError::Refused {
            status: 409,
            message,
        } => Failure::new(ExitCode::Conflict, told(message))
            .hint(format!("look at it: `handoff pane --id {name}`")),
        ClientError::Directory(_)
        | ClientError::Connect(..)
        | ClientError::Stranger(_)
        | ClientError::Ask(_)
        | ClientError::Talk(_)
        | ClientError::Http(_)
        | ClientError::Answer(_)
        | ClientError::Refused { .. } => unreachable(known, error),
    }
}

/// A holder that cannot be asked.
pub fn unreachable(known: &Known, error: &ClientError) -> Failure {
    let text = format!("cannot ask the holder of `{}`", known.record.name);
    Failure::new(ExitCode::Unavailable, text)
        .because(error)
        .hint("see whether it lives: `handoff ps`")
}
