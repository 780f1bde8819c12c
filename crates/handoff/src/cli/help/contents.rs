//! All commands on one page, by what one wants to do.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};

use super::Cli;

/// Commands that belong together.
struct Chapter {
    about: &'static str,
    commands: &'static [&'static str],
}

const CHAPTERS: [Chapter; 8] = [
    Chapter {
        about: "Begin here",
        commands: &["status", "demo", "guide", "doctor", "help"],
    },
    Chapter {
        about: "Features: the next session knows what the last one did",
        commands: &[
            "init",
            "start",
            "continue",
            "next",
            "step",
            "note",
            "decide",
            "verify",
            "checkpoint",
            "validate",
            "spec",
            "design",
            "tasks",
            "prompt",
            "list",
            "switch",
            "archive",
            "clean",
            "export",
            "ignore",
            "trust",
        ],
    },
    Chapter {
        about: "Sessions: an agent under supervision",
        commands: &[
            "run",
            "ps",
            "pane",
            "attach",
            "send",
            "messages",
            "reply",
            "wait",
            "answer",
            "interrupt",
            "signal",
            "stop",
            "logs",
            "events",
            "agents",
        ],
    },
    Chapter {
        about: "Tasks and batches: work that is handed out once, and spreads",
        commands: &[
            "dump",
            "queue",
            "batch",
            "worker",
            "watchdog",
            "done",
            "block",
            "heartbeat",
            "hold",
            "unhold",
            "gc",
        ],
    },
    Chapter {
        about: "Workflows: phases in fresh sessions, judged by a referee",
        commands: &["workflow", "approve", "reject"],
    },
    Chapter {
        about: "Git that several can share",
        commands: &[
            "safe-commit",
            "land",
            "rescue",
            "baseline",
            "worktree",
            "git-guard",
            "hooks",
            "sandbox",
        ],
    },
    Chapter {
        about: "Packages: what is handed on, sealed",
        commands: &["package", "context", "keys", "pause", "resume", "transfer"],
    },
    Chapter {
        about: "Around",
        commands: &[
            "backup",
            "restore",
            "recipes",
            "skills",
            "completion",
            "upgrade",
            "version",
        ],
    },
];

/// How wide the names are.
const NAME: usize = 13;
/// The text beside a name never gets less than this.
const LEAST: usize = 24;

/// The command line, with this page as its help.
pub(in crate::cli) fn command(width: usize) -> Command {
    let command = Cli::command();
    let page = page(&command, width);
    command.help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{page}\nOptions:\n{{options}}{{after-help}}"
    ))
}

fn page(command: &Command, width: usize) -> String {
    let width = width.saturating_sub(NAME + 2).max(LEAST);
    let mut page = String::new();
    for chapter in &CHAPTERS {
        writeln!(page, "{}", chapter.about).expect("a text takes everything");
        for name in chapter.commands {
            let found = command.find_subcommand(name);
            let about = found.and_then(Command::get_about).map(ToString::to_string);
            let lines = crate::output::wrap(&about.unwrap_or_default(), width);
            for (line, name) in lines
                .iter()
                .zip([*name].into_iter().chain(std::iter::repeat("")))
            {
                writeln!(page, "  {name:<NAME$}{line}").expect("a text takes everything");
            }
        }
        page.push('\n');
    }
    page.pop();
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_chapter_and_every_name_is_a_command() {
        let mut listed: Vec<_> = CHAPTERS
            .iter()
            .flat_map(|it| it.commands)
            .copied()
            .collect();
        let command = Cli::command();
        let shown = command.get_subcommands().filter(|it| !it.is_hide_set());
        let mut shown: Vec<_> = shown.map(Command::get_name).collect();
        listed.sort_unstable();
        shown.sort_unstable();
        assert_eq!(listed, shown);
    }

    #[test]
    fn a_command_is_described_as_it_is_listed() {
        let listed = Cli::command();
        let mut whole = Cli::command();
        whole.build();
        for command in whole.get_subcommands() {
            let found = listed.find_subcommand(command.get_name());
            let about = found.and_then(Command::get_about);
            assert!(about.is_some(), "{}", command.get_name());
            assert_eq!(command.get_about(), about, "{}", command.get_name());
        }
    }

    #[test]
    fn a_long_text_goes_on_beside_its_name() {
        let command = Cli::command();
        for line in page(&command, 60).lines().filter(|it| it.starts_with("  ")) {
            assert!(line.len() <= 62, "{line}");
        }
        assert!(page(&command, 60).contains(&format!("\n  {:NAME$}", "")));
    }
}
