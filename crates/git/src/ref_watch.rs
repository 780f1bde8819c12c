//! Noticing what prevention cannot reach: a ref that moved past our hooks while a restricted
//! session lives.
//!
//! While somebody is watched, our `reference-transaction` hook writes down every move that it sees, a
//! person's too. What moved and was not seen went past git's hooks: by hand, by another library, or
//! with the hooks turned off. The decision is in `trail`.

mod trail;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use handoff_files::{DirError, Mode, WriteError, atomic};

pub use self::trail::Phase;
use self::trail::{Refs, Seen};
use crate::git::{Git, GitError};
use crate::ref_moves::RefMove;
use crate::repository::Repository;

const PLACE: &str = "watch";
/// A file for each watch, called like its session.
const WATCHES: &str = "sessions";
const SEEN: &str = "seen.log";
/// Looks until two in a row have the same written down; somebody who moves refs all the time is judged by the last.
const LOOKS: u8 = 20;

/// A ref that moved past our hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignMove {
    /// Which.
    pub moved: RefMove,
    /// The restricted sessions that lived at the time.
    pub sessions: Vec<String>,
    /// Says which look at which ref this is, so that two who look at once write it down once.
    pub sighting: String,
}

/// What moved unseen, and where the refs are now. Each move is told until it is acknowledged.
#[derive(Debug)]
pub struct Sightings {
    /// What moved unseen.
    pub moves: Vec<ForeignMove>,
    picture: Picture,
}

