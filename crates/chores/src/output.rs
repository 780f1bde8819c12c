//! The only place of xtask that prints.

use std::io::{self, Write as _};

/// Prints a line as a result. A reader that closed the pipe does not want it.
pub fn say(text: &str) {
    writeln!(io::stdout(), "{text}").ok();
}

/// Prints a line beside the results.
pub fn complain(text: &str) {
    writeln!(io::stderr(), "{text}").ok();
}

/// Announces a part of a longer chore. In the same stream as results, so that their order stays.
pub fn heading(text: &str) {
    say(&format!("\n== {text}"));
}
