//! From a text to a manifest, with all mistakes at once.
//!
//! TOML or JSON, told apart by the first character: only JSON can begin with a brace. The schema is version 2 of an earlier
//! tool, taken as it is, with a few fields more.

mod sketch;

use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;

use serde_json::Value;

use super::draft::{
    AmdahlDraft, Draft, FanInDraft, Field, Given, NextDraft, NextTaskDraft, Unknown,
};
use super::manifest::{Estimate, FanInSpec, Manifest, OverlapRule, Successor};
use super::mistake::{ManifestError, Mistake, Wrong};
use super::relations;
use crate::json_text::strictly;
use crate::ownership::CaseRule;
use crate::task::{Brief, TimeLimit};
use crate::{AgentName, BatchName, TaskName};
use sketch::Sketch;

/// What the one who opens a batch decides.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The most parts that a batch may have.
    pub most: usize,
    /// Whether names that differ only by case are the same file.
    pub case: CaseRule,
    /// The agents that there are; any, where nobody can tell.
    pub agents: Option<Vec<AgentName>>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            most: 64,
            case: CaseRule::NATIVE,
            agents: None,
        }
    }
}

impl Manifest {
    /// The one version there is.
    pub const SCHEMA_VERSION: i64 = 2;

    /// Reads a manifest, or tells everything that is wrong with it.
    pub fn read(text: &str, rules: Rules) -> Result<Self, ManifestError> {
        // Some editors put a mark before the first line.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let value = if text.trim_start().starts_with('{') {
            from_json(text)?
        } else {
            from_toml(text)?
        };
        let draft = serde_json::from_value(value).map_err(|error| unreadable(&error))?;
        let mut reader = Reader {
            rules,
            mistakes: vec![],
        };
        match reader.manifest(draft) {
            Some(manifest) if reader.mistakes.is_empty() => Ok(manifest),
            Some(_) | None => Err(ManifestError::Mistaken(reader.mistakes)),
        }
    }
}

fn from_json(text: &str) -> Result<Value, ManifestError> {
    let value = strictly(text).and_then(|()| serde_json::from_str(text));
    value.map_err(|error| unreadable(&error))
}

fn unreadable(error: &serde_json::Error) -> ManifestError {
    let what = error.to_string();
    let what = what.split(" at line ").next().unwrap_or_default();
    ManifestError::Unreadable {
        line: error.line().max(1),
        what: what.to_owned(),
    }
}

fn from_toml(text: &str) -> Result<Value, ManifestError> {
    let table: toml::Table = toml::from_str(text).map_err(|error| {
        let place = error.span().map_or(0, |span| span.start.min(text.len()));
        let before = &text.as_bytes()[..place];
        ManifestError::Unreadable {
            line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
            what: error.message().replace('\n', " "),
        }
    })?;
    Ok(as_json(toml::Value::Table(table)))
}

/// The same in the words of JSON. What those have no word for is of another kind than anything that is wanted.
fn as_json(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => serde_json::Number::from_f64(number)
            .map_or_else(|| number.to_string().into(), Value::Number),
        toml::Value::Boolean(is_so) => is_so.into(),
        toml::Value::Datetime(time) => Value::Array(vec![time.to_string().into()]),
        toml::Value::Array(values) => values.into_iter().map(as_json).collect(),
        toml::Value::Table(table) => {
            let fields = table
                .into_iter()
                .map(|(name, value)| (name, as_json(value)));
            Value::Object(fields.collect())
        }
    }
}

/// Collects what is wrong while it reads on.
struct Reader {
    rules: Rules,
    mistakes: Vec<Mistake>,
}

impl Reader {
    fn wrong(&mut self, place: &str, wrong: Wrong) {
        let place = place.to_owned();
        self.mistakes.push(Mistake { place, wrong });
    }

    fn all_wrong(&mut self, place: &str, wrong: Vec<Wrong>) {
        for it in wrong {
            self.wrong(place, it);
        }
    }

    fn unknown(&mut self, place: &str, unknown: Unknown) {
        for name in unknown.into_keys() {
            self.wrong(place, Wrong::UnknownField(name));
        }
    }

    fn kept<T, E: Into<Wrong>>(&mut self, place: &str, read: Result<T, E>) -> Option<T> {
        read.map_err(|error| self.wrong(place, error.into())).ok()
    }

