//! From a text to a workflow, with all mistakes at once, each with its line.

use std::str::FromStr;

use toml::Spanned;

use super::definition::{Gate, Input, Phase, Proof, Scope, Suite, SuiteFormat, Touch, Workflow};
use super::draft::{Draft, PhaseDraft, SuiteDraft, Unknown};
use super::fault::{DefinitionError, Fault, Flaw};
use super::next::Goal;
use super::shape;
use crate::batch::Estimate;
use crate::name::NameError;
use crate::ownership::PathPattern;
use crate::task::TimeLimit;
use crate::text::TextError;
use crate::{JsonText, Ownership, PhaseName, WorkflowName};

mod ways;

/// How many phases a run may have, where the definition does not say.
const MOST: i64 = 200;
/// How often a phase is tried again, where the definition does not say.
const RETRIES: i64 = 2;

impl Workflow {
    /// The one version there is.
    pub const SCHEMA_VERSION: i64 = 1;

    /// Reads a definition, or tells everything that is wrong with it.
    pub fn read(name: WorkflowName, text: &str) -> Result<Self, DefinitionError> {
        let draft: Draft = toml::from_str(text).map_err(|error| DefinitionError::Unreadable {
            line: line_at(text, error.span().map_or(0, |span| span.start)),
            what: error.message().replace('\n', " "),
        })?;
        let mut reader = Reader {
            text,
            flaws: vec![],
            place: Place::TOP,
        };
        match reader.workflow(name, draft) {
            Some(workflow) if reader.flaws.is_empty() => Ok(workflow),
            Some(_) | None => Err(DefinitionError::Flawed(reader.flaws)),
        }
    }
}

fn line_at(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

/// Where the reader is.
#[derive(Debug, Clone)]
struct Place {
    /// The first line of the table.
    line: usize,
    within: Option<String>,
}

impl Place {
    const TOP: Self = Self {
        line: 1,
        within: None,
    };
}

/// Collects what is wrong while it reads on.
struct Reader<'a> {
    text: &'a str,
    flaws: Vec<Flaw>,
    place: Place,
}

