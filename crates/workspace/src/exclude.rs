//! The line `.handoff/` in git's `info/exclude`: put in, taken out, every other byte kept.

/// Whether git looks into the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exclusion {
    /// The file has a line for it.
    Excluded,
    /// It has none.
    Included,
}

/// The lines that all mean the workspace.
const ENTRIES: [&str; 4] = [".handoff/", "/.handoff/", ".handoff", "/.handoff"];

/// How it is now.
#[must_use]
pub fn state(text: &str) -> Exclusion {
    if text.lines().any(is_entry) {
        Exclusion::Excluded
    } else {
        Exclusion::Included
    }
}

/// The text with the other state, and what that is.
#[must_use]
pub fn toggled(text: &str) -> (String, Exclusion) {
    match state(text) {
        Exclusion::Excluded => {
            let kept = text.split_inclusive('\n').filter(|line| !is_entry(line));
            (kept.collect(), Exclusion::Included)
        }
        Exclusion::Included => (with_entry(text), Exclusion::Excluded),
    }
}

/// Written as the lines before it are.
fn with_entry(text: &str) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        end
    };
    format!("{text}{gap}{}{end}", ENTRIES[0])
}

fn is_entry(line: &str) -> bool {
    ENTRIES.contains(&line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_goes_in_and_out_and_leaves_the_others_alone() {
        for text in ["", "# ours\n*.tmp\n", "a\r\nb\r\n"] {
            let (with, state) = toggled(text);
            assert_eq!(state, Exclusion::Excluded);
            let (without, state) = toggled(&with);
            assert_eq!((without.as_str(), state), (text, Exclusion::Included));
        }
        assert_eq!(toggled("a\r\nb").0, "a\r\nb\r\n.handoff/\r\n");
        assert_eq!(toggled("a\nb").0, "a\nb\n.handoff/\n");
    }

    #[test]
    fn each_way_to_write_it_is_noticed_and_the_missing_newline_of_others_is_kept() {
        for entry in ENTRIES {
            let text = format!("a\n{entry}  \r\nb");
            assert_eq!(state(&text), Exclusion::Excluded);
            assert_eq!(toggled(&text), ("a\nb".to_owned(), Exclusion::Included));
        }
        for text in [
            "# .handoff/",
            "x/.handoff/",
            "!.handoff/",
            ".handoff/x",
            ".handoffs",
        ] {
            assert_eq!(state(text), Exclusion::Included, "{text}");
        }
    }
}
