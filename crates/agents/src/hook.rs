//! Hooks as Claude Code has them: commands that it runs when something happens, told by a settings file of the session's own, so
//! that nothing of the user's is edited.
//!
//! A hook is told once and never taken back. There is none after an interrupt and none after a permission that was refused, so what a
//! hook said counts only as long as nothing that lasts says otherwise.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::adapter::{Block, Hint};

/// What is asked for. Those around each use of a tool are left out: each would start a process.
const EVENTS: [&str; 5] = [
    "UserPromptSubmit",
    "PermissionRequest",
    "Notification",
    "Stop",
    "StopFailure",
];
/// The agent waits for a hook, so one that does not come back must not hold it up.
const SECONDS: u32 = 5;

/// What a hook says, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookReport {
    #[serde(rename = "hook_event_name")]
    pub event: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notification_type: Option<String>,
}

impl HookReport {
    /// What the agent does then. A word that is not known says nothing.
    pub fn hint(&self) -> Option<Hint> {
        match (self.event.as_str(), self.notification_type.as_deref()) {
            ("UserPromptSubmit", _) => Some(Hint::Busy),
            ("PermissionRequest", _) | ("Notification", Some("permission_prompt")) => {
                Some(Hint::Blocked(Block::Permission))
            }
            ("Stop", _) | ("Notification", Some("idle_prompt")) => Some(Hint::Prompt),
            ("StopFailure", _) => Some(Hint::Blocked(Block::Error)),
            _ => None,
        }
    }
}

/// The settings that make an agent tell `handoff`, the program at this path.
/// It may read what lies in `messages` without asking.
pub fn settings(handoff: &Path, messages: &Path) -> String {
    let command = format!("{} hook", quoted(&handoff.to_string_lossy()));
    let hook = json!({ "type": "command", "command": command, "timeout": SECONDS });
    let hooks: Map<String, Value> = EVENTS
        .iter()
        .map(|event| ((*event).to_owned(), json!([{ "hooks": [hook] }])))
        .collect();
    let readable = [messages.to_string_lossy()];
    json!({ "hooks": hooks, "permissions": { "additionalDirectories": readable } }).to_string()
}

/// For a shell, whatever is in it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_understood_by_its_name() {
        let hint = |text: &str| serde_json::from_str::<HookReport>(text).unwrap().hint();
        let table = [
            (
                "{\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"hi\"}",
                Some(Hint::Busy),
            ),
            ("{\"hook_event_name\":\"Stop\"}", Some(Hint::Prompt)),
            (
                "{\"hook_event_name\":\"StopFailure\"}",
                Some(Hint::Blocked(Block::Error)),
            ),
            (
                "{\"hook_event_name\":\"Notification\",\"notification_type\":\"permission_prompt\"}",
                Some(Hint::Blocked(Block::Permission)),
            ),
            ("{\"hook_event_name\":\"Notification\"}", None),
            ("{\"hook_event_name\":\"Danced\"}", None),
        ];
        for (text, expected) in table {
            assert_eq!(hint(text), expected, "{text}");
        }
    }

    #[test]
    fn the_settings_name_this_program_whatever_it_is_called() {
        let settings: Value =
            serde_json::from_str(&settings(Path::new("/o'p t/handoff"), Path::new("/m"))).unwrap();
        let command = &settings["hooks"]["Stop"][0]["hooks"][0]["command"];
        assert_eq!(command, r"'/o'\''p t/handoff' hook");
        assert_eq!(settings["hooks"].as_object().unwrap().len(), EVENTS.len());
    }
}
