//! What `doctor` finds in the workspace: its settings, and which templates are not the program's own.

use std::error::Error;

use handoff_api::{Finding, Verdict};
use handoff_operations::Failure;
use handoff_operations::feature::FeatureSite;
use handoff_workspace::template::Origin;
use handoff_workspace::{Config, Notice, Template, TemplateError, Templates, Workspace};

use crate::context::Context;

/// Nothing where there is no workspace.
pub(in crate::cli) fn findings(ctx: &Context) -> Vec<Finding> {
    let Ok(site) = FeatureSite::find(ctx) else {
        return vec![];
    };
    match Workspace::open(&site.root) {
        Ok(Some(workspace)) => vec![settings(&workspace), templates(&workspace)],
        Ok(None) => vec![],
        Err(error) => vec![finding("workspace", Verdict::Bad, explained(&error))],
    }
}

fn settings(workspace: &Workspace) -> Finding {
    let config = match Config::load(workspace) {
        Ok(config) => config,
        Err(error) => return finding("settings", Verdict::Bad, explained(&error)),
    };
    let verdict = match config.notices.first() {
        None => Verdict::Good,
        Some(Notice::Foreign | Notice::Unquoted { .. } | Notice::Unknown { .. }) => {
            Verdict::Limited
        }
    };
    let facts = format!(
        "{}, {} tokens, {} checks",
        config.language,
        config.budget.tokens(),
        config.checks.len()
    );
    let notices = config.notices.iter().map(super::delivery::in_words);
    let words: Vec<_> = std::iter::once(facts).chain(notices).collect();
    finding("settings", verdict, words.join("; "))
}

fn templates(workspace: &Workspace) -> Finding {
    match customised(workspace) {
        Ok(names) if names.is_empty() => finding("templates", Verdict::Good, "built in".to_owned()),
        Ok(names) => {
            let names = format!("customised: {}", names.join(", "));
            finding("templates", Verdict::Good, names)
        }
        Err(error) => finding("templates", Verdict::Bad, explained(&error)),
    }
}

fn customised(workspace: &Workspace) -> Result<Vec<String>, TemplateError> {
    let templates = Templates::open(workspace)?;
    let mut names = vec![];
    for template in Template::ALL {
        let provenance = templates.check(*template)?;
        if let Origin::Customised(_) = provenance.origin {
            names.push(format!("{} ({})", template.file_name(), provenance.digest));
        }
    }
    Ok(names)
}

fn explained(error: &(dyn Error + 'static)) -> String {
    Failure::failed("").because(error).causes.join(": ")
}

const fn finding(what: &'static str, verdict: Verdict, found: String) -> Finding {
    Finding {
        what,
        verdict,
        found,
    }
}
