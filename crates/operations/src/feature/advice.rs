//! What to do next for a feature: the same advice wherever some is given.

use handoff_workspace::plan::{Marker, Plan, Step, Verdict};
use handoff_workspace::workspace::FOLDER;
use handoff_workspace::{Document, Feature, Templates, Worth};

use super::site::FeatureSite;
use crate::failure::Failure;

/// What to do, and the command that goes with it. The same advice for every command that gives some.
pub struct Advice {
    pub sentence: String,
    pub command: Option<String>,
}

pub fn advice(site: &FeatureSite, feature: &Feature, plan: &Plan) -> Result<Advice, Failure> {
    let name = &feature.name;
    let (sentence, command) = match plan.verdict() {
        Verdict::Invalid => {
            let problem = plan.errors().next().map(ToString::to_string);
            let problem = problem.unwrap_or_default();
            let text = format!("Put the plan right. `STATE.md` {problem}");
            (text, Some("handoff validate".to_owned()))
        }
        Verdict::NotInitialised => unplanned(site, feature)?,
        Verdict::NothingRemaining => (
            "All steps are done. Check the work, and put the feature away.".to_owned(),
            Some(format!("handoff archive {name}")),
        ),
        Verdict::Blocked => (
            "Only blocked steps remain. Find out what unblocks one, then start it.".to_owned(),
            Some("handoff step start STEP".to_owned()),
        ),
        Verdict::Ready { .. } => plan.current().map_or((String::new(), None), ready),
    };
    Ok(Advice { sentence, command })
}

fn ready(step: &Step) -> (String, Option<String>) {
    let number = step.number;
    let sentence = format!("Step {number}: {}", step.title);
    let command = match step.marker {
        Marker::Current => format!("handoff step done {number}"),
        Marker::Done | Marker::Pending | Marker::Blocked { .. } | Marker::Unknown { .. } => {
            format!("handoff step start {number}")
        }
    };
    (sentence, Some(command))
}

/// Without a plan: the goal first, then the plan.
fn unplanned(site: &FeatureSite, feature: &Feature) -> Result<(String, Option<String>), Failure> {
    let name = &feature.name;
    let templates = Templates::open(&site.workspace()?)?;
    let goal = feature.worth(Document::Feature, &templates, &site.config()?.language)?;
    Ok(match goal {
        Worth::Missing => (
            "The document with the goal is missing. Make what is missing.".to_owned(),
            Some(format!("handoff init {name}")),
        ),
        Worth::Empty | Worth::Untouched => (
            format!("Write the goal into `{FOLDER}/features/{name}/FEATURE.md`."),
            None,
        ),
        Worth::Written => (
            "There is no plan yet. Have it made.".to_owned(),
            Some("handoff start".to_owned()),
        ),
    })
}
