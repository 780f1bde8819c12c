//! What of this machine's files nobody needs any more, and why the rest stays. The ledger's rows are never touched: they are the record.

mod branches;
mod clearing;
mod packages;
mod verdict;
mod whose;

pub use clearing::{Found, clear, survey};
pub use packages::{Parcels, clear_packages, survey_packages};
pub use verdict::{Kind, Limits, Verdict};
