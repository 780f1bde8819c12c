//! Whether a line editor reads a new command, or something else: the rest of an open one, or an answer that a command asked for.
//!
//! To the kernel these are the same. The first prompt of a session is one for commands, and others of its kind begin or end alike
//! even where they name the directory or the state of a repository in between.

/// How the first prompt looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PromptLine {
    ends: Option<(char, char)>,
}

impl PromptLine {
    /// The line with the cursor while nobody has typed anything. The first one is remembered.
    pub fn learn(&mut self, line: &str) {
        self.ends = self.ends.or_else(|| ends(line));
    }

    pub const fn is_learnt(&self) -> bool {
        self.ends.is_some()
    }

    /// Whether this line is another kind of prompt than the first.
    pub fn is_other(&self, line: &str) -> bool {
        match (self.ends, ends(line)) {
            (Some(first), Some(now)) => first.0 != now.0 && first.1 != now.1,
            (None, _) | (_, None) => false,
        }
    }
}

fn ends(line: &str) -> Option<(char, char)> {
    let line = line.trim();
    Some((line.chars().next()?, line.chars().next_back()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_string_and_a_question_are_no_prompts_for_a_command() {
        let table = [
            ("bash-5.2$ ", "bash-5.2$ ", false),
            ("me@host:~$ ", "me@host:~/work$ ", false),
            ("me@host:~$ ", "(venv) me@host:~$ ", false),
            ("\u{279c}  one ", "\u{279c}  two git:(main) ", false),
            ("bash-5.2$ ", "> ", true),
            ("host% ", "dquote> ", true),
            ("$ ", "name: ", true),
            ("$ ", "", false),
            ("", "> ", false),
        ];
        for (first, now, expected) in table {
            let mut prompt = PromptLine::default();
            prompt.learn(first);
            assert_eq!(prompt.is_other(now), expected, "{first:?} {now:?}");
        }
    }

    #[test]
    fn only_the_first_is_learnt() {
        let mut prompt = PromptLine::default();
        prompt.learn("$ ");
        prompt.learn("> ");
        assert!(prompt.is_other("> ") && !prompt.is_other("$ "));
    }
}
