//! What an agent finds in its environment. `docs/environment.md` says it to people; a test compares the two.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use handoff_core::{BatchId, Fence, Role, SessionId, SessionName, TaskId, TaskName};

use crate::token::Token;

/// The id of the session.
pub const SESSION: &str = "HANDOFF_SESSION";
/// What people call it.
pub const NAME: &str = "HANDOFF_SESSION_NAME";
/// The secret that lets its commands act as this session, and as no other.
pub const TOKEN: &str = "HANDOFF_SESSION_TOKEN";
/// Where its holder listens.
pub const SOCKET: &str = "HANDOFF_SOCKET";
/// The adapter that reads it.
pub const AGENT: &str = "HANDOFF_AGENT";
/// What it is there for: `main`, `sub-task` or `fan-in`.
pub const ROLE: &str = "HANDOFF_ROLE";
/// The batch that its task belongs to.
pub const BATCH: &str = "HANDOFF_BATCH";
/// The name of its task.
pub const TASK: &str = "HANDOFF_TASK";
/// The id of its task.
pub const TASK_ID: &str = "HANDOFF_TASK_ID";
/// The number of its lease.
pub const FENCE: &str = "HANDOFF_FENCE";
/// Which attempt at the task this is.
pub const ATTEMPT: &str = "HANDOFF_ATTEMPT";
/// The file with what it was told first.
pub const PROMPT_FILE: &str = "HANDOFF_PROMPT_FILE";
/// That something holds it: `worktree`. Not there otherwise.
pub const SANDBOX: &str = "HANDOFF_SANDBOX";
/// That the way to the ledger is kept from it, and its holder does what needs one. Not there otherwise.
pub const LEDGER: &str = "HANDOFF_LEDGER";
/// The program that holds the session, by its path: what `handoff` means, also where a shell has set its `PATH` anew.
pub const PROGRAM: &str = "HANDOFF_PROGRAM";
/// The session that started this one.
pub const PARENT: &str = "HANDOFF_PARENT_SESSION";
/// The tmux pane of whoever started it without being a session.
pub const PARENT_PANE: &str = "HANDOFF_PARENT_PANE";
/// That what runs is run by the tool to prove something: the task that it is about. Whoever runs there may look, and nothing more.
pub const CHECK: &str = "HANDOFF_CHECK";

/// Everything that says something about one session only.
pub const OF_ONE_SESSION: [&str; 17] = [
    SESSION,
    NAME,
    TOKEN,
    SOCKET,
    AGENT,
    ROLE,
    BATCH,
    TASK,
    TASK_ID,
    FENCE,
    ATTEMPT,
    PROMPT_FILE,
    SANDBOX,
    LEDGER,
    PROGRAM,
    PARENT,
    PARENT_PANE,
];

/// What a session works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    pub task: TaskName,
    pub id: TaskId,
    pub fence: Fence,
    pub batch: Option<BatchId>,
}

/// A session as its agent knows it.
#[derive(Debug)]
pub struct Itself<'a> {
    pub id: SessionId,
    pub name: &'a SessionName,
    pub agent: &'a str,
    pub role: Role,
    pub work: Option<&'a Work>,
    pub socket: &'a Path,
    pub token: &'a Token,
    /// This program.
    pub program: &'a Path,
}

/// Takes out what another session left there and puts in what this one is. Who started it stays known.
pub fn equip(environment: &mut BTreeMap<OsString, OsString>, itself: &Itself<'_>) {
    let parent = environment.remove(OsStr::new(SESSION));
    let pane = environment.remove(OsStr::new("TMUX_PANE"));
    for name in OF_ONE_SESSION {
        environment.remove(OsStr::new(name));
    }
    let mut set = |name: &str, value: OsString| environment.insert(name.into(), value);
    match (parent, pane) {
        (Some(parent), _) => drop(set(PARENT, parent)),
        (None, Some(pane)) => drop(set(PARENT_PANE, pane)),
        (None, None) => {}
    }
    set(SESSION, itself.id.to_string().into());
    set(NAME, itself.name.to_string().into());
    set(TOKEN, itself.token.reveal().into());
    set(SOCKET, itself.socket.into());
    set(AGENT, itself.agent.into());
    set(ROLE, itself.role.word().into());
    set(PROGRAM, itself.program.into());
    if let Some(work) = itself.work {
        set(TASK, work.task.to_string().into());
        set(TASK_ID, work.id.to_string().into());
        set(FENCE, work.fence.to_string().into());
        set(ATTEMPT, work.fence.to_string().into());
        if let Some(batch) = work.batch {
            set(BATCH, batch.to_string().into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> BTreeMap<OsString, OsString> {
        let own = |(name, value): &(&str, &str)| ((*name).into(), (*value).into());
        pairs.iter().map(own).collect()
    }

    fn equipped(mut environment: BTreeMap<OsString, OsString>) -> Vec<(String, String)> {
        let itself = Itself {
            id: "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60".parse().unwrap(),
            name: &"impl".parse().unwrap(),
            agent: "bash",
            role: Role::Main,
            work: None,
            socket: Path::new("/run/x.sock"),
            token: &Token::new([7; 32]),
            program: Path::new("/opt/handoff"),
        };
        equip(&mut environment, &itself);
        let text = |it: &OsString| it.to_str().unwrap().to_owned();
        let pairs = environment
            .iter()
            .map(|(name, value)| (text(name), text(value)));
        pairs.filter(|(name, _)| name != TOKEN).collect()
    }

    #[test]
    fn what_belongs_to_the_session_around_it_is_gone() {
        let around = environment(&[
            (SESSION, "ses_outer"),
            (TOKEN, "hst_outer"),
            (TASK, "outer"),
            (FENCE, "3"),
            ("TMUX_PANE", "%1"),
            ("PATH", "/bin"),
        ]);
        let expected = [
            (AGENT, "bash"),
            (PARENT, "ses_outer"),
            (PROGRAM, "/opt/handoff"),
            (ROLE, "main"),
            (SESSION, "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60"),
            (NAME, "impl"),
            (SOCKET, "/run/x.sock"),
            ("PATH", "/bin"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(equipped(around), expected);
    }

    #[test]
    fn one_who_is_no_session_leaves_its_pane() {
        let table = equipped(environment(&[("TMUX_PANE", "%7")]));
        let pane = (PARENT_PANE.to_owned(), "%7".to_owned());
        assert!(table.contains(&pane) && !table.iter().any(|(name, _)| name == PARENT));
    }
}
