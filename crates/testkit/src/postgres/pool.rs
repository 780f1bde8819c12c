//! Databases that a test before has left empty: making one takes the server twenty times as long as emptying one.
//!
//! The pool is the server's own list of databases. One that is free has a name that says so, and whoever renames it has it.

use std::io;

use super::execute;

/// How many others may be quicker before a new database is made.
const ATTEMPTS: usize = 3;

/// Renames a free database to `name`; false if there is none.
pub(super) fn take(server: &str, name: &str) -> io::Result<bool> {
    for _ in 0..ATTEMPTS {
        let free = execute(
            server,
            "SELECT datname FROM pg_database WHERE datname LIKE 'free\\_%' ORDER BY random() LIMIT 1",
        )?;
        let free = free.trim();
        if free.is_empty() {
            return Ok(false);
        }
        // It fails if somebody else has renamed it meanwhile.
        if execute(server, &format!("ALTER DATABASE {free} RENAME TO {name}")).is_ok() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Empties a database and offers it to others. Fails for one that differs from a new one in more than our schema: then it is to be
/// dropped.
pub(super) fn give_back(server: &str, url: &str, name: &str) -> io::Result<()> {
    execute(url, EMPTY)?;
    // A rename needs a database that nobody is connected to.
    let offer = format!(
        "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE datname = '{name}'; \
         ALTER DATABASE {name} RENAME TO free_{name}"
    );
    execute(server, &offer).map(drop)
}

/// Removes our schema; refused where a test has put something elsewhere, as its own clock or a setting.
const EMPTY: &str = "DO $do$ BEGIN
  IF to_regprocedure('pg_catalog.clock_of_machine()') IS NOT NULL
    OR EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace)
    OR EXISTS (SELECT FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%' AND nspname NOT IN ('information_schema', 'public', 'handoff'))
    OR EXISTS (SELECT FROM pg_extension WHERE extname <> 'plpgsql')
    OR EXISTS (SELECT FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase WHERE d.datname = current_database())
    OR (SELECT datacl IS NOT NULL OR datconnlimit <> -1 FROM pg_database WHERE datname = current_database())
  THEN RAISE EXCEPTION 'not as new';
  END IF;
  SET LOCAL client_min_messages = warning;
  DROP SCHEMA IF EXISTS handoff CASCADE;
END $do$";
