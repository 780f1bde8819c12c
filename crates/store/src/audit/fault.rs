//! What an audit finds wrong, and of what kind.

use std::fmt;

/// Something that does not agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Of what kind.
    pub kind: FaultKind,
    /// What it is, in words.
    pub what: String,
}

/// What kinds there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// The engine finds its file wrong: pages, indexes, references.
    Engine,
    /// The ledger has fewer events than were acknowledged.
    EventsMissing,
    /// A row or an event that has no meaning.
    Unreadable,
    /// A history that nothing can have.
    History,
    /// A field of an event is not what was written.
    EventChanged,
    /// A row is not the fold of its events.
    RowDiffers,
    /// A row does not know its newest events.
    RowBehind,
    /// There are events, but no row.
    RowMissing,
    /// A column that is looked for says something else than the row.
    ColumnDiffers,
}

impl FaultKind {
    /// The word for it, the same for ever.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::EventsMissing => "events_missing",
            Self::Unreadable => "unreadable",
            Self::History => "history",
            Self::EventChanged => "event_changed",
            Self::RowDiffers => "row_differs",
            Self::RowBehind => "row_behind",
            Self::RowMissing => "row_missing",
            Self::ColumnDiffers => "column_differs",
        }
    }

    pub(crate) fn fault(self, what: String) -> Fault {
        Fault { kind: self, what }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}
