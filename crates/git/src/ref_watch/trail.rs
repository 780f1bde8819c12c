//! Whether refs are where they were seen to go: a pure comparison of two pictures with what was written down between them.
//!
//! | what was seen | where the ref may be |
//! |---|---|
//! | a move was prepared: git holds the lock, and the old place was looked at | the old place, or the new one |
//! | a move was committed | the new place, and no other |
//! | the same of a link (`ref:refs/…`), by the ids of what it leads to | where it was, because what moved is the other end |
//!
//! Prepared moves are written down too, because between the move and the word of it lies the start of a program; and because only
//! then is it known where a ref was that is moved by force: git tells hooks of no old place that it was not asked to compare with.

use std::collections::{BTreeMap, BTreeSet};

use crate::ref_moves::RefMove;

/// How far a move had come when it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// It is about to be made.
    Prepared,
    /// It is made.
    Committed,
}

/// A move that our hook saw, or that we made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) phase: Phase,
    pub(super) moved: RefMove,
}

impl Seen {
    pub(super) fn to_line(&self) -> String {
        let letter = match self.phase {
            Phase::Prepared => 'p',
            Phase::Committed => 'c',
        };
        let RefMove { old, new, name } = &self.moved;
        format!("{letter} {old} {new} {name}\n")
    }

    /// A line that is no such thing is none.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (letter, rest) = line.split_once(' ')?;
        let phase = match letter {
            "p" => Phase::Prepared,
            "c" => Phase::Committed,
            _ => return None,
        };
        let moved = crate::ref_moves::parse(rest).into_iter().next()?;
        Some(Self { phase, moved })
    }
}

/// Where each ref is, by its full name.
pub(super) type Refs = BTreeMap<String, String>;

/// An id, or `ref:` and a name for a link; none for zeros, which are git's word for nowhere.
type Place = Option<String>;

/// What is written for the old place of a ref that was looked for and is not there. Zeros say that nobody looked.
pub(super) const NOWHERE: &str = "-";

fn place(id: &str) -> Place {
    let is_nowhere = id == NOWHERE || is_unknown(id);
    (!is_nowhere).then(|| id.to_owned())
}

/// Whether this is git's word for an old place that nobody asked for; also for a ref that is to be new.
pub(super) fn is_unknown(old: &str) -> bool {
    old.bytes().all(|digit| digit == b'0')
}

fn is_link(place: &Place) -> bool {
    place.as_ref().is_some_and(|it| it.starts_with("ref:"))
}

/// What is known of one ref.
struct Trail {
    /// Where it may be, the likeliest last.
    places: Vec<Place>,
    unseen: Vec<(Place, Place)>,
}

impl Trail {
    fn from(place: Place) -> Self {
        Self {
            places: vec![place],
            unseen: vec![],
        }
    }

    fn follow(&mut self, seen: &Seen) {
        let (old, new) = (place(&seen.moved.old), place(&seen.moved.new));
        let is_through = new.is_some() && !is_link(&new) && !is_link(&old);
        if is_through && self.places.iter().any(is_link) {
            self.places.insert(0, new);
            return;
        }
        if !is_unknown(&seen.moved.old) {
            self.arrive(&old);
        }
        match seen.phase {
            Phase::Prepared => self.places.push(new),
            Phase::Committed => self.places = vec![new],
        }
    }

    /// It is here. If it could not be, it has moved unseen.
    fn arrive(&mut self, here: &Place) {
        if self.places.contains(here) {
            return;
        }
        let last = self.places.last().cloned().flatten();
        self.unseen.push((last, here.clone()));
        self.places = vec![here.clone()];
    }
}

