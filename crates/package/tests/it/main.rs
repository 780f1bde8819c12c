//! Packages as they are sealed, damaged and stored.

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod seal;
#[cfg(test)]
mod store;
