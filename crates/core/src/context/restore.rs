//! Taking the content of a package into a context: by a policy that is stated beforehand, and told key by key afterwards.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ContextKey, ContextRefusal, Entry, Totals};

/// What becomes of what is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// A key that is there with another value stops everything.
    #[default]
    Refuse,
    /// What is there goes; the package is all there is.
    Replace,
    /// What is there stays.
    KeepOurs,
    /// The package's values replace what is there; other keys stay.
    TakeTheirs,
}

/// What became of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It was not there.
    Added,
    /// It was there with the same value.
    Same,
    /// What was there stayed, though the package has another value.
    Kept,
    /// The package's value replaced what was there.
    Replaced,
    /// It was there, not in the package, and is gone.
    Removed,
}

/// A key with what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyFate {
    /// Which.
    pub key: ContextKey,
    /// What became of it.
    pub fate: Fate,
}

/// What is to be done, and what to tell about it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Restoration {
    /// What is written.
    pub written: Vec<Entry>,
    /// What is taken out.
    pub removed: Vec<ContextKey>,
    /// Key by key, in order.
    pub report: Vec<KeyFate>,
}

/// Decides what becomes of each key.
pub fn restore(
    there: &BTreeMap<ContextKey, Entry>,
    incoming: &[Entry],
    policy: Policy,
) -> Result<Restoration, ContextRefusal> {
    let mut result = Restoration::default();
    let mut conflicts = vec![];
    let mut totals = Totals {
        keys: there.len(),
        bytes: there.values().map(Entry::size).sum(),
    };
    for entry in incoming {
        let ours = there.get(&entry.key);
        let Some(fate) = fate(ours, entry, policy) else {
            conflicts.push(entry.key.clone());
            continue;
        };
        if matches!(fate, Fate::Added | Fate::Replaced) {
            totals = totals.with(Some(entry), ours);
            result.written.push(entry.clone());
        }
        result.tell(&entry.key, fate);
    }
    if !conflicts.is_empty() {
        return Err(ContextRefusal::Conflict { keys: conflicts });
    }
    if policy == Policy::Replace {
        result.clear_others(there, incoming, &mut totals);
    }
    totals.fits()?;
    result.report.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(result)
}

/// What becomes of a key that the package has; none if that stops everything.
fn fate(ours: Option<&Entry>, theirs: &Entry, policy: Policy) -> Option<Fate> {
    match (ours, policy) {
        (None, _) => Some(Fate::Added),
        (Some(ours), _) if ours == theirs => Some(Fate::Same),
        (Some(ours), Policy::Refuse) => (ours.value == theirs.value).then_some(Fate::Same),
        (Some(_), Policy::KeepOurs) => Some(Fate::Kept),
        (Some(_), Policy::Replace | Policy::TakeTheirs) => Some(Fate::Replaced),
    }
}

impl Restoration {
    fn tell(&mut self, key: &ContextKey, fate: Fate) {
        let key = key.clone();
        self.report.push(KeyFate { key, fate });
    }

    fn clear_others(
        &mut self,
        there: &BTreeMap<ContextKey, Entry>,
        incoming: &[Entry],
        totals: &mut Totals,
    ) {
        let kept: std::collections::BTreeSet<_> = incoming.iter().map(|it| &it.key).collect();
        for (key, entry) in there.iter().filter(|(key, _)| !kept.contains(key)) {
            *totals = totals.with(None, Some(entry));
            self.removed.push(key.clone());
            self.tell(key, Fate::Removed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{JsonText, Timestamp};

    fn entry(key: &str, value: &str) -> Entry {
        Entry {
            key: key.parse().unwrap(),
            value: JsonText::parse(value).unwrap(),
            source: None,
            tags: vec![],
            author: "person".parse().unwrap(),
            at: Timestamp::UNIX_EPOCH,
        }
    }

    fn told(policy: Policy) -> Result<String, ContextRefusal> {
        let there = [entry("a", "1"), entry("b", "2"), entry("c", "3")];
        let there = there.map(|it| (it.key.clone(), it)).into();
        let incoming = [entry("b", "2"), entry("c", "30"), entry("d", "4")];
        let result = restore(&there, &incoming, policy)?;
        let words = result.report.iter();
        let words: Vec<_> = words
            .map(|it| format!("{}:{:?}", it.key, it.fate))
            .collect();
        Ok(words.join(" "))
    }

    #[test]
    fn each_policy_does_what_it_says() {
        let keys = vec!["c".parse().unwrap()];
        assert_eq!(told(Policy::Refuse), Err(ContextRefusal::Conflict { keys }));
        assert_eq!(told(Policy::KeepOurs).unwrap(), "b:Same c:Kept d:Added");
        assert_eq!(
            told(Policy::TakeTheirs).unwrap(),
            "b:Same c:Replaced d:Added"
        );
        assert_eq!(
            told(Policy::Replace).unwrap(),
            "a:Removed b:Same c:Replaced d:Added"
        );
    }

    #[test]
    fn an_empty_context_takes_everything_and_the_same_again_is_no_conflict() {
        let incoming = [entry("a", "1"), entry("b", "2")];
        let first = restore(&BTreeMap::new(), &incoming, Policy::Refuse).unwrap();
        assert_eq!(first.written, incoming);
        let there = incoming.clone().map(|it| (it.key.clone(), it)).into();
        let again = restore(&there, &incoming, Policy::Refuse).unwrap();
        assert!(again.written.is_empty() && again.removed.is_empty());
    }
}
