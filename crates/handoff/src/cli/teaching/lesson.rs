//! The test of the texts: a command line in them is one that the program understands.

use clap::Parser as _;

use super::guide;
use super::recipes::RECIPES;
use super::skills::SKILLS;
use crate::cli::Cli;

/// The command lines of a text: in blocks, and between backticks.
fn command_lines(text: &str) -> Vec<String> {
    let in_blocks = text
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("handoff "));
    let between = text
        .split('`')
        .filter(|part| part.starts_with("handoff ") && !part.contains('\n'));
    in_blocks.chain(between).map(str::to_owned).collect()
}

/// Words as a shell splits them, as far as our texts go.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![];
    for (index, part) in line.split('"').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

#[test]
fn every_command_line_is_understood() {
    let texts = std::iter::once(guide::TEXT)
        .chain(RECIPES.iter().map(|recipe| recipe.text))
        .chain(SKILLS.iter().map(|skill| skill.text));
    let lines: Vec<String> = texts.flat_map(command_lines).collect();
    assert!(lines.len() > 40, "{}", lines.len());
    for line in lines {
        if let Err(error) = Cli::try_parse_from(words(&line)) {
            // To be asked for help is an answer too.
            assert!(!error.use_stderr(), "{line}\n{error}");
        }
    }
}
