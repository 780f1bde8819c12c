//! How a holder watches its agent: that it prints, that it is not stuck, and the files that it is to be told of. What follows is
//! decided in [`crate::silence`], [`crate::stall`] and [`crate::hook`]; here it is done.

use std::fs;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_core::time::Nanos;
use handoff_core::{IdempotencyKey, MessageId, Timestamp};
use handoff_files::Watch;
use handoff_files::freshness::newest_change;
use handoff_process::{mint, tree};
use rustix::event::{PollFd, PollFlags};

use super::Holder;
use crate::hook::{Hook, Stamp};
use crate::inbox::Accepted;
use crate::journal::Event;
use crate::message::{Finish, Order, TextSense, Urgency};
use crate::native::Native;
use crate::silence::{self, Silence};
use crate::stall::{Act, Policy, Sight, Tool, Watcher};

/// How many entries of the working directory are looked at for a change.
const MOST_ENTRIES: usize = 20_000;
/// How often a file is looked at where the kernel has no watch left for it.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);

/// What a holder watches.
pub(super) struct Lookout {
    silence: Silence,
    watcher: Option<Watcher>,
    hooks: Vec<(Hook, Option<Watch>)>,
    looked_at: Nanos,
}

impl Lookout {
    pub(super) fn new(policy: Option<Policy>, files: Vec<PathBuf>, now: Nanos) -> Self {
        let quarter = policy.map(|policy| policy.stall_after / 4);
        let worth_saying = silence::WORTH_SAYING.min(quarter.unwrap_or(silence::WORTH_SAYING));
        let hooks = files.into_iter().map(|path| {
            // The watch first, or a change in between would be missed.
            let watch = Watch::on_name(&path).ok();
            let stamp = stamp(&path);
            (Hook::new(path, stamp), watch)
        });
        Self {
            silence: Silence::new(worth_saying, now),
            watcher: policy.map(|policy| Watcher::new(policy, now)),
            hooks: hooks.collect(),
            looked_at: now,
        }
    }

    pub(super) fn poll_fds(&self) -> impl Iterator<Item = PollFd<'_>> {
        let watches = self.hooks.iter().filter_map(|(_, watch)| watch.as_ref());
        watches.map(|watch| PollFd::from_borrowed_fd(watch.as_fd(), PollFlags::IN))
    }

    /// When something is due although nothing happens.
    pub(super) fn look_again(&self) -> Option<Nanos> {
        let hooks = self.hooks.iter().filter_map(|(hook, _)| hook.look_again());
        let is_blind = self.hooks.iter().any(|(_, watch)| watch.is_none());
        let blind = is_blind.then(|| self.looked_at.after(LOOK_INTERVAL));
        let watcher = self.watcher.as_ref().map(Watcher::look_again);
        let others = [self.silence.look_again(), watcher, blind];
        others.into_iter().flatten().chain(hooks).min()
    }

    /// The files that the agent is to be told of now.
    fn changed_files(&mut self, now: Nanos) -> Vec<PathBuf> {
        let mut changed = vec![];
        for (hook, watch) in &mut self.hooks {
            if let Some(watch) = watch {
                // What it says does not matter: the file is looked at.
                watch.wait(Some(Duration::ZERO)).ok();
            }
            hook.saw(stamp(hook.path()), now);
            if hook.take_due(now) {
                changed.push(hook.path().to_path_buf());
            }
        }
        changed
    }
}

impl Holder<'_> {
    /// The agent has printed.
    pub(super) fn end_silence(&mut self, now: Nanos) {
        if let Some(change) = self.lookout.silence.printed(now) {
            self.tell_silence(change);
        }
    }

    /// Looks at everything that is due.
    pub(super) fn look_out(&mut self, now: Nanos) {
        if let Some(change) = self.lookout.silence.look(now) {
            self.tell_silence(change);
        }
        if !self.lookout.hooks.is_empty() {
            self.lookout.looked_at = now;
            for path in self.lookout.changed_files(now) {
                self.tell_of_file(path, now);
            }
        }
        self.watch_for_stall(now);
    }

    fn tell_silence(&mut self, change: silence::Change) {
        self.tell(match change {
            silence::Change::Idle { silent } => Event::LogIdle {
                silent_s: silent.as_secs(),
            },
            silence::Change::Active { silent } => Event::LogActive {
                silent_s: silent.as_secs(),
            },
        });
    }

    fn tell_of_file(&mut self, path: PathBuf, now: Nanos) {
        let text = format!("file-change-hook: read {}", path.display());
        self.tell(Event::FileChanged { path });
        self.say(text, Urgency::Wait, now);
    }

    fn watch_for_stall(&mut self, now: Nanos) {
        let Some(mut watcher) = self.lookout.watcher.take() else {
            return;
        };
        if now >= watcher.look_again() {
            let has_open_call = self.native.as_mut().is_some_and(Native::has_open_call);
            let sight = Sight {
                state: self.judge.published().state,
                printed_at: self.printed_at,
                // What cannot be read does not move.
                ticks: tree::ticks(&[]).unwrap_or_default(),
                tool: if has_open_call {
                    Tool::Open
                } else {
                    Tool::NotSeen
                },
            };
            let files = |_| self.files_changed_ago();
            for act in watcher.look(&sight, now, files) {
                self.act(act, now);
            }
        }
        self.lookout.watcher = Some(watcher);
    }

    /// How long ago anything changed where the agent works.
    fn files_changed_ago(&self) -> Option<Duration> {
        let newest = newest_change(&self.record.cwd, MOST_ENTRIES)?;
        let newest = Timestamp::try_from(newest).ok()?;
        let ago = self.clock.now().wall.duration_since(newest);
        // A file from the future was changed just now.
        Some(Duration::try_from(ago).unwrap_or_default())
    }

    fn act(&mut self, act: Act, now: Nanos) {
        match act {
            Act::Warn { silent, resumes } => self.tell(Event::Stalled {
                silent_s: silent.as_secs(),
                resumes,
            }),
            Act::Resume { resume, of } => {
                self.tell(Event::Resumed { resume, of });
                let text = "Nothing has moved for a while. If you wait for something that will not come, stop waiting \
                            and go on; if you are done or blocked, say so.";
                self.say(text.to_owned(), Urgency::Force, now);
            }
            Act::Escalate { resumes } => self.tell(Event::Escalated { resumes }),
        }
    }

    /// Sends the agent a message of our own.
    fn say(&mut self, text: String, urgency: Urgency, now: Nanos) {
        let id = MessageId::from_uuid(mint());
        let key: IdempotencyKey = id.to_string().parse().expect("an id is a key");
        let order = Order {
            text,
            key,
            finish: Finish::Submit,
            urgency,
            sense: TextSense::Words,
            expires_after: None,
        };
        let wall = self.clock.now().wall;
        let taken = self.post.inbox.accept(id, order.clone(), None, (wall, now));
        // An inbox that is full has messages enough.
        if let Ok(Accepted::New(message)) = taken {
            self.note_send(message, &order);
        }
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some(Stamp {
        inode: metadata.ino(),
        length: metadata.len(),
        changed: metadata.modified().ok()?,
    })
}
