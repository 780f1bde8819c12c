//! The operations that doors offer: one list, from which `handoff api`, and every door that follows, takes names, schemas and
//! rights. An operation is declared here once.

use handoff_api::{Body, ExitCode, OperationRow, OperationSchemaDocument};
use handoff_core::{Caller, Role, SessionId};
use schemars::{
    JsonSchema, Schema, SchemaGenerator,
    generate::{Contract, SchemaSettings},
};
use serde_json::Value;
use uuid::Uuid;

use crate::batch::{ListBatches, ReportBatch, SeeBatch};
use crate::failure::Failure;
use crate::landing::Land;
use crate::operation::{Effect, Forwarded, Needs, Operation, Takes, call};
use crate::overview::Overview;
use crate::run::{ListRuns, SeeRun};
use crate::session::{AnswerDialog, ListSessions, SeeDialog, SendMessage, StartSession};
use crate::task::{AddTask, SeeTask};
use crate::workplace::Workplace;

/// All operations that doors offer, by name.
pub const ALL: [Entry; 14] = [
    Entry::of::<AddTask>(),
    Entry::of::<AnswerDialog>(),
    Entry::of::<Land>(),
    Entry::of::<ListBatches>(),
    Entry::of::<ListRuns>(),
    Entry::of::<ListSessions>(),
    Entry::of::<Overview>(),
    Entry::of::<ReportBatch>(),
    Entry::of::<SeeBatch>(),
    Entry::of::<SeeDialog>(),
    Entry::of::<SeeRun>(),
    Entry::of::<SeeTask>(),
    Entry::of::<SendMessage>(),
    Entry::of::<StartSession>(),
];

/// An operation that can be called by its name.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// What doors call it.
    pub name: &'static str,
    /// Whether anything is different afterwards.
    pub effect: Effect,
    /// What the caller must be allowed to do.
    pub needs: Needs,
    /// How long it may take.
    pub takes: Takes,
    /// For which sessions their holder has it done.
    pub forwarded: Forwarded,
    answers: &'static str,
    request: fn(&mut SchemaGenerator) -> Schema,
    response: fn(&mut SchemaGenerator) -> Schema,
    call: fn(Value, &Workplace) -> Result<Value, Failure>,
}

/// What an operation answered.
#[derive(Debug)]
pub struct Answered {
    /// Name and version of its shape.
    pub schema: &'static str,
    /// Its fields.
    pub body: Value,
}

impl Entry {
    const fn of<O: Operation>() -> Self {
        Self {
            name: O::NAME,
            effect: O::EFFECT,
            needs: O::NEEDS,
            takes: O::TAKES,
            forwarded: O::FORWARDED,
            answers: O::Response::SCHEMA,
            request: |generator| O::json_schema(generator),
            response: |generator| O::Response::json_schema(generator),
            call: call_with::<O>,
        }
    }

    /// Does what is asked for in JSON, if the caller may.
    pub fn call(&self, request: Value, here: &Workplace) -> Result<Answered, Failure> {
        let body = (self.call)(request, here)?;
        let schema = self.answers;
        Ok(Answered { schema, body })
    }

    /// What it is, for whoever chooses one.
    #[must_use]
    pub fn row(&self) -> OperationRow {
        let described = whole(self.request, Contract::Deserialize);
        let description = described.get("description").and_then(Value::as_str);
        OperationRow {
            name: self.name,
            description: description.unwrap_or_default().to_owned(),
            effect: match self.effect {
                Effect::Reads => "reads",
                Effect::Changes => "changes",
            },
            takes: match self.takes {
                Takes::Moment => "moment",
                Takes::Waits => "waits",
            },
            callers: callers()
                .into_iter()
                .filter(|(_, caller)| self.needs.admits(caller))
                .map(|(word, _)| word)
                .collect(),
            answers: self.answers,
        }
    }

    /// What it takes and what it answers.
    #[must_use]
    pub fn schema(&self) -> OperationSchemaDocument {
        OperationSchemaDocument {
            name: self.name,
            request: whole(self.request, Contract::Deserialize),
            answers: self.answers,
            response: whole(self.response, Contract::Serialize),
        }
    }
}

/// The operation of this name.
pub fn find(name: &str) -> Result<Entry, Failure> {
    let found = ALL.into_iter().find(|entry| entry.name == name);
    found.ok_or_else(|| {
        let text = format!("there is no operation {name:?}");
        Failure::new(ExitCode::NotFound, text).hint("see what there is: `handoff api list`")
    })
}

fn call_with<O: Operation>(request: Value, here: &Workplace) -> Result<Value, Failure> {
    let operation: O = serde_json::from_value(request).map_err(|error| {
        let name = O::NAME;
        Failure::usage(format!("the request of `{name}` cannot be read"))
            .because(&error)
            .hint(format!("see what it takes: `handoff api schema {name}`"))
    })?;
    let response = call(operation, here)?;
    serde_json::to_value(response).map_err(|error| {
        Failure::new(ExitCode::Internal, "the answer cannot be written").because(&error)
    })
}

/// A schema that refers to nothing outside of itself, of what is read or of what is written.
fn whole(schema: fn(&mut SchemaGenerator) -> Schema, contract: Contract) -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.contract = contract;
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    schema(&mut settings.into_generator()).to_value()
}

/// One of each kind of caller, as the table of rights knows them.
fn callers() -> [(&'static str, Caller); 5] {
    [
        ("person", Caller::Person),
        ("worker", Caller::Worker),
        ("session", in_role(Role::Main)),
        ("sub-task", in_role(Role::SubTask)),
        ("check", Caller::Check),
    ]
}

fn in_role(role: Role) -> Caller {
    Caller::Session {
        session: SessionId::from_uuid(Uuid::nil()),
        role,
        task: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_every_operation_says_what_it_does() {
        let rows = ALL.map(|entry| entry.row());
        assert!(rows.is_sorted_by(|one, next| one.name < next.name));
        for row in rows {
            assert!(!row.description.is_empty(), "{}", row.name);
            assert!(row.callers.contains(&"person"), "{}", row.name);
        }
    }

    #[test]
    fn no_session_lands_and_no_check_changes_anything() {
        for entry in ALL {
            let row = entry.row();
            let is_check_free = entry.effect == Effect::Reads || !row.callers.contains(&"check");
            assert!(is_check_free, "{}", row.name);
        }
        let land = find("land").unwrap().row();
        assert!(!land.callers.contains(&"session"), "{:?}", land.callers);
    }

    #[test]
    fn a_request_with_a_field_that_nobody_knows_cannot_be_read() {
        let here = Workplace::new(crate::Ambient::new(Default::default(), None, None));
        let session = serde_json::json!({ "session": { "id": "a", "no_such_field": 1 } });
        let failure = find("see_dialog")
            .unwrap()
            .call(session, &here)
            .unwrap_err();
        assert_eq!(failure.code, ExitCode::Usage);
        for entry in ALL {
            let request = serde_json::json!({ "no_such_field": 1 });
            let failure = entry.call(request, &here).unwrap_err();
            assert_eq!(failure.code, ExitCode::Usage, "{}", entry.name);
            let cause = &failure.causes[0];
            assert!(
                cause.starts_with("unknown field `no_such_field`"),
                "{}: {cause}",
                entry.name
            );
        }
    }
}
