//! Databases of a private PostgreSQL, one for each test that asks.
//!
//! One [`Cluster`] serves a whole test run. `cargo xtask test` starts it, names it in [`VARIABLE`]
//! and stops it; so does `cargo xtask postgres -- cargo nextest run …`. Tests never start a server:
//! each runs in a process of its own, and none of them would know when the last one is done.

mod cluster;
mod installation;
mod pool;

use std::io;
use std::time::Duration;

pub use cluster::{Cluster, Disk};

use self::installation::Installation;
use crate::{Need, ambient, skip_without};

/// Holds the URL of a database on the server of the test run.
pub const VARIABLE: &str = "HANDOFF_TEST_POSTGRES";

/// Whether this machine has what a [`Cluster`] needs.
#[must_use]
pub fn is_installed() -> bool {
    Installation::find().is_some()
}

pub(crate) fn is_available() -> bool {
    is_installed() && ambient::variable(VARIABLE).is_some()
}

/// An empty database, or nothing when the test is to be skipped.
///
/// ```
/// # use handoff_testkit::postgres;
/// fn claims_are_exclusive() {
///     let Some(database) = postgres::fresh_database() else { return };
///     let url: &str = database.url();
/// }
/// ```
///
/// # Panics
/// When the server that the run names cannot be reached.
#[must_use]
pub fn fresh_database() -> Option<Database> {
    if skip_without(&[Need::Postgres]) {
        return None;
    }
    let server = ambient::variable(VARIABLE)?
        .into_string()
        .expect("the URL is text");
    Some(Database::create(server).expect("the server of the test run answers"))
}

/// A database with a random name, given back or dropped together with this value.
#[derive(Debug)]
pub struct Database {
    server: String,
    name: String,
    url: String,
}

impl Database {
    /// Creates a database on the server that `server`, the URL of another database, leads to.
    ///
    /// # Errors
    /// When PostgreSQL is not installed or the server refuses.
    pub fn create(server: String) -> io::Result<Self> {
        let name = format!("test_{:016x}", ambient::random_number());
        if !pool::take(&server, &name)? {
            let create = format!("CREATE DATABASE {name} TEMPLATE template0");
            execute(&server, &create)?;
        }
        let url = with_database(&server, &name);
        Ok(Self { server, name, url })
    }

    /// `postgres:///name?host=…`, as psql and the `postgres` crate read it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Runs SQL through psql and returns what it printed, one row a line.
    ///
    /// # Errors
    /// When a statement fails.
    pub fn execute(&self, sql: &str) -> io::Result<String> {
        execute(&self.url, sql)
    }

    /// Puts the clock of this database forward, and of no other: a test that lets a lease run out waits for nothing, and one
    /// that keeps a lease may be as slow as its machine.
    ///
    /// The function in its place needs a name of its own, because the server calls a built-in one by its number, whatever its
    /// text says.
    ///
    /// # Errors
    /// When the server refuses, as it does everybody but its owner.
    pub fn pass(&self, span: Duration) -> io::Result<()> {
        let micros = span.as_micros();
        let clock = format!(
            "DO $do$ BEGIN
               IF to_regprocedure('pg_catalog.clock_of_machine()') IS NULL THEN
                 ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO clock_of_machine;
                 CREATE TABLE public.clock_ahead (micros bigint NOT NULL);
                 INSERT INTO public.clock_ahead VALUES (0);
                 CREATE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
                   'SELECT clock_of_machine() + micros * interval ''1 microsecond'' FROM public.clock_ahead';
               END IF;
             END $do$;
             UPDATE public.clock_ahead SET micros = micros + {micros}"
        );
        self.execute(&clock).map(drop)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if pool::give_back(&self.server, &self.url, &self.name).is_ok() {
            return;
        }
        // By force, as a failing test may leave connections behind.
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        if let Err(error) = execute(&self.server, &drop) {
            ambient::say(&format!("cannot drop the database of a test: {error}"));
        }
    }
}

fn execute(url: &str, sql: &str) -> io::Result<String> {
    let installation = Installation::find()
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "PostgreSQL is not installed"))?;
    let mut psql = ambient::program(installation.program("psql"));
    psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"]);
    psql.args([
        "--set",
        "ON_ERROR_STOP=1",
        "--dbname",
        url,
        "--command",
        sql,
    ]);
    ambient::run(&mut psql)
}

/// The same server, user and options with another database.
fn with_database(url: &str, name: &str) -> String {
    let (address, options) = url
        .split_once('?')
        .map_or((url, None), |(a, o)| (a, Some(o)));
    let authority = address.find("://").map_or(0, |scheme| scheme + 3);
    let path = address[authority..]
        .find('/')
        .map_or(address.len(), |slash| authority + slash);
    let server = &address[..path];
    match options {
        Some(options) => format!("{server}/{name}?{options}"),
        None => format!("{server}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_of_a_url_is_replaced_and_nothing_else() {
        for (url, expected) in [
            (
                "postgres:///postgres?host=/tmp/x&user=postgres",
                "postgres:///t?host=/tmp/x&user=postgres",
            ),
            ("postgres://u:p@h:5432/db", "postgres://u:p@h:5432/t"),
            ("postgres://h", "postgres://h/t"),
        ] {
            assert_eq!(with_database(url, "t"), expected);
        }
    }
}
