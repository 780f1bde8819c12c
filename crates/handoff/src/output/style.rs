//! What colours mean. Text must read the same without them.

use anstyle::{AnsiColor, Style};

/// Whether to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Palette {
    Colour,
    Plain,
}

/// A fixed meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Ordinary text.
    Plain,
    /// Headings and names.
    Strong,
    /// Ended well, as it should be.
    Good,
    /// In work.
    Active,
    /// Needs a person, or is limited.
    Attention,
    /// Failed.
    Bad,
    /// Less important.
    Faint,
    /// What to try.
    Hint,
}

impl Palette {
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Colour if tone == Tone::Plain => text.to_owned(),
            Self::Colour => {
                let style = tone.style();
                format!("{style}{text}{style:#}")
            }
        }
    }
}

impl Tone {
    fn style(self) -> Style {
        let coloured = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        match self {
            Self::Plain => Style::new(),
            Self::Strong => Style::new().bold(),
            Self::Good => coloured(AnsiColor::Green),
            Self::Active => coloured(AnsiColor::Cyan),
            Self::Attention => coloured(AnsiColor::Yellow),
            Self::Bad => coloured(AnsiColor::Red).bold(),
            Self::Faint => Style::new().dimmed(),
            Self::Hint => coloured(AnsiColor::Blue).bold(),
        }
    }
}
