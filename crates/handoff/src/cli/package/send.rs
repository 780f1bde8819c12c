//! `handoff package send`: to another machine, by its own `handoff package import -`. Ownership moves when that has said yes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use handoff_api::{ExitCode, TransferDocument};
use handoff_core::package::{PackageState, Recipient};
use handoff_core::{PackageId, PackageRecord};
use handoff_files::{Dir, Mode, atomic};
use handoff_operations::{Failure, Project, Span};
use handoff_process::{Exit, Program, output};

use super::desk_for;
use super::export::{bundled, can_leave, transferred};
use super::grasp::Grasp;
use crate::context::Context;
use crate::output::one_line;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which.
    package: PackageId,
    /// The host, as ssh knows it.
    host: String,
    #[command(flatten)]
    landing: Landing,
    /// How long to wait for the answer.
    #[arg(long, value_name = "TIME", default_value = "2m")]
    timeout: Span,
}

/// Where it arrives on another machine.
#[derive(Debug, clap::Args)]
pub(crate) struct Landing {
    /// The directory of the repository on that host.
    #[arg(long, value_name = "DIRECTORY")]
    directory: Option<String>,
    /// The program on that host.
    #[arg(long, value_name = "PROGRAM", default_value = "handoff")]
    program: String,
}

pub(crate) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if args.host.starts_with('-') {
        return Err(Failure::usage("a host does not begin with `-`"));
    }
    let mut desk = desk_for(args.package, ctx)?;
    desk.caller.may(handoff_core::Action::Start)?;
    let to: Recipient = args
        .host
        .parse()
        .map_err(|error| Failure::usage("that is no host").because(&error))?;
    can_leave(args.package, &mut desk)?;
    // While it is claimed nobody here can receive it; if we die, whoever comes next on this machine gets it at once.
    let grasp = Grasp::take(args.package, &mut desk)?;
    let fence = grasp.claim(&mut desk)?;
    let sent = packed(args.package, &mut desk).and_then(|bundle| {
        let delivered = deliver(args, &bundle, ctx);
        // What stays is swept by `package gc`.
        std::fs::remove_file(&bundle).ok();
        delivered
    });
    if let Err(failure) = sent {
        grasp.give_back(fence, &mut desk);
        return Err(failure);
    }
    let record = transferred(args.package, to, Some(fence), &mut desk)?;
    tell(&record, ctx)
}

impl Args {
    /// With nothing said but where to.
    pub(crate) fn to_host(package: PackageId, host: String, landing: Landing) -> Self {
        Self {
            package,
            host,
            landing,
            timeout: "2m".parse().expect("two minutes are a time"),
        }
    }
}

/// Says who has it now.
pub(super) fn tell(record: &PackageRecord, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let PackageState::Transferred { at, to } = &record.state else {
        return Err(Failure::new(ExitCode::Internal, "it is not transferred"));
    };
    let document = TransferDocument {
        handoff_id: record.label.id.to_string(),
        target_process: to.to_string(),
        transferred_at: Some(*at),
    };
    if ctx.out.is_json() {
        ctx.out.document(TransferDocument::SCHEMA, document)?;
    } else {
        let to = one_line(to.as_str());
        ctx.out
            .line(format!("{} is at {to} since {at}", document.handoff_id))?;
    }
    Ok(ExitCode::Done)
}

/// The bundle as a file of its own, for ssh to read from: it may have any length.
fn packed(id: PackageId, desk: &mut Project) -> Result<PathBuf, Failure> {
    let outbox = desk.depot().shelf().outbox();
    let unwritten = || Failure::failed("the package cannot be packed");
    let dir = Dir::create_private(&outbox).map_err(|error| unwritten().because(&error))?;
    let name = format!("{}.hof", handoff_process::mint().simple());
    bundled(id, desk, |bundle| {
        let written = atomic::create_new_from(&dir, &name, bundle, Mode::Private);
        written.map_err(|error| unwritten().because(&error))
    })?;
    Ok(outbox.join(name))
}

/// Hands the bytes over, and waits until the other side has taken them in.
fn deliver(args: &Args, bundle: &Path, ctx: &Context) -> Result<(), Failure> {
    let mut remote = String::new();
    if let Some(directory) = &args.landing.directory {
        remote = format!("cd {} && ", quoted(directory));
    }
    remote = format!("{remote}{} package import -", quoted(&args.landing.program));
    let mut program = Program::new("ssh", ctx.cwd()?).with_arguments([
        "-o",
        "BatchMode=yes",
        "--",
        &args.host,
        &remote,
    ]);
    program.environment = ctx.ambient.environment.clone().into_iter().collect();
    program.stdin = handoff_process::Stdin::File(bundle.to_owned());
    let failed = |why: String| {
        Failure::new(
            ExitCode::Unavailable,
            format!("the package was not sent: {why}"),
        )
        .hint("it is still here, and can be sent again")
    };
    let timeout: Duration = args.timeout.duration();
    let answer = output(&program, Some(timeout)).map_err(|error| failed(error.to_string()))?;
    match answer.exit {
        Exit::Code(0) => Ok(()),
        Exit::Code(code) => {
            let said = String::from_utf8_lossy(&answer.stderr.to_bytes()).into_owned();
            let said = said.lines().next_back().unwrap_or_default().to_owned();
            Err(failed(format!("the other side said no ({code}): {said}")))
        }
        Exit::Signal(signal) => Err(failed(format!("signal {signal} ended it"))),
        Exit::TimedOut => Err(failed("no answer came in time".to_owned())),
    }
}

/// For the shell of the other side.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
