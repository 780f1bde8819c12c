//! Names under which a script keeps what it has read.

use serde::Deserialize;

/// A name given with `as`, used as `{name}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct VariableName(String);

impl VariableName {
    /// Names the player sets itself: the attempt of the task (1 unless `HANDOFF_ATTEMPT` says
    /// otherwise), the process id of the last `spawn`, the last line, message or answer read, the
    /// agent's own process id, the prompt, and the numbers of the current redraw and round.
    pub const BUILT_IN: [&str; 7] = [
        "attempt", "child", "line", "pid", "prompt", "redraw", "round",
    ];

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for VariableName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let fits = |character: char| character.is_ascii_lowercase() || character == '_';
        if name.is_empty() || !name.chars().all(fits) {
            return Err(format!(
                "`{name}` is no name for a variable; use small letters and `_`"
            ));
        }
        if Self::BUILT_IN.contains(&name.as_str()) {
            return Err(format!(
                "`{name}` is set by the player; choose another name"
            ));
        }
        Ok(Self(name))
    }
}
