//! `handoff logs`: what a session has printed.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::time::Duration;

use handoff_api::{ExitCode, LogGapDocument, LogLineDocument};
use handoff_files::{Wake, Watch};
use handoff_operations::Failure;
use handoff_operations::session::unreadable;
use handoff_session::journal;
use handoff_session::plain_text::PlainText;
use handoff_session::transcript::{Extent, Tail, tail};
use handoff_session::{Known, catalogue, place};

use super::address::Address;
use crate::context::Context;
use crate::output::{Tone, end_with_reader, plain};

/// The most that is read to find the last lines.
const MOST: u64 = 16 * 1024 * 1024;
/// A follower is told of what is printed; this is for a holder that died.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,
    /// Only the last so many lines.
    #[arg(long, value_name = "N", default_value_t = 200)]
    lines: usize,
    /// Go on with what is printed, until the session ends.
    #[arg(long, short)]
    follow: bool,
    /// Bytes as they were printed, with everything that a terminal would obey.
    #[arg(long)]
    raw: bool,
}

pub(super) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    if args.raw && ctx.out.is_json() {
        return Err(Failure::usage(
            "`--raw` bytes are no JSON: choose one of both",
        ));
    }
    let known = args.address.find(ctx)?;
    let Tail { bytes, extent, end } =
        tail(&known.directory, args.lines, MOST).map_err(|e| unread(&e))?;
    if extent == Extent::Everything && !args.raw {
        mark_gap(&known, ctx)?;
    }
    let mut printer = Printer {
        text: (!args.raw).then(PlainText::default),
    };
    printer.print(&bytes, ctx)?;
    if args.follow {
        follow(&known, end, &mut printer, ctx)?;
    }
    printer.finish(ctx)?;
    Ok(ExitCode::Done)
}

/// Says how much was printed before the first line that is kept. It is only a remark: a journal that cannot be read is no reason
/// to show nothing.
fn mark_gap(known: &Known, ctx: &mut Context) -> Result<(), Failure> {
    match journal::last_dropped(&known.directory).unwrap_or_default() {
        None => Ok(()),
        Some(dropped_bytes) if ctx.out.is_json() => {
            let gap = LogGapDocument { dropped_bytes };
            Ok(ctx.out.document(LogGapDocument::SCHEMA, gap)?)
        }
        Some(dropped) => {
            let text = format!("[{dropped} bytes were printed before this and are kept no longer]");
            let text = ctx.out.styled(Tone::Faint, &text);
            Ok(ctx.out.line(text)?)
        }
    }
}

fn unread(error: &io::Error) -> Failure {
    Failure::failed("cannot read what the session printed").because(error)
}

/// Prints lines, or bytes as they are.
struct Printer {
    text: Option<PlainText>,
}

impl Printer {
    fn print(&mut self, bytes: &[u8], ctx: &mut Context) -> Result<(), Failure> {
        match &mut self.text {
            None => Ok(ctx.out.raw(bytes)?),
            Some(text) => text
                .push(bytes)
                .into_iter()
                .try_for_each(|line| say(line, ctx)),
        }
    }

    fn finish(self, ctx: &mut Context) -> Result<(), Failure> {
        let rest = self.text.and_then(PlainText::rest);
        rest.map_or(Ok(()), |line| say(line, ctx))
    }
}

fn say(line: String, ctx: &mut Context) -> Result<(), Failure> {
    if ctx.out.is_json() {
        ctx.out
            .document(LogLineDocument::SCHEMA, LogLineDocument { line })?;
    } else {
        ctx.out.line(plain(&line))?;
    }
    Ok(())
}

fn follow(
    known: &Known,
    end: u64,
    printer: &mut Printer,
    ctx: &mut Context,
) -> Result<(), Failure> {
    end_with_reader();
    let mut offset = end;
    loop {
        let path = place::transcript(&known.directory);
        let watched = Watch::on_growth(&path)
            .and_then(|watch| watch.also_on(&place::holder_lock(&known.directory)));
        let mut watch = watched.map_err(|error| {
            Failure::failed("cannot follow what the session prints").because(&error)
        })?;
        let mut file = File::open(&path).map_err(|error| unread(&error))?;
        file.seek(SeekFrom::Start(offset))
            .map_err(|error| unread(&error))?;
        loop {
            // Looked at before reading: what it printed last is there when it is gone.
            let lives = catalogue::is_held(&known.directory).map_err(|error| unreadable(&error))?;
            drain(&mut file, printer, ctx)?;
            if !lives {
                return Ok(());
            }
            let wake = watch.wait(Some(LOOK_AGAIN)).map_err(|error| {
                Failure::failed("cannot follow what the session prints").because(&error)
            })?;
            if wake == Wake::Gone {
                // The file is full and has become the older one; a new one takes its place.
                drain(&mut file, printer, ctx)?;
                break;
            }
        }
        offset = 0;
    }
}

fn drain(file: &mut File, printer: &mut Printer, ctx: &mut Context) -> Result<(), Failure> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer).map_err(|error| unread(&error))? {
            0 => return Ok(()),
            length => printer.print(&buffer[..length], ctx)?,
        }
    }
}
