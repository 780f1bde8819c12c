//! A name for a session that was given none: two words that can be said and remembered.

use handoff_core::SessionName;
use uuid::Uuid;

const ADJECTIVES: [&str; 16] = [
    "amber", "bold", "calm", "deft", "early", "fond", "glad", "hazel", "ivory", "keen", "lucid",
    "mild", "noble", "plain", "quick", "warm",
];
const NOUNS: [&str; 16] = [
    "alder", "brook", "cedar", "dune", "ember", "finch", "grove", "heron", "inlet", "lark",
    "maple", "otter", "pine", "reef", "stone", "willow",
];

/// The name that the random part of an id stands for.
pub(super) fn random_name(id: Uuid) -> SessionName {
    let [.., first, second, third] = *id.as_bytes();
    let adjective = ADJECTIVES[usize::from(first % 16)];
    let noun = NOUNS[usize::from(second % 16)];
    format!("{adjective}-{noun}-{third:02x}")
        .parse()
        .expect("two words and two digits make a name")
}
