//! Where definitions are: with the program, and in `.handoff/workflows/` of the main worktree.

use std::path::PathBuf;

use handoff_api::ExitCode;
use handoff_core::workflow::{BUILT_IN, DefinitionError, Workflow};
use handoff_core::{Digest, WorkflowName};
use handoff_operations::Failure;
use handoff_operations::project::discover;
use handoff_workspace::trust::Trust;
use handoff_workspace::{Workspace, WorkspaceError};

use crate::context::Context;

/// Where definitions of a repository are.
const FOLDER: &str = "workflows";
/// A definition that is longer is none.
const LONGEST: u64 = 1024 * 1024;

/// A definition as it stands somewhere.
pub(super) struct Source {
    pub(super) name: WorkflowName,
    pub(super) text: String,
    pub(super) origin: Origin,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    BuiltIn,
    File(PathBuf),
}

impl Source {
    /// All that can be run here; one of the repository stands before one of the program with the same name.
    pub(super) fn all(ctx: &Context) -> Result<Vec<Self>, Failure> {
        let mut all = in_repository(ctx)?;
        for (name, text) in BUILT_IN {
            let name: WorkflowName = name.parse().expect("a name");
            if !all.iter().any(|it| it.name == name) {
                all.push(Self {
                    name,
                    text: text.to_owned(),
                    origin: Origin::BuiltIn,
                });
            }
        }
        all.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(all)
    }

    /// The one of this name.
    pub(super) fn named(name: &WorkflowName, ctx: &Context) -> Result<Self, Failure> {
        let found = Self::all(ctx)?.into_iter().find(|it| it.name == *name);
        found.ok_or_else(|| {
            Failure::new(ExitCode::NotFound, format!("there is no workflow `{name}`"))
                .hint("see what there is: `handoff workflow list`")
        })
    }

    pub(super) fn read(&self) -> Result<Workflow, DefinitionError> {
        Workflow::read(self.name.clone(), &self.text)
    }

    /// What it says, if it says it right.
    pub(super) fn workflow(&self) -> Result<Workflow, Failure> {
        self.read().map_err(|error| {
            let name = &self.name;
            Failure::failed(format!("the workflow `{name}` cannot be run: {error}")).hint(format!(
                "see what is wrong: `handoff workflow validate {name}`"
            ))
        })
    }

    pub(super) fn place(&self) -> String {
        match &self.origin {
            Origin::BuiltIn => "built-in".to_owned(),
            Origin::File(path) => path.display().to_string(),
        }
    }

    /// Whether its commands may run: those that come with the program always, those of a repository when a person said so.
    pub(super) fn is_trusted(&self, ctx: &Context) -> Result<bool, Failure> {
        match &self.origin {
            Origin::BuiltIn => Ok(true),
            Origin::File(_) => Ok(Trust::below(&ctx.home()?).covers(&self.digest())?),
        }
    }

    pub(super) fn trust(&self, ctx: &Context) -> Result<(), Failure> {
        let note = format!("workflow {} in {}", self.name, self.place());
        Ok(Trust::below(&ctx.home()?).grant(&self.digest(), &note)?)
    }

    /// Of what it says, and where.
    fn digest(&self) -> Digest {
        let text = format!("handoff workflow\0{}\0{}", self.place(), self.text);
        Digest::of(text.as_bytes())
    }
}

fn in_repository(ctx: &Context) -> Result<Vec<Source>, Failure> {
    let repository = discover(ctx)?;
    let Some(root) = repository.main_worktree() else {
        return Ok(vec![]);
    };
    let Some(workspace) = Workspace::open(root)? else {
        return Ok(vec![]);
    };
    let folder = match workspace.dir().dir(FOLDER) {
        Ok(folder) => folder,
        Err(error) if error.is_not_found() => return Ok(vec![]),
        Err(error) => return Err(WorkspaceError::from(error).into()),
    };
    let mut found = vec![];
    for file in std::fs::read_dir(folder.path())
        .into_iter()
        .flatten()
        .flatten()
    {
        let file = file.file_name();
        let name = file.to_str().and_then(|it| it.strip_suffix(".toml"));
        if let Some(name) = name.and_then(|it| it.parse().ok()) {
            let text = folder.read_to_string(&file, LONGEST);
            let text = text.map_err(WorkspaceError::from)?;
            let origin = Origin::File(folder.path().join(&file));
            found.push(Source { name, text, origin });
        }
    }
    Ok(found)
}
