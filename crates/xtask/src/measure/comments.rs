//! A rough reading of comments: which give a reason, which repeat the code.
//!
//! Words are all it looks at, so its numbers show a direction and gate nothing.

use std::ops::AddAssign;

use super::lines::CodeLines;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CommentCounts {
    pub(super) all: usize,
    pub(super) narrating: usize,
    pub(super) why: usize,
}

/// What a comment begins with that tells what the next line does.
const NARRATION: [&str; 22] = [
    "add",
    "build",
    "calculate",
    "call",
    "check",
    "convert",
    "create",
    "define",
    "get",
    "handle",
    "initialize",
    "iterate",
    "loop",
    "now",
    "parse",
    "remove",
    "return",
    "send",
    "set",
    "store",
    "then",
    "update",
];

/// What a comment contains that gives a reason.
const REASONS: [&str; 26] = [
    "as",
    "because",
    "before",
    "but",
    "cannot",
    "despite",
    "else",
    "even",
    "if",
    "instead",
    "like",
    "must",
    "never",
    "not",
    "only",
    "or",
    "otherwise",
    "rather",
    "since",
    "so",
    "though",
    "unless",
    "until",
    "when",
    "where",
    "would",
];

impl CommentCounts {
    /// Comments on lines of their own; consecutive lines are one. Documentation is not meant.
    pub(super) fn of(text: &str, code: &CodeLines) -> Self {
        let mut counts = Self::default();
        let mut comment = String::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_start();
            let is_comment = line.starts_with("//")
                && !line.starts_with("///")
                && !line.starts_with("//!")
                && !code.contains(index + 1);
            if is_comment {
                comment.push_str(line.trim_start_matches('/'));
            } else {
                counts.add(&std::mem::take(&mut comment));
            }
        }
        counts.add(&comment);
        counts
    }

    fn add(&mut self, comment: &str) {
        let lowercase = comment.to_lowercase();
        let is_separator = |c: char| !c.is_alphanumeric() && c != '\'';
        let words: Vec<&str> = lowercase
            .split(is_separator)
            .filter(|word| !word.is_empty())
            .collect();
        let Some(first) = words.first() else { return };
        let gives_reason = words.iter().any(|word| REASONS.contains(word));
        self.all += 1;
        self.why += usize::from(gives_reason);
        self.narrating += usize::from(!gives_reason && NARRATION.contains(first));
    }
}

impl AddAssign for CommentCounts {
    fn add_assign(&mut self, other: Self) {
        self.all += other.all;
        self.narrating += other.narrating;
        self.why += other.why;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_and_narration_are_told_apart() {
        let text = "/// Doc.\nfn f() {\n    // Get the history.\n    g();\n    // The pipe is full\n    \
            // because nobody reads.\n    h(\"\n// text\n\");\n    // A table.\n}\n";
        let counts = CommentCounts::of(text, &CodeLines::of(text.parse().unwrap()));
        assert_eq!(
            counts,
            CommentCounts {
                all: 3,
                narrating: 1,
                why: 1
            }
        );
    }
}
