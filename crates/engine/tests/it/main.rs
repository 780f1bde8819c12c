//! The road and its repair, with a real ledger, a real repository and shell scripts as agents.

#[cfg(test)]
mod baseline;
#[cfg(test)]
mod carrying;
#[cfg(test)]
mod continuation;
#[cfg(test)]
mod fan_in;
#[cfg(test)]
mod holder;
#[cfg(test)]
mod misbehaviour;
#[cfg(test)]
mod prompt;
#[cfg(test)]
mod reconcile;
#[cfg(test)]
mod road;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod stale_pauses;
#[cfg(test)]
mod stock;