impl Reader<'_> {
    fn wrong(&mut self, field: &str, fault: Fault) {
        let line = self.line_of(field);
        let within = self.place.within.clone();
        self.flaws.push(Flaw {
            line,
            within,
            fault,
        });
    }

    /// The line of a field of the table where the reader is, or of its own table within that, or of the table.
    fn line_of(&self, field: &str) -> usize {
        let begin = self.place.line;
        let lines = self.text.lines().enumerate().skip(begin.saturating_sub(1));
        let is_table = |line: &str| line.starts_with('[') && line.trim_end().ends_with(']');
        let is_next = |line: &str| line.starts_with("[[");
        let mut extent = lines.take_while(|(index, line)| index + 1 == begin || !is_next(line));
        let is_field = |line: &str| {
            let rest = line.trim_start().strip_prefix(field);
            rest.is_some_and(|it| it.trim_start().starts_with(['=', '.']))
        };
        let own_table = |line: &str| {
            let path = line
                .trim_end()
                .trim_start_matches('[')
                .trim_end_matches(']');
            path.split('.').nth(1) == Some(field)
        };
        let mut is_own = true;
        let found = extent.find(|(index, line)| {
            is_own &= index + 1 == begin || !is_table(line);
            (is_own && is_field(line)) || (is_table(line) && own_table(line))
        });
        found.map_or(begin, |(index, _)| index + 1)
    }

    fn unknown(&mut self, unknown: Unknown) {
        for name in unknown.into_keys() {
            self.wrong(&name.clone(), Fault::UnknownField(name));
        }
    }

    fn required<T>(&mut self, field: &'static str, found: Option<T>) -> Option<T> {
        if found.is_none() {
            self.wrong(field, Fault::Missing(field));
        }
        found
    }

    fn text<T: FromStr<Err = TextError>>(&mut self, field: &'static str, text: &str) -> Option<T> {
        let read = text.parse().map_err(|cause| Fault::Text { field, cause });
        self.kept(field, read)
    }

    fn name<T: FromStr<Err = NameError>>(&mut self, field: &'static str, text: &str) -> Option<T> {
        let read = text.parse().map_err(|cause| Fault::Name { field, cause });
        self.kept(field, read)
    }

    fn kept<T>(&mut self, field: &'static str, read: Result<T, Fault>) -> Option<T> {
        read.map_err(|fault| self.wrong(field, fault)).ok()
    }

    fn range(&mut self, field: &'static str, found: i64, (least, most): (i64, i64)) -> Option<u32> {
        let number = u32::try_from(found)
            .ok()
            .filter(|_| (least..=most).contains(&found));
        if number.is_none() {
            let found = found.to_string();
            self.wrong(
                field,
                Fault::Range {
                    field,
                    found,
                    least,
                    most,
                },
            );
        }
        number
    }

    fn workflow(&mut self, name: WorkflowName, draft: Draft) -> Option<Workflow> {
        self.unknown(draft.unknown);
        match self.required("schema_version", draft.schema_version) {
            None | Some(Workflow::SCHEMA_VERSION) => {}
            Some(other) => self.wrong("schema_version", Fault::Schema { found: other }),
        }
        let description = self.required("description", draft.description);
        let description = description.and_then(|it| self.text("description", &it));
        let most = self.range(
            "most_phases",
            draft.most_phases.unwrap_or(MOST),
            (1, 10_000),
        );
        let budget = { draft.budget_tokens }
            .map(|it| self.range("budget_tokens", it, (1, i64::from(u32::MAX))));
        let tests = draft.tests.as_ref().map(|it| self.table(it));
        let suite = draft.tests.map(|it| self.suite(it));
        let count = draft.phases.len();
        let lines: Vec<_> = draft.phases.iter().map(|it| self.table(it)).collect();
        let phases: Vec<_> = draft
            .phases
            .into_iter()
            .filter_map(|it| self.phase(it))
            .collect();
        self.place = Place::TOP;
        if count == 0 {
            self.wrong("phases", Fault::NoPhases);
        }
        let is_one = { suite.iter().flatten() }.any(|it| it.format == SuiteFormat::Exit);
        if is_one && phases.iter().any(|it| it.proof == Proof::Red) {
            self.enter(tests.unwrap_or(1), None);
            self.wrong("format", Fault::OneTest);
            self.place = Place::TOP;
        }
        // What a phase that could not be read leads to is not known.
        if phases.len() == count {
            self.shape(&phases, &lines);
        }
        Some(Workflow {
            name,
            description: description?,
            suite: suite.unwrap_or(None),
            most: most?,
            budget_tokens: lifted(budget)?.map(u64::from),
            phases: Some(phases).filter(|it| it.len() == count && count > 0)?,
        })
    }

    fn table<T>(&self, table: &Spanned<T>) -> usize {
        line_at(self.text, table.span().start)
    }

    fn shape(&mut self, phases: &[Phase], lines: &[usize]) {
        let flaws = self.flaws.len();
        for (place, (phase, line)) in phases.iter().zip(lines).enumerate() {
            self.enter(*line, Some(phase.name.to_string()));
            if phases[..place].iter().any(|it| it.name == phase.name) {
                self.wrong("name", Fault::Twice(phase.name.clone()));
            }
            for input in &phase.takes {
                self.taken(input, phases);
            }
            for (field, fault) in shape::of_phase(phase, phases) {
                self.wrong(field, fault);
            }
        }
        if self.flaws.len() > flaws {
            return;
        }
        for (name, fault) in shape::of_all(phases) {
            let place = phases.iter().position(|it| it.name == name);
            self.enter(place.map_or(1, |it| lines[it]), Some(name.to_string()));
            self.wrong("name", fault);
        }
    }

    fn taken(&mut self, input: &Input, phases: &[Phase]) {
        if let Input::Result { phase } = input
            && !phases.iter().any(|it| it.name == *phase)
        {
            let (field, phase) = ("takes", phase.clone());
            self.wrong(field, Fault::NoSuchPhase { field, phase });
        }
    }

    fn enter(&mut self, line: usize, within: Option<String>) {
        self.place = Place { line, within };
    }

    fn suite(&mut self, draft: Spanned<SuiteDraft>) -> Option<Suite> {
        self.enter(self.table(&draft), None);
        let draft = draft.into_inner();
        self.unknown(draft.unknown);
        let command = self.required("command", draft.command);
        let command = command.and_then(|it| self.text("command", &it));
        let format = self.required("format", draft.format);
        let format = format.and_then(|word| {
            let found = SuiteFormat::ALL.into_iter().find(|it| it.word() == word);
            self.kept("format", found.ok_or(Fault::Format { word }))
        });
        let report = draft.report.map(|it| {
            let read = it.parse().map_err(|cause| Fault::Path {
                field: "report",
                cause,
            });
            self.kept("report", read)
        });
        let tests = self.paths("paths", &draft.paths);
        let config = (!draft.config.is_empty()).then(|| self.paths("config", &draft.config));
        self.place = Place::TOP;
        Some(Suite {
            command: command?,
            format: format?,
            report: match report {
                None => None,
                Some(report) => Some(report?),
            },
            tests: tests?,
            config: match config {
                None => None,
                Some(config) => Some(config?),
            },
        })
    }

    fn paths(&mut self, field: &'static str, texts: &[String]) -> Option<Ownership> {
        let patterns: Vec<_> = texts
            .iter()
            .filter_map(|it| self.pattern(field, it))
            .collect();
        if patterns.len() < texts.len() {
            return None;
        }
        let read = Ownership::new(patterns).map_err(|cause| Fault::Ownership { field, cause });
        self.kept(field, read)
    }

    fn pattern(&mut self, field: &'static str, text: &str) -> Option<PathPattern> {
        let read = text
            .parse()
            .map_err(|cause| Fault::Pattern { field, cause });
        self.kept(field, read)
    }

    fn phase(&mut self, draft: Spanned<PhaseDraft>) -> Option<Phase> {
        let line = self.table(&draft);
        let draft = draft.into_inner();
        self.enter(line, draft.name.clone());
        self.unknown(draft.unknown);
        let name = self.phase_name(draft.name);
        let role = self
            .required("role", draft.role)
            .and_then(|it| self.text("role", &it));
        let prompt = self
            .required("prompt", draft.prompt)
            .and_then(|it| self.text("prompt", &it));
        let proof = self.proof(draft.proof);
        let commit = draft
            .commit
            .or_else(|| name.as_ref().map(|it: &PhaseName| format!("{it}:")));
        let commit = commit.and_then(|it| self.text("commit", &it));
        let retries = self.range("retries", draft.retries.unwrap_or(RETRIES), (0, 100));
        let agent = draft
            .agent
            .map(|it| self.kept("agent", it.parse().map_err(Fault::Agent)));
        let checks = draft
            .checks
            .iter()
            .map(|it| self.text("checks", it))
            .collect::<Option<_>>();
        let takes = draft
            .takes
            .iter()
            .map(|it| self.input(it))
            .collect::<Option<_>>();
        let touch = self.touch(&draft.may, &draft.may_not);
        let limit = draft.limit_minutes.map(|it| self.limit(it));
        let gate = draft.gate.map(|it| self.gate(it));
        let ask = draft.ask.map(|it| self.text("ask", &it));
        let gives = draft.gives.map(|it| self.gives(&it));
        let next = self
            .required("next", draft.next)
            .and_then(|it| self.next(it));
        Some(Phase {
            name: name?,
            role: role?,
            agent: lifted(agent)?,
            prompt: prompt?,
            takes: takes?,
            gives: lifted(gives)?,
            touch: touch?,
            proof: proof?,
            checks: checks?,
            commit: commit?,
            retries: retries?,
            limit: lifted(limit)?,
            gate: lifted(gate)?,
            ask: lifted(ask)?,
            next: next?,
        })
    }

    fn phase_name(&mut self, text: Option<String>) -> Option<PhaseName> {
        let text = self.required("name", text)?;
        if text == Goal::END {
            self.wrong("name", Fault::CalledEnd);
            return None;
        }
        self.name("name", &text)
    }

    fn proof(&mut self, word: Option<String>) -> Option<Proof> {
        let word = self.required("proof", word)?;
        let found = Proof::ALL.into_iter().find(|it| it.word() == word);
        self.kept("proof", found.ok_or(Fault::Proof { word }))
    }

    fn gate(&mut self, word: String) -> Option<Gate> {
        let found = (word == "human").then_some(Gate::Human);
        self.kept("gate", found.ok_or(Fault::Gate(word)))
    }

    fn limit(&mut self, minutes: f64) -> Option<TimeLimit> {
        let limit = Estimate::minutes(minutes).map(|it| TimeLimit(it.span()));
        let fault = Fault::Range {
            field: "limit_minutes",
            found: minutes.to_string(),
            least: 0,
            most: 31 * 24 * 60,
        };
        self.kept("limit_minutes", limit.ok_or(fault))
    }

    fn gives(&mut self, schema: &toml::Value) -> Option<JsonText> {
        let read = serde_json::to_string(schema).map_err(|error| error.to_string());
        let read = read.and_then(|it| it.parse().map_err(|error| format!("{error}")));
        let is_table = schema.is_table();
        let read = read.map_err(Fault::Gives).and_then(|it| match is_table {
            true => Ok(it),
            false => Err(Fault::Gives("a JSON Schema is a table".to_owned())),
        });
        self.kept("gives", read)
    }

    fn input(&mut self, text: &str) -> Option<Input> {
        if let Some(path) = text.strip_prefix("file:") {
            let read = path.parse().map_err(|cause| Fault::Path {
                field: "takes",
                cause,
            });
            return self.kept("takes", read).map(|path| Input::File { path });
        }
        if let Some(key) = text.strip_prefix("context:") {
            let read = key.parse().map_err(Fault::Context);
            return self.kept("takes", read).map(|key| Input::Context { key });
        }
        let phase = text.parse().ok().map(|phase| Input::Result { phase });
        self.kept("takes", phase.ok_or_else(|| Fault::Input(text.to_owned())))
    }

    fn touch(&mut self, may: &[String], may_not: &[String]) -> Option<Touch> {
        let may = may
            .iter()
            .map(|it| self.scope("may", it))
            .collect::<Option<_>>();
        let may_not = may_not
            .iter()
            .map(|it| self.scope("may_not", it))
            .collect::<Option<_>>();
        Some(Touch {
            may: may?,
            may_not: may_not?,
        })
    }

    fn scope(&mut self, field: &'static str, text: &str) -> Option<Scope> {
        if !text.starts_with('@') {
            return self
                .pattern(field, text)
                .map(|pattern| Scope::Paths { pattern });
        }
        let groups = [Scope::Tests, Scope::Config, Scope::Declared];
        let found = groups.into_iter().find(|it| it.text() == text);
        let text = text.to_owned();
        self.kept(field, found.ok_or(Fault::Group { field, text }))
    }
}

/// A field that may be missing, and that was read or not.
fn lifted<T>(read: Option<Option<T>>) -> Option<Option<T>> {
    match read {
        None => Some(None),
        Some(read) => read.map(Some),
    }
}

#[cfg(test)]
mod tests;
