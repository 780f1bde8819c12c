//! What only other processes of ours start.

use crate::cli::late::Late;
use crate::cli::{errand, scripted_agent};

#[derive(Debug, clap::Subcommand)]
pub(in crate::cli) enum Command {
    /// Do something for a session in a sandbox.
    #[command(hide = true)]
    Errand(Late<errand::Args>),
    /// Play a script as if it were an agent.
    #[command(hide = true)]
    ScriptedAgent(Late<scripted_agent::Args>),
}
