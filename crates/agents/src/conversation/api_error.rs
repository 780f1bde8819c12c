//! What an agent says when its model did not answer: the words, and of which kind it is.

use serde::{Deserialize, Serialize};

/// The longest text of an error that is kept.
const LONGEST: usize = 500;

/// The model did not answer, and this is what the agent says about it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiError {
    #[serde(default)]
    pub kind: ApiErrorKind,
    /// Its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
}

/// Of which kind it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApiErrorKind {
    /// The request was refused as it is; the same one is refused again.
    Request,
    /// Nobody is signed in, or they may not do this.
    Login,
    /// Too many requests in too short a time.
    RateLimit,
    /// What may be used is used up.
    Quota,
    /// The server failed, or has too much to do.
    Server,
    /// The server was not reached, or stopped in the middle.
    Network,
    /// It does not say, or a later version knows.
    #[default]
    #[serde(other)]
    Other,
}

/// Words by which a kind is told where there is no number, the more certain first.
const WORDS: [(ApiErrorKind, &[&str]); 5] = [
    (
        ApiErrorKind::RateLimit,
        &["rate limit", "rate_limit", "too many requests"],
    ),
    (
        ApiErrorKind::Quota,
        &[
            "usage limit",
            "usage_limit",
            "limit reached",
            "hit your limit",
            "hit your usage",
            "insufficient_quota",
            "quota exceeded",
            "exceeded your current quota",
            "credit balance",
        ],
    ),
    (
        ApiErrorKind::Login,
        &[
            "/login",
            "invalid api key",
            "authentication",
            "unauthorized",
        ],
    ),
    (
        ApiErrorKind::Server,
        &["overloaded", "internal server error", "unavailable"],
    ),
    (
        ApiErrorKind::Network,
        &[
            "econn",
            "enotfound",
            "etimedout",
            "eai_again",
            "connection",
            "stream disconnected",
            "stream closed",
            "timed out",
            "fetch failed",
        ],
    ),
];

impl ApiError {
    /// An error with these words; the number of the answer counts more than they do.
    pub fn read(status: Option<u64>, said: &str) -> Self {
        let status = status.or_else(|| status_in(said));
        let said = said.trim();
        let end = said.floor_char_boundary(LONGEST.min(said.len()));
        Self {
            kind: ApiErrorKind::read(status, said),
            said: (!said.is_empty()).then(|| said[..end].to_owned()),
        }
    }
}

impl ApiErrorKind {
    fn read(status: Option<u64>, said: &str) -> Self {
        let said = said.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
        let by_words = WORDS.iter().find(|(_, words)| has(words));
        let by_words = by_words.map_or(Self::Other, |(kind, _)| *kind);
        match (status, by_words) {
            // The same number stands for both.
            (Some(402 | 403 | 429), Self::Quota) => Self::Quota,
            (Some(429), _) => Self::RateLimit,
            (Some(401 | 403), _) => Self::Login,
            (Some(402), _) => Self::Quota,
            (Some(408), _) => Self::Network,
            (Some(400..=499), _) => Self::Request,
            (Some(500..=599), _) => Self::Server,
            (Some(_) | None, by_words) => by_words,
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Login => "login",
            Self::RateLimit => "rate_limit",
            Self::Quota => "quota",
            Self::Server => "server",
            Self::Network => "network",
            Self::Other => "other",
        }
    }
}

/// The number of an answer that the words name: three digits alone, the first of them 4 or 5.
fn status_in(said: &str) -> Option<u64> {
    let words = said.split(|it: char| !it.is_ascii_alphanumeric());
    let is_status = |word: &&str| word.len() == 3 && word.starts_with(['4', '5']);
    words.filter(is_status).find_map(|word| word.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_by_its_number_and_then_by_its_words() {
        use ApiErrorKind::{Login, Network, Other, Quota, RateLimit, Request, Server};
        let table = [
            (Some(400), "API Error: 400 fakellm says 400", Request),
            (None, "API Error: 400 prompt is too long", Request),
            (
                None,
                "exceeded retry limit, last status: 429 Too Many Requests",
                RateLimit,
            ),
            (Some(429), "You've hit your usage limit.", Quota),
            (Some(429), "Rate limit reached", RateLimit),
            (Some(401), "API Error: 401", Login),
            (Some(529), "overloaded_error", Server),
            (None, "API Error: Connection error.", Network),
            (
                None,
                "stream disconnected before completion: stream closed",
                Network,
            ),
            (None, "Claude usage limit reached.", Quota),
            (None, "Please run /login", Login),
            (None, "it read 4000 lines of 500x", Other),
            (None, "", Other),
        ];
        for (status, said, expected) in table {
            assert_eq!(ApiError::read(status, said).kind, expected, "{said}");
        }
    }

    #[test]
    fn what_is_said_is_kept_within_bounds() {
        let long = "ä".repeat(LONGEST);
        let said = ApiError::read(None, &long).said.unwrap();
        assert!(said.len() <= LONGEST && long.starts_with(&said));
        assert_eq!(ApiError::read(None, " \n").said, None);
    }
}
