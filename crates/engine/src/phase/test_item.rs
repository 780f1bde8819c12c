//! The line of the test list that a cycle is about.

use handoff_core::ownership::RepoPath;
use handoff_core::run::Run;
use handoff_core::trial::TestList;
use handoff_core::workflow::Proof;
use handoff_core::{CommitId, Task};
use handoff_files::{Dir, Mode, atomic};
use handoff_git::Repository;

use super::run_of;
use crate::error::EngineError;
use crate::workshop::Workshop;

/// Where the list is.
pub(super) const LIST: &str = "test-list.md";
/// A list that is longer is none.
pub(super) const LONGEST: u64 = 1024 * 1024;

/// The list as it is in a commit; none if there is none that can be read.
pub(super) fn list_in(
    workshop: &Workshop<'_>,
    at: &Repository,
    commit: &CommitId,
) -> Result<Option<(TestList, String)>, EngineError> {
    let path: RepoPath = LIST.parse().expect("a path");
    let bytes = workshop
        .git
        .file_in(at, commit, &path)
        .map_err(EngineError::Show)?;
    let text = bytes.and_then(|it| String::from_utf8(it).ok());
    Ok(text.and_then(|text| Some((TestList::read(&text).ok()?, text))))
}

/// The list of a run as it is in the last commit that was proved, with what was proved since ticked.
pub fn test_list(workshop: &Workshop<'_>, run: &Run) -> Result<Option<String>, EngineError> {
    let found = list_in(workshop, workshop.repository, run.head())?;
    Ok(found.map(|(list, text)| ticked(run, list, text).1))
}

/// Which line of the list a run is at, and how many there are; nothing where there is no list, or all of it is done.
pub fn place_in_list(workshop: &Workshop<'_>, run: &Run) -> Option<(usize, usize)> {
    let (list, text) = list_in(workshop, workshop.repository, run.head()).ok()??;
    let (list, _) = ticked(run, list, text);
    let done = list.items().iter().filter(|it| it.is_ticked).count();
    (done < list.items().len()).then_some((done + 1, list.items().len()))
}

/// The lines whose tests are proved: after a cycle, or because they were covered already.
fn proved(run: &Run) -> impl Iterator<Item = &str> {
    run.steps.iter().filter_map(|step| {
        let phase = run.spec.workflow.phase(&step.phase)?;
        let is_over = match phase.proof {
            Proof::Same => true,
            Proof::Red => step.verdict.outcome.as_str() == "covered",
            Proof::Plan | Proof::Green | Proof::Checks | Proof::Until => false,
        };
        step.verdict.item.as_deref().filter(|_| is_over)
    })
}

/// The list with everything ticked that is proved, as a planning session finds it.
pub(super) fn ticked(run: &Run, list: TestList, mut text: String) -> (TestList, String) {
    let mut list = list;
    for item in proved(run) {
        text = list.ticking(item, &text);
        list = TestList::read(&text).unwrap_or(list);
    }
    (list, text)
}

/// Ticks what is proved in the tree of a planning session: the tool ticks, not the session.
pub(crate) fn tick(
    workshop: &mut Workshop<'_>,
    task: &Task,
    at: &Repository,
) -> Result<(), EngineError> {
    let Some(run) = run_of(workshop, task)? else {
        return Ok(());
    };
    if run.phase().proof != Proof::Plan {
        return Ok(());
    }
    let Some((list, text)) = list_in(workshop, at, run.head())? else {
        return Ok(());
    };
    let (_, ticked) = ticked(&run, list, text.clone());
    if ticked == text {
        return Ok(());
    }
    let root = at.worktree_root().unwrap_or_else(|| at.git_dir());
    Ok(atomic::replace(
        &Dir::open(root)?,
        LIST,
        ticked.as_bytes(),
        Mode::Shared,
    )?)
}
