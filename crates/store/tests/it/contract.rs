//! What both stores must do alike. Each fact is stated once and checked on both.

mod adoption;
mod batches;
mod blobs;
mod contexts;
mod events;
mod features;
mod holds;
mod keys;
mod leases;
mod ownership;
mod packages;
mod queue;
mod repositories;
mod rests;
mod runs;

/// Makes a test of each function for SQLite and for PostgreSQL.
macro_rules! on_both_stores {
    ($($fact:ident),* $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $fact() {
                super::$fact(&mut crate::fixture::Fixture::sqlite());
            })*
        }

        mod postgres {
            $(#[test]
            fn $fact() {
                if let Some(mut fixture) = crate::fixture::Fixture::postgres() {
                    super::$fact(&mut fixture);
                }
            })*
        }
    };
}
pub(crate) use on_both_stores;
