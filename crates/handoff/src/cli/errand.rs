//! What is done for a session that cannot do it itself. In a sandbox the ledger and git's own directory cannot be written, and
//! where a server has the ledger its address and password are kept from every agent: a command that needs them goes to the
//! holder of the session, which runs `handoff errand` outside, as the session.
//!
//! Nothing here believes what the session says of itself. Who asks and from which repository is said by the holder, which
//! commands are done is in one list, and no file is read for a sandbox that the session names: outside, more can be read.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::PathBuf;

use handoff_api::ExitCode;
use handoff_operations::operation::Forwarded;
use handoff_operations::{Ambient, Failure, Tree};
use handoff_session::control::errand::{Bytes, Errand, Word};
use handoff_session::{Client, ClientError, Token, environment};

use super::{Command, reading, refuse};
use crate::context::Context;
use crate::output::{Format, Output};

/// What a holder reads of a request at most, with room for its form.
const LARGEST_INPUT: u64 = 700 * 1024;

/// What a command reads besides its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reading {
    Nothing,
    Input,
    File(PathBuf),
}

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The tree that the session is held in.
    #[arg(long)]
    tree: Option<PathBuf>,
    /// Where the session stands.
    #[arg(long)]
    directory: PathBuf,
    /// What is to be done.
    #[arg(last = true, required = true)]
    words: Vec<OsString>,
}

/// What keeps a session from doing it itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Barrier {
    Sandbox,
    /// It does not know the way to the ledger.
    Ledger,
}

impl Barrier {
    fn around(ambient: &Ambient) -> Option<Self> {
        let is_set = |name| ambient.variable(name).is_some();
        if is_set(environment::SANDBOX) {
            Some(Self::Sandbox)
        } else {
            is_set(environment::LEDGER).then_some(Self::Ledger)
        }
    }

    /// Whether a file that the session names is read for it.
    fn let_read(self) -> Result<(), Failure> {
        match self {
            Self::Sandbox => Err(by_input()),
            Self::Ledger => Ok(()),
        }
    }

    /// Which operations are done for a session behind this.
    const fn forwarded(self) -> Forwarded {
        match self {
            Self::Sandbox => Forwarded::FromSandbox,
            Self::Ledger => Forwarded::WithoutLedger,
        }
    }

    /// What a command reads, if it is done for a session behind this.
    fn reading(self, command: &Command) -> Option<Reading> {
        if let Command::Around(command) = command {
            return command.reading(self.forwarded());
        }
        match self {
            Self::Sandbox => command.reading(),
            Self::Ledger => command.reading().or_else(|| command.reading_with_ledger()),
        }
    }
}

impl Command {
    /// What it reads, if it needs the ledger and nothing else that a session does not have.
    fn reading_with_ledger(&self) -> Option<Reading> {
        if let Self::Tasks(command) = self {
            command.reading_with_ledger()
        } else if let Self::Packages(command) = self {
            command.reading_with_ledger()
        } else {
            None
        }
    }

    /// What it reads, if it is done for a session in a sandbox.
    fn reading(&self) -> Option<Reading> {
        match self {
            Self::Git(command) => command.reading(),
            Self::Session(command) => command.reading(),
            Self::Tasks(command) => command.reading(),
            Self::Packages(command) => command.reading(),
            Self::Feature(_) | Self::Workflows(_) | Self::Around(_) | Self::Own(_) => None,
        }
    }
}

