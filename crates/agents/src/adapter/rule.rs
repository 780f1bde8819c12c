//! What one sign means. The first rule that fits counts.

use serde::Deserialize;

use super::Hint;
use super::pattern::Pattern;
use super::sight::{InputBox, Parts, Sight};

/// What a title means.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TitleRule {
    pub fits: Pattern,
    pub means: Hint,
}

/// What a screen means. Every pattern must fit a row of its part; a part that is not there fits nothing.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScreenRule {
    pub means: Hint,
    /// The last rows as one text.
    #[serde(default)]
    foot: Vec<Pattern>,
    /// What stands left of the cursor.
    #[serde(default)]
    cursor: Vec<Pattern>,
    /// The last rows, one by one.
    #[serde(default)]
    tail: Vec<Pattern>,
    /// The row where one types.
    #[serde(default)]
    input: Vec<Pattern>,
    /// Below the place where one types.
    #[serde(default)]
    below: Vec<Pattern>,
    /// What was printed since the last message.
    #[serde(default)]
    turn: Vec<Pattern>,
    /// A list of numbered choices at the bottom, and the question above it.
    #[serde(default)]
    dialog: Vec<Pattern>,
    /// None of these may be in the last rows.
    #[serde(default)]
    unless: Vec<Pattern>,
}

impl ScreenRule {
    /// A rule without a pattern would fit everything.
    pub(super) fn is_empty(&self) -> bool {
        let parts = [
            &self.foot,
            &self.cursor,
            &self.tail,
            &self.input,
            &self.below,
            &self.turn,
            &self.dialog,
        ];
        parts.into_iter().all(Vec::is_empty)
    }

    fn fits(&self, parts: &Parts<'_>) -> bool {
        let text = |patterns: &[Pattern], text: &str| patterns.iter().all(|it| it.fits(text, 0));
        let typing = parts.typing.as_ref();
        let rows = [
            (&self.tail, Some(parts.tail)),
            (&self.below, typing.map(|typing| typing.below)),
            (&self.turn, typing.map(|typing| typing.turn)),
            (
                &self.input,
                typing.map(|typing| std::slice::from_ref(typing.row)),
            ),
            (&self.dialog, parts.dialog),
        ];
        text(&self.foot, &parts.foot)
            && text(&self.cursor, parts.cursor_line)
            && rows.into_iter().all(|(patterns, rows)| {
                let found = |pattern: &Pattern| rows?.iter().find(|row| row.fits(pattern));
                patterns.iter().all(|pattern| found(pattern).is_some())
            })
            && !(self.unless.iter()).any(|pattern| parts.tail.iter().any(|row| row.fits(pattern)))
    }
}

/// What the first rule says that fits.
pub(super) fn read(rules: &[ScreenRule], input: Option<&InputBox>, sight: &Sight) -> Option<Hint> {
    let parts = sight.parts(input);
    let rule = rules.iter().find(|rule| rule.fits(&parts))?;
    Some(rule.means)
}
