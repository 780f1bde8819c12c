//! Features made, chosen, put away, cleaned away and brought back.

use std::fs;
use std::os::unix::fs::symlink;

use handoff_files::{Dir, DirError};
use handoff_workspace::listing::ArchiveError;
use handoff_workspace::switch::{Pointer, SwitchError};
use handoff_workspace::template::Overwrite;
use handoff_workspace::trash::{CleanError, Extent, UndoError};
use handoff_workspace::{
    Current, Document, Language, Plan, Template, Templates, Verdict, Workspace, Worth,
};

use crate::stage::{Stage, name, scaffold, stamp};

#[test]
fn a_new_feature_has_five_documents_and_no_plan() {
    let stage = Stage::with(&["login"]);
    let feature = stage.workspace.feature(&name("login")).unwrap().unwrap();
    for document in Document::ALL {
        let worth = feature.worth(document, &Templates::embedded(), &Language::default());
        assert_eq!(worth.unwrap(), Worth::Untouched, "{document:?}");
    }
    let plan = Plan::parse(&feature.read(Document::State).unwrap().unwrap());
    assert_eq!(
        (plan.verdict(), plan.problems.as_slice()),
        (Verdict::NotInitialised, [].as_slice())
    );
}

#[test]
fn making_again_adds_what_is_missing_and_changes_nothing_else() {
    let stage = Stage::with(&["login"]);
    let feature = stage.path("features/login");
    fs::write(feature.join("FEATURE.md"), "mine").unwrap();
    fs::write(stage.path("config.toml"), "mine").unwrap();
    fs::remove_file(feature.join("SPEC.md")).unwrap();
    let made = stage
        .workspace
        .make_feature(&name("login"), &scaffold("login", &Templates::embedded()))
        .unwrap();
    assert_eq!(made.documents, [Document::Spec]);
    Workspace::create(&stage.root()).unwrap();
    assert_eq!(
        fs::read_to_string(feature.join("FEATURE.md")).unwrap(),
        "mine"
    );
    assert_eq!(
        fs::read_to_string(stage.path("config.toml")).unwrap(),
        "mine"
    );
}

#[test]
fn a_switch_points_a_relative_link() {
    let stage = Stage::with(&["a", "b"]);
    assert_eq!(stage.workspace.current().unwrap(), Current::None);
    let switched = stage.workspace.switch(&name("a"), stamp(0)).unwrap();
    assert_eq!(
        (switched.before, switched.pointer),
        (Current::None, Pointer::Link)
    );
    let switched = stage.workspace.switch(&name("b"), stamp(0)).unwrap();
    assert_eq!(switched.before, Current::Feature(name("a")));
    let target = fs::read_link(stage.path("current")).unwrap();
    assert_eq!(target.to_str(), Some("features/b"));
    let missing = stage.workspace.switch(&name("c"), stamp(0));
    assert!(
        matches!(missing, Err(SwitchError::NoFeature(_))),
        "{missing:?}"
    );
    assert_eq!(
        stage.workspace.current().unwrap(),
        Current::Feature(name("b"))
    );
}

#[test]
fn a_link_checked_out_as_a_file_serves_as_one() {
    let stage = Stage::with(&["a"]);
    fs::write(stage.path("current"), "features/a\n").unwrap();
    assert_eq!(
        stage.workspace.current().unwrap(),
        Current::Feature(name("a"))
    );
    stage.workspace.clear_current(stamp(0)).unwrap();
    assert_eq!(stage.workspace.current().unwrap(), Current::None);
}

#[test]
fn a_real_folder_at_current_is_kept_in_the_trash() {
    let stage = Stage::with(&["a"]);
    fs::create_dir(stage.path("current")).unwrap();
    fs::write(stage.path("current/STATE.md"), "work").unwrap();
    let switched = stage.workspace.switch(&name("a"), stamp(0)).unwrap();
    let kept = switched.displaced.unwrap();
    assert_eq!(kept, "trash/20231114T221320Z.current");
    assert_eq!(
        fs::read_to_string(stage.path(&kept).join("STATE.md")).unwrap(),
        "work"
    );
    assert_eq!(
        stage.workspace.current().unwrap(),
        Current::Feature(name("a"))
    );
    // It is no feature, and so no cleaning to take back; but whoever looks for it is told where it is.
    assert!(matches!(
        stage.workspace.undo_cleaning(),
        Err(UndoError::OnlyDisplaced(place)) if place == kept
    ));
}

