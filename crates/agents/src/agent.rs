//! The kinds of agent CLI, and how each is launched.
//!
//! An adapter is data: it says what to start and never starts it.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// A kind of agent CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Agent {
    /// The built-in agent that plays a script: `handoff scripted-agent SCRIPT.toml`.
    Scripted,
    /// Claude Code.
    Claude,
    /// Codex. Its daemon is left out: it would do the work outside of the session.
    Codex,
    /// The Bourne-again shell.
    Bash,
    /// The Z shell.
    Zsh,
    /// The system's own shell.
    Sh,
    /// Any program for a terminal; its name is the first of the arguments.
    Generic,
}

/// A name that belongs to no [`Agent`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no agent is called `{0}`")]
pub struct UnknownAgent(pub String);

impl Agent {
    pub const ALL: [Self; 7] = [
        Self::Scripted,
        Self::Claude,
        Self::Codex,
        Self::Bash,
        Self::Zsh,
        Self::Sh,
        Self::Generic,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Scripted => "scripted",
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Sh => "sh",
            Self::Generic => "generic",
        }
    }

    /// The command line that launches this agent; `arguments` are the user's own, passed on as they
    /// are.
    ///
    /// `handoff` is the path of the running binary: the built-in agent is part of it, and a lookup
    /// in `PATH` could find another version.
    pub fn argv(self, handoff: &Path, arguments: &[OsString]) -> Vec<OsString> {
        let mut argv = match self {
            Self::Scripted => vec![handoff.into(), "scripted-agent".into()],
            Self::Codex => vec!["codex".into(), "--no-daemon".into()],
            Self::Claude | Self::Bash | Self::Zsh | Self::Sh => vec![self.name().into()],
            Self::Generic => vec![],
        };
        argv.extend_from_slice(arguments);
        argv
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Agent {
    type Err = UnknownAgent;

    fn from_str(name: &str) -> Result<Self, UnknownAgent> {
        Self::ALL
            .into_iter()
            .find(|agent| agent.name() == name)
            .ok_or_else(|| UnknownAgent(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_is_found_by_its_name() {
        for agent in Agent::ALL {
            assert_eq!(agent.to_string().parse(), Ok(agent));
        }
        assert_eq!("hal".parse::<Agent>(), Err(UnknownAgent("hal".to_owned())));
    }

    #[test]
    fn scripted_agent_is_launched_from_the_running_binary() {
        let argv = Agent::Scripted.argv(Path::new("/opt/handoff"), &["hello.toml".into()]);
        assert_eq!(argv, ["/opt/handoff", "scripted-agent", "hello.toml"]);
    }

    #[test]
    fn any_program_is_launched_as_it_is_named() {
        let words = ["python3".into(), "-q".into()];
        assert_eq!(Agent::Generic.argv(Path::new("/x"), &words), words);
        assert_eq!(Agent::Bash.argv(Path::new("/x"), &[]), ["bash"]);
    }
}
