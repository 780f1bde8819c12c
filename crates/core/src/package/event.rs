//! What happened to a package, in past tense.

use serde::{Deserialize, Serialize};

use super::label::{KeyId, Label, Recipient};
use crate::context::{KeyFate, Policy};
use crate::lease::Term;
use crate::text::Reason;
use crate::{Caller, ContextScope, Digest, Fence};

/// How a package came here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Sealed here.
    Made,
    /// Brought from elsewhere, sealed.
    Imported,
    /// Brought from elsewhere without a seal, and sealed here as what it is: nobody vouches for its content.
    Unsealed,
}

impl Origin {
    /// The origin that decides about acceptance: a seal does not vouch for content that its sealer took from a file without one.
    #[must_use]
    pub const fn of_content(self, is_foreign: bool) -> Self {
        if is_foreign { Self::Unsealed } else { self }
    }

    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Made => "made here",
            Self::Imported => "imported",
            Self::Unsealed => "unsealed file",
        }
    }
}

/// The exclusive right to receive a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Its number; it only grows for a package.
    pub fence: Fence,
    /// Who has it.
    pub by: Caller,
    /// Until when.
    pub term: Term,
    /// From which machine, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<KeyId>,
}

/// What became of a package that was received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Who received it.
    pub by: Caller,
    /// Where its context went.
    pub into: ContextScope,
    /// By which policy.
    pub policy: Policy,
    /// What became of each key.
    pub report: Vec<KeyFate>,
    /// On which machine, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<KeyId>,
}

/// What happened to a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PackageEvent {
    /// The ledger heard of it. The first event of each package, and only that.
    Created {
        /// What stands on it.
        label: Box<Label>,
        /// SHA-256 of its header, which pins the rest.
        digest: Digest,
        /// How it came here.
        origin: Origin,
    },
    /// Somebody got the right to receive it.
    Claimed {
        /// The right.
        claim: Claim,
    },
    /// The right was given back; or what was received by it, because it came to nothing.
    Released {
        /// Which.
        fence: Fence,
        /// Why, if they said.
        reason: Option<Reason>,
    },
    /// The right ran out.
    ClaimExpired {
        /// Which.
        fence: Fence,
    },
    /// It was received.
    Consumed {
        /// What became of it.
        receipt: Receipt,
    },
    /// Another store decides about it from now on.
    Transferred {
        /// Who has it.
        to: Recipient,
    },
    /// It was deleted.
    Cancelled {
        /// Why, if they said.
        reason: Option<Reason>,
    },
    /// Its time was over when somebody wanted it.
    Expired,
}