    /// The value of a field; none if it is missing, or of another kind than it must be.
    fn field<T>(&mut self, place: &str, field: Field<T>) -> Option<T> {
        match field? {
            Given::Right(value) => Some(value),
            Given::Wrong(what) => {
                self.wrong(place, Wrong::Kind(what));
                None
            }
        }
    }

    /// A text that may be missing; outer none if it is there and wrong.
    fn optional<T: FromStr<Err: Into<Wrong>>>(
        &mut self,
        place: &str,
        text: Field<String>,
    ) -> Option<Option<T>> {
        if text.is_none() {
            return Some(None);
        }
        let text = self.field(place, text)?;
        self.kept(place, text.parse()).map(Some)
    }

    fn required<T: FromStr<Err: Into<Wrong>>>(
        &mut self,
        place: &str,
        field: &'static str,
        text: Field<String>,
    ) -> Option<T> {
        if text.is_none() {
            self.wrong(place, Wrong::Missing(field));
        }
        self.optional(&inner(place, field), text)?
    }

    /// An agent may be missing; one that nobody knows would never begin.
    fn agent(&mut self, place: &str, name: Field<String>) -> Option<Option<AgentName>> {
        let place = inner(place, "agent");
        let name: Option<AgentName> = self.optional(&place, name)?;
        let known = self.rules.agents.as_ref();
        let is_unknown = |name: &&AgentName| known.is_some_and(|it| !it.contains(name));
        if let Some(unknown) = name.as_ref().filter(is_unknown) {
            self.wrong(&place, Wrong::UnknownAgent(unknown.clone()));
        }
        Some(name)
    }

    fn estimate(&mut self, place: &str, minutes: Option<f64>) -> Option<Estimate> {
        let minutes = minutes?;
        let estimate = Estimate::minutes(minutes);
        if estimate.is_none() {
            let place = inner(place, "estimated_minutes");
            self.wrong(&place, Wrong::Time(format!("{minutes} minutes")));
        }
        estimate
    }

    fn manifest(&mut self, draft: Draft) -> Option<Manifest> {
        self.unknown("", draft.unknown);
        self.schema(draft.schema_version);
        let name: Option<BatchName> = self.required("", "batch_id", draft.batch_id);
        let limit = self.limit(draft.timeout_hours);
        let overlap = self.overlap_rule(draft.overlap);
        let sketches = self.sketches(draft.sub_tasks, name.as_ref(), limit);
        self.relations(sketches.as_deref(), overlap);
        let sketches = sketches.unwrap_or_default();
        let serial = self.serial(draft.amdahl_estimate);
        let fan_in_task: Option<TaskName> = self.required("", "fan_in_task", draft.fan_in_task);
        let fan_in = self.field("fan_in", draft.fan_in).unwrap_or_default();
        let fan_in = self.fan_in(fan_in, fan_in_task.clone(), serial);
        let next = match draft.next_after_fanin {
            None => Some(None),
            Some(next) => self.next(next).map(Some),
        };
        let last = { next.iter().flatten() }.map(Successor::task);
        self.task_names(&sketches, fan_in_task.iter().chain(last));
        let rationale = self.optional("split_rationale", draft.split_rationale);
        let workspace = self.field("workspace", draft.workspace);
        Some(Manifest {
            name: name?,
            parts: sketches.into_iter().filter_map(|it| it.whole).collect(),
            fan_in: fan_in?,
            next: next?,
            rationale: rationale?,
            overlap,
            workspace,
        })
    }

    fn schema(&mut self, version: Field<i64>) {
        if version.is_none() {
            self.wrong("", Wrong::Missing("schema_version"));
        }
        let found = self.field("schema_version", version);
        if let Some(found) = found.filter(|it| *it != Manifest::SCHEMA_VERSION) {
            self.wrong("schema_version", Wrong::Schema { found });
        }
    }

    fn serial(&mut self, draft: Field<AmdahlDraft>) -> Option<f64> {
        let draft = self.field("amdahl_estimate", draft)?;
        self.unknown("amdahl_estimate", draft.unknown);
        self.field("amdahl_estimate.serial_minutes", draft.serial_minutes)
    }

    fn limit(&mut self, hours: Field<f64>) -> Option<TimeLimit> {
        let hours = self.field("timeout_hours", hours)?;
        let limit = Estimate::minutes(hours * 60.0).map(|it| TimeLimit(it.span()));
        if limit.is_none() {
            self.wrong("timeout_hours", Wrong::Time(format!("{hours} hours")));
        }
        limit
    }

