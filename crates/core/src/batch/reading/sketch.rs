//! A part as far as it can be read. What is wrong with one thing of it hides nothing of the rest: others wait for it, or run into it.

use std::collections::BTreeSet;

use super::{Reader, inner, place, usual_brief};
use crate::batch::draft::{Field, Given, PartDraft, PatternDraft};
use crate::batch::manifest::PartSpec;
use crate::batch::mistake::Wrong;
use crate::batch::relations::Kin;
use crate::ownership::PathPattern;
use crate::task::TimeLimit;
use crate::{BatchName, Ownership, PartName, TaskName};

/// A part as far as it can be read.
pub(super) struct Sketch {
    pub(super) place: String,
    /// What it calls itself, whether that is a name or not.
    pub(super) id: Option<String>,
    name: Option<PartName>,
    task: Option<TaskName>,
    owns: Option<Ownership>,
    pub(super) after: Vec<PartName>,
    /// All of it. That is used only if nothing is wrong anywhere.
    pub(super) whole: Option<PartSpec>,
}

impl Sketch {
    /// What it has to do with others; none if nobody can call it by a name.
    pub(super) fn kin(&self) -> Option<Kin<'_>> {
        Some(Kin {
            name: self.name.as_ref()?,
            after: &self.after,
            owns: self.owns.as_ref(),
        })
    }

    /// What its task would be called.
    pub(super) fn task_name(&self) -> Option<&str> {
        let task = self.task.as_ref().map(TaskName::as_str);
        task.or_else(|| self.name.as_ref().map(PartName::as_str))
    }
}

impl Reader {
    /// The parts in their order; none if they are no list.
    pub(super) fn sketches(
        &mut self,
        drafts: Field<Vec<Given<PartDraft>>>,
        batch: Option<&BatchName>,
        limit: Option<TimeLimit>,
    ) -> Option<Vec<Sketch>> {
        let drafts = match drafts {
            None => vec![],
            given => self.field("sub_tasks", given)?,
        };
        let drafts = drafts.into_iter().enumerate();
        let read = drafts.map(|(number, draft)| {
            let is_table = matches!(draft, Given::Right(_));
            let draft = self.field(&place(number, None), Some(draft));
            let draft = draft.unwrap_or_default();
            if is_table {
                self.sketch(number, draft, batch, limit)
            } else {
                nothing(number)
            }
        });
        Some(read.collect())
    }

    fn sketch(
        &mut self,
        number: usize,
        draft: PartDraft,
        batch: Option<&BatchName>,
        limit: Option<TimeLimit>,
    ) -> Sketch {
        let id = match &draft.id {
            Some(Given::Right(id)) => Some(id.clone()),
            Some(Given::Wrong(_)) | None => None,
        };
        let place = place(number, id.as_deref());
        self.unknown(&place, draft.unknown);
        let name: Option<PartName> = self.required(&place, "id", draft.id);
        let brief = self.required(&place, "brief", draft.brief);
        let owns = self.ownership(&place, draft.file_ownership);
        let minutes = inner(&place, "estimated_minutes");
        let minutes = self.field(&minutes, draft.estimated_minutes);
        let estimate = self.estimate(&place, minutes);
        let after = self.after(&place, draft.depends_on);
        let verify = self.optional(&inner(&place, "verify"), draft.verify);
        let agent = self.agent(&place, draft.agent);
        let task = name.as_ref().and_then(|name| match batch {
            Some(batch) => self.kept(&place, batch.task(name)),
            None => name.as_str().parse().ok(),
        });
        let whole = name.clone().zip(task.clone()).zip(owns.clone());
        let whole = whole.map(|((name, task), owns)| PartSpec {
            name,
            task,
            brief: brief.unwrap_or_else(usual_brief),
            owns,
            estimate,
            after: after.clone(),
            verify: verify.flatten(),
            agent: agent.flatten(),
            limit,
        });
        Sketch {
            place,
            id,
            name,
            task,
            owns,
            after,
            whole,
        }
    }

    fn after(&mut self, place: &str, names: Field<Vec<Given<String>>>) -> Vec<PartName> {
        let place = inner(place, "depends_on");
        let names = self.field(&place, names).unwrap_or_default();
        let read = names.into_iter().filter_map(|name| {
            let name = self.field(&place, Some(name))?;
            self.kept(&place, name.parse())
        });
        let names: BTreeSet<PartName> = read.collect();
        names.into_iter().collect()
    }

    /// What can be read of it: a pattern that cannot hides no other.
    fn ownership(&mut self, place: &str, drafts: Field<Vec<PatternDraft>>) -> Option<Ownership> {
        let place = inner(place, "file_ownership");
        let drafts = match drafts {
            None => vec![],
            given => self.field(&place, given)?,
        };
        let count = drafts.len();
        let read = drafts.into_iter().enumerate();
        let read = read.filter_map(|(number, draft)| {
            let place = format!("{place}[{number}]");
            let pattern = self.pattern(&place, draft);
            self.kept(&place, pattern)
        });
        let patterns: Vec<PathPattern> = read.collect();
        if patterns.is_empty() && count > 0 {
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
}

/// Something that stands where a part should.
fn nothing(number: usize) -> Sketch {
    Sketch {
        place: place(number, None),
        id: None,
        name: None,
        task: None,
        owns: None,
        after: vec![],
        whole: None,
    }
}
