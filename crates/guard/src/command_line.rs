//! A command line of git, taken apart as git does: options, a command, and what is for the command.

use std::ffi::{OsStr, OsString};

/// Options that take the next argument as their value.
const WITH_VALUE: [&str; 8] = [
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--super-prefix",
    "--config-env",
    "--attr-source",
];
/// Options that make git answer and end.
const ANSWERS: [&str; 8] = [
    "--version",
    "-v",
    "--help",
    "-h",
    "--html-path",
    "--man-path",
    "--info-path",
    "--exec-path",
];
/// What may be set for one command: how it looks, and who asks.
const HARMLESS: [&str; 9] = [
    "color.",
    "user.",
    "advice.",
    "column.",
    "safe.directory",
    "core.quotepath",
    "log.",
    "diff.renames",
    "diff.context",
];

/// A command line of git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine<'a> {
    options: &'a [OsString],
    command: Option<&'a OsStr>,
    rest: &'a [OsString],
}

impl<'a> CommandLine<'a> {
    /// Takes the arguments of git apart.
    pub fn parse(arguments: &'a [OsString]) -> Self {
        let mut place = 0;
        while let Some(argument) = arguments.get(place) {
            let text = argument.to_string_lossy();
            if !text.starts_with('-') || text == "-" || ANSWERS.contains(&&*text) {
                break;
            }
            place += if WITH_VALUE.contains(&&*text) { 2 } else { 1 };
        }
        let place = place.min(arguments.len());
        let (options, rest) = arguments.split_at(place);
        let is_command = rest.first().is_some_and(|first| !is_answer(first));
        Self {
            options,
            command: rest.first().filter(|_| is_command).map(OsString::as_os_str),
            rest: rest.get(1..).unwrap_or_default(),
        }
    }

    /// The command; none where git only answers a question about itself. A name that is not text is none that git knows.
    pub(super) fn command(&self) -> Option<&'a str> {
        self.command.map(|name| name.to_str().unwrap_or("?"))
    }

    /// Where `-C` leads, step by step.
    #[must_use]
    pub fn directories(&self) -> Vec<&'a OsStr> {
        let pairs = self.options.windows(2);
        pairs
            .filter(|pair| pair[0] == "-C")
            .map(|pair| pair[1].as_os_str())
            .collect()
    }

    /// Whether it says by itself which repository or tree is meant.
    #[must_use]
    pub fn names_repository(&self) -> bool {
        let is_one = |option: &OsString| {
            let option = option.to_string_lossy();
            let name = option.split_once('=').map_or(&*option, |(name, _)| name);
            matches!(name, "--git-dir" | "--work-tree" | "--bare")
        };
        self.options.iter().any(is_one)
    }

    /// What is for the command.
    pub(super) fn rest(&self) -> &'a [OsString] {
        self.rest
    }

    /// The same with an alias written out. Words are split at blanks: an alias with quotes in it
    /// has more words that way, and is judged by its first.
    pub(super) fn expanded(&self, alias: &str) -> Vec<OsString> {
        let words = alias.split_whitespace().map(OsString::from);
        let options = self.options.iter().cloned();
        options
            .chain(words)
            .chain(self.rest.iter().cloned())
            .collect()
    }

    /// A setting for this one command that could change what runs.
    pub(super) fn forbidden_setting(&self) -> Option<String> {
        let mut options = self.options.iter().map(|it| it.to_string_lossy());
        while let Some(option) = options.next() {
            let (name, inline) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (&*option, None),
            };
            let mut value = || inline.clone().or_else(|| options.next().map(Into::into));
            match name {
                "-c" | "--config-env" => {
                    let setting = value().unwrap_or_default();
                    if !is_harmless(&setting) {
                        return Some(format!("{name} {setting}"));
                    }
                }
                "--exec-path" if inline.is_some() => return Some(option.into_owned()),
                name if WITH_VALUE.contains(&name) => drop(value()),
                _ => {}
            }
        }
        None
    }
}

fn is_answer(argument: &OsStr) -> bool {
    argument.to_str().is_some_and(|it| ANSWERS.contains(&it))
}

fn is_harmless(setting: &str) -> bool {
    let key = setting.to_ascii_lowercase();
    HARMLESS.iter().any(|prefix| key.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(words: &str) -> Option<String> {
        let arguments: Vec<OsString> = words.split_whitespace().map(Into::into).collect();
        CommandLine::parse(&arguments).command().map(str::to_owned)
    }

    #[test]
    fn the_command_is_found_behind_all_options() {
        let table = [
            ("commit -m x", Some("commit")),
            ("-C . commit", Some("commit")),
            ("-c a=b -c c=d commit", Some("commit")),
            ("--git-dir x --work-tree=y -p commit", Some("commit")),
            ("--no-pager --literal-pathspecs commit", Some("commit")),
            ("--unknown commit", Some("commit")),
            ("-C", None),
            ("--version", None),
            ("", None),
            ("-C . --help", None),
        ];
        for (words, expected) in table {
            assert_eq!(command(words).as_deref(), expected, "{words}");
        }
    }
}
