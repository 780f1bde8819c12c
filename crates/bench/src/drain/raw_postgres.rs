//! The floor on PostgreSQL: claimers pass over each other's rows, and nothing more.

use anyhow::Result;
use handoff_core::ProjectId;
use postgres::{Client, NoTls, Statement};

use super::raw::{self, Found, Step};
use super::worker::Drainer;

pub(super) struct RawPostgres {
    client: Client,
    project: String,
    statements: Statements,
}

struct Statements {
    find: Statement,
    look: Statement,
    claim: Statement,
    complete: Statement,
    append: Statement,
}

impl RawPostgres {
    pub(super) fn connect(url: &str, project: ProjectId) -> Result<Self> {
        let mut client = Client::connect(url, NoTls)?;
        client.batch_execute("SET search_path = handoff")?;
        let statements = Statements {
            find: client.prepare(&format!("{} FOR UPDATE SKIP LOCKED", raw::FIND))?,
            look: client.prepare(&format!("{} FOR UPDATE", raw::LOOK))?,
            claim: client.prepare(Step::Claim.sql())?,
            complete: client.prepare(Step::Complete.sql())?,
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
        (found, project): (&Found, &str),
        step: Step,
    ) -> Result<()> {
        let change = match step {
            Step::Claim => &self.claim,
            Step::Complete => &self.complete,
        };
        transaction.execute(change, &[&step.task(), &found.number])?;
        let (key, event) = (raw::key(), step.event());
        transaction.execute(
            &self.append,
            &[&found.id, &step.seq(), &project, &key, &event],
        )?;
        Ok(())
    }
}

impl Drainer for RawPostgres {
    type Claimed = Found;

    fn claim(&mut self) -> Result<Option<Found>> {
        let mut transaction = self.client.transaction()?;
        let found = transaction.query_opt(&self.statements.find, &[&self.project])?;
        let found = found.map(|row| Found {
            number: row.get(0),
            id: row.get(1),
        });
        if let Some(found) = &found {
            let whose = (found, self.project.as_str());
            self.statements
                .change(&mut transaction, whose, Step::Claim)?;
        }
        transaction.commit()?;
        Ok(found)
    }

    fn complete(&mut self, found: Found) -> Result<()> {
        let mut transaction = self.client.transaction()?;
        transaction.query_one(&self.statements.look, &[&found.id])?;
        let whose = (&found, self.project.as_str());
        self.statements
            .change(&mut transaction, whose, Step::Complete)?;
        Ok(transaction.commit()?)
    }
}
