//! Where the records of agents lie, and which of them is this session's.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use handoff_agents::conversation::Format;
use handoff_process::{open_files, tree};

/// The directory in which an agent with this environment keeps its files.
pub(super) fn home(format: Format, environment: &BTreeMap<OsString, OsString>) -> Option<PathBuf> {
    let (variable, folder) = match format {
        Format::Claude => ("CLAUDE_CONFIG_DIR", ".claude"),
        Format::Codex => ("CODEX_HOME", ".codex"),
        Format::Copilot => ("COPILOT_HOME", ".copilot"),
        Format::Gemini => ("GEMINI_CLI_HOME", ".gemini"),
        // It has no file that could be read while it runs.
        Format::Opencode => return Some(PathBuf::new()),
    };
    let directory = |name: &str| {
        let value = environment.get(OsStr::new(name))?;
        Some(PathBuf::from(value)).filter(|path| path.is_absolute())
    };
    match (format, directory(variable)) {
        // This one stands for the home of the user.
        (Format::Gemini, Some(home)) => Some(home.join(folder)),
        (_, Some(own)) => Some(own),
        (_, None) => Some(directory("HOME")?.join(folder)),
    }
}

/// The record that a process of this session has open. Its name begins with the time, so the last is the newest.
pub(super) fn rollout(below: &Path) -> Option<PathBuf> {
    // It may be a link, and the kernel says where a file really is.
    let below = below.canonicalize().ok()?;
    let processes = tree::descendants(&[]).ok()?;
    let files = processes.iter().flat_map(|process| open_files(process.pid));
    let is_rollout = |file: &PathBuf| {
        let name = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
        file.starts_with(&below) && name.starts_with("rollout-") && name.ends_with(".jsonl")
    };
    files.filter(is_rollout).max()
}

/// The record beside which a process of this session has put its number.
pub(super) fn in_use(below: &Path) -> Option<PathBuf> {
    let processes = tree::descendants(&[]).ok()?;
    let locks: Vec<String> = processes
        .iter()
        .map(|process| format!("inuse.{}.lock", process.pid))
        .collect();
    let folders = entries(below).into_iter();
    let is_ours = |folder: &PathBuf| locks.iter().any(|lock| folder.join(lock).exists());
    let folder = folders.filter(is_ours).max_by_key(|it| changed_at(it))?;
    Some(folder.join("events.jsonl")).filter(|it| it.exists())
}

/// The record of the session with this id, of which its name has the beginning.
pub(super) fn named(below: &Path, id: &str) -> Option<PathBuf> {
    let end = format!("-{}.jsonl", id.get(..8)?);
    let is_it = |file: &PathBuf| {
        let name = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
        name.starts_with("session-") && name.ends_with(&end)
    };
    let projects = entries(below).into_iter();
    projects
        .flat_map(|it| entries(&it.join("chats")))
        .find(is_it)
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect()
}

fn changed_at(path: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_found_by_the_id_that_the_session_was_given() {
        let place = tempfile::tempdir().unwrap();
        let chats = place.path().join("project/chats");
        fs::create_dir_all(&chats).unwrap();
        let name = "session-2026-11-16T08-47-9a0416c9.jsonl";
        for file in [name, "session-2026-11-16T08-48-f5b10527.jsonl"] {
            fs::write(chats.join(file), "").unwrap();
        }
        let id = "9a0416c9-fe3e-4a8a-b791-72e9003034df";
        assert_eq!(named(place.path(), id), Some(chats.join(name)));
        assert_eq!(named(place.path(), "00000000-0000"), None);
        assert_eq!(named(place.path(), "9a"), None);
    }

    #[test]
    fn an_agent_is_looked_for_where_its_user_has_put_it() {
        let home_of = |format, variables: &[(&str, &str)]| {
            let pairs = variables
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()));
            home(format, &pairs.collect())
        };
        let user = ("HOME", "/home/ada");
        let claude = home_of(Format::Claude, &[user, ("CLAUDE_CONFIG_DIR", "/c")]);
        assert_eq!(claude, Some("/c".into()));
        let gemini = home_of(Format::Gemini, &[user, ("GEMINI_CLI_HOME", "/g")]);
        assert_eq!(gemini, Some("/g/.gemini".into()));
        let codex = home_of(Format::Codex, &[user, ("CODEX_HOME", "relative")]);
        assert_eq!(codex, Some("/home/ada/.codex".into()));
        assert_eq!(home_of(Format::Copilot, &[]), None);
    }
}
