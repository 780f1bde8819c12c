//! The batch into which a phase is split, as its session described it.

use handoff_core::CommitId;
use handoff_core::batch::{Manifest, ManifestError, ManifestText};
use handoff_core::run::Run;
use handoff_core::workflow::{ManifestSource, Next, Outcome};
use handoff_git::Repository;
use handoff_store::{batches, read};
use serde_json::Value;

use crate::error::EngineError;
use crate::workshop::Workshop;

/// What a session left.
pub(super) struct Left<'a> {
    pub(super) at: &'a Repository,
    pub(super) commit: &'a CommitId,
    pub(super) said: &'a Value,
}

/// The manifest that an outcome asks for, read; none where it asks for none; or everything that is wrong with it.
pub(super) fn read_manifest(
    workshop: &mut Workshop<'_>,
    run: &Run,
    outcome: &Outcome,
    left: &Left<'_>,
) -> Result<Result<Option<ManifestText>, String>, EngineError> {
    let next = run.phase().next.get(outcome);
    let Some(fan_out) = next.and_then(Next::fan_out) else {
        return Ok(Ok(None));
    };
    let text = match text(workshop, &fan_out.manifest, left)? {
        Ok(text) => text,
        Err(why) => return Ok(Err(why)),
    };
    let manifest = match Manifest::read(text.as_str(), workshop.batch_rules.clone()) {
        Ok(manifest) => manifest,
        Err(error) => return Ok(Err(told(&error))),
    };
    let mut wrong = run.objections(&manifest);
    wrong.extend(name_in_use(workshop, &manifest)?);
    Ok(if wrong.is_empty() {
        Ok(Some(text))
    } else {
        Err(format!("the batch is not accepted: {}", wrong.join("; ")))
    })
}

fn told(error: &ManifestError) -> String {
    match error {
        ManifestError::Unreadable { .. } => error.to_string(),
        ManifestError::Mistaken(mistakes) => {
            let mistakes: Vec<_> = mistakes.iter().map(ToString::to_string).collect();
            format!("{error}: {}", mistakes.join("; "))
        }
    }
}

/// A live batch of the same name. Another may come before this one is opened; then the run stops and says so.
fn name_in_use(
    workshop: &mut Workshop<'_>,
    manifest: &Manifest,
) -> Result<Option<String>, EngineError> {
    let (project, name) = (workshop.project, &manifest.name);
    let found = read(workshop.store, |tx| batches::named(tx, project, name));
    let is_live = found.is_ok_and(|it| it.state.is_live());
    Ok(is_live.then(|| format!("batch_id: a batch `{name}` is open already; choose another name")))
}

fn text(
    workshop: &Workshop<'_>,
    source: &ManifestSource,
    left: &Left<'_>,
) -> Result<Result<ManifestText, String>, EngineError> {
    let text = match source {
        ManifestSource::Result => {
            let field = ManifestSource::FIELD;
            let found = left.said.get(field).filter(|it| it.is_object());
            let missing = || format!("the result has no object `{field}` that describes the batch");
            found.map(ToString::to_string).ok_or_else(missing)
        }
        ManifestSource::File { path } => {
            let file = workshop.git.file_in(left.at, left.commit, path);
            let file = file.map_err(EngineError::Show)?;
            let file = file.and_then(|it| String::from_utf8(it).ok());
            file.ok_or_else(|| format!("there is no text `{path}` that describes the batch"))
        }
    };
    Ok(text.and_then(|it| it.parse().map_err(|error| format!("the batch: {error}"))))
}

/// How a session is told to describe the batch, for each outcome that asks for one.
pub(super) fn telling(run: &Run) -> String {
    let phase = run.phase();
    let fan_outs = { phase.next.iter() }.filter_map(|(outcome, next)| {
        let place = match &next.fan_out()?.manifest {
            ManifestSource::Result => {
                let field = ManifestSource::FIELD;
                format!("in the field `{field}` of your result")
            }
            ManifestSource::File { path } => {
                format!("in the file `{path}`, which is committed with your work")
            }
        };
        Some(format!("`{outcome}`, {place}"))
    });
    let fan_outs: Vec<_> = fan_outs.collect();
    if fan_outs.is_empty() {
        return String::new();
    }
    let commands: Vec<_> = { run.spec.workflow.commands() }
        .map(|it| format!("`{it}`"))
        .collect();
    let verify = if commands.is_empty() {
        "`verify` cannot be used here".to_owned()
    } else {
        format!(
            "`verify`, where you use it, is one of {}",
            commands.join(", ")
        )
    };
    format!(
        "\n# How you split the work\n\nSessions work on the parts side by side, each in a tree of its own that begins with the commit of your \
         work; the tool merges what they leave. Describe the batch for the outcome {}: `schema_version` (2), `batch_id` (a new name), \
         `fan_in_task` (a new name too),          `sub_tasks` (a list; each with `id`, `brief`, `file_ownership` (a list of patterns; no two parts share a path), and if needed \
         `depends_on`, `estimated_minutes`), and `fan_in` with a `brief` for whoever decides what does not fit together. Whoever works \
         on a part knows nothing but its brief. {verify}.\n",
        fan_outs.join(" and ")
    )
}