#[test]
fn archives_and_strays_are_told_from_features() {
    let stage = Stage::with(&["b", "a"]);
    fs::create_dir(stage.path("features/old.archived")).unwrap();
    fs::write(stage.path("features/notes.txt"), "").unwrap();
    symlink(stage.outside(), stage.path("features/link")).unwrap();
    let listing = stage.workspace.list().unwrap();
    assert_eq!(listing.features, [name("a"), name("b")]);
    assert_eq!(listing.archives[0].folder, "old.archived");
    assert_eq!(listing.strays, ["link", "notes.txt"]);
}

#[test]
fn a_name_can_be_archived_again_and_again() {
    let stage = Stage::with(&["a"]);
    stage.workspace.switch(&name("a"), stamp(0)).unwrap();
    let first = stage.workspace.archive(&name("a"), stamp(0)).unwrap();
    assert!(first.was_current);
    assert_eq!(stage.workspace.current().unwrap(), Current::None);
    stage.make("a");
    let second = stage.workspace.archive(&name("a"), stamp(0)).unwrap();
    stage.make("a");
    let third = stage.workspace.archive(&name("a"), stamp(0)).unwrap();
    let folders = [first, second, third].map(|it| it.archive.folder);
    assert_eq!(folders, ["a.archived", "a.archived-2", "a.archived-3"]);
    let again = stage.workspace.archive(&name("a"), stamp(0));
    assert!(
        matches!(again, Err(ArchiveError::NoFeature(_))),
        "{again:?}"
    );
}

#[test]
fn a_cleaning_keeps_the_current_feature_and_the_archives() {
    let stage = Stage::with(&["a", "b", "c", "old"]);
    stage.workspace.archive(&name("old"), stamp(0)).unwrap();
    stage.workspace.switch(&name("b"), stamp(0)).unwrap();
    let cleaning = stage.workspace.plan_cleaning(Extent::Others).unwrap();
    assert_eq!(cleaning.features, [name("a"), name("c")]);
    assert_eq!(cleaning.kept, Some(name("b")));
    let before = stage.tree();
    stage.workspace.clean(&cleaning, stamp(0)).unwrap();
    let listing = stage.workspace.list().unwrap();
    assert_eq!((listing.features.len(), listing.archives.len()), (1, 1));
    assert!(stage.path("trash/20231114T221320Z-c/STATE.md").is_file());

    let undone = stage.workspace.undo_cleaning().unwrap();
    assert_eq!(undone.features, [name("a"), name("c")]);
    fs::remove_dir(stage.path("trash")).unwrap();
    assert_eq!(stage.tree(), before);
}

#[test]
fn cleaning_everything_can_be_taken_back_with_the_choice() {
    let stage = Stage::with(&["a", "b"]);
    stage.workspace.switch(&name("a"), stamp(0)).unwrap();
    let cleaning = stage.workspace.plan_cleaning(Extent::Everything).unwrap();
    assert!(cleaning.clears_current);
    stage.workspace.clean(&cleaning, stamp(0)).unwrap();
    assert_eq!(stage.workspace.current().unwrap(), Current::None);
    assert_eq!(stage.workspace.list().unwrap().features, []);
    stage.workspace.undo_cleaning().unwrap();
    assert_eq!(
        stage.workspace.current().unwrap(),
        Current::Feature(name("a"))
    );
}

#[test]
fn cleanings_are_taken_back_one_by_one_the_last_first() {
    let stage = Stage::with(&["keep", "a"]);
    stage.workspace.switch(&name("keep"), stamp(0)).unwrap();
    let clean = || {
        let cleaning = stage.workspace.plan_cleaning(Extent::Others).unwrap();
        stage.workspace.clean(&cleaning, stamp(0)).unwrap()
    };
    clean();
    stage.make("b");
    // In the same second: it still has a time of its own.
    clean();
    assert_eq!(
        stage.workspace.undo_cleaning().unwrap().features,
        [name("b")]
    );
    assert_eq!(
        stage.workspace.undo_cleaning().unwrap().features,
        [name("a")]
    );
    assert!(matches!(
        stage.workspace.undo_cleaning(),
        Err(UndoError::Nothing)
    ));
}

#[test]
fn taking_back_never_overwrites() {
    let stage = Stage::with(&["keep", "a", "b"]);
    stage.workspace.switch(&name("keep"), stamp(0)).unwrap();
    let cleaning = stage.workspace.plan_cleaning(Extent::Others).unwrap();
    stage.workspace.clean(&cleaning, stamp(0)).unwrap();
    stage.make("b");
    let before = stage.tree();
    let undone = stage.workspace.undo_cleaning();
    assert!(matches!(undone, Err(UndoError::Taken(_))), "{undone:?}");
    assert_eq!(stage.tree(), before);
}

