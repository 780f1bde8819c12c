//! `handoff`: carries work from one agent session to the next.
//!
//! The way of a command: [`ambient`] collects what the process was given, [`cli`] finds the command (one file each), the
//! command makes one call of `handoff_operations`, which opens the project (store, repository, caller), and hands the result to [`output`].
//! Called as `git`, this is the guard ([`shim`]). Nothing but `output` prints, nothing but `ambient` reads the environment.

mod ambient;
mod cli;
mod clipboard;
mod confirmation;
mod context;
mod membership;
mod output;
mod shim;
mod upgrade;

fn main() -> std::process::ExitCode {
    // Without the handler such a write ends the process, and that is no reason not to begin.
    handoff_process::survive_size_limit().ok();
    let invocation = ambient::Invocation::collect();
    if shim::is_called(&invocation.arguments) {
        return shim::run(&invocation);
    }
    cli::main(invocation)
}