/// The moves between the pictures that nobody saw. A ref that appears where another was seen to go away from, and whose log
/// has the name of that one, was renamed: git asks hooks about the old name only. One that appears where another is or was, and
/// whose log has the name of that one, is a copy: git asks no hook about those. `former` says what the log of a ref has.
pub(super) fn unseen(
    before: &Refs,
    now: &Refs,
    seen: &[Seen],
    former: &dyn Fn(&str) -> Former,
) -> Vec<RefMove> {
    let names = before.keys().chain(now.keys());
    let names: BTreeSet<_> = names.chain(seen.iter().map(|it| &it.moved.name)).collect();
    let mut found = vec![];
    for name in names.into_iter().filter(|name| is_watched(name)) {
        let mut trail = Trail::from(before.get(name).cloned());
        for seen in seen.iter().filter(|it| it.moved.name == *name) {
            trail.follow(seen);
        }
        trail.arrive(&now.get(name).cloned());
        let foreign = trail.unseen.into_iter();
        let is_known = |here: &Place| {
            let former = former(name);
            was_left(here, &former.renamed, seen)
                || is_there(here, &former.copied, [before, now], seen)
        };
        let foreign = foreign.filter(|(old, new)| !(old.is_none() && is_known(new)));
        let foreign = foreign.filter(|it| !(is_of_a_remote(name) && is_upkeep(it, before, seen)));
        found.extend(foreign.map(|(old, new)| moved(name, old, new)));
    }
    found
}

/// Where HEAD of the main tree went unseen. Only where it leads is looked at: hooks hear of HEAD from other trees by the same name, and
/// git before 2.46 does not ask them when it goes to another branch. So what was seen anywhere is an excuse, and so is what its log has.
pub(super) fn unseen_head(
    before: &Refs,
    now: &Refs,
    seen: &[Seen],
    logged: &dyn Fn() -> Vec<String>,
) -> Option<RefMove> {
    let (old, new) = (before.get(HEAD)?, now.get(HEAD)?);
    let mut heads = seen.iter().filter(|it| it.moved.name == HEAD);
    let is_seen = heads.clone().any(|it| it.moved.new == *new);
    let is_link = |place: &String| place.starts_with("ref:");
    let may_have_stayed = old == new;
    if is_seen || may_have_stayed && !heads.any(|it| is_link(&it.moved.new)) {
        return None;
    }
    let logged = logged();
    // What was seen may be the HEAD of another tree: this one has left if its own log says so.
    let has_stayed = may_have_stayed && !logged.iter().any(is_link);
    let is_foreign = !has_stayed && !logged.contains(new);
    is_foreign.then(|| moved(HEAD, Some(old.clone()), Some(new.clone())))
}

/// The name of what is checked out in the main tree.
pub(super) const HEAD: &str = "HEAD";

fn is_of_a_remote(name: &str) -> bool {
    name.starts_with("refs/remotes/")
}

/// What `git remote` does, which knows of no `core.hooksPath` (git 2.47), so that no hook of ours is asked: it takes refs of remotes
/// away, gives them other names, and points links at them. It takes none to a place where none was.
fn is_upkeep((old, new): &(Place, Place), before: &Refs, seen: &[Seen]) -> bool {
    let has_been = |here: &String| {
        let of_remotes = before.iter().filter(|(name, _)| is_of_a_remote(name));
        let is_before = of_remotes.into_iter().any(|(_, id)| id == here);
        is_before
            || seen
                .iter()
                .any(|it| is_of_a_remote(&it.moved.name) && it.moved.new == *here)
    };
    let is_renamed = || old.is_none() && new.as_ref().is_some_and(has_been);
    new.is_none() || is_link(new) || is_renamed()
}

/// What the log of a ref says that it was made of.
#[derive(Debug, Default)]
pub(super) struct Former {
    /// Other names that it had.
    pub(super) renamed: Vec<String>,
    /// Refs that it was copied from.
    pub(super) copied: Vec<String>,
}

/// Whether one of these refs is or was here.
fn is_there(here: &Place, names: &[String], pictures: [&Refs; 2], seen: &[Seen]) -> bool {
    let is_pictured = |name: &String| pictures.iter().any(|refs| refs.get(name) == here.as_ref());
    let is_seen = |name: &String| {
        { seen.iter() }.any(|it| it.moved.name == *name && place(&it.moved.new) == *here)
    };
    here.is_some() && names.iter().any(|name| is_pictured(name) || is_seen(name))
}

