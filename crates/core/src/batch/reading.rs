//! From a text to a manifest, with all mistakes at once.
//!
//! TOML or JSON, told apart by the first character: only JSON can begin with a brace. The schema is version 2 of an earlier
//! tool, taken as it is, with a few fields more.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;

use super::draft::{Draft, FanInDraft, NextDraft, NextTaskDraft, PartDraft, PatternDraft, Unknown};
use super::manifest::{Estimate, FanInSpec, Manifest, OverlapRule, PartSpec, Successor};
use super::mistake::{ManifestError, Mistake, Wrong};
use super::relations;
use crate::ownership::{CaseRule, PathPattern};
use crate::task::{Brief, TimeLimit};
use crate::{BatchName, Ownership, PartName, TaskName};

/// What the one who opens a batch decides.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// The most parts that a batch may have.
    pub most: usize,
    /// Whether names that differ only by case are the same file.
    pub case: CaseRule,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            most: 64,
            case: CaseRule::NATIVE,
        }
    }
}

impl Manifest {
    /// The one version there is.
    pub const SCHEMA_VERSION: i64 = 2;

    /// Reads a manifest, or tells everything that is wrong with it.
    pub fn read(text: &str, rules: Rules) -> Result<Self, ManifestError> {
        let draft = if text.trim_start().starts_with('{') {
            from_json(text)?
        } else {
            from_toml(text)?
        };
        let mut reader = Reader::default();
        match reader.manifest(draft, rules) {
            Some(manifest) if reader.mistakes.is_empty() => Ok(manifest),
            Some(_) | None => Err(ManifestError::Mistaken(reader.mistakes)),
        }
    }
}

fn from_json(text: &str) -> Result<Draft, ManifestError> {
    serde_json::from_str(text).map_err(|error| {
        let what = error.to_string();
        let what = what
            .split(" at line ")
            .next()
            .unwrap_or_default()
            .to_owned();
        ManifestError::Unreadable {
            line: error.line().max(1),
            what,
        }
    })
}

fn from_toml(text: &str) -> Result<Draft, ManifestError> {
    toml::from_str(text).map_err(|error| {
        let place = error.span().map_or(0, |span| span.start.min(text.len()));
        let before = &text.as_bytes()[..place];
        ManifestError::Unreadable {
            line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
            what: error.message().replace('\n', " "),
        }
    })
}

/// Collects what is wrong while it reads on.
#[derive(Default)]
struct Reader {
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

    /// A text that may be missing; outer none if it is there and wrong.
    fn optional<T: FromStr<Err: Into<Wrong>>>(
        &mut self,
        place: &str,
        text: Option<String>,
    ) -> Option<Option<T>> {
        match text {
            None => Some(None),
            Some(text) => self.kept(place, text.parse()).map(Some),
        }
    }

