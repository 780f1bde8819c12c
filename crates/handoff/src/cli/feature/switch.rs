//! `handoff switch`.

use handoff_api::{ExitCode, SwitchDocument};
use handoff_core::FeatureName;
use handoff_operations::Failure;
use handoff_operations::feature::FeatureSite;
use handoff_workspace::Current;
use handoff_workspace::switch::{Pointer, Switched};

use crate::context::Context;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The feature to work on.
    feature: FeatureName,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let site = FeatureSite::find_to_change(ctx)?;
    let workspace = site.workspace()?;
    let lock = site.lock()?;
    let switched = workspace.switch(&args.feature, ctx.stamp()?)?;
    lock.release();
    if ctx.out.is_json() {
        ctx.out
            .document(SwitchDocument::SCHEMA, document(&args.feature, switched))?;
        return Ok(ExitCode::Done);
    }
    ctx.out.line(sentence(&args.feature, &switched.before))?;
    if switched.pointer == Pointer::File {
        ctx.out
            .note("Links cannot be made here, so `current` is a file that names the feature.")?;
    }
    if let Some(place) = switched.displaced {
        ctx.out.note(was_folder(&place))?;
    }
    Ok(ExitCode::Done)
}

/// There may be work in it that is nowhere else.
pub(super) fn was_folder(place: &str) -> String {
    format!("`.handoff/current` was a real folder. It is kept as `.handoff/{place}`.")
}

fn sentence(name: &FeatureName, before: &Current) -> String {
    match before {
        Current::Feature(before) if before == name => format!("`{name}` is current, as before."),
        Current::Feature(before) => format!("`{name}` is current now; before, it was `{before}`."),
        Current::None | Current::Unknown(_) => format!("`{name}` is current now."),
    }
}

fn document(name: &FeatureName, switched: Switched) -> SwitchDocument {
    SwitchDocument {
        current: name.to_string(),
        before: match switched.before {
            Current::Feature(name) => Some(name.into()),
            Current::None | Current::Unknown(_) => None,
        },
        is_link: switched.pointer == Pointer::Link,
        displaced: switched.displaced,
    }
}
