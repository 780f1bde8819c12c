//! What a feature is for, for whoever begins work on it.

use handoff_api::ExitCode;
use handoff_core::FeatureName;
use handoff_operations::Failure;
use handoff_operations::feature::FeatureSite;
use handoff_workspace::essence::essence;
use handoff_workspace::{Document, Feature};

use crate::context::Context;

/// What a person wrote of a feature: its goal, and what is to be built where that is specified.
pub(crate) fn purpose(name: &FeatureName, ctx: &Context) -> Result<String, Failure> {
    let feature = FeatureSite::find(ctx)?.workspace()?.feature(name)?;
    let feature = feature.ok_or_else(|| {
        Failure::new(ExitCode::NotFound, format!("there is no feature `{name}`"))
            .hint("see what there is: `handoff list`")
    })?;
    let goal = written(&feature, Document::Feature)?;
    let spec = written(&feature, Document::Spec)?;
    Ok(format!("{goal}\n\n{spec}").trim().to_owned())
}

fn written(feature: &Feature, document: Document) -> Result<String, Failure> {
    let text = feature.read(document).map_err(|error| {
        Failure::failed("cannot read the documents of the feature").because(&error)
    })?;
    Ok(text.map_or_else(String::new, |it| essence(document, &it)))
}
