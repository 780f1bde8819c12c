//! The beginning of a text, for the journal.

/// How many characters a preview has.
const LENGTH: usize = 200;

/// The beginning of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    pub text: String,
    /// Whether there is more.
    pub is_truncated: bool,
}

impl Preview {
    pub fn of(text: &str) -> Self {
        let end = text.char_indices().nth(LENGTH).map(|(index, _)| index);
        Self {
            text: text[..end.unwrap_or(text.len())].to_owned(),
            is_truncated: end.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_not_bytes() {
        let exact = "é".repeat(200);
        let whole = Preview::of(&exact);
        assert_eq!((whole.text.as_str(), whole.is_truncated), (&*exact, false));
        let cut = Preview::of(&format!("{exact}x"));
        assert_eq!((cut.text.as_str(), cut.is_truncated), (&*exact, true));
    }
}
