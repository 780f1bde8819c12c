//! Texts in which a script may use what it has read.

use serde::Deserialize;

/// A text with places to fill in.
///
/// `{name}` stands for a variable and `{env.NAME}` for an environment variable (nothing when it is
/// unset). A brace around anything else stays as it is, so that source code needs no escaping;
/// `{{name}}` gives the name itself in braces.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Text(String);

impl Text {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text with each place filled in; `lookup` answers with nothing for a name it does not
    /// know.
    pub fn render(&self, lookup: impl Fn(&str) -> Option<String>) -> String {
        let mut rendered = String::with_capacity(self.0.len());
        let mut rest = self.0.as_str();
        while let Some(brace) = rest.find('{') {
            rendered.push_str(&rest[..brace]);
            let place = &rest[brace..];
            let (filled, taken) = fill(place, &lookup).unwrap_or_else(|| ("{".to_owned(), 1));
            rendered.push_str(&filled);
            rest = &place[taken..];
        }
        rendered.push_str(rest);
        rendered
    }
}

/// What the place at the start of `text` becomes and how many bytes it takes; none where no known
/// name stands in the braces.
fn fill(text: &str, lookup: impl Fn(&str) -> Option<String>) -> Option<(String, usize)> {
    let is_doubled = text.starts_with("{{");
    let (open, close) = if is_doubled { ("{{", "}}") } else { ("{", "}") };
    let inside = &text[open.len()..];
    let name = &inside[..inside.find(close)?];
    if !name.chars().all(is_in_names) {
        return None;
    }
    let value = lookup(name)?;
    let filled = if is_doubled {
        format!("{{{name}}}")
    } else {
        value
    };
    Some((filled, open.len() + name.len() + close.len()))
}

fn is_in_names(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(text: &str) -> String {
        Text::new(text).render(|name| match name {
            "line" => Some("yes".to_owned()),
            name if name.starts_with("env.") => Some("/home/me".to_owned()),
            _ => None,
        })
    }

    #[test]
    fn known_names_are_replaced() {
        assert_eq!(render("{line}, {env.HOME}{line}"), "yes, /home/meyes");
    }

    #[test]
    fn source_code_stays_as_it_is() {
        let code = "fn main() { println!(\"{x:?} {env.HOME:?} {{}} {\"); } // {{ {other} }}";
        assert_eq!(render(code), code);
    }

    #[test]
    fn doubled_braces_keep_the_name() {
        assert_eq!(render("{{line}} is {line}"), "{line} is yes");
    }

    #[test]
    fn a_replacement_is_not_replaced_again() {
        let text = Text::new("{a}").render(|_| Some("{a}".to_owned()));
        assert_eq!(text, "{a}");
    }
}
