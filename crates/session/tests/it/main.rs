//! Recordings of real agents, played to what a holder sees with.

#[cfg(test)]
mod recording;
#[cfg(test)]
mod screens;