#[test]
fn nothing_is_cleaned_when_nobody_said_what_to_keep() {
    let stage = Stage::with(&["a"]);
    let refused = |stage: &Stage| {
        let planned = stage.workspace.plan_cleaning(Extent::Others);
        assert!(matches!(planned, Err(CleanError::NoCurrent)), "{planned:?}");
    };
    refused(&stage);
    // The original let `current` point to `features/` itself, and the next cleaning took everything.
    for target in ["features", "features/", "features/gone", "..", "/"] {
        symlink(target, stage.path("current")).unwrap();
        refused(&stage);
        fs::remove_file(stage.path("current")).unwrap();
    }
}

#[test]
fn a_features_folder_that_is_a_link_is_refused() {
    let stage = Stage::new();
    fs::remove_dir(stage.path("features")).unwrap();
    fs::create_dir(stage.outside().join("a")).unwrap();
    symlink(stage.outside(), stage.path("features")).unwrap();
    let before = stage.tree();
    assert!(stage.workspace.list().is_err());
    assert!(stage.workspace.switch(&name("a"), stamp(0)).is_err());
    assert!(stage.workspace.archive(&name("a"), stamp(0)).is_err());
    assert!(stage.workspace.plan_cleaning(Extent::Everything).is_err());
    assert!(Workspace::create(&stage.root()).is_err());
    assert_eq!(stage.tree(), before);
}

#[test]
fn a_feature_that_is_a_link_to_elsewhere_is_refused() {
    let stage = Stage::new();
    symlink(stage.outside(), stage.path("features/a")).unwrap();
    let before = stage.tree();
    assert!(stage.workspace.switch(&name("a"), stamp(0)).is_err());
    assert!(stage.workspace.archive(&name("a"), stamp(0)).is_err());
    let scaffold = scaffold("a", &Templates::embedded());
    assert!(stage.workspace.make_feature(&name("a"), &scaffold).is_err());
    let cleaning = stage.workspace.plan_cleaning(Extent::Everything).unwrap();
    assert_eq!(cleaning.features, []);
    assert_eq!(stage.tree(), before);
}

#[test]
fn a_workspace_that_is_a_link_is_refused() {
    let stage = Stage::new();
    let root = stage.outside();
    symlink(stage.path(""), root.join(".handoff")).unwrap();
    assert!(Workspace::open(&root).is_err());
    assert!(Workspace::create(&root).is_err());
    assert!(matches!(
        Dir::open(&root).unwrap().dir(".handoff"),
        Err(DirError::NotBeneath(_))
    ));
}

#[test]
fn a_trash_that_is_a_link_takes_nothing() {
    let stage = Stage::with(&["a", "b"]);
    stage.workspace.switch(&name("a"), stamp(0)).unwrap();
    symlink(stage.outside(), stage.path("trash")).unwrap();
    let before = stage.tree();
    let cleaning = stage.workspace.plan_cleaning(Extent::Others).unwrap();
    assert!(stage.workspace.clean(&cleaning, stamp(0)).is_err());
    assert_eq!(stage.tree(), before);
}

#[test]
fn an_export_leaves_what_somebody_changed_and_keeps_it_even_when_forced() {
    let stage = Stage::new();
    let export = |overwrite| {
        stage
            .workspace
            .export(&[Template::Spec, Template::State], overwrite, stamp(0))
            .unwrap()
    };
    assert_eq!(
        export(Overwrite::Never).written,
        [Template::Spec, Template::State]
    );
    fs::write(stage.path("templates/default_spec.md"), "mine").unwrap();
    let exported = export(Overwrite::Never);
    assert_eq!(
        (exported.kept.as_slice(), exported.same.as_slice()),
        (&[Template::Spec][..], &[Template::State][..])
    );
    assert_eq!(export(Overwrite::Always).written, [Template::Spec]);
    assert_eq!(
        fs::read_to_string(stage.path("templates/default_spec.md")).unwrap(),
        Template::Spec.default_text()
    );
    let kept = stage.path("trash/20231114T221320Z.default_spec.md");
    assert_eq!(fs::read_to_string(kept).unwrap(), "mine");
    assert!(matches!(
        stage.workspace.undo_cleaning(),
        Err(UndoError::Nothing)
    ));
}
