//! The kinds of agent CLI: those that are built in, and those that a user has described.

mod mistake;

use std::ffi::OsString;
use std::path::Path;

use crate::adapter::Adapter;

pub use handoff_core::{AgentName, AgentNameError};
pub use mistake::Mistake;

/// A kind of agent CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    pub name: AgentName,
    pub adapter: Adapter,
}

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../adapters/", $name, ".toml")))),*]
    };
}

/// Names and texts, in the order that they are listed in.
const BUILT_IN: [(&str, &str); 12] = built_in![
    "claude", "codex", "opencode", "gemini", "aider", "copilot", "bash", "zsh", "sh", "scripted",
    "tab", "generic",
];

impl Agent {
    /// Any program for a terminal; its name is the first of the arguments.
    pub const GENERIC: &str = "generic";
    /// The built-in agent that plays a script: `handoff scripted-agent SCRIPT.toml`.
    pub const SCRIPTED: &str = "scripted";
    /// The built-in stand-in for an agent in a tab: `handoff tab-agent`.
    pub const TAB: &str = "tab";

    /// Reads the description of an agent.
    pub fn parse(name: AgentName, text: &str) -> Result<Self, Mistake> {
        let adapter: Adapter =
            toml::from_str(text).map_err(|error| Mistake::in_toml(text, &error))?;
        match adapter.empty_rule() {
            Some(number) => Err(Mistake::empty_rule(text, number)),
            None => Ok(Self { name, adapter }),
        }
    }

    /// The names of those that are built in.
    pub fn built_in_names() -> impl Iterator<Item = AgentName> {
        BUILT_IN.iter().map(|(name, _)| of_built_in(name))
    }

    /// The description of a built-in agent, for whoever writes another.
    pub fn built_in_text(name: &str) -> Option<&'static str> {
        let (_, text) = BUILT_IN.iter().find(|(own, _)| *own == name)?;
        Some(text)
    }

    pub fn built_in(name: &str) -> Option<Self> {
        let (name, text) = BUILT_IN.iter().find(|(own, _)| *own == name)?;
        let agent = Self::parse(of_built_in(name), text);
        Some(agent.expect("a test reads every built-in agent"))
    }

    /// The command line that launches this agent; `arguments` are the user's own, passed on as they
    /// are.
    ///
    /// `handoff` is the path of the running binary: the scripted agent is part of it, and a lookup
    /// in `PATH` could find another version.
    pub fn argv(&self, handoff: &Path, arguments: &[OsString]) -> Vec<OsString> {
        let own = self.adapter.launch.command.iter();
        own.map(|word| match word.as_str() {
            "{handoff}" => handoff.into(),
            word => OsString::from(word),
        })
        .chain(arguments.iter().cloned())
        .collect()
    }

    /// What is added to the arguments so that it plays a role; nothing where it takes a role from its prompt only.
    pub fn playing(&self, role: &str) -> Vec<OsString> {
        let words = self.adapter.launch.role.iter();
        words
            .map(|word| word.replace("{role}", role).into())
            .collect()
    }
}

fn of_built_in(name: &str) -> AgentName {
    name.parse()
        .expect("a test reads the name of every built-in agent")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_agent_can_be_read() {
        for (name, text) in BUILT_IN {
            if let Err(mistake) = Agent::parse(of_built_in(name), text) {
                panic!("{name}: {mistake}");
            }
        }
        assert_eq!(Agent::built_in("hal"), None);
    }

    fn argv(name: &str, arguments: &[&str]) -> Vec<OsString> {
        let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
        let agent = Agent::built_in(name).unwrap();
        agent.argv(Path::new("/opt/handoff"), &arguments)
    }

    #[test]
    fn scripted_agent_is_launched_from_the_running_binary() {
        let argv = argv(Agent::SCRIPTED, &["hello.toml"]);
        assert_eq!(argv, ["/opt/handoff", "scripted-agent", "hello.toml"]);
    }

    #[test]
    fn a_role_is_said_to_those_who_can_hear_it() {
        let playing = |name: &str| Agent::built_in(name).unwrap().playing("You plan.");
        assert_eq!(playing("claude"), ["--append-system-prompt", "You plan."]);
        assert_eq!(playing("codex"), ["-c", "developer_instructions=You plan."]);
        assert_eq!(playing("gemini"), [""; 0]);
    }

    #[test]
    fn any_program_is_launched_as_it_is_named() {
        assert_eq!(argv(Agent::GENERIC, &["python3", "-q"]), ["python3", "-q"]);
        assert_eq!(argv("bash", &[]), ["bash"]);
    }

    #[test]
    fn a_mistake_is_told_with_its_line_and_key() {
        let told = |text: &str| {
            let name = "mine".parse().unwrap();
            Agent::parse(name, text).unwrap_err().to_string()
        };
        let head = "about = \"x\"\n[launch]\ncommand = [\"x\"]\n";
        let unknown = told(&format!("{head}colour = 1\n"));
        assert!(
            unknown.starts_with("line 4: unknown field `colour`"),
            "{unknown}"
        );
        let meaning = told(&format!("{head}[[title]]\nfits = \"*\"\nmeans = \"tea\"\n"));
        assert!(
            meaning.starts_with("line 6: `tea` means nothing"),
            "{meaning}"
        );
        let empty = told(&format!("{head}[[screen]]\nmeans = \"busy\"\n"));
        assert!(
            empty.starts_with("line 4: the rule has no pattern"),
            "{empty}"
        );
        let missing = told("about = \"x\"\n");
        assert!(missing.contains("missing field `launch`"), "{missing}");
    }
}
