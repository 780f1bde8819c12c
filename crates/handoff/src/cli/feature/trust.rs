//! `handoff trust`: lets the commands of this repository run, as they are now.

use std::str::FromStr;

use handoff_api::{ExitCode, TrustDocument};
use handoff_core::Digest;
use handoff_core::caller::Action;
use handoff_operations::feature::FeatureSite;
use handoff_operations::feature::standing::document;
use handoff_operations::{Failure, project};
use handoff_workspace::config::Check;
use handoff_workspace::trust::{self, Trust};

use crate::context::Context;
use crate::output::{Reply, Tone, plain};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only say what there is and whether it is trusted.
    #[arg(long, conflicts_with_all = ["revoke", "digest"])]
    show: bool,
    /// Take the trust back.
    #[arg(long, conflicts_with = "digest")]
    revoke: bool,
    /// Trust without a question exactly the commands that `--show` gave this digest, whole or in short.
    #[arg(long, value_name = "HEX")]
    digest: Option<Wanted>,
}

/// The beginning of the digest of what somebody has read elsewhere, long enough that no other checks are likely to have it.
#[derive(Debug, Clone)]
struct Wanted(String);

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_lower_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_digest = (12..=64).contains(&text.len()) && text.bytes().all(is_lower_hex);
        is_digest
            .then(|| Self(text.to_owned()))
            .ok_or_else(|| "12 to 64 lower-case hexadecimal digits".to_owned())
    }
}

/// The checks of a workspace, and whether they may run.
pub(super) struct Guard {
    trust: Trust,
    pub(super) digest: Digest,
    pub(super) is_trusted: bool,
}

impl Guard {
    pub(super) fn over(
        site: &FeatureSite,
        checks: &[Check],
        ctx: &Context,
    ) -> Result<Self, Failure> {
        let trust = Trust::below(&ctx.home()?);
        let digest = trust::digest(&site.root, checks);
        let is_trusted = trust.covers(&digest)?;
        Ok(Self {
            trust,
            digest,
            is_trusted,
        })
    }
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let site = FeatureSite::find(ctx)?;
    let checks = site.config()?.checks;
    let mut guard = Guard::over(&site, &checks, ctx)?;
    if !args.show {
        project::require_person(Action::Trust, &ctx.ambient)?;
    }
    if !ctx.out.is_json() {
        list(&checks, &guard.digest, ctx)?;
    }
    if args.revoke {
        guard.trust.revoke(&guard.digest)?;
        guard.is_trusted = false;
    } else if !args.show {
        guard.is_trusted = allow(args.digest.as_ref(), &guard, &checks, ctx)?;
    }
    if ctx.out.is_json() {
        let document = TrustDocument {
            is_trusted: guard.is_trusted,
            digest: guard.digest.to_string(),
            checks: checks.iter().map(document).collect(),
        };
        ctx.out.document(TrustDocument::SCHEMA, document)?;
    } else {
        ctx.out.note(in_words(&guard, &checks))?;
    }
    Ok(ExitCode::Done)
}

/// What is granted is the digest of what was shown: a file that changes while somebody reads it is not trusted.
fn allow(
    wanted: Option<&Wanted>,
    guard: &Guard,
    checks: &[Check],
    ctx: &mut Context,
) -> Result<bool, Failure> {
    if checks.is_empty() {
        return Err(nothing());
    }
    let reply = match wanted {
        Some(wanted) => named(wanted, &guard.digest)?,
        None if guard.is_trusted => return Ok(true),
        None if ctx.can_ask() => ctx.out.ask("May these commands run here?")?,
        None => return Err(nobody_to_ask(&guard.digest)),
    };
    match reply {
        Reply::No => Ok(guard.is_trusted),
        Reply::Yes => {
            let lines = checks
                .iter()
                .map(|check| format!("{}: {}\n", check.name, check.command));
            guard
                .trust
                .grant(&guard.digest, &lines.collect::<String>())?;
            Ok(true)
        }
    }
}

fn named(wanted: &Wanted, digest: &Digest) -> Result<Reply, Failure> {
    if digest.as_str().starts_with(&wanted.0) {
        return Ok(Reply::Yes);
    }
    let message = format!(
        "the commands that are here now are not those of the digest `{}`; nothing was trusted",
        wanted.0
    );
    Err(Failure::new(ExitCode::Conflict, message)
        .hint("read what is there: `handoff trust --show`"))
}

fn nobody_to_ask(digest: &Digest) -> Failure {
    Failure::new(
        ExitCode::Forbidden,
        "nobody can be asked here whether these commands may run, so nothing was trusted",
    )
    .hint(format!(
        "a person who has read them says `handoff trust` on a terminal, or `handoff trust --digest {}`",
        digest.short()
    ))
}

pub(super) fn nothing() -> Failure {
    Failure::new(
        ExitCode::NotFound,
        "this workspace has no checks that could be trusted",
    )
    .hint("name them in `.handoff/config.toml`: a table `[checks]` with lines such as `test = \"make test\"`")
}

/// As they will run, blank by blank.
fn list(checks: &[Check], digest: &Digest, ctx: &mut Context) -> Result<(), Failure> {
    for check in checks {
        let name = ctx.out.styled(Tone::Strong, check.name.as_str());
        let command = plain(check.command.as_str());
        ctx.out.line(format!("{name}: {command}"))?;
    }
    if !checks.is_empty() {
        ctx.out.line(format!("digest {}", digest.short()))?;
    }
    Ok(())
}

const fn in_words(guard: &Guard, checks: &[Check]) -> &'static str {
    match (guard.is_trusted, checks.is_empty()) {
        (true, _) => {
            "These commands may run here, as they are now. A change of any of them ends that."
        }
        (false, true) => "There are no checks.",
        (false, false) => "These commands may not run until a person says `handoff trust`.",
    }
}