/// Refs cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum RefWatchError {
    /// Git failed.
    #[error("cannot list the refs")]
    Git(#[from] GitError),
    /// The place for it.
    #[error("cannot use the place where moves are written down")]
    Directory(#[from] DirError),
    /// What is written down.
    #[error("cannot write down where the refs are")]
    Write(#[from] WriteError),
}

/// What was written down, and where the refs were at that time.
#[derive(Debug)]
pub struct Picture {
    log: String,
    refs: Refs,
}

/// A session that is watched.
struct Watch {
    session: String,
    /// Where the refs were.
    before: Refs,
    /// How much was written down by then.
    after: usize,
    /// Another one each time that it begins anew.
    id: String,
}

impl Watch {
    fn unseen(&self, at: &Repository, now: &Picture) -> Vec<RefMove> {
        let log = now.log.get(self.after..).unwrap_or_default();
        let seen: Vec<_> = log.lines().filter_map(Seen::parse).collect();
        let former = |name: &str| former_names(at, name);
        let mut moves = trail::unseen(&self.before, &now.refs, &seen, &former);
        let logged = || logged_heads(at);
        moves.extend(trail::unseen_head(&self.before, &now.refs, &seen, &logged));
        moves
    }
}

impl Git {
    /// Begins to watch: what moves from now on must be seen. `session` is a plain name.
    pub fn begin_ref_watch(&self, at: &Repository, session: &str) -> Result<(), RefWatchError> {
        let picture = self.take_picture(at)?;
        self.watch_since(at, session, picture)
    }

    /// Where the refs are before somebody begins who is to be watched.
    pub fn take_picture(&self, at: &Repository) -> Result<Picture, RefWatchError> {
        // There first, because hooks write down moves only where it is.
        at.own_dir()?.create_dir(PLACE)?.create_dir(WATCHES)?;
        self.picture(at)
    }

    /// Watches a session that began after a picture was taken.
    pub fn watch_since(
        &self,
        at: &Repository,
        session: &str,
        picture: Picture,
    ) -> Result<(), RefWatchError> {
        at.own_dir()?.create_dir(PLACE)?.create_dir(WATCHES)?;
        // The last of the others ended meanwhile, and took along what was written down.
        let is_shorter = seen_log(at).len() < picture.log.len();
        let picture = match is_shorter {
            true => self.picture(at)?,
            false => picture,
        };
        at.write_watch(session, &picture)
    }

    /// What moved unseen since the watches began.
    pub fn unseen_moves(&self, at: &Repository) -> Result<Option<Sightings>, RefWatchError> {
        let watches = watches(at);
        if watches.is_empty() {
            return Ok(None);
        }
        let picture = self.picture(at)?;
        let mut found: BTreeMap<String, ForeignMove> = BTreeMap::new();
        for watch in &watches {
            for moved in watch.unseen(at, &picture) {
                let key = format!("{} {} {}", moved.name, moved.old, moved.new);
                let foreign = found.entry(key).or_insert_with(|| ForeignMove {
                    sighting: format!("{}/{}/{:.12}", watch.id, plain(&moved.name), moved.new),
                    moved,
                    sessions: vec![],
                });
                foreign.sessions.push(watch.session.clone());
            }
        }
        let moves = found.into_values().collect();
        Ok(Some(Sightings { moves, picture }))
    }

    /// What was seen was told: the watches go on from there.
    pub fn acknowledge(&self, at: &Repository, seen: &Sightings) -> Result<(), RefWatchError> {
        if seen.moves.is_empty() {
            return Ok(());
        }
        watches(at)
            .iter()
            .try_for_each(|watch| at.write_watch(&watch.session, &seen.picture))
    }

    /// Moves are written down before they are made, so where the log has not grown nothing moved that will still be in it.
    fn picture(&self, at: &Repository) -> Result<Picture, RefWatchError> {
        let mut log = seen_log(at);
        for _ in 1..LOOKS {
            let refs = self.shared_refs(at)?;
            let again = seen_log(at);
            if again == log {
                return Ok(Picture { log, refs });
            }
            log = again;
        }
        let refs = self.shared_refs(at)?;
        Ok(Picture { log, refs })
    }

    fn shared_refs(&self, at: &Repository) -> Result<Refs, GitError> {
        let call = self.call("for-each-ref", at.any_place());
        // A link by where it leads: what moves at its other end is told there.
        let format =
            "--format=%(if)%(symref)%(then)ref:%(symref)%(else)%(objectname)%(end) %(refname)";
        let answer = call.arguments([format]).run()?;
        let mut refs = refs(&String::from_utf8_lossy(&answer));
        if let Ok(Some(head)) = at.ref_places().find(trail::HEAD) {
            refs.insert(trail::HEAD.to_owned(), head);
        }
        Ok(refs)
    }
}

impl Repository {
    /// Writes down moves that go the right way; nothing, where nobody is watched.
    pub fn note_moves(&self, phase: Phase, moves: &[RefMove]) -> io::Result<()> {
        let place = place(self);
        if moves.is_empty() || !place.exists() {
            return Ok(());
        }
        let mut moves = moves.to_vec();
        match phase {
            Phase::Prepared => self.tell_old_places(&mut moves),
            Phase::Committed => self.tell_packed(&mut moves),
        }
        let line = |moved| Seen { phase, moved }.to_line();
        let lines: String = moves.into_iter().map(line).collect();
        let mut log = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(place.join(SEEN))?;
        log.write_all(lines.as_bytes())
    }

    /// Looks where refs are that are moved from anywhere. They are locked, so nobody moves them between our look and the move.
    fn tell_old_places(&self, moves: &mut [RefMove]) {
        let mut places = None;
        let forced = moves.iter_mut().filter(|it| trail::is_unknown(&it.old));
        for moved in forced.filter(|it| trail::is_watched(&it.name)) {
            let places = places.get_or_insert_with(|| self.ref_places());
            // One that cannot be read stays unknown, which excuses it.
            if let Ok(place) = places.find(&moved.name) {
                moved.old = place.unwrap_or_else(|| trail::NOWHERE.to_owned());
            }
        }
    }

    /// Packing refs takes their files away, which git tells like the end of a ref. One that is still there has not ended.
    fn tell_packed(&self, moves: &mut [RefMove]) {
        let mut places = None;
        let gone = moves.iter_mut().filter(|it| trail::is_unknown(&it.new));
        for moved in gone.filter(|it| trail::is_watched(&it.name)) {
            let places = places.get_or_insert_with(|| self.ref_places());
            if let Ok(Some(place)) = places.find(&moved.name) {
                moved.new = place;
            }
        }
    }

    /// Who is watched.
    pub fn watched(&self) -> Vec<String> {
        watches(self).into_iter().map(|it| it.session).collect()
    }

    /// The session ended. With the last one goes what was written down.
    pub fn end_ref_watch(&self, session: &str) -> io::Result<()> {
        crate::safe_commit::remove_file(&place(self).join(WATCHES).join(session))?;
        if watches(self).is_empty() {
            self.forget_ref_watches()?;
        }
        Ok(())
    }

    /// Nobody is watched any more.
    pub(crate) fn forget_ref_watches(&self) -> io::Result<()> {
        match fs::remove_dir_all(place(self)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn write_watch(&self, session: &str, picture: &Picture) -> Result<(), RefWatchError> {
        let dir = self.own_dir()?.dir(PLACE)?.dir(WATCHES)?;
        let refs = picture.refs.iter();
        let lines: String = refs.map(|(name, id)| format!("{id} {name}\n")).collect();
        let id = handoff_process::mint().simple();
        let text = format!("{} {id}\n{lines}", picture.log.len());
        Ok(atomic::replace(
            &dir,
            session,
            text.as_bytes(),
            Mode::Private,
        )?)
    }
}

/// The end of a name as a key can have it.
fn plain(name: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_graphic() {
            letter
        } else {
            '?'
        }
    };
    let letters: Vec<_> = name.chars().map(plain).collect();
    let skipped = letters.len().saturating_sub(80);
    letters[skipped..].iter().collect()
}

fn place(at: &Repository) -> PathBuf {
    at.common_dir().join("handoff").join(PLACE)
}

fn refs(text: &str) -> Refs {
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    pairs
        .filter(|(_, name)| trail::is_watched(name) || *name == trail::HEAD)
        .map(|(id, name)| (name.to_owned(), id.to_owned()))
        .collect()
}

fn watches(at: &Repository) -> Vec<Watch> {
    let place = place(at).join(WATCHES);
    let entries = fs::read_dir(&place).into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<_> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    let watch = |session: String| {
        let text = fs::read_to_string(place.join(&session)).ok()?;
        let (head, lines) = text.split_once('\n')?;
        let (after, id) = head.split_once(' ')?;
        Some(Watch {
            session,
            before: refs(lines),
            after: after.parse().ok()?,
            id: id.to_owned(),
        })
    };
    names.into_iter().filter_map(watch).collect()
}

/// What a ref was made of, as its log has it: `… TAB Branch: renamed <old> to <new>`, or `copied`.
fn former_names(at: &Repository, name: &str) -> trail::Former {
    let log = fs::read(at.common_dir().join("logs").join(name)).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let named = |what: &str| {
        let sources = log.lines().filter_map(|line| {
            let (_, rest) = line.split_once(what)?;
            let (old, new) = rest.split_once(" to ")?;
            (new == name).then(|| old.to_owned())
        });
        sources.collect()
    };
    trail::Former {
        renamed: named("\tBranch: renamed "),
        copied: named("\tBranch: copied "),
    }
}

/// Where HEAD of the main tree is by its own log: `… <new id> … TAB checkout: moving from <old> to <new>`, or the like.
fn logged_heads(at: &Repository) -> Vec<String> {
    let log = fs::read(at.common_dir().join("logs/HEAD")).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let leads = |line: &str| {
        let (_, message) = line.split_once('\t')?;
        let ways = [
            "checkout: moving from ",
            "rebase (finish): returning to ",
            "Branch: renamed ",
        ];
        let is_way = ways.iter().any(|way| message.starts_with(way));
        let (_, name) = message.rsplit_once(" to ").filter(|_| is_way)?;
        Some([format!("ref:refs/heads/{name}"), format!("ref:{name}")])
    };
    let newest = log.lines().next_back();
    let id = newest.and_then(|line| Some(line.split(' ').nth(1)?.to_owned()));
    let names = log.lines().rev().find_map(leads).into_iter().flatten();
    names.chain(id).collect()
}

fn seen_log(at: &Repository) -> String {
    let bytes = fs::read(place(at).join(SEEN)).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