/// Whether one of these refs was here, and was seen to go away.
fn was_left(here: &Place, names: &[String], seen: &[Seen]) -> bool {
    let goes = |it: &Seen| place(&it.moved.new).is_none() && place(&it.moved.old) == *here;
    let is_one = |it: &Seen| names.contains(&it.moved.name) && goes(it);
    here.is_some() && seen.iter().any(is_one)
}

fn moved(name: &str, old: Place, new: Place) -> RefMove {
    let nowhere = || "0".repeat(40);
    RefMove {
        old: old.unwrap_or_else(nowhere),
        new: new.unwrap_or_else(nowhere),
        name: name.to_owned(),
    }
}

/// Branches of ours and `refs/handoff/` are moved by us without hooks; names outside of `refs/` are of one worktree.
pub(super) fn is_watched(name: &str) -> bool {
    let ours = ["refs/handoff/", "refs/heads/handoff/"];
    name.starts_with("refs/") && !ours.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refs(words: &str) -> Refs {
        let pair = |word: &str| {
            let (name, id) = word.split_once('=').unwrap();
            (format!("refs/heads/{name}"), id.to_owned())
        };
        words.split_whitespace().map(pair).collect()
    }

    fn seen(words: &str) -> Vec<Seen> {
        let line = |line: &str| {
            let words: Vec<_> = line.split_whitespace().collect();
            let line = format!(
                "{} {} {} refs/heads/{}",
                words[0], words[1], words[2], words[3]
            );
            Seen::parse(&line).unwrap()
        };
        words
            .split(',')
            .filter(|it| !it.is_empty())
            .map(line)
            .collect()
    }

    #[track_caller]
    fn check(before: &str, now: &str, log: &str, expected: &[&str]) {
        let zeros = "0".repeat(40);
        let former = |name: &str| match name {
            "refs/heads/new" => Former {
                renamed: vec!["refs/heads/old".to_owned()],
                copied: vec![],
            },
            "refs/heads/copy" => Former {
                renamed: vec![],
                copied: vec!["refs/heads/m".to_owned()],
            },
            _ => Former::default(),
        };
        let found = unseen(&refs(before), &refs(now), &seen(log), &former);
        let found: Vec<_> = found
            .iter()
            .map(|it| format!("{} {} {}", it.name, it.old, it.new).replace(&zeros, "0"))
            .collect();
        assert_eq!(found, expected, "{before} -> {now}, seen {log}");
    }

    #[test]
    fn what_was_not_seen_is_foreign() {
        check("m=a", "m=a", "", &[]);
        check("m=a", "m=b", "", &["refs/heads/m a b"]);
        check("m=a", "", "", &["refs/heads/m a 0"]);
        check("", "m=a", "", &["refs/heads/m 0 a"]);
        check("handoff/x=a", "handoff/x=b", "", &[]);
        check("m=a", "m=b", "c a b m", &[]);
        check("m=a", "", "c a 0 m", &[]);
        check(
            "m=a",
            "m=b",
            "c a b other",
            &[
                "refs/heads/m a b",
                "refs/heads/other 0 a",
                "refs/heads/other b 0",
            ],
        );
    }

    #[test]
    fn a_place_where_it_was_before_is_no_excuse() {
        check("m=a", "m=a", "p a b m,c a b m", &["refs/heads/m b a"]);
        check("m=a", "m=b", "c a b m,c b c m", &["refs/heads/m c b"]);
    }

    #[test]
    fn a_gap_in_what_was_seen_is_a_move_that_was_not() {
        check("m=a", "m=d", "c a b m,c c d m", &["refs/heads/m b c"]);
    }

    #[test]
    fn one_that_is_only_prepared_may_have_been_made_or_not() {
        check("m=a", "m=a", "p a b m", &[]);
        check("m=a", "m=b", "p a b m", &[]);
        check("m=a", "m=c", "p a b m", &["refs/heads/m b c"]);
    }

    #[test]
    fn an_old_place_that_nobody_asked_for_is_any() {
        check("m=a", "m=c", "c 0 b m,c 0 c m", &[]);
    }

    #[test]
    fn a_forced_move_does_not_hide_the_one_before() {
        check("m=a", "m=c", "p b c m,c 0 c m", &["refs/heads/m a b"]);
        check("m=a", "m=c", "p - c m,c 0 c m", &["refs/heads/m a 0"]);
        check("", "m=c", "p - c m,c 0 c m", &[]);
        check("m=a", "", "p a 0 m,c 0 0 m", &[]);
        check("m=a", "m=c", "p a c m,c 0 c m", &[]);
    }

    #[test]
    fn a_link_is_where_it_leads_whatever_moves_there() {
        let link = "h=ref:m";
        check(link, link, "p a b h,c a b h,p b c h,c b c h", &[]);
        check(link, "h=b", "p a b h,c 0 b h", &[]);
        check(link, "h=b", "", &["refs/heads/h ref:m b"]);
        check(link, "h=ref:n", "", &["refs/heads/h ref:m ref:n"]);
        check(link, "h=ref:n", "p ref:m ref:n h,c 0 ref:n h", &[]);
        check("", link, "p - ref:m h,c 0 ref:m h", &[]);
    }

    #[test]
    fn upkeep_of_remotes_is_not_foreign_and_moving_their_refs_is() {
        let at = |words: &str| -> Refs {
            let refs = refs(words).into_iter();
            refs.map(|(name, id)| (name.replace("heads", "remotes"), id))
                .collect()
        };
        let former = |_: &str| Former::default();
        let found = |now: &str| {
            let before = at("o/HEAD=ref:o/m o/m=a");
            unseen(&before, &at(now), &[], &former).len()
        };
        assert_eq!(found("o/HEAD=ref:o/m o/m=a"), 0);
        assert_eq!(found("o/HEAD=ref:o/other o/m=a"), 0);
        assert_eq!(found("u/m=a u/HEAD=ref:u/m"), 0);
        assert_eq!(found(""), 0);
        assert_eq!(found("o/HEAD=ref:o/m o/m=b"), 1);
        assert_eq!(found("o/HEAD=ref:o/m o/m=a o/new=b"), 1);
    }

    #[test]
    fn head_goes_where_it_was_seen_to_go_or_where_its_log_says() {
        let at = |place: &str| Refs::from([(HEAD.to_owned(), place.to_owned())]);
        let seen = [Seen::parse("c 0 ref:refs/heads/b HEAD").unwrap()];
        let logged = || vec!["ref:refs/heads/c".to_owned()];
        let is_foreign = |new: &str| {
            let before = at("ref:refs/heads/a");
            unseen_head(&before, &at(new), &seen, &logged).is_some()
        };
        let table = [("a", true), ("b", false), ("c", false), ("d", true)];
        for (name, expected) in table {
            let place = format!("ref:refs/heads/{name}");
            assert_eq!(is_foreign(&place), expected, "{name}");
        }
        assert!(is_foreign("1111"));
        let stays = at("ref:refs/heads/a");
        let no_lead = || vec!["1111".to_owned()];
        assert!(unseen_head(&stays, &stays, &seen, &no_lead).is_none());
        assert!(unseen_head(&stays, &at("ref:refs/heads/d"), &seen, &no_lead).is_some());
        assert!(unseen_head(&at("x"), &at("x"), &[], &logged).is_none());
        assert!(unseen_head(&Refs::new(), &at("x"), &[], &logged).is_none());
    }

    #[test]
    fn a_branch_that_was_renamed_is_not_new() {
        check("old=a", "new=a", "p a 0 old,c a 0 old", &[]);
        check("old=a", "new=b", "c a 0 old", &["refs/heads/new 0 b"]);
        check("old=a", "fake=a", "c a 0 old", &["refs/heads/fake 0 a"]);
    }

    #[test]
    fn a_copy_of_a_branch_is_not_foreign() {
        check("m=a", "m=a copy=a", "", &[]);
        check("m=a", "m=c copy=b", "c a b m,c b c m", &[]);
        check("m=a", "m=a copy=b", "", &["refs/heads/copy 0 b"]);
    }
}
