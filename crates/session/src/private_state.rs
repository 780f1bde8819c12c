//! The configuration directory that an agent has in a sandbox, instead of the person's: made when its session begins, gone with it.
//!
//! Copied is what the agent writes to, and what is in the copy stays there. Linked is what it only reads: what is behind a link is
//! outside of the sandbox, and the kernel goes by that. Shared are links too, to places that the sandbox has as writable.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::Path;

use handoff_agents::adapter::{PrivateState, State};

/// A settings file that is longer is not copied.
const LONGEST: u64 = 16 * 1024 * 1024;

/// Makes it in this directory, for an agent that works in `cwd` and would have this environment. The person may have none of what
/// is copied, linked or shared.
pub(crate) fn furnish(
    state: &PrivateState,
    environment: &BTreeMap<OsString, OsString>,
    cwd: &Path,
    into: &Path,
) -> io::Result<()> {
    let Some(origin) = state.origin(environment) else {
        return Ok(());
    };
    for entry in &state.copy {
        let name = entry.path(cwd);
        copy(&origin.join(&name), &into.join(&name))?;
    }
    let elsewhere = state.copy_from.iter();
    for place in elsewhere.filter_map(|it| it.locate(environment)) {
        let (State::File(from) | State::Directory(from)) = place;
        if let Some(name) = from.file_name() {
            copy(&from, &into.join(name))?;
        }
    }
    let linked = state.link.iter().map(|it| it.path(cwd));
    let linked = linked.map(|name| (origin.join(&name), name));
    let shared = state.shared(environment, cwd).into_iter();
    let shared = shared.map(|(name, place)| match place {
        State::Directory(path) | State::File(path) => (path, name),
    });
    for (from, name) in linked.chain(shared) {
        if from.exists() {
            link(&from, &into.join(name))?;
        }
    }
    Ok(())
}

/// A link to what is at a place.
pub(crate) fn link(from: &Path, to: &Path) -> io::Result<()> {
    make_parent(to)?;
    symlink(from, to)
}

/// Nothing is done where there is no file, one that is too long, or one that is there already.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    // A pipe would keep us waiting.
    let is_file = fs::metadata(from).is_ok_and(|it| it.is_file() && it.len() <= LONGEST);
    if !is_file || to.exists() {
        return Ok(());
    }
    let mut content = vec![];
    fs::File::open(from)?
        .take(LONGEST)
        .read_to_end(&mut content)?;
    make_parent(to)?;
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(to)?;
    file.write_all(&content)
}

fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

#[cfg(test)]
mod tests {
    use handoff_agents::Agent;

    use super::*;

    /// The directory of a person, and what the session of one that works in `/w/x` gets.
    fn furnished(agent: &str, files: &[(&str, &str)]) -> (tempfile::TempDir, std::path::PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let (home, into) = (root.path().join("home"), root.path().join("own"));
        fs::create_dir_all(&into).unwrap();
        for (name, text) in files {
            let path = home.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let environment = [("HOME".into(), home.into_os_string())].into();
        let state = Agent::built_in(agent).unwrap().adapter.sandbox.private;
        furnish(&state.unwrap(), &environment, Path::new("/w/x"), &into).unwrap();
        (root, into)
    }

    #[test]
    fn settings_are_copied_skills_are_linked_and_only_data_is_shared() {
        let (root, own) = furnished(
            "claude",
            &[
                (".claude.json", "trust"),
                (".claude/settings.json", "settings"),
                (".claude/skills/s/SKILL.md", "skill"),
                (".claude/.credentials.json", "token"),
                (".claude/projects/-w-x/a.jsonl", "words"),
                (".claude/projects/-w-y/b.jsonl", "others"),
                (".claude/history.jsonl", "history"),
            ],
        );
        let home = root.path().join("home/.claude");
        let link = |name: &str| fs::read_link(own.join(name)).ok();
        let text = |name: &str| fs::read_to_string(own.join(name)).ok();
        assert_eq!(text(".claude.json").as_deref(), Some("trust"));
        assert_eq!(link(".claude.json"), None);
        assert_eq!(text("settings.json").as_deref(), Some("settings"));
        assert_eq!(link("settings.json"), None);
        assert_eq!(link("skills"), Some(home.join("skills")));
        let credentials = home.join(".credentials.json");
        assert_eq!(link(".credentials.json"), Some(credentials));
        assert_eq!(link("projects/-w-x"), Some(home.join("projects/-w-x")));
        assert_eq!(text("projects/-w-y/b.jsonl"), None);
        assert_eq!(text("history.jsonl"), None);
    }

    #[test]
    fn a_person_who_has_nothing_gets_an_empty_one() {
        let (_root, own) = furnished("codex", &[]);
        assert_eq!(fs::read_dir(own).unwrap().count(), 0);
    }

    #[test]
    fn what_is_no_file_is_not_copied() {
        let (root, own) = furnished("codex", &[(".codex/config.toml/x", "")]);
        assert!(root.path().join("home/.codex/config.toml").is_dir());
        assert!(!own.join("config.toml").exists());
    }
}
