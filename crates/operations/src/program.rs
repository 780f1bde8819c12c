//! This program, and whether others are there.

use std::ffi::OsStr;
use std::path::Path;

use handoff_api::ExitCode;

use crate::failure::Failure;
use crate::workplace::Workplace;

/// This very program, to be started again.
pub fn own_program(here: &Workplace) -> Result<&Path, Failure> {
    let program = here.ambient.program.as_deref();
    program.ok_or_else(|| Failure::failed("cannot find this program"))
}

/// Refuses a program that is nowhere, before anything is made for it.
pub fn require_program(name: &OsStr, cwd: &Path, here: &Workplace) -> Result<(), Failure> {
    let is_path = name.as_encoded_bytes().contains(&b'/');
    let exists = if is_path {
        cwd.join(name).is_file()
    } else {
        let path = here.ambient.variable("PATH").unwrap_or_default();
        std::env::split_paths(path).any(|directory| directory.join(name).is_file())
    };
    if exists {
        return Ok(());
    }
    let text = format!("there is no program `{}`", name.display());
    Err(Failure::new(ExitCode::NotFound, text).hint("install it, or give its path"))
}
