//! Listing sessions.

use std::collections::HashMap;
use std::path::PathBuf;

use handoff_api::{SessionDocument, SessionsDocument};
use handoff_core::{Action, ProjectId};
use handoff_session::{Known, Standing, catalogue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::address::{places, unreadable};
use super::document::documents;
use super::relief::relieve;
use crate::failure::Failure;
use crate::operation::{Effect, Needs, Operation, Takes};
use crate::project::project_at;
use crate::workplace::Workplace;

/// List the sessions of a project, or of all: those that live, and on request those that have ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListSessions {
    /// Sessions of all projects.
    #[serde(default)]
    pub all: bool,
    /// Also those that have ended.
    #[serde(default)]
    pub ended: bool,
    /// Sessions of the project of this directory; without it of where the caller is.
    #[serde(default)]
    pub repo: Option<PathBuf>,
    /// Only the one with this name or id.
    #[serde(default)]
    pub id: Option<String>,
}

impl Operation for ListSessions {
    type Response = SessionsDocument;

    const NAME: &'static str = "list_sessions";
    const EFFECT: Effect = Effect::Reads;
    const NEEDS: Needs = Needs::Action(Action::Read);
    const TAKES: Takes = Takes::Moment;

    fn perform(self, here: &Workplace) -> Result<SessionsDocument, Failure> {
        let known = self.wanted(here)?;
        // What a holder says at its lock is not younger than this.
        let now = here.clock()?.now();
        let mut sessions = documents(&known, &now);
        let mut remarks = vec![];
        for (known, session) in known.iter().zip(&mut sessions) {
            if let Some((work, tenure)) = relieve(known, here) {
                session.lease = Some(tenure.document());
                remarks.extend(tenure.remark(known, &work));
            }
        }
        Ok(SessionsDocument { sessions, remarks })
    }
}

impl ListSessions {
    fn wanted(&self, here: &Workplace) -> Result<Vec<Known>, Failure> {
        let project = if self.all {
            None
        } else {
            let place = self.repo.as_deref().map_or_else(|| here.cwd(), Ok)?;
            let project = project_at(place);
            match project
                .map_err(|failure| failure.hint("or see all sessions: `handoff ps --all`"))?
            {
                Some(project) => Some(project),
                None => return Ok(vec![]),
            }
        };
        let all = catalogue::all(&places(here)?).map_err(|error| unreadable(&error))?;
        let newest: HashMap<_, _> = all
            .iter()
            .map(|known| {
                (
                    (known.record.project, known.record.name.clone()),
                    known.record.id,
                )
            })
            .collect();
        let is_wanted = |known: &Known| {
            let record = &known.record;
            let is_here = project.is_none_or(|project| record.project == project);
            let is_newest = newest[&(record.project, record.name.clone())] == record.id;
            is_here
                && self.means(known)
                && match known.standing {
                    Standing::Live => true,
                    Standing::Ended => self.ended,
                    // A lost one is of interest until its name is used again.
                    Standing::Lost => self.ended || is_newest,
                }
        };
        Ok(all.iter().filter(|it| is_wanted(it)).cloned().collect())
    }

    fn means(&self, known: &Known) -> bool {
        let record = &known.record;
        let is = |id: &String| *id == record.name.as_str() || *id == record.id.to_string();
        self.id.as_ref().is_none_or(is)
    }
}

/// The sessions of a project that live, as they are now.
pub fn living(project: ProjectId, here: &Workplace) -> Result<Vec<SessionDocument>, Failure> {
    let known = catalogue::living(&places(here)?, project).map_err(|error| unreadable(&error))?;
    Ok(documents(&known, &here.clock()?.now()))
}