    fn required<T: FromStr<Err: Into<Wrong>>>(
        &mut self,
        place: &str,
        field: &'static str,
        text: Option<String>,
    ) -> Option<T> {
        match text {
            None => {
                self.wrong(place, Wrong::Missing(field));
                None
            }
            Some(text) => self.kept(&inner(place, field), text.parse()),
        }
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

    fn manifest(&mut self, draft: Draft, rules: Rules) -> Option<Manifest> {
        self.unknown("", draft.unknown);
        match draft.schema_version {
            Some(Manifest::SCHEMA_VERSION) => {}
            Some(found) => self.wrong("schema_version", Wrong::Schema { found }),
            None => self.wrong("", Wrong::Missing("schema_version")),
        }
        let name: Option<BatchName> = self.required("", "batch_id", draft.batch_id);
        let limit = self.limit(draft.timeout_hours);
        let overlap = self.overlap_rule(draft.overlap.as_deref());
        let count = draft.sub_tasks.len();
        let parts = self.parts(draft.sub_tasks, name.as_ref(), limit);
        self.relations(&parts, count, overlap, rules);
        let serial = draft.amdahl_estimate.and_then(|it| {
            self.unknown("amdahl_estimate", it.unknown);
            it.serial_minutes
        });
        let fan_in_task: Option<TaskName> = self.required("", "fan_in_task", draft.fan_in_task);
        let fan_in = self.fan_in(draft.fan_in, fan_in_task.clone(), serial);
        let next = match draft.next_after_fanin {
            None => Some(None),
            Some(next) => self.next(next).map(Some),
        };
        let last = { next.iter().flatten() }.map(Successor::task);
        self.task_names(&parts, fan_in_task.iter().chain(last));
        let rationale = self.optional("split_rationale", draft.split_rationale);
        Some(Manifest {
            name: name?,
            parts,
            fan_in: fan_in?,
            next: next?,
            rationale: rationale?,
            overlap,
            workspace: draft.workspace,
        })
    }

    fn limit(&mut self, hours: Option<f64>) -> Option<TimeLimit> {
        let hours = hours?;
        let limit = Estimate::minutes(hours * 60.0).map(|it| TimeLimit(it.span()));
        if limit.is_none() {
            self.wrong("timeout_hours", Wrong::Time(format!("{hours} hours")));
        }
        limit
    }

    fn overlap_rule(&mut self, word: Option<&str>) -> OverlapRule {
        match word {
            None | Some("refuse") => OverlapRule::Refuse,
            Some("serialise") => OverlapRule::Serialise,
            Some(other) => {
                self.wrong("overlap", Wrong::OverlapRule(other.to_owned()));
                OverlapRule::Refuse
            }
        }
    }

    fn parts(
        &mut self,
        drafts: Vec<PartDraft>,
        batch: Option<&BatchName>,
        limit: Option<TimeLimit>,
    ) -> Vec<PartSpec> {
        let read = drafts
            .into_iter()
            .enumerate()
            .filter_map(|(number, draft)| {
                let part = self.part(number, draft, batch)?;
                Some(PartSpec { limit, ..part })
            });
        read.collect()
    }

    fn part(
        &mut self,
        number: usize,
        draft: PartDraft,
        batch: Option<&BatchName>,
    ) -> Option<PartSpec> {
        let place = place(number, draft.id.as_deref());
        self.unknown(&place, draft.unknown);
        let name: Option<PartName> = self.required(&place, "id", draft.id);
        let brief = self.required(&place, "brief", draft.brief);
        let owns = self.ownership(&place, draft.file_ownership);
        let estimate = self.estimate(&place, draft.estimated_minutes);
        let after = self.after(&place, draft.depends_on);
        let verify = self.optional(&inner(&place, "verify"), draft.verify);
        let agent = self.optional(&inner(&place, "agent"), draft.agent);
        let name = name?;
        // Where a batch, a brief or a check is wrong, that is told. The part is still one that others wait for or run into.
        let task = match batch {
            Some(batch) => self.kept(&place, batch.task(&name)),
            None => name.as_str().parse().ok(),
        };
        Some(PartSpec {
            name,
            task: task?,
            brief: brief.unwrap_or_else(|| FAN_IN_BRIEF.parse().expect("it says something")),
            owns: owns?,
            estimate,
            after,
            verify: verify.flatten(),
            agent: agent.flatten(),
            limit: None,
        })
    }

    fn after(&mut self, place: &str, names: Vec<String>) -> Vec<PartName> {
        let place = inner(place, "depends_on");
        let read = names
            .into_iter()
            .filter_map(|name| self.kept(&place, name.parse()));
        let names: BTreeSet<PartName> = read.collect();
        names.into_iter().collect()
    }

    fn ownership(&mut self, place: &str, drafts: Vec<PatternDraft>) -> Option<Ownership> {
        let place = inner(place, "file_ownership");
        let count = drafts.len();
        let read = drafts
            .into_iter()
            .enumerate()
            .filter_map(|(number, draft)| {
                let place = format!("{place}[{number}]");
                let pattern = self.pattern(&place, draft);
                self.kept(&place, pattern)
            });
        let patterns: Vec<PathPattern> = read.collect();
        if patterns.len() < count {
            return None;
        }
        self.kept(&place, Ownership::new(patterns))
    }

    fn pattern(&mut self, place: &str, draft: PatternDraft) -> Result<PathPattern, Wrong> {
        match draft {
            PatternDraft::Text(text) => Ok(text.parse()?),
            PatternDraft::Typed {
                word,
                path,
                unknown,
            } => {
                self.unknown(place, unknown);
                match word.as_str() {
                    "exact" | "prefix" | "glob" => Ok(format!("{word}:{path}").parse()?),
                    _ => Err(Wrong::NoPattern),
                }
            }
            PatternDraft::Other(_) => Err(Wrong::NoPattern),
        }
    }

    fn fan_in(
        &mut self,
        draft: FanInDraft,
        task: Option<TaskName>,
        serial: Option<f64>,
    ) -> Option<FanInSpec> {
        self.unknown("fan_in", draft.unknown);
        let estimate = self.estimate("fan_in", draft.estimated_minutes.or(serial));
        let brief = draft.brief.unwrap_or_else(|| FAN_IN_BRIEF.to_owned());
        let brief: Option<Brief> = self.kept("fan_in.brief", brief.parse());
        let verify = self.optional("fan_in.verify", draft.verify);
        let agent = self.optional("fan_in.agent", draft.agent);
        Some(FanInSpec {
            task: task?,
            brief: brief?,
            estimate,
            verify: verify?,
            agent: agent?,
        })
    }

    fn next(&mut self, draft: NextDraft) -> Option<Successor> {
        match draft {
            NextDraft::Name(name) => {
                let task = self.kept("next_after_fanin", name.parse())?;
                Some(Successor::Named { task })
            }
            NextDraft::Task(draft) => self.next_task(draft),
        }
    }

    fn next_task(&mut self, draft: NextTaskDraft) -> Option<Successor> {
        let place = "next_after_fanin";
        self.unknown(place, draft.unknown);
        let task = self.required(place, "task", draft.task);
        let brief = self.required(place, "brief", draft.brief);
        let verify = self.optional("next_after_fanin.verify", draft.verify);
        let agent = self.optional("next_after_fanin.agent", draft.agent);
        Some(Successor::Task {
            task: task?,
            brief: brief?,
            verify: verify?,
            agent: agent?,
        })
    }

    /// `count` is how many there should be.
    fn relations(&mut self, parts: &[PartSpec], count: usize, overlap: OverlapRule, rules: Rules) {
        if count == 0 {
            self.wrong("sub_tasks", Wrong::Empty);
        }
        if count > rules.most {
            let most = rules.most;
            self.wrong("sub_tasks", Wrong::TooMany { count, most });
            return;
        }
        // A part that could not be read is no part, and whoever waits for it is not to blame.
        if parts.len() == count {
            for (number, part) in parts.iter().enumerate() {
                let place = place(number, Some(part.name.as_str()));
                self.all_wrong(&place, relations::strangers(part, parts));
            }
        }
        self.all_wrong("sub_tasks", relations::circles(parts));
        self.all_wrong(
            "sub_tasks",
            relations::collisions(parts, overlap, rules.case),
        );
    }

    /// Every task that would be published has a name of its own.
    fn task_names<'a>(
        &mut self,
        parts: &'a [PartSpec],
        others: impl Iterator<Item = &'a TaskName>,
    ) {
        let mut seen = BTreeSet::new();
        for name in parts.iter().map(|it| &it.task).chain(others) {
            if !seen.insert(name) {
                self.wrong("", Wrong::Duplicate(name.to_string()));
            }
        }
    }
}

/// What a fan-in is told where the manifest says nothing.
const FAN_IN_BRIEF: &str = "Bring the results of the batch together.";

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
