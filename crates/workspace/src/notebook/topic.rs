//! What an entry of the notes is about.

use crate::markdown::is_title;

macro_rules! topics {
    ($($(#[doc = $doc:literal])* $name:ident = $($title:literal),+;)*) => {
        /// What an entry is about; each has a section of its own.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Topic {
            $($(#[doc = $doc])* $name,)*
        }

        impl Topic {
            const ALL: &[Self] = &[$(Self::$name,)*];

            /// The titles of its section: ours first, then those of older tools.
            #[must_use]
            pub const fn titles(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($title,)+],)* }
            }
        }
    };
}

topics! {
    /// What the last session did.
    Done = "Done in the Last Session", "What Was Implemented";
    /// What is half done or broken.
    InFlight = "In Flight", "What Is Currently In Progress";
    /// What the last session wanted to do next.
    Next = "Next Action", "Next Micro-Step";
    /// What was decided, and why.
    Decisions = "Decisions";
    /// What was tried and does not work.
    DeadEnds = "Dead Ends";
    /// What keeps the work from going on.
    Blockers = "Blockers";
    /// Files worth reading first.
    Files = "Files That Matter", "Files";
    /// What nobody has answered.
    Questions = "Open Questions";
    /// What may go wrong.
    Risks = "Risks", "Risk Snapshot";
    /// Everything else.
    Notes = "Notes", "Critical Context";
}

impl Topic {
    /// The topic of the section with this heading.
    pub(super) fn of(heading: &str) -> Option<Self> {
        let is_one = |topic: &Self| topic.titles().iter().any(|title| is_title(heading, title));
        Self::ALL.iter().copied().find(is_one)
    }

    /// The title of a new section.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.titles()[0]
    }
}
