//! What helps with an agent that waits for a person.

use handoff_agents::Block;

/// The command that helps, in words.
pub fn way_out(name: &str, kind: Option<Block>) -> String {
    match kind {
        Some(Block::Panel) => format!(
            "something is open over the place where one types; leave it: `handoff interrupt --id {name}`"
        ),
        Some(
            Block::Permission
            | Block::Question
            | Block::Login
            | Block::Limit
            | Block::Error
            | Block::Trust
            | Block::Other,
        )
        | None => format!("see what it asks: `handoff answer --id {name} --show`"),
    }
}
