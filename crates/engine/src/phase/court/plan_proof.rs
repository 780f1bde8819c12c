//! Judging a plan: the list can be read, ticks follow proof, and what is to be changed is there.

use handoff_core::CommitId;
use handoff_core::run::ChangeKind;
use handoff_core::trial::{TestList, TestName, named};
use serde_json::Value;

use super::{Court, Finding, Found};
use crate::error::EngineError;
use crate::phase::test_item::{LIST, list_in, ticked};
use crate::workshop::Workshop;

impl Court<'_> {
    pub(super) fn plan_proof(
        &self,
        workshop: &mut Workshop<'_>,
        said: &Value,
        candidate: &CommitId,
    ) -> Finding<Found> {
        let list = match self.list(workshop, candidate)? {
            Ok(list) => list,
            Err(why) => return Ok(Err(why)),
        };
        let Some(next) = list.next() else {
            return Ok(Ok(Found::of("complete")));
        };
        let kind = said.get("kind").cloned();
        let kind: Option<ChangeKind> = kind.and_then(|it| serde_json::from_value(it).ok());
        let alters = match self.alters(workshop, said)? {
            Ok(alters) => alters,
            Err(why) => return Ok(Err(why)),
        };
        let outcome = match kind {
            Some(ChangeKind::Restructure) if !alters.is_empty() => {
                let why = "what is only restructured changes no test; leave `alters` out, or say `change`";
                return Ok(Err(why.to_owned()));
            }
            Some(ChangeKind::Restructure) => "restructure",
            Some(ChangeKind::New | ChangeKind::Fix | ChangeKind::Change) | None => "next",
        };
        if !self.phase.next.keys().any(|it| it.as_str() == outcome) {
            let why = format!("this workflow has no way on for `{outcome}`");
            return Ok(Err(why));
        }
        Ok(Ok(Found {
            item: Some(next.text.clone()),
            kind,
            alters,
            ..Found::of(outcome)
        }))
    }

    fn list(&self, workshop: &Workshop<'_>, candidate: &CommitId) -> Finding<TestList> {
        let path = LIST.parse().expect("a path");
        let text = workshop
            .git
            .file_in(self.at, candidate, &path)
            .map_err(EngineError::Show)?;
        let Some(text) = text.and_then(|it| String::from_utf8(it).ok()) else {
            let why = "there is no `test-list.md` of text at the root of the repository, or it is ignored";
            return Ok(Err(why.to_owned()));
        };
        let before = list_in(workshop, self.at, self.run.head())?;
        let before = before.map(|(list, text)| ticked(self.run, list, text).0);
        let list = TestList::read(&text);
        let list = list.and_then(|it| it.continues(before.as_ref()).map(|()| it));
        Ok(list.map_err(|it| format!("`{LIST}`: {it}")))
    }

    /// The tests that are to ask for something else. They must be there.
    fn alters(&self, workshop: &mut Workshop<'_>, said: &Value) -> Finding<Vec<TestName>> {
        let names = said.get("alters").and_then(Value::as_array);
        let names: Vec<_> = names.into_iter().flatten().collect();
        if names.is_empty() {
            return Ok(Ok(vec![]));
        }
        let known = match &self.suite {
            Some(suite) => self.referee.known(workshop, self.task, suite, self.base)?,
            None => Err("nobody knows how the tests of this project are run".to_owned()),
        };
        let results = match known {
            Ok(results) => results,
            Err(said) => return Ok(Err(format!("`alters` names tests, and none ran: {said}"))),
        };
        let found = names.iter().filter_map(|it| it.as_str());
        let found: Result<_, _> = found.map(|it| named(&results, it)).collect();
        Ok(found.map_err(|it| format!("`alters`: {it}")))
    }
}
