//! What a prompt asks the scripted model to do.

use std::time::Duration;

use serde_json::Value;

/// One step of a prompt, for one call of the model.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// `@@text WORDS`: says that.
    Text(String),
    /// `@@lines N`: says that many lines.
    Lines(usize),
    /// `@@slow SECONDS [WORDS]`: says something, spread over that time.
    Slow { over: Duration, words: String },
    /// `@@hang SECONDS`: says nothing for that time.
    Hang(Duration),
    /// `@@sh COMMAND`: calls whichever tool runs commands.
    Shell(String),
    /// `@@write PATH TEXT`: calls whichever tool writes files.
    Write { path: String, text: String },
    /// `@@tool NAME {…}`: calls this tool with these arguments.
    Tool { name: String, arguments: Value },
    /// `@@err CODE [N]`: refuses with this status; with N only that often.
    Refuse { code: u16, times: Option<usize> },
    /// `@@cut`: begins to say something and hangs up.
    Cut,
}

impl Step {
    /// The steps of a prompt; none if it has no script.
    pub(super) fn all_in(prompt: &str) -> Option<Vec<Self>> {
        let start = prompt.find("@@")?;
        Some(prompt[start..].split(";;").map(Self::parse).collect())
    }

    /// What is no step is said as it is: a typing mistake shows on the screen.
    fn parse(text: &str) -> Self {
        let text = text.trim();
        let (verb, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let line = rest.lines().next().unwrap_or_default().trim();
        let known = match verb {
            "@@text" => Some(Self::Text(rest.trim().to_owned())),
            "@@lines" => line.parse().ok().map(Self::Lines),
            "@@slow" => slow(line),
            "@@hang" => seconds(line).map(Self::Hang),
            "@@sh" => Some(Self::Shell(line.to_owned())),
            "@@write" => Some(write(rest.trim())),
            "@@tool" => tool(rest.trim()),
            "@@err" => refuse(line),
            "@@cut" => Some(Self::Cut),
            _ => None,
        };
        known.unwrap_or_else(|| Self::Text(text.to_owned()))
    }
}

fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}

fn slow(line: &str) -> Option<Step> {
    let (span, words) = line.split_once(' ').unwrap_or((line, ""));
    let over = seconds(span)?;
    let words = words.to_owned();
    Some(Step::Slow { over, words })
}

fn write(rest: &str) -> Step {
    let (path, text) = rest.split_once(' ').unwrap_or((rest, "hello"));
    Step::Write {
        path: path.to_owned(),
        text: format!("{text}\n"),
    }
}

fn tool(rest: &str) -> Option<Step> {
    let (name, arguments) = rest.split_once(' ').unwrap_or((rest, "{}"));
    Some(Step::Tool {
        name: name.to_owned(),
        arguments: serde_json::from_str(arguments).ok()?,
    })
}

fn refuse(line: &str) -> Option<Step> {
    let mut words = line.split_whitespace();
    let code = words.next()?.parse().ok()?;
    let times = words.next().and_then(|times| times.parse().ok());
    Some(Step::Refuse { code, times })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_read_step_by_step() {
        let steps =
            Step::all_in("please @@sh touch x ;; @@slow 1.5 hi there ;; @@err 429 2;;@@text a\nb");
        let expected = vec![
            Step::Shell("touch x".to_owned()),
            Step::Slow {
                over: Duration::from_millis(1500),
                words: "hi there".to_owned(),
            },
            Step::Refuse {
                code: 429,
                times: Some(2),
            },
            Step::Text("a\nb".to_owned()),
        ];
        assert_eq!(steps, Some(expected));
        assert_eq!(Step::all_in("hello"), None);
        let mistake = Step::all_in("@@dance now");
        assert_eq!(mistake, Some(vec![Step::Text("@@dance now".to_owned())]));
    }
}
