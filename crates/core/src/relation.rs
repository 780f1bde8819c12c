//! What the session that is asked about is to the session that asks.

/// What the session that is asked about is to the session that asks. A caller that is no session is beside all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The same one.
    Itself,
    /// The caller started it, or started one that did.
    Started,
    /// It started the caller, or one that did.
    Above,
    /// None of these.
    Beside,
}

impl Relation {
    /// The session that is asked about, as a refusal names it.
    pub const fn whom(self) -> &'static str {
        match self {
            Self::Itself => "itself",
            Self::Started => "a session that it started",
            Self::Above => "the session that started it",
            Self::Beside => "a session that it did not start",
        }
    }
}
