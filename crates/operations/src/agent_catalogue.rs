//! The agents that are known: those that are built in, and those that the user described in
//! `$XDG_CONFIG_HOME/handoff/agents/NAME.toml`. A file of the user's counts more. A repository's never counts: it would say what
//! is started and what a dialog means.

use std::io::ErrorKind;
use std::path::PathBuf;

use handoff_agents::{Agent, AgentName, Pointer};
use handoff_api::ExitCode;
use handoff_session::Known;

use crate::failure::Failure;
use crate::workplace::Workplace;

/// An agent and where its description stands.
#[derive(Debug)]
pub struct Described {
    pub agent: Agent,
    pub text: String,
    /// None for one that is built in.
    pub file: Option<PathBuf>,
}

/// The agent of this name, or none.
pub fn find(name: &AgentName, here: &Workplace) -> Result<Option<Described>, Failure> {
    if let Some(described) = of_user(name, here)? {
        return Ok(Some(described));
    }
    let built_in = Agent::built_in(name.as_str());
    Ok(built_in
        .zip(Agent::built_in_text(name.as_str()))
        .map(|(agent, text)| Described {
            agent,
            text: text.to_owned(),
            file: None,
        }))
}

/// The agent of this name; that there is none is told with those that there are.
pub fn require(name: &AgentName, here: &Workplace) -> Result<Described, Failure> {
    find(name, here)?.ok_or_else(|| {
        let text = format!("no agent is called `{name}`");
        Failure::new(ExitCode::NotFound, text).hint("see those that there are: `handoff agents`")
    })
}

/// Whether the agent of a session understands words. A shell would run them, and of a program that is no agent nobody knows.
pub fn reads_words(known: &Known, here: &Workplace) -> Result<bool, Failure> {
    let name: Option<AgentName> = known.record.agent.parse().ok();
    let Some(name) = name.filter(|name| name.as_str() != Agent::GENERIC) else {
        return Ok(false);
    };
    let described = find(&name, here)?;
    Ok(described.is_some_and(|it| it.agent.adapter.input.pointer == Pointer::Sentence))
}

/// All names: built-in ones first, in their order, then those that only the user has.
pub fn names(here: &Workplace) -> Result<Vec<AgentName>, Failure> {
    let mut names: Vec<AgentName> = Agent::built_in_names().collect();
    let mut own = names_of_user(here)?;
    own.retain(|name| !names.contains(name));
    own.sort();
    names.extend(own);
    Ok(names)
}

fn directory(here: &Workplace) -> Option<PathBuf> {
    let config = here.ambient.config_file()?;
    Some(config.with_file_name("agents"))
}

fn of_user(name: &AgentName, here: &Workplace) -> Result<Option<Described>, Failure> {
    let Some(directory) = directory(here) else {
        return Ok(None);
    };
    let file = directory.join(format!("{name}.toml"));
    let shown = file.display();
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(Failure::failed(format!("cannot read `{shown}`")).because(&error)),
    };
    let agent = Agent::parse(name.clone(), &text).map_err(|mistake| {
        Failure::failed(format!("`{shown}` does not describe an agent"))
            .because(&mistake)
            .hint("see how one is described: `handoff agents show claude`")
    })?;
    Ok(Some(Described {
        agent,
        text,
        file: Some(file),
    }))
}

fn names_of_user(here: &Workplace) -> Result<Vec<AgentName>, Failure> {
    let Some(directory) = directory(here) else {
        return Ok(vec![]);
    };
    let entries = match std::fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(vec![]);
        }
        Err(error) => {
            let text = format!("cannot read `{}`", directory.display());
            return Err(Failure::failed(text).because(&error));
        }
    };
    let names = entries.filter_map(|entry| {
        let file = entry.ok()?.file_name();
        file.to_str()?.strip_suffix(".toml")?.parse().ok()
    });
    Ok(names.collect())
}
