//! What a person wrote in a document: without comments, and without the lines of the scaffold that nobody replaced.

use crate::feature::Document;
use crate::markdown::{Kind, Markdown};
use crate::template::Template;

/// What a person wrote. A document that has been filled in halfway does not ask an assistant the questions that were
/// meant for the person.
#[must_use]
pub fn essence(document: Document, text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}');
    let markdown = Markdown::parse(text);
    let lines = markdown.lines.iter().filter(|line| match line.kind {
        Kind::Comment(_) => false,
        Kind::Text => !is_placeholder(document, line.text),
        Kind::Blank | Kind::Heading(_) | Kind::Item(_) | Kind::Code(_) => true,
    });
    let mut kept: Vec<&str> = lines.map(|line| line.text.trim_end()).collect();
    kept.dedup_by(|next, before| next.is_empty() && before.is_empty());
    kept.join("\n").trim_matches('\n').to_owned()
}

/// A line in parentheses that the scaffold has too.
fn is_placeholder(document: Document, line: &str) -> bool {
    let line = line.trim();
    let mut scaffold = Template::of(document).default_text().lines();
    line.starts_with('(') && scaffold.any(|expected| expected == line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_scaffold_asks_is_left_out() {
        let scaffold = Template::Feature.default_text();
        let asked = scaffold.lines().find(|line| line.starts_with('(')).unwrap();
        let text = scaffold.replace(asked, "Log in.\n\n<!-- note to self -->\n(For everyone.)");
        let essence = essence(Document::Feature, &text);
        assert!(essence.contains("Log in.\n\n(For everyone.)"), "{essence}");
        assert_eq!(
            essence.lines().filter(|line| line.starts_with('(')).count(),
            1
        );
        assert!(!essence.contains("<!--"), "{essence}");
    }
}
