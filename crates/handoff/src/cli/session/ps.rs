//! `handoff ps`: the sessions.

use std::path::PathBuf;

use handoff_api::{ExitCode, SessionDocument, SessionsDocument};
use handoff_core::Timestamp;
use handoff_operations::session::ListSessions;
use handoff_operations::session::document::elapsed;
use handoff_operations::{Failure, call};

use crate::context::Context;
use crate::output::{Table, Tone};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Sessions of all projects.
    #[arg(long, conflicts_with = "repo")]
    pub(crate) all: bool,
    /// Also those that have ended.
    #[arg(long)]
    pub(crate) ended: bool,
    /// Sessions of the project of this directory.
    #[arg(long, value_name = "PATH")]
    pub(crate) repo: Option<PathBuf>,
    /// Only the one with this name or id.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
}

pub(crate) fn run(args: &Args, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let listed = call(
        ListSessions {
            all: args.all,
            ended: args.ended,
            repo: args.repo.clone(),
            id: args.id.clone(),
        },
        ctx,
    )?;
    let remarks = listed.remarks.clone();
    if ctx.out.is_json() {
        ctx.out.document(SessionsDocument::SCHEMA, listed)?;
    } else if listed.sessions.is_empty() {
        ctx.out
            .note("No session lives. Start one: `handoff run bash`.")?;
    } else {
        let home = ctx.ambient.text("HOME").unwrap_or_default().to_owned();
        let now = ctx.clock()?.now().wall;
        ctx.out.table(&table(&listed.sessions, &home, now))?;
    }
    for remark in remarks {
        ctx.out.note(remark)?;
    }
    Ok(ExitCode::Done)
}

/// Few sessions have a port: their holder listens on a socket that only its user can reach.
fn table(sessions: &[SessionDocument], home: &str, now: Timestamp) -> Table {
    let heading = [
        "ID", "CLI", "PID", "PORT", "AGE", "IDLE", "STATE", "REPO", "DESC",
    ];
    let mut table = Table::new(&heading);
    for session in sessions {
        let age = elapsed(session.started_at, session.ended_at.unwrap_or(now));
        table.row([
            (Tone::Strong, session.name.clone()),
            (Tone::Plain, session.agent.clone()),
            (Tone::Faint, session.pid.to_string()),
            (
                Tone::Faint,
                session.port.map_or("-".to_owned(), |port| port.to_string()),
            ),
            (Tone::Plain, span(age)),
            (Tone::Plain, session.log_idle_s.map_or("-".to_owned(), span)),
            (tone(&session.state), state(session)),
            (Tone::Faint, short(&session.cwd, home)),
            (
                Tone::Plain,
                session.description.clone().unwrap_or("-".to_owned()),
            ),
        ]);
    }
    table
}

fn state(session: &SessionDocument) -> String {
    match (&session.kind, &session.last_state, session.exit_code) {
        (Some(kind), _, _) => format!("{} ({kind})", session.state),
        (None, Some(last), _) => format!("{} ({last})", session.state),
        (None, None, Some(code)) => format!("{} ({code})", session.state),
        (None, None, None) => session.state.clone(),
    }
}

fn tone(state: &str) -> Tone {
    match state {
        "busy" => Tone::Active,
        "prompt" => Tone::Good,
        "blocked" => Tone::Attention,
        "lost" => Tone::Bad,
        _ => Tone::Faint,
    }
}

fn short(path: &str, home: &str) -> String {
    match path.strip_prefix(home) {
        Some(rest) if !home.is_empty() && (rest.is_empty() || rest.starts_with('/')) => {
            format!("~{rest}")
        }
        Some(_) | None => path.to_owned(),
    }
}

fn span(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_paths_are_short() {
        assert_eq!(
            [0, 59, 60, 7200, 90_000].map(span),
            ["0s", "59s", "1m", "2h", "1d"]
        );
        assert_eq!(short("/home/x/y", "/home/x"), "~/y");
        assert_eq!(short("/home/xy", "/home/x"), "/home/xy");
        assert_eq!(short("/a", ""), "/a");
    }
}
