//! Who looks after an installed program. What a package manager put somewhere it also replaces; a program changed behind its
//! back is a surprise at its next run, or a broken check.

use std::fmt;
use std::path::{Path, PathBuf};

/// Who looks after an installed program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeper {
    Cargo,
    Guix,
    Homebrew,
    Nix,
    Snap,
    /// dpkg, rpm, pacman and their like, which own everything below `/usr` but `/usr/local`.
    System,
}

/// Where the programs of each lie. The first that fits counts.
const PLACES: [(&str, Keeper); 11] = [
    ("/nix/store", Keeper::Nix),
    ("/gnu/store", Keeper::Guix),
    ("/snap", Keeper::Snap),
    ("/home/linuxbrew/.linuxbrew", Keeper::Homebrew),
    ("/opt/homebrew", Keeper::Homebrew),
    ("/usr/local/Cellar", Keeper::Homebrew),
    ("/bin", Keeper::System),
    ("/sbin", Keeper::System),
    ("/usr/bin", Keeper::System),
    ("/usr/sbin", Keeper::System),
    ("/usr/lib", Keeper::System),
];

impl Keeper {
    /// Who looks after `program`, a path without links; `cargo_homes` are where cargo may install.
    pub(crate) fn of(program: &Path, cargo_homes: &[PathBuf]) -> Option<Self> {
        let is_cargo = |home: &PathBuf| program.starts_with(home.join("bin"));
        if cargo_homes.iter().any(is_cargo) {
            return Some(Self::Cargo);
        }
        let place = PLACES.iter().find(|(place, _)| program.starts_with(place));
        place.map(|(_, keeper)| *keeper)
    }

    /// How a person gets a newer one from it.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Self::Cargo => "`cargo install`, from where this one came",
            Self::Guix => "`guix upgrade handoff`",
            Self::Homebrew => "`brew upgrade handoff`",
            Self::Nix => "update the input or channel that handoff comes from, and rebuild",
            Self::Snap => "`snap refresh handoff`",
            Self::System => "use the package manager of the system, as for every program there",
        }
    }
}

impl fmt::Display for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cargo => "cargo",
            Self::Guix => "Guix",
            Self::Homebrew => "Homebrew",
            Self::Nix => "Nix",
            Self::Snap => "snap",
            Self::System => "the system's package manager",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_tells_who_looks_after_a_program() {
        let cargo = [
            PathBuf::from("/home/me/.cargo"),
            PathBuf::from("/opt/cargo"),
        ];
        let table = [
            ("/home/me/.local/bin/handoff", None),
            ("/usr/local/bin/handoff", None),
            ("/opt/handoff/handoff", None),
            ("/home/me/.cargo/bin/handoff", Some(Keeper::Cargo)),
            ("/opt/cargo/bin/handoff", Some(Keeper::Cargo)),
            ("/home/me/.cargo/binaries/handoff", None),
            ("/nix/store/abc-handoff-1.0/bin/handoff", Some(Keeper::Nix)),
            ("/gnu/store/abc/bin/handoff", Some(Keeper::Guix)),
            (
                "/home/linuxbrew/.linuxbrew/Cellar/handoff/1/bin/handoff",
                Some(Keeper::Homebrew),
            ),
            ("/snap/handoff/1/handoff", Some(Keeper::Snap)),
            ("/usr/bin/handoff", Some(Keeper::System)),
            ("/usr/lib/handoff/handoff", Some(Keeper::System)),
            ("/usr/libexec-mine/handoff", None),
        ];
        for (program, keeper) in table {
            assert_eq!(Keeper::of(Path::new(program), &cargo), keeper, "{program}");
        }
    }
}
