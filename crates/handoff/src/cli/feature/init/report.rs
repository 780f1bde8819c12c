//! What `handoff init` says.

use handoff_api::InitDocument;
use handoff_core::FeatureName;
use handoff_operations::Failure;
use handoff_operations::feature::FeatureSite;
use handoff_workspace::{ContextScan, ContextSource, Made};

use super::Choice;
use crate::cli::feature::switch::was_folder;
use crate::context::Context;
use crate::output::Tone;

/// What was done, and what is to be done next.
pub(super) struct Report<'a> {
    pub(super) site: &'a FeatureSite,
    pub(super) name: FeatureName,
    pub(super) made: Made,
    pub(super) choice: Choice,
    /// Where a real folder went that stood at `current`.
    pub(super) displaced: Option<String>,
    pub(super) context: ContextScan,
}

impl Report<'_> {
    pub(super) fn document(&self) -> InitDocument {
        let names = |sources: &[&'static ContextSource]| sources.iter().map(|it| it.name).collect();
        let current = match &self.choice {
            Choice::Same | Choice::Switch => &self.name,
            Choice::Leave(other) => other,
        };
        InitDocument {
            feature: self.name.to_string(),
            path: self.site.feature_path(&self.name).display().to_string(),
            made: self
                .made
                .documents
                .iter()
                .map(|it| it.file_name())
                .collect(),
            current: Some(current.to_string()),
            displaced: self.displaced.clone(),
            context_sources: names(&self.context.found),
            context_gaps: names(&self.context.gaps),
        }
    }

    fn headline(&self) -> String {
        let name = &self.name;
        let made = match self.made.documents.len() {
            0 => "was there already, whole",
            5 => "is made",
            _ => "was there already; what was missing of it is made",
        };
        match &self.choice {
            Choice::Switch => format!("The feature `{name}` {made}, and it is current now."),
            Choice::Same => format!("The feature `{name}` {made}, and it is current."),
            Choice::Leave(other) => {
                format!("The feature `{name}` {made}. `{other}` stays current.")
            }
        }
    }

    pub(super) fn show(&self, ctx: &mut Context) -> Result<(), Failure> {
        if ctx.out.is_json() {
            return Ok(ctx.out.document(InitDocument::SCHEMA, self.document())?);
        }
        ctx.out.line(self.headline())?;
        if let Some(place) = &self.displaced {
            ctx.out.note(was_folder(place))?;
        }
        for (label, names) in self.facts() {
            if !names.is_empty() {
                let label = ctx.out.styled(Tone::Faint, &format!("{label:<10}"));
                ctx.out.line(format!("  {label}  {}", names.join("  ")))?;
            }
        }
        ctx.out.line("\nNext:")?;
        for (index, step) in self.steps(ctx).iter().enumerate() {
            ctx.out.line(format!("  {}. {step}", index + 1))?;
        }
        Ok(())
    }

    fn facts(&self) -> [(&'static str, Vec<&'static str>); 4] {
        let made = self.made.documents.iter().map(|it| it.file_name());
        let found = self.context.found.iter().map(|it| it.name);
        let gaps = |is_important| {
            let gaps = self.context.gaps.iter();
            let wanted = gaps.filter(move |gap| gap.is_important() == is_important);
            wanted.map(|gap| gap.name).collect()
        };
        [
            ("made", made.collect()),
            ("explain it", found.collect()),
            ("missing", gaps(true)),
            ("could help", gaps(false)),
        ]
    }

    /// What is to be done next, one a line.
    fn steps(&self, ctx: &Context) -> Vec<String> {
        let path = self.site.feature_path(&self.name).join("FEATURE.md");
        let mut steps = vec![
            format!(
                "Say what you want built in `{}`.",
                self.site.shown(&path, ctx)
            ),
            "`handoff start --copy`, and paste the prompt into your assistant.".to_owned(),
            "`handoff continue --copy` for each session after that.".to_owned(),
        ];
        if let Choice::Leave(_) = self.choice {
            steps.insert(0, format!("`handoff switch {}` to work on it.", self.name));
        }
        steps
    }
}
