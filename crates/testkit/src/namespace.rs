//! Other machines on this one: another boot, another uptime. Needs root.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::{Prefix, ambient};

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Words that run a program as if the machine had booted again: in a mount namespace with another
/// boot id. Each call is another boot; its id is kept in `directory`, which must outlive it.
///
/// # Panics
/// When the directory cannot be written.
#[must_use]
pub fn other_boot(directory: impl AsRef<Path>) -> Prefix {
    let bits = (u128::from(ambient::random_number()) << 64) | u128::from(ambient::random_number());
    let hex = format!("{bits:032x}");
    let id = format!(
        "{}-{}-4{}-8{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[13..16],
        &hex[17..20],
        &hex[20..]
    );
    let file = directory.as_ref().join(format!("boot_id-{}", &hex[..8]));
    fs::write(&file, id + "\n").expect("the directory is writable");

    let script = format!(r#"mount --bind "$0" {BOOT_ID} && exec "$@""#);
    Prefix::of(["unshare", "--mount", "--", "sh", "-c", &script])
        .around(Prefix::of([file.into_os_string()]))
}

/// Words that run a program in a time namespace whose clocks are ahead of ours by these spans. The
/// program is a child of `unshare`, which passes its exit code on and takes it along when killed.
#[must_use]
pub fn other_uptime(boottime: Duration, monotonic: Duration) -> Prefix {
    let (boottime, monotonic) = (
        boottime.as_secs().to_string(),
        monotonic.as_secs().to_string(),
    );
    let clocks = ["--boottime", &boottime, "--monotonic", &monotonic];
    Prefix::of(["unshare", "--time", "--fork", "--kill-child"])
        .around(Prefix::of(clocks))
        .around(Prefix::of(["--"]))
}

pub(crate) fn works(options: &[&str]) -> bool {
    let mut command = ambient::program("unshare");
    command.args(options).args(["--", "true"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
