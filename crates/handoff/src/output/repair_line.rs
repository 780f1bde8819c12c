//! What was put right, in a sentence, and as a document.

use std::path::Path;

use handoff_api::RepairDocument;
use handoff_engine::reconcile::Repair;

/// What was put right, in a sentence.
pub(crate) fn repair_line(repair: &Repair) -> String {
    match repair {
        Repair::SessionLost(name) => format!("{name} is given back: its session is gone"),
        Repair::LeaseExpired(name) => format!("{name} is given back: its lease has run out"),
        Repair::PauseUndone => "A pause that came to no end is undone.".to_owned(),
        Repair::CommitFinished => "A commit that was cut short is finished.".to_owned(),
        Repair::CommitForgotten => "A commit that was cut short never was one.".to_owned(),
        Repair::CommitSetAside => {
            "What was left of a commit cannot be read; it lies in `.git/handoff/damaged-commits` now."
                .to_owned()
        }
        Repair::BaselineShown => "The ref of a baseline is put right.".to_owned(),
        Repair::RunShown => "A run that is over is on its branch now.".to_owned(),
        Repair::TreeRelinked(path) => format!(
            "The repository was moved: the worktree `{}` knows where it is now.",
            path.display()
        ),
        Repair::TreeRetired(path) => {
            format!("The worktree `{}` is saved and removed.", path.display())
        }
    }
}

/// The same for programs.
pub(crate) fn repair_document(repair: &Repair) -> RepairDocument {
    let path = |it: &Path| Some(it.display().to_string());
    let (kind, what) = match repair {
        Repair::SessionLost(name) => ("session_lost", Some(name.to_string())),
        Repair::LeaseExpired(name) => ("lease_expired", Some(name.to_string())),
        Repair::PauseUndone => ("pause_undone", None),
        Repair::CommitFinished => ("commit_finished", None),
        Repair::CommitForgotten => ("commit_forgotten", None),
        Repair::CommitSetAside => ("commit_set_aside", None),
        Repair::BaselineShown => ("baseline_shown", None),
        Repair::RunShown => ("run_shown", None),
        Repair::TreeRelinked(it) => ("tree_relinked", path(it)),
        Repair::TreeRetired(it) => ("tree_retired", path(it)),
    };
    RepairDocument { kind, what }
}