    fn overlap_rule(&mut self, word: Field<String>) -> OverlapRule {
        match self.field("overlap", word).as_deref() {
            None | Some("refuse") => OverlapRule::Refuse,
            Some("serialise") => OverlapRule::Serialise,
            Some(other) => {
                self.wrong("overlap", Wrong::OverlapRule(other.to_owned()));
                OverlapRule::Refuse
            }
        }
    }

    fn fan_in(
        &mut self,
        draft: FanInDraft,
        task: Option<TaskName>,
        serial: Option<f64>,
    ) -> Option<FanInSpec> {
        self.unknown("fan_in", draft.unknown);
        let minutes = self.field("fan_in.estimated_minutes", draft.estimated_minutes);
        let estimate = self.estimate("fan_in", minutes.or(serial));
        let brief: Option<Option<Brief>> = self.optional("fan_in.brief", draft.brief);
        let brief = brief.map(|it| it.unwrap_or_else(usual_brief));
        let verify = self.optional("fan_in.verify", draft.verify);
        let agent = self.agent("fan_in", draft.agent);
        Some(FanInSpec {
            task: task?,
            brief: brief?,
            estimate,
            verify: verify?,
            agent: agent?,
        })
    }

    fn next(&mut self, draft: Given<NextDraft>) -> Option<Successor> {
        match self.field("next_after_fanin", Some(draft))? {
            NextDraft::Name(name) => {
                let task = self.kept("next_after_fanin", name.parse())?;
                Some(Successor::Named { task })
            }
            NextDraft::Task(draft) => self.next_task(*draft),
            NextDraft::Other(_) => {
                self.wrong("next_after_fanin", Wrong::NoSuccessor);
                None
            }
        }
    }

    fn next_task(&mut self, draft: NextTaskDraft) -> Option<Successor> {
        let place = "next_after_fanin";
        self.unknown(place, draft.unknown);
        let task = self.required(place, "task", draft.task);
        let brief = self.required(place, "brief", draft.brief);
        let verify = self.optional("next_after_fanin.verify", draft.verify);
        let agent = self.agent(place, draft.agent);
        Some(Successor::Task {
            task: task?,
            brief: brief?,
            verify: verify?,
            agent: agent?,
        })
    }

    /// What the parts have to do with each other; none if nobody can tell what they are.
    fn relations(&mut self, sketches: Option<&[Sketch]>, overlap: OverlapRule) {
        let Some(sketches) = sketches else {
            return;
        };
        let (count, most) = (sketches.len(), self.rules.most);
        if count == 0 {
            self.wrong("sub_tasks", Wrong::Empty);
        }
        if count > most {
            self.wrong("sub_tasks", Wrong::TooMany { count, most });
            return;
        }
        // Whoever waits for a part that has no name at all is not to blame.
        if sketches.iter().all(|it| it.id.is_some()) {
            let ids: Vec<_> = sketches.iter().filter_map(|it| it.id.as_deref()).collect();
            for sketch in sketches {
                self.all_wrong(&sketch.place, relations::strangers(&sketch.after, &ids));
            }
        }
        let kin: Vec<_> = sketches.iter().filter_map(Sketch::kin).collect();
        self.all_wrong("sub_tasks", relations::circles(&kin));
        let collisions = relations::collisions(&kin, overlap, self.rules.case);
        self.all_wrong("sub_tasks", collisions);
    }

    /// Every task that would be published has a name of its own.
    fn task_names<'a>(
        &mut self,
        sketches: &'a [Sketch],
        others: impl Iterator<Item = &'a TaskName>,
    ) {
        let mut seen = BTreeSet::new();
        let parts = sketches.iter().filter_map(Sketch::task_name);
        for name in parts.chain(others.map(TaskName::as_str)) {
            if !seen.insert(name) {
                self.wrong("", Wrong::Duplicate(name.to_owned()));
            }
        }
    }
}

/// What a fan-in is told where the manifest says nothing.
const FAN_IN_BRIEF: &str = "Bring the results of the batch together.";

fn usual_brief() -> Brief {
    FAN_IN_BRIEF.parse().expect("it says something")
}

fn place(number: usize, id: Option<&str>) -> String {
    match id {
        Some(id) => format!("sub_tasks[{number}] ({})", id.escape_debug()),
        None => format!("sub_tasks[{number}]"),
    }
}

fn inner(place: &str, field: impl Display) -> String {
    match place {
        "" => field.to_string(),
        place => format!("{place}.{field}"),
    }
}

#[cfg(test)]
mod tests;
