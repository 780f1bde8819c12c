//! What is done for a session in a sandbox. Inside, the ledger and git's own directory cannot be written: a command that needs
//! them goes to the holder of the session, which runs `handoff errand` outside, as the session.
//!
//! Nothing here believes what the session says of itself. Who asks and from which repository is said by the holder, which
//! commands are done is in one list, and no file is read that the session names: outside, more can be read than inside.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::PathBuf;

use clap::Parser as _;
use handoff_api::ExitCode;
use handoff_session::control::errand::{Bytes, Errand, Word};
use handoff_session::{Client, ClientError, Token, environment};

use super::{Cli, Command, refuse};
use crate::ambient::Ambient;
use crate::context::{Context, Tree};
use crate::failure::Failure;
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
    /// The tree of the session.
    #[arg(long)]
    tree: PathBuf,
    /// Where in it the session stands.
    #[arg(long)]
    directory: PathBuf,
    /// What is to be done.
    #[arg(last = true, required = true)]
    words: Vec<OsString>,
}

impl Command {
    /// What it reads, if it is done for a session in a sandbox.
    fn reading(&self) -> Option<Reading> {
        if let Self::Git(command) = self {
            command.reading()
        } else if let Self::Session(command) = self {
            command.reading()
        } else if let Self::Queue(command) = self {
            command.is_of_a_session().then_some(Reading::Nothing)
        } else if let Self::Context(command) = self {
            Some(command.reading())
        } else {
            None
        }
    }
}

/// Does something for a session, outside. We stand in git's own directory.
pub(super) fn run(args: Args, ctx: &mut Context) -> Result<u8, Failure> {
    let words = std::iter::once("handoff".into()).chain(args.words);
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return Ok(refuse(&error, &ctx.ambient, ctx.out.is_json()).number()),
    };
    if cli.json {
        ctx.out = Output::new(&ctx.ambient, Format::Json);
    }
    match cli.command.reading() {
        Some(Reading::Nothing | Reading::Input) => {}
        Some(Reading::File(_)) => return Err(by_input()),
        None => {
            let text = "this is not done for a session in a sandbox";
            return Err(Failure::new(ExitCode::Forbidden, text));
        }
    }
    let common_dir = ctx.cwd()?.to_owned();
    ctx.ambient.cwd = Some(stand(&args.tree, &args.directory)?);
    ctx.tree = Some(Tree {
        root: args.tree,
        common_dir,
    });
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
        .hint("give it by standard input: `safe-commit -F - … < FILE`, `send --file - … < FILE`")
}

/// Has a command done outside, if we are in a sandbox and it is one that is; none otherwise.
pub(super) fn forwarded(command: &Command, ctx: &mut Context) -> Option<Result<u8, Failure>> {
    ctx.ambient.variable(environment::SANDBOX)?;
    let reading = command.reading()?;
    Some(forward(&reading, ctx))
}

fn forward(reading: &Reading, ctx: &mut Context) -> Result<u8, Failure> {
    let input = match reading {
        Reading::Nothing => vec![],
        Reading::Input => input()?,
        Reading::File(_) => return Err(by_input()),
    };
    let words = ctx.ambient.arguments.iter().skip(1).cloned();
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
        let text = format!("in a sandbox at most {} KiB are read", LARGEST_INPUT / 1024);
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
            let text = "this is the sandbox of a session, but its holder is not known here";
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
