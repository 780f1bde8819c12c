//! Numbered schema changes. A store knows the number of the last one it had; each runs once, in order.

/// One step of the schema, in the engine's own SQL.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Migration {
    /// The version after it.
    pub(crate) version: i64,
    /// What to run.
    pub(crate) sql: &'static str,
}

/// What a store needs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Nothing.
    Current,
    /// Everything; it is new.
    Create,
    /// The steps after this version.
    Upgrade {
        /// What it has.
        from: i64,
    },
    /// A newer program; we keep our hands off.
    TooNew {
        /// What it has.
        found: i64,
    },
}

pub(crate) fn latest(migrations: &[Migration]) -> i64 {
    migrations.last().map_or(0, |migration| migration.version)
}

pub(crate) fn plan(found: i64, migrations: &[Migration]) -> Plan {
    let latest = latest(migrations);
    match found {
        0 => Plan::Create,
        found if found == latest => Plan::Current,
        found if found > latest => Plan::TooNew { found },
        from => Plan::Upgrade { from },
    }
}

pub(crate) fn after(from: i64, migrations: &[Migration]) -> impl Iterator<Item = &Migration> {
    migrations
        .iter()
        .filter(move |migration| migration.version > from)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: [Migration; 2] = [
        Migration {
            version: 1,
            sql: "a",
        },
        Migration {
            version: 2,
            sql: "b",
        },
    ];

    #[test]
    fn each_version_has_its_plan() {
        assert_eq!(plan(0, &TWO), Plan::Create);
        assert_eq!(plan(1, &TWO), Plan::Upgrade { from: 1 });
        assert_eq!(plan(2, &TWO), Plan::Current);
        assert_eq!(plan(3, &TWO), Plan::TooNew { found: 3 });
        assert_eq!(
            after(1, &TWO)
                .map(|migration| migration.sql)
                .collect::<String>(),
            "b"
        );
    }
}
