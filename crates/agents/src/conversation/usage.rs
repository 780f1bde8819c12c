//! What a turn took.

use serde::{Deserialize, Serialize};

/// What a turn took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Without those that were read from a cache.
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
    /// In US dollars, where the agent says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl Usage {
    pub const fn is_nothing(&self) -> bool {
        self.input_tokens == 0 && self.output_tokens == 0 && self.cost_usd.is_none()
    }

    /// All tokens together, with those of a cache.
    pub const fn tokens(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.output_tokens)
            .saturating_add(self.cache_read_tokens)
            .saturating_add(self.cache_write_tokens)
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens + other.input_tokens,
            output_tokens: self.output_tokens + other.output_tokens,
            cache_read_tokens: self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens: self.cache_write_tokens + other.cache_write_tokens,
            cost_usd: match (self.cost_usd, other.cost_usd) {
                (Some(cost), Some(more)) => Some(cost + more),
                (cost, more) => cost.or(more),
            },
        }
    }

    /// How much it has grown since an earlier count.
    pub(super) fn since(self, earlier: Self) -> Self {
        let cost = self.cost_usd;
        Self {
            input_tokens: self.input_tokens.saturating_sub(earlier.input_tokens),
            output_tokens: self.output_tokens.saturating_sub(earlier.output_tokens),
            cache_read_tokens: (self.cache_read_tokens).saturating_sub(earlier.cache_read_tokens),
            cache_write_tokens: (self.cache_write_tokens)
                .saturating_sub(earlier.cache_write_tokens),
            cost_usd: cost.map(|cost| (cost - earlier.cost_usd.unwrap_or_default()).max(0.0)),
        }
    }
}
