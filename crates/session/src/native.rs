//! What an agent tells of itself besides its terminal, where that can be had without touching a setting of its user: the session
//! file of Claude Code, the events of opencode's own server, and the records of conversations.
//!
//! Everything here is somebody else's and may be missing, half written or of another version. Then there is no sign, and
//! whoever asked goes by the others.

mod event_intake;
mod event_stream;
mod follower;
mod own_record;
mod regular;
mod session_file;
mod whereabouts;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::time::Duration;

use handoff_agents::conversation::{Format, Turn};
use handoff_agents::{Conversation, Hint, Usage};
use handoff_core::time::Nanos;
use handoff_files::{Wake, Watch};
use rustix::event::{PollFd, PollFlags};

use crate::status_report::StatusReport;
use event_stream::EventStream;
use follower::Follower;
use own_record::OwnRecord;
use session_file::SessionFile;

/// How often what is to be watched is looked for as long as it is not there; only while the agent prints.
const TRY_INTERVAL: Duration = Duration::from_millis(500);

/// What an agent tells of itself.
pub struct Native {
    format: Format,
    /// Where it keeps its files.
    home: PathBuf,
    /// The id that its session was given.
    id: Option<String>,
    telling: Telling,
    follower: Option<Follower>,
    /// How many turns of the record were told already.
    told: u64,
    mark: Option<Mark>,
    /// A turn that has ended before its figures were on record, and the watch over the record.
    owed: Option<(u64, Watch)>,
}

/// Where the record stood when a message was sent off. What comes after it is the turn of that message, also if that is over
/// before anybody has seen it begin.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    record: Option<PathBuf>,
    turns: u64,
}

/// How it tells what it does.
enum Telling {
    /// By a file about the session.
    Session(SessionFile),
    /// By its record.
    Record(OwnRecord),
    /// By a server of its own.
    Stream(Box<EventStream>),
    /// By its terminal, sooner than in any file.
    Terminal,
}

/// What an agent was started with so that it can be heard.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Key {
    /// The id that its session was given.
    pub id: Option<String>,
    /// The password of its server.
    pub password: Option<String>,
}

impl Native {
    /// For an agent with this environment and process; none if nothing is known of its files.
    pub fn of(
        format: Option<Format>,
        environment: &BTreeMap<OsString, OsString>,
        pid: u32,
        key: Key,
    ) -> Option<Self> {
        let format = format?;
        let home = whereabouts::home(format, environment)?;
        let telling = match format {
            Format::Claude => {
                let file = home.join(format!("sessions/{pid}.json"));
                Telling::Session(SessionFile::new(file))
            }
            Format::Codex | Format::Gemini => Telling::Terminal,
            Format::Copilot => Telling::Record(OwnRecord::default()),
            Format::Opencode => Telling::Stream(Box::new(EventStream::new(format, key.password))),
        };
        Some(Self {
            format,
            home,
            id: key.id,
            telling,
            follower: None,
            told: 0,
            mark: None,
            owed: None,
        })
    }

