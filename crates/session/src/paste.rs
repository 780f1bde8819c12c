//! Turning a text into keys: no control character of the text reaches the agent, and none of it ends a paste.

use std::fmt::Write as _;
use std::path::Path;

use handoff_agents::{Pointer, Recipe, Tabs};

/// The longest text that is typed key by key; a longer one goes by file.
const LONGEST: usize = 8 * 1024;
/// A terminal that hands on whole lines drops what is beyond 4,095 bytes.
const LONGEST_LINE: usize = 4000;

/// How the program reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// It asked for pastes to be marked.
    Bracketed,
    /// Key by key.
    Keys,
    /// The terminal hands it whole lines.
    Lines,
}

/// The text without anything that a program could take for a key: newlines and tabs stay. Whatever ends a line to a reader ends it
/// here too.
pub fn clean(text: &str) -> String {
    let ends = ['\r', '\u{2028}', '\u{2029}'];
    let text = text.replace("\r\n", "\n").replace(ends, "\n");
    let is_kept = |it: &char| matches!(it, '\n' | '\t') || !it.is_control();
    let kept: String = text.chars().filter(is_kept).collect();
    kept.trim_end_matches('\n').to_owned()
}

/// The text in such a form that the program takes it for words, whatever it begins and ends with. All of the text is in it.
pub fn in_words(clean: &str, recipe: &Recipe, reader: Reader) -> String {
    let is_command = clean
        .trim_start()
        .starts_with(|first| recipe.commands.contains(first));
    let lead = match (is_command, reader) {
        (false, _) => "",
        (true, Reader::Bracketed) => "Message:\n",
        // A newline would be an Enter.
        (true, Reader::Keys | Reader::Lines) => "Message: ",
    };
    let is_held = recipe.holds.is_some_and(|last| clean.ends_with(last));
    let tail = if is_held { " " } else { "" };
    format!("{lead}{clean}{tail}")
}

/// Whether it can be typed to this reader as it is.
pub fn fits(clean: &str, recipe: &Recipe, reader: Reader) -> bool {
    if recipe.tabs == Tabs::Lost && clean.contains('\t') {
        return false;
    }
    match reader {
        Reader::Bracketed => clean.len() <= recipe.longest_paste,
        // Every newline would be an Enter.
        Reader::Keys => clean.len() <= LONGEST && !clean.contains('\n'),
        Reader::Lines => clean.len() <= LONGEST_LINE && !clean.contains('\n'),
    }
}

/// The keys that put a clean text into the box.
pub fn keys(clean: &str, reader: Reader) -> Vec<u8> {
    match reader {
        Reader::Bracketed => format!("\x1b[200~{clean}\x1b[201~").into_bytes(),
        Reader::Keys | Reader::Lines => clean.as_bytes().to_vec(),
    }
}

/// What is typed in place of a text that lies in a file.
pub fn pointer(path: &Path, header: Option<&str>, kind: Pointer) -> String {
    let path = path.display().to_string();
    match kind {
        Pointer::Source => format!(". '{}'", path.replace('\'', "'\\''")),
        Pointer::Sentence => {
            let mut text = String::new();
            if let Some(header) = header {
                // One line, so that every reader takes it.
                write!(text, "{header} ").expect("a string takes everything");
            }
            text + &format!(
                "The message is in the file {path}: read it and take it as if it stood here."
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_is_left_but_newline_and_tab() {
        let all: String = (0..=0x2ff_u32).filter_map(char::from_u32).collect();
        let clean = clean(&all);
        let control: Vec<char> = clean.chars().filter(|it| it.is_control()).collect();
        assert_eq!(control, ['\t', '\n', '\n']);
        assert!(clean.contains(" !\"#") && clean.contains('é'));
    }

    #[test]
    fn a_text_cannot_end_its_own_paste() {
        let keys = keys(&clean("a\x1b[201~\r\x03rm\x04"), Reader::Bracketed);
        assert_eq!(keys, b"\x1b[200~a[201~\nrm\x1b[201~");
        let c1 = clean("a\u{9b}201~b");
        assert_eq!(c1, "a201~b");
    }

    #[test]
    fn line_ends_are_one_kind_and_none_is_at_the_end() {
        assert_eq!(clean("a\r\nb\rc\n\n\r\n"), "a\nb\nc");
        assert_eq!(clean("a\u{2028}b\u{2029}c"), "a\nb\nc");
    }

    #[test]
    fn what_fits_depends_on_who_reads() {
        let line = "x".repeat(4001);
        let table = [
            ("a\nb", Reader::Bracketed, true),
            ("a\nb", Reader::Keys, false),
            ("a b", Reader::Keys, true),
            ("a\nb", Reader::Lines, false),
            (line.as_str(), Reader::Lines, false),
            (line.as_str(), Reader::Bracketed, true),
        ];
        for (text, reader, expected) in table {
            assert_eq!(
                fits(text, &Recipe::default(), reader),
                expected,
                "{reader:?}"
            );
        }
        let long = "x".repeat(LONGEST + 1);
        assert!(!fits(&long, &Recipe::default(), Reader::Bracketed));
        let recipe = Recipe {
            longest_paste: LONGEST + 1,
            tabs: Tabs::Lost,
            ..Recipe::default()
        };
        assert!(fits(&long, &recipe, Reader::Bracketed));
        assert!(!fits(&long, &recipe, Reader::Keys));
        assert!(!fits("a\tb", &recipe, Reader::Bracketed));
    }

    #[test]
    fn words_stay_words_whatever_they_begin_and_end_with() {
        let recipe = Recipe {
            commands: "/!".to_owned(),
            holds: Some('\\'),
            ..Recipe::default()
        };
        let table = [
            ("/help me", "Message:\n/help me"),
            ("  /help me", "Message:\n  /help me"),
            ("!ls", "Message:\n!ls"),
            ("what is /help", "what is /help"),
            ("#1", "#1"),
            ("ends in \\", "ends in \\ "),
            ("/\\", "Message:\n/\\ "),
            ("", ""),
        ];
        for (text, expected) in table {
            let words = in_words(text, &recipe, Reader::Bracketed);
            assert_eq!(words, expected);
            assert!(words.contains(text));
        }
        assert_eq!(in_words("/x", &recipe, Reader::Keys), "Message: /x");
        assert_eq!(in_words("/x", &Recipe::default(), Reader::Keys), "/x");
    }

    #[test]
    fn a_shell_runs_the_file_and_an_agent_reads_it() {
        let path = Path::new("/it's/m.md");
        let shell = pointer(path, None, Pointer::Source);
        assert_eq!(shell, ". '/it'\\''s/m.md'");
        let agent = pointer(path, Some("[from session a (b)]"), Pointer::Sentence);
        assert!(agent.starts_with("[from session a (b)] The message") && !agent.contains('\n'));
    }
}
