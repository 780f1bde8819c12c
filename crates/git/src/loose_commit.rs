//! Commits that lie in files of their own, read without git: those of the last days, until git packs them. Starting git costs more
//! than all of it. Whatever is not as plain as expected is none of our business: git is asked then.

use handoff_core::CommitId;

use crate::loose_object;
use crate::repository::Repository;

/// So many digits of an id are shown, as git does it where that is enough.
const SHOWN: usize = 7;

/// The ids and first lines of the newest commits, newest first, as `git log --format='%h %s'` tells them; none if git has to be asked.
pub(crate) fn newest(at: &Repository, limit: u32) -> Option<Vec<Vec<u8>>> {
    let common = at.common_dir();
    // Git may show other parents than those that a commit names.
    let is_plain = |name: &str| !common.join(name).exists();
    if !loose_object::are_themselves(at) || !["info/grafts", "shallow"].into_iter().all(is_plain) {
        return None;
    }
    let mut next = Some(at.read_head().ok()?.commit?);
    let mut found = vec![];
    for _ in 0..limit {
        let Some(id) = next else { break };
        let text = loose_object::read(&common.join("objects"), id.as_str(), "commit")?;
        let commit = Commit::parse(&text)?;
        let short = id.as_str().get(..SHOWN)?;
        found.push([short.as_bytes(), b" ", &commit.subject].concat());
        next = commit.parent;
    }
    Some(found)
}

struct Commit {
    parent: Option<CommitId>,
    subject: Vec<u8>,
}

impl Commit {
    /// None for a merge, whose parents git sorts by time, and for words in another encoding.
    fn parse(text: &[u8]) -> Option<Self> {
        let (fields, message) = split(text, b"\n\n")?;
        let mut parent = None;
        for field in fields.split(|&byte| byte == b'\n') {
            if field.starts_with(b"encoding ") {
                return None;
            }
            if let Some(id) = field.strip_prefix(b"parent ") {
                let id = str::from_utf8(id).ok()?.parse().ok()?;
                if parent.replace(id).is_some() {
                    return None;
                }
            }
        }
        let is_blank = |line: &&[u8]| line.trim_ascii().is_empty();
        let lines = message.split(|&byte| byte == b'\n');
        let title = lines
            .skip_while(is_blank)
            .take_while(|line| !is_blank(line));
        let title: Vec<_> = title.map(<[u8]>::trim_ascii_end).collect();
        Some(Self {
            parent,
            subject: title.join(&b' '),
        })
    }
}

fn split<'a>(text: &'a [u8], at: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let place = text.windows(at.len()).position(|it| it == at)?;
    Some((&text[..place], &text[place + at.len()..]))
}
