//! Whether names that differ only in case are the same name.

/// How the filesystem below a repository compares names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseRule {
    /// `README.md` and `readme.md` are two files.
    Sensitive,
    /// They are one file. Compared by folding each character, which joins at least what common
    /// filesystems join character by character; foldings that change the length (`ß` and `ss`) are
    /// not joined.
    Folded,
}

impl CaseRule {
    /// What the usual file systems of this platform do.
    pub const NATIVE: Self = if cfg!(target_os = "linux") {
        Self::Sensitive
    } else {
        Self::Folded
    };

    /// The one spelling that stands for all that are the same name.
    pub(super) fn spell(self, name: &str) -> String {
        match self {
            Self::Sensitive => name.to_owned(),
            Self::Folded => name.chars().map(fold).collect(),
        }
    }
}

/// The one character that stands for all cases of `character`.
///
/// Upper-casing first joins characters that only share their upper case (`ſ` and `s`, `ς` and `σ`).
pub(super) fn fold(character: char) -> char {
    match character {
        // Upper-casing would turn it into `i`, so that `.gıt` became `.git`. Unicode folds the
        // dotless i to itself outside Turkic languages, and so do filesystems.
        'ı' => character,
        _ => only(character.to_uppercase())
            .and_then(lowercase)
            .or_else(|| lowercase(character))
            .unwrap_or(character),
    }
}

fn lowercase(character: char) -> Option<char> {
    only(character.to_lowercase())
}

fn only(mut characters: impl ExactSizeIterator<Item = char>) -> Option<char> {
    (characters.len() == 1).then(|| characters.next()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_of_one_letter_fold_together() {
        for pair in ["Aa", "Éé", "ſs", "\u{212a}k", "ςΣ", "ẞß", "ᾼᾳ"] {
            let folded: Vec<char> = pair.chars().map(fold).collect();
            assert_eq!(folded[0], folded[1], "{pair}");
        }
    }

    #[test]
    fn dotless_i_is_no_case_of_i() {
        assert_eq!(fold('ı'), 'ı');
    }

    /// Beyond the last script that has cases.
    const LAST_CASED: char = '\u{1ffff}';

    #[test]
    fn folding_again_changes_nothing() {
        let unstable = ('\0'..=LAST_CASED).find(|c| fold(fold(*c)) != fold(*c));
        assert_eq!(unstable, None);
    }

    #[test]
    fn only_the_known_characters_fold_into_ascii() {
        let folded = ('\u{80}'..=LAST_CASED).filter(|c| fold(*c).is_ascii());
        assert_eq!(folded.collect::<String>(), "ſ\u{212a}");
    }
}
