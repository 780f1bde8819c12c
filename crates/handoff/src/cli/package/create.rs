//! `handoff package create`.

use std::fs::File;
use std::path::PathBuf;
use std::str::FromStr;

use handoff_api::ExitCode;
use handoff_core::caller::Action;
use handoff_core::package::{Origin, PackageKind};
use handoff_core::{CommitId, ContextKey, ContextScope, Digest, JsonText, TreeState};
use handoff_files::Dir;
use handoff_operations::{Failure, Project, fresh_key};
use handoff_package::Clean;
use handoff_package::payload::{Claim, Probe};
use handoff_store::{contexts, read};

use super::draft::{DraftArgs, Material, task_of};
use super::scrub::{self, Secrets};
use super::surroundings::current_plan;
use super::tree_look::TreeLook;
use super::{fresh_id, tell};
use crate::cli::context::ScopeArg;
use crate::cli::queue::KeyArg;
use crate::context::Context;
use crate::output::one_line;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    draft: DraftArgs,
    /// Something that is true, with how to find out: `TEXT => PROBE`. A probe is `commit` or `commit:ID`, `file:PATH`, `check:NAME`,
    /// `clean`, `context:KEY`, or `run:COMMAND`, which only a person runs.
    #[arg(long = "claim", value_name = "CLAIM")]
    claims: Vec<ClaimText>,
    /// A file that goes with it; may be given several times.
    #[arg(long = "attach", value_name = "FILE")]
    attachments: Vec<PathBuf>,
    /// Replace what looks like a secret by a mark, instead of refusing.
    #[arg(long)]
    redact: bool,
    #[command(flatten)]
    scope: ScopeArg,
    #[command(flatten)]
    key: KeyArg,
}

pub(super) fn run(args: Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let mut desk = Project::open(ctx)?;
    desk.caller.may(Action::Receive)?;
    let look = TreeLook::begin(&desk.repository, ctx)?;
    let scope = args.scope.resolve(&mut desk)?;
    let mut claims = vec![];
    for claim in args.claims {
        claims.push(claim.taken_now(scope, &mut desk, ctx)?);
    }
    let kind = (fresh_id(), PackageKind::Manual);
    let material = Material {
        claims,
        task: task_of(scope, &mut desk)?,
        plan: current_plan(&desk.repository),
        ..Material::of(kind, scope, look, ctx.config()?.package)
    };
    let mut package = args.draft.package(material, &mut desk)?;
    for file in &args.attachments {
        package.payload.attachments.push(scrub::attachment(file)?);
    }
    let (package, notes) = scrub::clean(package, Secrets::of(args.redact))?;
    keep_contents(&package, &args.attachments, &mut desk)?;
    let key = args.key.key.unwrap_or_else(fresh_key);
    let key = key.in_project(desk.id);
    let caller = desk.caller.clone();
    let record = desk.depot().keep(&package, Origin::Made, &caller, &key)?;
    tell(&mut desk, &record, notes, ctx)
}

/// Keeps what is attached: what was looked at, and nothing that came into its place since.
fn keep_contents(package: &Clean, files: &[PathBuf], desk: &mut Project) -> Result<(), Failure> {
    let mut depot = desk.depot();
    let mut blobs = depot.blobs();
    let attachments = &package.package().payload.attachments;
    for (attachment, file) in attachments.iter().zip(files) {
        let failed = || {
            Failure::failed(format!(
                "cannot attach `{}`",
                one_line(attachment.name.as_str())
            ))
        };
        let mut content = File::open(file).map_err(|error| failed().because(&error))?;
        let kept = blobs.take_in(attachment, &mut content);
        kept.map_err(|error| failed().because(&error))?;
    }
    Ok(())
}

/// A claim as it stands on the command line.
#[derive(Debug, Clone)]
struct ClaimText {
    text: handoff_core::task::Reason,
    probe: Option<ProbeText>,
}

#[derive(Debug, Clone)]
enum ProbeText {
    Head,
    File(handoff_core::ownership::RepoPath),
    Context(ContextKey),
    Ready(Probe),
}

impl FromStr for ClaimText {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (text, probe) = match text.split_once("=>") {
            Some((text, probe)) => (text, Some(probe.trim().parse()?)),
            None => (text, None),
        };
        let text = text.trim().parse();
        let text = text.map_err(|error: handoff_core::task::TextError| error.to_string())?;
        Ok(Self { text, probe })
    }
}

impl FromStr for ProbeText {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        fn read<T: FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, String> {
            text.parse().map_err(|error: T::Err| error.to_string())
        }
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        Ok(match (kind, rest) {
            ("commit", "") => Self::Head,
            ("clean", "") => Self::Ready(Probe::CleanTree),
            ("commit", id) => Self::Ready(Probe::Commit { commit: read(id)? }),
            ("file", path) => Self::File(read(path)?),
            ("context", key) => Self::Context(read(key)?),
            ("check", name) => Self::Ready(Probe::Check { name: read(name)? }),
            ("run", command) => Self::Ready(Probe::Command {
                command: read(command)?,
            }),
            (_, _) => {
                return Err(format!(
                    "{text:?} is no probe; there are `commit`, `commit:ID`, `file:PATH`, `check:NAME`, `clean`, `context:KEY` and \
                     `run:COMMAND`"
                ));
            }
        })
    }
}

impl ClaimText {
    /// The claim with what is true now, so that it can be compared later.
    fn taken_now(
        self,
        scope: ContextScope,
        desk: &mut Project,
        ctx: &Context,
    ) -> Result<Claim, Failure> {
        let probe = match self.probe {
            None => None,
            Some(ProbeText::Ready(probe)) => Some(probe),
            Some(ProbeText::Head) => Some(Probe::Commit {
                commit: head(TreeLook::begin(&desk.repository, ctx)?.end()?)?,
            }),
            Some(ProbeText::File(path)) => Some(Probe::File {
                sha256: digest_of(&path, desk)?,
                path,
            }),
            Some(ProbeText::Context(key)) => Some(Probe::Context {
                value: value_of(&key, scope, desk)?,
                key,
            }),
        };
        Ok(Claim {
            text: self.text,
            probe,
        })
    }
}

fn head(tree: Option<TreeState>) -> Result<CommitId, Failure> {
    let commit = tree.and_then(|tree| tree.commit);
    commit.ok_or_else(|| Failure::failed("there is no commit yet that could be claimed"))
}

fn digest_of(path: &handoff_core::ownership::RepoPath, desk: &Project) -> Result<Digest, Failure> {
    super::probe::file_digest(path, &desk.repository).map_err(|error| {
        let failure = Failure::new(ExitCode::NotFound, format!("cannot read `{path}`"));
        failure.because(&error)
    })
}

fn value_of(
    key: &ContextKey,
    scope: ContextScope,
    desk: &mut Project,
) -> Result<JsonText, Failure> {
    let found = read(&mut *desk.store, |tx| contexts::get(tx, scope, key))?;
    let (_, entry) = found.ok_or_else(|| {
        Failure::new(
            ExitCode::NotFound,
            format!("there is no `{key}` to be claimed"),
        )
        .hint("see what there is: `handoff context list`")
    })?;
    Ok(entry.value)
}

/// Kept here so that the limit of what is read for a probe is one.
pub(super) fn open_tree(repository: &handoff_git::Repository) -> Option<Dir> {
    Dir::open(repository.worktree_root()?).ok()
}
