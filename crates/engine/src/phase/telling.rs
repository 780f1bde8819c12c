//! What the session of a phase is told besides its task.

use handoff_core::run::{Run, Step};
use handoff_core::task::Summary;
use handoff_core::trial::TestName;
use handoff_core::workflow::{Input, Proof};
use handoff_core::{ContextKey, ContextScope, PhaseName};
use handoff_files::Dir;
use handoff_git::Repository;
use handoff_package::Package;
use handoff_store::{StoreError, contexts, read, tasks};

use super::beginning::suite_of;
use super::bench::Referee;
use super::test_item::{LONGEST, list_in};
use super::{described_batch, path_rule};
use crate::error::EngineError;
use crate::prompt::quoted;
use crate::workshop::Workshop;

/// So much of a file is told.
const MOST_OF_A_FILE: usize = 64 * 1024;

/// So many tests are named to whoever plans.
const MOST_TESTS: usize = 300;

/// The package of the phase before. A run that was begun in another store has none here.
pub(crate) fn packages_before(
    workshop: &mut Workshop<'_>,
    run: &Run,
) -> Result<Vec<Package>, EngineError> {
    let Some(step) = run.steps.last() else {
        return Ok(vec![]);
    };
    match workshop.packages_of(step.task) {
        // The last one is of the attempt that was proved.
        Ok(found) => Ok(found.into_iter().next_back().into_iter().collect()),
        Err(EngineError::Store(StoreError::NotFound { .. })) => Ok(vec![]),
        Err(error) => Err(error),
    }
}

/// Role, goal, the one test, what earlier phases handed over, why the last attempt was refused, and how to finish. What is in a
/// package of `before` is told with that.
pub(crate) fn text(
    workshop: &mut Workshop<'_>,
    run: &Run,
    at: &Repository,
    before: &[Package],
) -> Result<String, EngineError> {
    let phase = run.phase();
    let mut sections = vec![
        format!(
            "\n# Your role\n\n{}\n\n# What is wanted\n\nIn the words of the person who wants it:\n\n{}\n",
            phase.role,
            quoted(run.spec.goal.as_str())
        ),
        about(workshop, run, at)?,
    ];
    for input in &phase.takes {
        sections.push(match input {
            Input::Result { phase } => result(workshop, run, phase, before)?,
            Input::File { path } => file(at, path.as_str()),
            Input::Context { key } => shared(workshop, key)?,
        });
    }
    sections.extend(run.at.refused.as_ref().map(|refused| {
        let reason = quoted(refused.reason.as_str());
        format!("\n# Why the attempt before yours was not accepted\n\n{reason}\n")
    }));
    sections.push(format!(
        "\n# What you may change\n\nYou are phase `{}`: {}. This is checked.\n",
        phase.name,
        path_rule::rule(phase)
    ));
    sections.push(described_batch::telling(run));
    sections.extend(phase.gives.as_ref().map(|schema| {
        format!(
            "\n# What you hand over\n\nFinish with `handoff done --result FILE`, a JSON document outside of the repository; `-` reads \
             it from the standard input. It must fit this schema:\n\n```json\n{schema}\n```\n"
        )
    }));
    Ok(sections.concat())
}

/// The line of the list and the test that it is about.
fn about(workshop: &mut Workshop<'_>, run: &Run, at: &Repository) -> Result<String, EngineError> {
    let (item, test) = match run.phase().proof {
        Proof::Red => {
            let list = list_in(workshop, at, run.head())?;
            let next = list.and_then(|(list, _)| list.next().map(|it| it.text.clone()));
            (next, None)
        }
        Proof::Green | Proof::Same => {
            let verdict = run.cycle_test().or_else(|| run.cycle_plan());
            let test = verdict
                .and_then(|it| it.test.as_ref())
                .map(ToString::to_string);
            (verdict.and_then(|it| it.item.clone()), test)
        }
        Proof::Until => return Ok(failed_check(run)),
        Proof::Plan => return tests_there(workshop, run, at),
        Proof::Checks => (None, None),
    };
    let item = item.map(|it| format!("\n# The line of the list\n\n{}\n", quoted(&it)));
    let test = test.map(|it| format!("\nIts test is `{it}`.\n"));
    Ok([item, test, altered(run)].into_iter().flatten().collect())
}

/// The tests that a session may make ask for something else.
fn altered(run: &Run) -> Option<String> {
    let plan = run.cycle_plan().filter(|it| !it.alters.is_empty())?;
    let is_red = run.phase().proof == Proof::Red;
    let names: Vec<_> = plan.alters.iter().map(TestName::as_str).collect();
    let names = quoted(&names.join("\n"));
    is_red.then(|| {
        format!(
            "\n# The tests that are to ask for something else\n\nA person agreed that you change these, or take them out, and no other; they \
             see what became of them:\n\n{names}\n"
        )
    })
}

