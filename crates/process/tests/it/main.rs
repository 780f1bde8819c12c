//! Real clocks and real programs.

#[cfg(test)]
mod clock;
#[cfg(test)]
mod detach;
#[cfg(test)]
mod group;
#[cfg(test)]
mod launch;
#[cfg(test)]
mod output;
#[cfg(test)]
mod part;
#[cfg(test)]
mod starter;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod tree;
