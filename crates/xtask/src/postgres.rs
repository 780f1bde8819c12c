//! A private PostgreSQL around a command, for work on a part of the tests.

use std::ffi::OsString;

use anyhow::{Context as _, Result};
use clap::Args;
use handoff_testkit::postgres::{Cluster, Disk, VARIABLE};

use handoff_chores::{Verdict, program};

/// Run a command with a private PostgreSQL: `cargo xtask postgres -- cargo nextest run -p …`
#[derive(Args, Debug)]
pub(crate) struct PostgresArgs {
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &PostgresArgs) -> Result<Verdict> {
    let (name, words) = args.command.split_first().context("no command is given")?;
    let cluster = Cluster::start(Disk::Unsynced).context("cannot start a private PostgreSQL")?;
    let mut command = program::program(name);
    command.args(words).env(VARIABLE, cluster.url());
    let status = program::status(&mut command)?;
    Ok(if status.success() {
        Verdict::Good
    } else {
        Verdict::Bad
    })
}