/// What the suite shows before anything is planned: what is tested already does not belong on the list.
fn tests_there(
    workshop: &mut Workshop<'_>,
    run: &Run,
    at: &Repository,
) -> Result<String, EngineError> {
    let Some(suite) = suite_of(workshop, run, at, run.head()) else {
        return Ok(String::new());
    };
    let known = Referee::of(workshop, run.id)?.kept(&suite, run.head())?;
    Ok(known.map_or_else(String::new, |results| {
        let (passed, failed, skipped) = results.counts();
        let shown = results.iter().take(MOST_TESTS).map(|(name, outcome)| {
            let flaky = if results.flaky().any(|it| it == name) {
                ", flaky"
            } else {
                ""
            };
            format!("{name}: {}{flaky}", outcome.word())
        });
        let shown: Vec<_> = shown.collect();
        format!(
            "\n# The tests that are there\n\nThe tool ran them: {passed} pass, {failed} fail, {skipped} are skipped. What fails now need not \
             pass, and what passes must go on to.\n\n{}\n",
            quoted(&shown.join("\n"))
        )
    }))
}

/// Why a loop has not come to its end.
fn failed_check(run: &Run) -> String {
    let last = run.last(&run.phase().name);
    let said = last.and_then(|it| it.verdict.item.as_ref());
    said.map_or_else(String::new, |said| {
        format!("\n# What the check said last\n\n{}\n", quoted(said))
    })
}

fn result(
    workshop: &mut Workshop<'_>,
    run: &Run,
    phase: &PhaseName,
    before: &[Package],
) -> Result<String, EngineError> {
    let Some(step) = run.last(phase) else {
        return Ok(String::new());
    };
    let said = said(workshop, run, step)?;
    let mut packages = before.iter().filter(|it| it.label.task == Some(step.task));
    if packages.any(|it| is_told(it.payload.summary.as_ref(), said.as_deref())) {
        return Ok(String::new());
    }
    let said = said.unwrap_or_else(|| "nothing".to_owned());
    Ok(format!(
        "\n# What phase `{phase}` handed over\n\nProved by the tool: `{}`. In the words of its session, which nobody checked:\n\n{}\n",
        step.verdict.outcome,
        quoted(&said)
    ))
}

/// Whether the words of a package say what its session handed over. Of a large result they do not.
fn is_told(words: Option<&Summary>, said: Option<&str>) -> bool {
    said.is_none_or(|said| words.is_some_and(|it| it.as_str().contains(said)))
}

/// The result of a session. A run that was begun in another store brought it in its context.
fn said(
    workshop: &mut Workshop<'_>,
    run: &Run,
    step: &Step,
) -> Result<Option<String>, EngineError> {
    let (scope, key) = (ContextScope::Run(run.id), result_key(&step.phase));
    match read(workshop.store, |tx| tasks::get(tx, step.task)) {
        Ok(task) if task.project != run.project => Ok(None),
        Ok(task) => Ok(task
            .report
            .and_then(|it| it.result)
            .map(|it| it.to_string())),
        Err(StoreError::NotFound { .. }) => {
            let found = read(workshop.store, |tx| contexts::get(tx, scope, &key))?;
            Ok(found.map(|(_, entry)| entry.value.to_string()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Where the context of a run has what a phase handed over.
pub fn result_key(phase: &PhaseName) -> ContextKey {
    let key = format!("phase.{phase}.result");
    key.parse().expect("the name of a phase is a word of a key")
}

/// A value of the project's context; whoever wrote it, it was somebody else.
fn shared(workshop: &mut Workshop<'_>, key: &ContextKey) -> Result<String, EngineError> {
    let scope = ContextScope::Project(workshop.project);
    let found = read(workshop.store, |tx| contexts::get(tx, scope, key))?;
    Ok(found.map_or_else(String::new, |(_, entry)| {
        let value = quoted(entry.value.as_str());
        format!("\n# What the project's context says of `{key}`\n\n{value}\n")
    }))
}

fn file(at: &Repository, path: &str) -> String {
    let root = at.worktree_root().unwrap_or_else(|| at.git_dir());
    // A link that leads elsewhere is not followed.
    let text = Dir::open(root).and_then(|it| it.read_to_string(path, LONGEST));
    let text = text.unwrap_or_default();
    let text: String = text.chars().take(MOST_OF_A_FILE).collect();
    match text.as_str() {
        "" => String::new(),
        text => format!("\n# The file `{path}`\n\n{}\n", quoted(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_told_unless_the_words_of_a_package_have_it() {
        let words: Summary = "Done.\n\n{\"a\":1}".parse().unwrap();
        for (words, said, expected) in [
            (Some(&words), Some("{\"a\":1}"), true),
            (Some(&words), Some("{\"b\":1}"), false),
            (None, Some("{\"a\":1}"), false),
            (Some(&words), None, true),
            (None, None, true),
        ] {
            assert_eq!(is_told(words, said), expected, "{words:?} {said:?}");
        }
    }
}
