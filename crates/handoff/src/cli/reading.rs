//! Reading a command line with as few definitions as it takes.
//!
//! A line that begins with the name of a command is read with the commands of its chapter, and no others: defining all of them,
//! telling each of the options that all take, and dropping them again takes longer than most commands do. Whatever else a line
//! may be (a request for help, a word that nobody knows), clap gets everything, and its answer names everything.

use std::ffi::{OsStr, OsString};
use std::mem;

use clap::error::Error;
use clap::{Args as _, CommandFactory as _, FromArgMatches as _, Subcommand};

use super::chapters::{Around, Own, Packages, Tasks, Workflows};
use super::{Cli, Options, feature, git, session};

/// Commands that are defined together.
struct Chapter {
    has: fn(&str) -> bool,
    define: fn(clap::Command) -> clap::Command,
}

const fn chapter<T: Subcommand>() -> Chapter {
    Chapter {
        has: T::has_subcommand,
        define: T::augment_subcommands,
    }
}

const CHAPTERS: [Chapter; 8] = [
    chapter::<feature::Command>(),
    chapter::<session::Command>(),
    chapter::<Tasks>(),
    chapter::<Workflows>(),
    chapter::<git::Command>(),
    chapter::<Packages>(),
    chapter::<Around>(),
    chapter::<Own>(),
];

/// What the words of a command line mean, the name of the program first.
pub(super) fn read(words: &[OsString]) -> Result<Cli, Error> {
    let mut definition = narrow(words).unwrap_or_else(Cli::command);
    let mut matches = definition.try_get_matches_from_mut(words)?;
    let cli = Cli::from_arg_matches_mut(&mut matches);
    let cli = cli.map_err(|error| error.format(&mut definition))?;
    // A process reads one line: it is over before anybody misses the memory, and giving it back piece by piece takes time.
    mem::forget((definition, matches));
    Ok(cli)
}

/// The definitions of one chapter, if the line names a command of it where commands are named.
fn narrow(words: &[OsString]) -> Option<clap::Command> {
    let is_option = |word: &&OsString| word.as_os_str() == OsStr::new("--json");
    let name = words.iter().skip(1).find(|word| !is_option(word))?;
    let name = name.to_str()?;
    let chapter = CHAPTERS.iter().find(|chapter| (chapter.has)(name))?;
    let program = clap::Command::new("handoff")
        .disable_help_subcommand(true)
        .subcommand_required(true)
        .arg_required_else_help(true);
    Some((chapter.define)(Options::augment_args(program)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        let words = line.split(' ').map(OsString::from);
        std::iter::once("handoff".into()).chain(words).collect()
    }

    #[test]
    fn every_command_is_in_a_chapter() {
        let all = Cli::command();
        for command in all.get_subcommands() {
            let found = narrow(&words(command.get_name()));
            assert!(found.is_some(), "{}", command.get_name());
        }
        for line in ["--help", "-V", "dumb", "--jason dump"] {
            assert!(narrow(&words(line)).is_none(), "{line}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_line_is_told_alike_with_fewer_definitions() {
        for line in [
            "dump",
            "dump --nope",
            "dump --task a --status over",
            "--json queue",
            "queue cliam",
            "batch show --help",
            "version -V",
        ] {
            let told = |definition: clap::Command| {
                let error = definition.try_get_matches_from(words(line)).unwrap_err();
                (error.kind(), error.render().to_string())
            };
            let fewer = narrow(&words(line)).unwrap();
            assert_eq!(told(fewer), told(Cli::command()), "{line}");
        }
    }
}
