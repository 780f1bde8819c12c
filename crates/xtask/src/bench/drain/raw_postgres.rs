//! The floor on PostgreSQL: claimers pass over each other's rows, and nothing more.

use anyhow::Result;
use handoff_core::ProjectId;
use postgres::{Client, NoTls, Statement};

use super::raw;
use super::worker::Drainer;

pub(super) struct RawPostgres {
    client: Client,
    project: String,
    statements: Statements,
}

struct Statements {
    find: Statement,
    look: Statement,
    change: Statement,
    append: Statement,
}

impl RawPostgres {
    pub(super) fn connect(url: &str, project: ProjectId) -> Result<Self> {
        let mut client = Client::connect(url, NoTls)?;
        let statements = Statements {
            find: client.prepare(&format!("{} FOR UPDATE SKIP LOCKED", raw::FIND))?,
            look: client.prepare(&format!("{} FOR UPDATE", raw::LOOK))?,
            change: client.prepare(raw::CHANGE)?,
            append: client.prepare(raw::APPEND)?,
        };
        Ok(Self {
            client,
            project: project.to_string(),
            statements,
        })
    }
}

impl Statements {
    fn change(
        &self,
        transaction: &mut postgres::Transaction<'_>,
        number: i64,
        state: &str,
    ) -> Result<()> {
        transaction.execute(&self.change, &[&state, &raw::task_body(), &number])?;
        transaction.execute(&self.append, &[&number, &raw::event_body()])?;
        Ok(())
    }
}

impl Drainer for RawPostgres {
    type Claimed = i64;

    fn claim(&mut self) -> Result<Option<i64>> {
        let mut transaction = self.client.transaction()?;
        let found = transaction.query_opt(&self.statements.find, &[&self.project])?;
        let found = found.map(|row| row.get(0));
        if let Some(number) = found {
            self.statements.change(&mut transaction, number, "leased")?;
        }
        transaction.commit()?;
        Ok(found)
    }

    fn complete(&mut self, number: i64) -> Result<()> {
        let mut transaction = self.client.transaction()?;
        transaction.query_one(&self.statements.look, &[&number])?;
        self.statements.change(&mut transaction, number, "done")?;
        Ok(transaction.commit()?)
    }
}
