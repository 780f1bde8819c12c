//! What only other processes of ours start.

use crate::cli::late::Late;
use crate::cli::{check_supervisor, errand, scripted_agent};

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Command {
    /// Run a check and end all that it started.
    #[command(hide = true)]
    CheckSupervisor(Late<check_supervisor::Args>),
    /// Do something for a session in a sandbox.
    #[command(hide = true)]
    Errand(Late<errand::Args>),
    /// Play a script as if it were an agent.
    #[command(hide = true)]
    ScriptedAgent(Late<scripted_agent::Args>),
}
