//! What an agent writes down for itself, where it can be read without touching a setting of its user: the session file of
//! Claude Code and the records of conversations.
//!
//! Everything here is somebody else's and may be missing, half written or of another version. Then there is no sign, and
//! whoever asked goes by the others.

mod follower;
mod regular;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_agents::conversation::{Format, Turn};
use handoff_agents::{ClaudeSession, Hint, Usage};
use handoff_core::time::Nanos;
use handoff_files::{Wake, Watch};
use handoff_process::{open_files, tree};
use rustix::event::{PollFd, PollFlags};

use follower::Follower;

/// How often the directory to watch is looked for as long as it is not there; only while the agent prints.
const TRY_INTERVAL: Duration = Duration::from_millis(500);
/// A session file has a few hundred bytes.
const LARGEST_FILE: u64 = 64 * 1024;

/// What an agent writes down for itself.
pub struct Native {
    format: Format,
    /// Where it keeps its files.
    home: PathBuf,
    pid: u32,
    watch: Option<Watch>,
    try_at: Nanos,
    session: Option<ClaudeSession>,
    follower: Option<Follower>,
    /// How many turns of the record were told already.
    told: u64,
    /// A turn that has ended before its figures were on record, and the watch over the record.
    owed: Option<(u64, Watch)>,
}

impl Native {
    /// For an agent with this environment and process; none if nothing is known of its files.
    pub fn of(
        format: Option<Format>,
        environment: &BTreeMap<OsString, OsString>,
        pid: u32,
    ) -> Option<Self> {
        let format = format?;
        Some(Self {
            format,
            home: home(format, environment)?,
            pid,
            watch: None,
            try_at: Nanos(0),
            session: None,
            follower: None,
            told: 0,
            owed: None,
        })
    }

    pub fn poll_fds(&self) -> impl Iterator<Item = PollFd<'_>> {
        let owed = self.owed.iter().map(|(_, watch)| watch);
        let watches = self.watch.iter().chain(owed);
        watches.map(|watch| PollFd::from_borrowed_fd(watch.as_fd(), PollFlags::IN))
    }

    /// What it says that it does, if it has said something since the last look.
    pub fn look(&mut self, now: Nanos) -> Option<Hint> {
        match self.format {
            Format::Claude => self.look_at_session(now),
            // Its terminal says it sooner.
            Format::Codex => None,
        }
    }

    fn look_at_session(&mut self, now: Nanos) -> Option<Hint> {
        let has_changed = match &mut self.watch {
            Some(watch) => matches!(watch.wait(Some(Duration::ZERO)), Ok(Wake::Changed)),
            None if now >= self.try_at => {
                self.try_at = now.after(TRY_INTERVAL);
                // The watch first, or a change in between would be missed.
                self.watch = Watch::on_name(&self.session_file()).ok();
                self.watch.is_some()
            }
            None => false,
        };
        if !has_changed {
            return None;
        }
        let session = self.read_session()?;
        let before = self.session.replace(session.clone());
        let is_news = before.is_none_or(|before| before.hint != session.hint);
        session.hint.filter(|_| is_news)
    }

    fn session_file(&self) -> PathBuf {
        self.home.join(format!("sessions/{}.json", self.pid))
    }

    fn read_session(&self) -> Option<ClaudeSession> {
        let file = self.session_file();
        let mut text = String::new();
        let file = regular::open(&file).ok()?;
        let length = file.take(LARGEST_FILE + 1).read_to_string(&mut text).ok()?;
        let is_small = u64::try_from(length).is_ok_and(|length| length <= LARGEST_FILE);
        is_small.then(|| ClaudeSession::read(&text))?
    }

    /// The turn that has just ended, as far as it is on record; none if it was told before.
    pub fn turn(&mut self) -> Option<Turn> {
        let conversation = self.catch_up()?;
        let turns = conversation.turns();
        let turn = conversation.turn().cloned()?;
        (turns > self.told).then_some(turn)
    }

    /// Whether it waits for a tool that it called, as far as its record says.
    pub fn has_open_call(&mut self) -> bool {
        let conversation = self.catch_up();
        conversation.is_some_and(handoff_agents::Conversation::has_open_call)
    }

    /// The figures of this turn are not on record yet: some agents write them down after they show that they are done.
    pub fn owe(&mut self, turn: u64) {
        let record = self.record();
        let watch = record.and_then(|record| Watch::on_growth(&record).ok());
        self.owed = watch.map(|watch| (turn, watch));
    }

    /// The figures that were owed, once they are there.
    pub fn take_owed(&mut self) -> Option<(u64, Usage)> {
        let (turn, watch) = self.owed.as_mut()?;
        let turn = *turn;
        if !matches!(watch.wait(Some(Duration::ZERO)), Ok(Wake::Changed)) {
            return None;
        }
        let usage = self.turn().filter(|turn| turn.end.is_some())?.usage;
        self.owed = None;
        Some((turn, usage)).filter(|_| !usage.is_nothing())
    }

    /// What comes on record from now on is another turn.
    pub fn begin_turn(&mut self) {
        self.owed = None;
        if let Some(conversation) = self.catch_up() {
            // One that has not ended is the one that begins now: some agents write it down before they show it.
            let is_open = conversation.turn().is_some_and(|turn| turn.end.is_none());
            self.told = conversation.turns() - u64::from(is_open);
        }
    }

    fn catch_up(&mut self) -> Option<&handoff_agents::Conversation> {
        let record = self.record()?;
        if self.follower.as_ref().is_none_or(|it| it.path() != record) {
            // A new conversation, or the first: its turns are counted anew.
            self.told = 0;
            self.follower = Some(Follower::new(record, self.format));
        }
        let follower = self.follower.as_mut()?;
        follower.catch_up();
        Some(follower.conversation())
    }

    fn record(&self) -> Option<PathBuf> {
        match self.format {
            Format::Claude => {
                let session = self.read_session().or_else(|| self.session.clone())?;
                Some(self.home.join(session.record()))
            }
            Format::Codex => rollout(&self.home.join("sessions")),
        }
    }
}