    pub fn poll_fds(&self) -> impl Iterator<Item = PollFd<'_>> {
        let (watch, stream) = match &self.telling {
            Telling::Session(file) => (file.watch(), None),
            Telling::Record(record) => (record.watch(), None),
            Telling::Stream(stream) => (None, stream.poll_fd()),
            Telling::Terminal => (None, None),
        };
        let owed = self.owed.iter().map(|(_, watch)| watch);
        let watches = watch.into_iter().chain(owed);
        watches
            .map(|watch| PollFd::from_borrowed_fd(watch.as_fd(), PollFlags::IN))
            .chain(stream)
    }

    /// When to look although nothing happens.
    pub fn look_again(&self) -> Option<Nanos> {
        match &self.telling {
            Telling::Record(record) => record.look_again(),
            Telling::Stream(stream) => stream.look_again(),
            Telling::Session(_) | Telling::Terminal => None,
        }
    }

    /// Whether it tells of every turn when that begins. A file that is written now and then may be about the turn before.
    pub const fn is_prompt(&self) -> bool {
        matches!(self.telling, Telling::Record(_) | Telling::Stream(_))
    }

    /// What it has said since the last look.
    pub fn look(&mut self, now: Nanos) -> Vec<StatusReport> {
        match &mut self.telling {
            Telling::Session(file) => {
                let hint = file.look(now);
                hint.map(StatusReport::Is).into_iter().collect()
            }
            Telling::Record(_) => self.look_at_record(now),
            Telling::Stream(stream) => stream.look(now),
            Telling::Terminal => vec![],
        }
    }

    fn look_at_record(&mut self, now: Nanos) -> Vec<StatusReport> {
        let Telling::Record(mut own) = std::mem::replace(&mut self.telling, Telling::Terminal)
        else {
            return vec![];
        };
        let is_found = own.is_sought(now) && self.record().is_some_and(|it| own.find(&it));
        let mut said = vec![];
        if is_found || own.has_changed() {
            said = self.read_on();
        }
        if !said.is_empty() {
            own.said(now);
        } else if own.has_faded(now) {
            said.push(StatusReport::Cleared);
        }
        self.telling = Telling::Record(own);
        said
    }

    /// What the record says newly. What it says when it is met first is of the past.
    fn read_on(&mut self) -> Vec<StatusReport> {
        let met = self.follower.as_ref().map(Follower::conversation);
        let before = met.map(|it| (it.hint(), it.turns()));
        let now = self.catch_up().map(|it| (it.hint(), it.turns()));
        match (before, now) {
            (Some((was, turns)), Some((is, more))) => reports(was, is, more > turns),
            (None, Some((Some(Hint::Busy), _))) => vec![StatusReport::Is(Hint::Busy)],
            (_, _) => vec![],
        }
    }

    /// What it calls the record that was looked at last.
    pub fn conversation(&self) -> Option<String> {
        let path = self.follower.as_ref()?.path();
        Some(path.file_stem()?.to_string_lossy().into_owned())
    }

    /// The turn that has just ended, as far as it is on record; none if it was told before.
    pub fn turn(&mut self) -> Option<Turn> {
        let conversation = self.catch_up()?;
        let turns = conversation.turns();
        let turn = conversation.turn().cloned()?;
        (turns > self.told).then_some(turn)
    }

    /// Whether a turn is on record that has not ended, of an agent that shows its work late. A server that tells every turn has
    /// one to tell still if it has told none. Those that say it by their terminal are believed.
    pub fn has_open_turn(&mut self) -> bool {
        let is_open = |turn: Turn| turn.end.is_none();
        match (self.format, &self.telling) {
            (Format::Claude | Format::Codex, _) => false,
            (_, Telling::Stream(stream)) if stream.is_heard() => self.turn().is_none_or(is_open),
            (Format::Copilot | Format::Gemini | Format::Opencode, _) => {
                self.turn().is_some_and(is_open)
            }
        }
    }

    /// Whether it waits for a tool that it called, as far as its record says.
    pub fn has_open_call(&mut self) -> bool {
        let conversation = self.catch_up();
        conversation.is_some_and(Conversation::has_open_call)
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

    /// A message is sent off. If it is sent off once more, the first time counts.
    pub fn mark(&mut self) {
        if self.mark.is_none() {
            let turns = self.catch_up().map_or(0, Conversation::turns);
            let record = self.met().cloned();
            self.mark = Some(Mark { record, turns });
        }
    }

    /// A turn has ended: whatever was sent off is part of it.
    pub fn end_turn(&mut self) {
        self.mark = None;
    }

    /// What comes on record from now on is another turn.
    pub fn begin_turn(&mut self) {
        self.owed = None;
        let mark = self.mark.take();
        let Some(conversation) = self.catch_up() else {
            return;
        };
        // One that has not ended is the one that begins now: some agents write it down before they show it.
        let is_open = conversation.turn().is_some_and(|turn| turn.end.is_none());
        let turns = conversation.turns();
        let before = turns - u64::from(is_open);
        let record = self.met();
        self.told = match mark {
            Some(mark) if mark.record.as_ref() == record => before.min(mark.turns),
            // There was no record yet; one with several turns is older than the message.
            Some(mark) if mark.record.is_none() && turns == 1 => 0,
            Some(_) | None => before,
        };
    }

    /// The record that was looked at last.
    fn met(&self) -> Option<&PathBuf> {
        self.follower.as_ref().map(Follower::path)
    }

    /// Whether the turn that has just ended is still to come on record.
    pub fn is_behind(&mut self) -> bool {
        let turn = self.turn();
        self.met().is_some() && turn.is_none_or(|turn| turn.end.is_none())
    }

    fn catch_up(&mut self) -> Option<&Conversation> {
        if let Telling::Stream(stream) = &self.telling {
            return Some(stream.conversation());
        }
        let record = self.record()?;
        if self.follower.as_ref().is_none_or(|it| *it.path() != record) {
            // A new conversation, or the first: its turns are counted anew.
            self.told = 0;
            self.follower = Some(Follower::new(record, self.format));
        }
        let follower = self.follower.as_mut()?;
        follower.catch_up();
        Some(follower.conversation())
    }

    fn record(&self) -> Option<PathBuf> {
        match (self.format, &self.telling) {
            (_, Telling::Session(file)) => Some(self.home.join(file.record()?)),
            (Format::Codex, _) => whereabouts::rollout(&self.home.join("sessions")),
            (Format::Gemini, _) => match &self.follower {
                Some(follower) => Some(follower.path().to_owned()),
                None => whereabouts::named(&self.home.join("tmp"), self.id.as_deref()?),
            },
            (Format::Copilot, _) => whereabouts::in_use(&self.home.join("session-state")),
            (Format::Claude | Format::Opencode, _) => None,
        }
    }
}

