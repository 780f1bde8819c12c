//! A workspace in a temporary directory, with something outside that must never change.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use handoff_core::FeatureName;
use handoff_workspace::trash::Stamp;
use handoff_workspace::{ContextScan, Language, Scaffold, Templates, Workspace};
use tempfile::TempDir;

pub(crate) struct Stage {
    place: TempDir,
    pub(crate) workspace: Workspace,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let place = TempDir::new().unwrap();
        for folder in ["root", "outside"] {
            fs::create_dir(place.path().join(folder)).unwrap();
        }
        fs::write(place.path().join("outside/file"), "precious").unwrap();
        let workspace = Workspace::create(&place.path().join("root")).unwrap();
        Self { place, workspace }
    }

    /// A workspace with these features.
    pub(crate) fn with(names: &[&str]) -> Self {
        let stage = Self::new();
        for name in names {
            stage.make(name);
        }
        stage
    }

    pub(crate) fn make(&self, text: &str) {
        let scaffold = scaffold(text, &Templates::embedded());
        self.workspace.make_feature(&name(text), &scaffold).unwrap();
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.place.path().join("root")
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root().join(".handoff").join(relative)
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.place.path().join("outside")
    }

    /// Everything in the place, links as what they say.
    pub(crate) fn tree(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        collect(self.place.path(), &mut found);
        found
    }
}

fn collect(path: &Path, found: &mut BTreeMap<PathBuf, String>) {
    let metadata = path.symlink_metadata().unwrap();
    let text = if metadata.is_symlink() {
        format!("-> {}", fs::read_link(path).unwrap().display())
    } else if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            collect(&entry.unwrap().path(), found);
        }
        "folder".to_owned()
    } else {
        fs::read_to_string(path).unwrap()
    };
    found.insert(path.to_owned(), text);
}

pub(crate) fn scaffold(text: &str, templates: &Templates) -> Scaffold {
    let context = ContextScan::of(Path::new("/nonexistent"));
    Scaffold::render(templates, &name(text), &Language::default(), &context).unwrap()
}

pub(crate) fn name(text: &str) -> FeatureName {
    text.parse().unwrap()
}

/// A second of one day.
pub(crate) fn stamp(second: i64) -> Stamp {
    Stamp::at(handoff_core::time::Timestamp::from_second(1_700_000_000 + second).unwrap())
}
