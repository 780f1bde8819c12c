//! A window of tmux with somebody sitting at the session in it. The session does not live there: closing the window, or
//! ending tmux, leaves it as it is.

use std::ffi::OsString;
use std::str::FromStr;
use std::time::Duration;

use handoff_core::SessionName;
use handoff_process::{Captured, Exit, Program};
use handoff_session::Known;

use crate::failure::Failure;
use crate::program::own_program;
use crate::workplace::Workplace;

/// The session of tmux in which windows are made when one is not in tmux.
const GATHERING: &str = "handoff";
/// tmux answers in milliseconds, or its server hangs.
const PATIENCE: Duration = Duration::from_secs(10);
/// Where the new window is, as `tmux … -t` takes it.
const TARGET: &str = "#{session_name}:#{window_index}.#{pane_index}";

/// What a window of tmux is called. tmux runs commands that it finds in a name, so there is room for none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowName(String);

/// A text that is no such name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a window's name has 1 to 64 letters, digits, `-`, `_` and `.`")]
pub struct WindowNameError;

impl WindowName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for WindowName {
    type Err = WindowNameError;

    fn from_str(text: &str) -> Result<Self, WindowNameError> {
        let is_plain = |it: char| it.is_alphanumeric() || "-_.".contains(it);
        let is_name = (1..=64).contains(&text.chars().count()) && text.chars().all(is_plain);
        let name = is_name.then(|| Self(text.to_owned()));
        name.ok_or(WindowNameError)
    }
}

impl From<&SessionName> for WindowName {
    fn from(name: &SessionName) -> Self {
        Self(name.to_string())
    }
}

/// Where a window is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Beside the window that we are in.
    Here,
    /// In the gathering, which is there already.
    There,
    /// In a gathering that begins with it.
    New,
}

/// Opens a window in which one sits at the session, and says where it is.
pub fn open_window(known: &Known, name: &WindowName, here: &Workplace) -> Result<String, Failure> {
    // Somebody else may begin the gathering while we look; then it is there.
    let places: &[Place] = if here.ambient.variable("TMUX").is_some() {
        &[Place::Here]
    } else {
        &[Place::There, Place::New, Place::There]
    };
    let mut said = String::new();
    for place in places {
        match make(*place, known, name, here)? {
            Ok(target) => return Ok(target),
            Err(message) => said = message,
        }
    }
    let mut failure = windowless(known);
    failure.causes.push(said);
    Err(failure)
}

/// Makes it, or says what tmux says.
fn make(
    place: Place,
    known: &Known,
    name: &WindowName,
    here: &Workplace,
) -> Result<Result<String, String>, Failure> {
    let mut program = Program::new("tmux", here.cwd()?).with_arguments(words(place, name));
    // The server of tmux may have been started in another environment.
    for variable in ["HANDOFF_HOME", "XDG_STATE_HOME"] {
        if let Some(value) = here.ambient.variable(variable) {
            let mut setting = OsString::from(format!("{variable}="));
            setting.push(value);
            program.arguments.extend(["-e".into(), setting]);
        }
    }
    let attach = ["attach", "--id", &known.record.id.to_string()].map(OsString::from);
    program
        .arguments
        .extend(["--".into(), own_program(here)?.into()]);
    program.arguments.extend(attach);
    program.environment = here.ambient.environment.clone();
    let output = handoff_process::output(&program, Some(PATIENCE))
        .map_err(|error| windowless(known).because(&error))?;
    Ok(match output.exit {
        Exit::Code(0) => Ok(text(&output.stdout)),
        Exit::Code(_) | Exit::Signal(_) => Err(text(&output.stderr)),
        Exit::TimedOut => Err("tmux does not answer".to_owned()),
    })
}

fn text(captured: &Captured) -> String {
    let text = String::from_utf8_lossy(&captured.to_bytes()).into_owned();
    text.trim().to_owned()
}

fn words(place: Place, name: &WindowName) -> Vec<OsString> {
    let words: &[&str] = match place {
        Place::Here => &["new-window"],
        Place::There => &["new-window", "-t", "=handoff:"],
        Place::New => &["new-session", "-s", GATHERING],
    };
    let common = ["-d", "-P", "-F", TARGET, "-n", &name.0];
    words
        .iter()
        .copied()
        .chain(common)
        .map(OsString::from)
        .collect()
}

fn windowless(known: &Known) -> Failure {
    let name = &known.record.name;
    Failure::failed(format!("`{name}` runs, but tmux makes no window for it"))
        .hint(format!("sit down at it here: `handoff attach --id {name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_room_for_a_command() {
        for wrong in ["", "#(touch x)", "a b", "a:b", "#S", "a\n"] {
            assert_eq!(
                wrong.parse::<WindowName>(),
                Err(WindowNameError),
                "{wrong:?}"
            );
        }
        assert!("cx-p1".parse::<WindowName>().is_ok());
    }
}