/// The record that a process of this session has open. Its name begins with the time, so the last is the newest.
fn rollout(below: &Path) -> Option<PathBuf> {
    let processes = tree::descendants(&[]).ok()?;
    let files = processes.iter().flat_map(|process| open_files(process.pid));
    let is_rollout = |file: &PathBuf| {
        let name = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
        file.starts_with(below) && name.starts_with("rollout-") && name.ends_with(".jsonl")
    };
    files.filter(is_rollout).max()
}

fn home(format: Format, environment: &BTreeMap<OsString, OsString>) -> Option<PathBuf> {
    let (variable, folder) = match format {
        Format::Claude => ("CLAUDE_CONFIG_DIR", ".claude"),
        Format::Codex => ("CODEX_HOME", ".codex"),
    };
    let directory = |name: &str| {
        let value = environment.get(OsStr::new(name))?;
        Some(PathBuf::from(value)).filter(|path| path.is_absolute())
    };
    directory(variable).or_else(|| Some(directory("HOME")?.join(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(home: &Path) -> BTreeMap<OsString, OsString> {
        BTreeMap::from([("HOME".into(), home.as_os_str().to_owned())])
    }

    fn write(file: &Path, text: &str) {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    const fn at(seconds: i64) -> Nanos {
        Nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn a_session_file_is_heard_when_it_comes_and_when_it_changes() {
        let place = tempfile::tempdir().unwrap();
        let mut native = Native::of(Some(Format::Claude), &environment(place.path()), 7).unwrap();
        assert_eq!(native.look(at(1)), None, "there is no directory");
        let file = place.path().join(".claude/sessions/7.json");
        let text = |status: &str| format!(r#"{{"sessionId":"a","cwd":"/p","status":"{status}"}}"#);
        write(&file, &text("idle"));
        assert_eq!(native.look(at(2)), Some(Hint::Prompt));
        assert_eq!(native.look(at(3)), None, "nothing has changed");
        write(&file, &text("busy"));
        assert_eq!(native.look(at(4)), Some(Hint::Busy));
        write(&file.with_file_name("8.json"), &text("idle"));
        assert_eq!(native.look(at(5)), None, "that is another one's");
    }

    #[test]
    fn a_turn_is_told_once_it_is_on_record() {
        let place = tempfile::tempdir().unwrap();
        let mut native = Native::of(Some(Format::Claude), &environment(place.path()), 7).unwrap();
        let home = place.path().join(".claude");
        write(
            &home.join("sessions/7.json"),
            r#"{"sessionId":"a","cwd":"/p"}"#,
        );
        let asked = "{\"type\":\"user\",\"message\":{\"content\":\"hi\"}}\n";
        let said = "{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"stop_reason\":\"end_turn\",\
                    \"content\":[{\"type\":\"text\",\"text\":\"hello\"}]}}\n";
        write(&home.join("projects/-p/a.jsonl"), &format!("{asked}{said}"));
        native.begin_turn();
        assert_eq!(native.turn(), None, "that was before");
        write(
            &home.join("projects/-p/a.jsonl"),
            &format!("{asked}{said}{asked}{said}"),
        );
        assert_eq!(native.turn().unwrap().answer.as_deref(), Some("hello"));
    }
}
