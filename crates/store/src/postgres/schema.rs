//! The schema on a server, and how a database gets it.

use handoff_core::StoreId;
use postgres::Client;

use super::Address;
use super::connection::sql_error;
use crate::error::StoreError;
use crate::migration::{self, Migration, Plan};
use crate::sql::SqlError;
use crate::store::{StoreInfo, StoreKind};

const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        sql: include_str!("../../migrations/postgres/0001.sql"),
    },
    Migration {
        version: 2,
        sql: include_str!("../../migrations/postgres/0002.sql"),
    },
    Migration {
        version: 3,
        sql: include_str!("../../migrations/postgres/0003.sql"),
    },
    Migration {
        version: 4,
        sql: include_str!("../../migrations/postgres/0004.sql"),
    },
    Migration {
        version: 5,
        sql: include_str!("../../migrations/postgres/0005.sql"),
    },
    Migration {
        version: 6,
        sql: include_str!("../../migrations/postgres/0006.sql"),
    },
    Migration {
        version: 7,
        sql: include_str!("../../migrations/postgres/0007.sql"),
    },
    Migration {
        version: 8,
        sql: include_str!("../../migrations/postgres/0008.sql"),
    },
    Migration {
        version: 9,
        sql: include_str!("../../migrations/postgres/0009.sql"),
    },
];

/// Anyone's number; all of us take the same one while the schema is made.
const MIGRATION_LOCK: i64 = 0x6864_6f66;

/// The oldest server we know to do what we need.
const MIN_SERVER: i32 = 150_000;

pub(super) fn bring_up_to_date(
    client: &mut Client,
    address: &Address,
    fresh_id: StoreId,
) -> Result<StoreInfo, StoreError> {
    let (id, server) = match found(client)? {
        Some(state) if migration::plan(state.version, MIGRATIONS) == Plan::Current => {
            (state.id, state.server)
        }
        _ => migrate(client, fresh_id)?,
    };
    Ok(StoreInfo {
        id,
        kind: StoreKind::Postgres,
        location: address.to_string(),
        engine: format!("PostgreSQL {server}"),
        schema: migration::latest(MIGRATIONS),
    })
}

struct Found {
    version: i64,
    id: StoreId,
    server: String,
}

/// What the database has, if it has anything of ours.
fn found(client: &mut Client) -> Result<Option<Found>, StoreError> {
    let failed =
        |error| StoreError::unavailable("the schema could not be looked at", sql_error(error));
    let exists = client
        .query_one(
            "SELECT to_regclass('handoff.meta') IS NOT NULL, current_setting('server_version'), \
                    current_setting('server_version_num')::int",
            &[],
        )
        .map_err(failed)?;
    let (has_schema, server, number): (bool, String, i32) =
        (exists.get(0), exists.get(1), exists.get(2));
    if number < MIN_SERVER {
        let cause = SqlError::other(format!(
            "it is version {server}; 15 is the oldest that works"
        ));
        return Err(StoreError::unavailable("the server is too old", cause));
    }
    if !has_schema {
        return Ok(None);
    }
    let row = client
        .query_one(
            "SELECT (SELECT value FROM handoff.meta WHERE name = 'schema'), \
             (SELECT value FROM handoff.meta WHERE name = 'store_id')",
            &[],
        )
        .map_err(failed)?;
    let (version, id): (Option<String>, Option<String>) = (row.get(0), row.get(1));
    let parsed = version
        .and_then(|text| text.parse().ok())
        .zip(id.and_then(|text| text.parse().ok()));
    let missing =
        || StoreError::Inconsistent("the database has no schema version or store id".to_owned());
    let (version, id) = parsed.ok_or_else(missing)?;
    Ok(Some(Found {
        version,
        id,
        server,
    }))
}

/// One transaction for all steps: a server rolls schema changes back like any other.
fn migrate(client: &mut Client, fresh_id: StoreId) -> Result<(StoreId, String), StoreError> {
    let failed = |error| {
        StoreError::unavailable(
            "the schema could not be brought up to date",
            sql_error(error),
        )
    };
    client
        .batch_execute(&format!(
            "BEGIN; SELECT pg_advisory_xact_lock({MIGRATION_LOCK}); CREATE SCHEMA IF NOT EXISTS handoff"
        ))
        .map_err(failed)?;
    let state = found(client)?;
    let from = state.as_ref().map_or(0, |state| state.version);
    if let Plan::TooNew { found } = migration::plan(from, MIGRATIONS) {
        client.batch_execute("ROLLBACK").map_err(failed)?;
        return Err(StoreError::TooNew {
            found,
            known: migration::latest(MIGRATIONS),
        });
    }
    let steps: String = migration::after(from, MIGRATIONS)
        .map(|step| step.sql)
        .collect();
    let id = state.map_or(fresh_id, |state| state.id);
    let latest = migration::latest(MIGRATIONS);
    let script = format!(
        "{steps} INSERT INTO meta VALUES ('store_id', '{id}') ON CONFLICT DO NOTHING; \
         INSERT INTO meta VALUES ('schema', '{latest}') ON CONFLICT (name) DO UPDATE SET value = excluded.value; \
         COMMIT"
    );
    client.batch_execute(&script).map_err(failed)?;
    let done = found(client)?
        .ok_or_else(|| StoreError::Inconsistent("no schema after it was made".to_owned()))?;
    Ok((done.id, done.server))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_counted_without_gaps() {
        let versions: Vec<_> = MIGRATIONS
            .iter()
            .map(|migration| migration.version)
            .collect();
        assert_eq!(
            versions,
            (1..=migration::latest(MIGRATIONS)).collect::<Vec<_>>()
        );
    }
}