/// Does something for a session, outside. We stand in git's own directory.
pub(super) fn run(args: Args, ctx: &mut Context) -> Result<u8, Failure> {
    let words: Vec<_> = std::iter::once("handoff".into())
        .chain(args.words)
        .collect();
    let cli = match reading::read(&words) {
        Ok(cli) => cli,
        Err(error) => return Ok(refuse(&error, &ctx.invocation(), ctx.out.is_json()).number()),
    };
    if cli.options.json {
        ctx.out = Output::new(&ctx.invocation(), Format::Json);
    }
    let barrier = match &args.tree {
        Some(_) => Barrier::Sandbox,
        None => Barrier::Ledger,
    };
    match barrier.reading(&cli.command) {
        Some(Reading::Nothing | Reading::Input) => {}
        Some(Reading::File(_)) => barrier.let_read()?,
        None => {
            let text = "this is not done for a session";
            return Err(Failure::new(ExitCode::Forbidden, text));
        }
    }
    if let Some(root) = args.tree {
        let common_dir = ctx.cwd()?.to_owned();
        ctx.stand_in(stand(&root, &args.directory)?);
        ctx.tree = Some(Tree { root, common_dir });
    }
    super::run(cli.command, ctx)
}

/// A link in the tree may lead out of it.
fn stand(tree: &std::path::Path, directory: &std::path::Path) -> Result<PathBuf, Failure> {
    let real = tree.join(directory).canonicalize().ok();
    let inside = real.filter(|it| tree.canonicalize().is_ok_and(|tree| it.starts_with(tree)));
    inside.ok_or_else(|| {
        let text = "a session in a sandbox has things done in its own tree only";
        Failure::new(ExitCode::Forbidden, text)
    })
}

fn by_input() -> Failure {
    Failure::usage("in a sandbox no file is read for a session")
        .hint("give it by standard input: `safe-commit -F - … < FILE`, `send --file - … < FILE`, `dump --open-batch - < FILE`, `queue add --brief - … < FILE`")
}

/// Has a command done outside, if something keeps us from it and it is one that is; none otherwise.
pub(super) fn forwarded(command: &Command, ctx: &mut Context) -> Option<Result<u8, Failure>> {
    let barrier = Barrier::around(&ctx.ambient)?;
    if matches!(command, Command::Tasks(command) if command.is_last_word(ctx)) {
        return None;
    }
    let reading = barrier.reading(command)?;
    Some(forward(barrier, &reading, ctx))
}

fn forward(barrier: Barrier, reading: &Reading, ctx: &mut Context) -> Result<u8, Failure> {
    let input = match reading {
        Reading::Nothing => vec![],
        Reading::Input => input()?,
        Reading::File(_) => {
            barrier.let_read()?;
            vec![]
        }
    };
    let words = ctx.arguments.iter().skip(1).cloned();
    let errand = Errand {
        words: words.map(Word).collect(),
        directory: ctx.cwd()?.to_owned(),
        input: Bytes(input),
    };
    let returned = client(&ctx.ambient)?
        .errand(&errand)
        .map_err(|error| unreached(&error))?;
    ctx.out.raw(&returned.stdout.0)?;
    ctx.out.raw_complaint(&returned.stderr.0)?;
    Ok(returned.exit_code)
}

fn input() -> Result<Vec<u8>, Failure> {
    let mut bytes = vec![];
    let mut stdin = std::io::stdin().take(LARGEST_INPUT + 1);
    stdin
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::failed("cannot read standard input").because(&error))?;
    if bytes.len() as u64 > LARGEST_INPUT {
        let text = format!(
            "inside a session at most {} KiB are read",
            LARGEST_INPUT / 1024
        );
        return Err(Failure::usage(text));
    }
    Ok(bytes)
}

fn client(ambient: &Ambient) -> Result<Client, Failure> {
    let socket = ambient.variable(environment::SOCKET);
    let token = ambient.text(environment::TOKEN);
    let token = token.and_then(|it| it.parse::<Token>().ok());
    let known = socket.zip(token);
    known
        .map(|(socket, token)| Client::new(socket).with_token(token))
        .ok_or_else(|| {
            let text = "the holder of this session, which would do it, is not known here";
            Failure::new(ExitCode::Unavailable, text)
        })
}

fn unreached(error: &ClientError) -> Failure {
    Failure::new(
        ExitCode::Unavailable,
        "the holder of this session does not do it",
    )
    .because(error)
}
