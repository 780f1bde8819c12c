//! `handoff`: carries work from one agent session to the next.
//!
//! The way of a command: [`ambient`] collects what the process was given, [`cli`] finds the command (one file each), the
//! command opens a [`desk`] (store, project, caller), makes one call, and hands the result to [`output`].
//! Called as `git`, this is the guard ([`shim`]). Nothing but `output` prints, nothing but `ambient` reads the environment.

mod ambient;
mod caller;
mod cli;
mod clipboard;
mod config;
mod confirmation;
mod context;
mod desk;
mod failure;
mod lookout;
mod membership;
mod output;
mod shim;
mod upgrade;
mod walls;

fn main() -> std::process::ExitCode {
    // Without the handler such a write ends the process, and that is no reason not to begin.
    handoff_process::survive_size_limit().ok();
    let ambient = ambient::Ambient::collect();
    if shim::is_called(&ambient.arguments) {
        return shim::run(&ambient);
    }
    cli::main(ambient)
}
