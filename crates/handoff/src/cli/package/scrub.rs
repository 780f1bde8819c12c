//! The look for secrets before anything is sealed.

use std::fs::File;
use std::path::Path;

use handoff_api::ExitCode;
use handoff_core::package::Label;
use handoff_core::task::TextError;
use handoff_package::Payload;
use handoff_package::payload::SerializedContext;
use handoff_package::secret::{Finding, redact, redact_json, scan, scan_json, scan_stream};

use crate::failure::Failure;

/// What becomes of something that looks like a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secrets {
    Refuse,
    Redact,
}

impl Secrets {
    /// As the command line says.
    pub(crate) const fn of(is_redacting: bool) -> Self {
        if is_redacting {
            Self::Redact
        } else {
            Self::Refuse
        }
    }
}

/// Looks through all text of a package. Says what was replaced.
pub(crate) fn text(payload: &mut Payload, secrets: Secrets) -> Result<Vec<String>, Failure> {
    let mut found = context(payload);
    visit(payload, &mut |place, text| {
        found.extend(scan(text, place));
        None
    });
    if found.is_empty() {
        return Ok(vec![]);
    }
    if secrets == Secrets::Refuse {
        return Err(refused(&found));
    }
    redact_context(payload);
    visit(payload, &mut |_, text| Some(redact(text)));
    Ok(found.iter().map(|it| format!("redacted: {it}")).collect())
}

fn context(payload: &Payload) -> Vec<Finding> {
    let entries = payload.context.entries.iter();
    let found = entries.flat_map(|entry| {
        let place = format!("the context key `{}`", entry.key);
        let mut found = scan_json(&entry.value, &place);
        // A name can give a value away: `api_key` and what is assigned to it.
        if found.is_empty() {
            found = scan(&format!("{}: {}", entry.key, entry.value), &place);
        }
        found
    });
    found.collect()
}

fn redact_context(payload: &mut Payload) {
    let mut entries = payload.context.to_entries();
    for entry in &mut entries {
        entry.value = redact_json(&entry.value);
        let paired = format!("{}: {}", entry.key, entry.value);
        if !scan(&paired, "").is_empty() {
            entry.value = "\"[redacted]\"".parse().expect("a JSON string");
        }
    }
    payload.context = SerializedContext::of(entries);
}

/// Shows each text with its place, and puts in its place what comes back.
fn visit(payload: &mut Payload, look: &mut dyn FnMut(&str, &str) -> Option<String>) {
    fn apply<T>(slot: &mut T, place: &str, look: &mut dyn FnMut(&str, &str) -> Option<String>)
    where
        T: Clone + Into<String> + TryFrom<String, Error = TextError>,
    {
        let text: String = slot.clone().into();
        let changed = look(place, &text).and_then(|text| T::try_from(text).ok());
        if let Some(changed) = changed {
            *slot = changed;
        }
    }
    if let Some(brief) = &mut payload.brief {
        apply(brief, "the brief", look);
    }
    if let Some(summary) = &mut payload.summary {
        apply(summary, "the summary", look);
    }
    apply(&mut payload.metadata.reason, "the reason", look);
    for decision in &mut payload.decisions {
        apply(decision, "a decision", look);
    }
    for dead_end in &mut payload.dead_ends {
        apply(dead_end, "a dead end", look);
    }
    for claim in &mut payload.claims {
        apply(&mut claim.text, "a claim", look);
    }
}

/// What stands on a package is read by everybody, and cannot be redacted without becoming something else.
pub(super) fn label(label: &Label) -> Result<(), Failure> {
    let texts = [
        (
            "the subject",
            label.subject_id.as_ref().map(ToString::to_string),
        ),
        (
            "the session",
            label.session_id.as_ref().map(ToString::to_string),
        ),
    ];
    let found: Vec<_> = texts
        .into_iter()
        .filter_map(|(place, text)| Some(scan(&text?, place)))
        .flatten()
        .collect();
    if found.is_empty() {
        Ok(())
    } else {
        Err(refused(&found))
    }
}

/// An attachment is taken whole or not at all.
pub(super) fn attachment(file: &Path) -> Result<(), Failure> {
    let name = file.to_string_lossy();
    let unreadable = |error: std::io::Error| {
        Failure::new(ExitCode::NotFound, format!("cannot read {name:?}")).because(&error)
    };
    let mut content = File::open(file).map_err(unreadable)?;
    let found = scan_stream(&name, &mut content).map_err(unreadable)?;
    if found.is_empty() {
        Ok(())
    } else {
        Err(refused(&found).hint("leave the file out, or attach a copy without them"))
    }
}

fn refused(found: &[Finding]) -> Failure {
    let mut failure =
        Failure::failed("nothing was sealed: it looks as if there were secrets in it");
    failure.causes = found.iter().take(50).map(ToString::to_string).collect();
    failure.hint("take them out, or say `--redact` to have marks put in their places")
}
