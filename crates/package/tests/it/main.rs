//! Packages as they are sealed, damaged, stored and carried.

#[cfg(test)]
mod bundle;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod origin;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod seal;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod shelf;
