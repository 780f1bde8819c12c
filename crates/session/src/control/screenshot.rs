//! A screen as it is told to those who ask.

use serde::{Deserialize, Serialize};

use crate::screen::Screen;

/// What a terminal shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Screenshot {
    pub rows: u16,
    pub columns: u16,
    /// Counted from zero.
    pub cursor_row: u16,
    pub cursor_column: u16,
    pub title: String,
    pub is_alternate: bool,
    pub lines: Vec<String>,
    /// The same with colours.
    pub ansi: Vec<String>,
}

impl Screenshot {
    pub fn of(screen: &Screen) -> Self {
        let size = screen.size();
        let (cursor_row, cursor_column) = screen.cursor();
        Self {
            rows: size.rows,
            columns: size.columns,
            cursor_row,
            cursor_column,
            title: screen.title().to_owned(),
            is_alternate: screen.is_alternate(),
            lines: screen.rows(),
            ansi: screen.rows_formatted(),
        }
    }
}