/// What is to be said of a record that has grown. A turn that began and ended meanwhile is said too.
fn reports(was: Option<Hint>, is: Option<Hint>, has_begun: bool) -> Vec<StatusReport> {
    let began = has_begun && is != Some(Hint::Busy);
    let began = began.then_some(Hint::Busy);
    let is_news = has_begun || was != is;
    let is = is.filter(|_| is_news);
    began.into_iter().chain(is).map(StatusReport::Is).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn environment(home: &Path) -> BTreeMap<OsString, OsString> {
        BTreeMap::from([("HOME".into(), home.as_os_str().to_owned())])
    }

    fn claude(home: &Path) -> Native {
        let environment = environment(home);
        Native::of(Some(Format::Claude), &environment, 7, Key::default()).unwrap()
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
        let mut native = claude(place.path());
        assert_eq!(native.look(at(1)), [], "there is no directory");
        let file = place.path().join(".claude/sessions/7.json");
        let text = |status: &str| format!(r#"{{"sessionId":"a","cwd":"/p","status":"{status}"}}"#);
        write(&file, &text("idle"));
        assert_eq!(native.look(at(2)), [StatusReport::Is(Hint::Prompt)]);
        assert_eq!(native.look(at(3)), [], "nothing has changed");
        write(&file, &text("busy"));
        assert_eq!(native.look(at(4)), [StatusReport::Is(Hint::Busy)]);
        write(&file.with_file_name("8.json"), &text("idle"));
        assert_eq!(native.look(at(5)), [], "that is another one's");
    }

    #[test]
    fn a_turn_is_told_once_it_is_on_record() {
        let place = tempfile::tempdir().unwrap();
        let mut native = claude(place.path());
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

    #[test]
    fn a_turn_that_is_over_before_it_was_seen_to_begin_is_the_one_of_its_message() {
        let place = tempfile::tempdir().unwrap();
        let mut native = claude(place.path());
        let home = place.path().join(".claude");
        write(
            &home.join("sessions/7.json"),
            r#"{"sessionId":"a","cwd":"/p"}"#,
        );
        let turn = |text: &str| {
            format!(
                "{{\"type\":\"user\",\"message\":{{\"content\":\"hi\"}}}}\n\
                 {{\"type\":\"assistant\",\"message\":{{\"id\":\"{text}\",\"stop_reason\":\"end_turn\",\
                 \"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
            )
        };
        let record = home.join("projects/-p/a.jsonl");
        let told = |native: &mut Native| native.turn().and_then(|turn| turn.answer);
        native.mark();
        write(&record, &turn("one"));
        native.begin_turn();
        assert_eq!(told(&mut native).as_deref(), Some("one"));
        native.end_turn();
        native.mark();
        write(&record, &(turn("one") + &turn("two")));
        // Enter was pressed once more.
        native.mark();
        native.begin_turn();
        assert!(!native.is_behind());
        assert_eq!(told(&mut native).as_deref(), Some("two"));
        native.end_turn();
        native.mark();
        native.begin_turn();
        assert!(native.is_behind(), "nothing of it is on record");
        assert_eq!(told(&mut native), None, "an old answer is none");
    }

    #[test]
    fn a_turn_that_begins_and_ends_within_one_look_is_said_too() {
        let is = StatusReport::Is;
        let (busy, prompt) = (Some(Hint::Busy), Some(Hint::Prompt));
        let table = [
            ((None, busy, true), vec![is(Hint::Busy)]),
            ((busy, prompt, false), vec![is(Hint::Prompt)]),
            ((prompt, prompt, false), vec![]),
            (
                (prompt, prompt, true),
                vec![is(Hint::Busy), is(Hint::Prompt)],
            ),
        ];
        for ((was, is, has_begun), expected) in table {
            assert_eq!(reports(was, is, has_begun), expected, "{was:?} {is:?}");
        }
    }
}
