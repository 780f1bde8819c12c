//! What package managers and compilers keep in the user's home: caches from which the person's programs take code later.
//!
//! Whatever runs in a sandbox gets caches of its own, which go with it. What the person has already is found through links, so that it
//! is not fetched again, and not without a network; what is behind them cannot be changed there.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::private_state::link;

/// Caches that are empty at first: what is in them is fetched or made again.
pub const CACHES: [(&str, &str); 6] = [
    ("GOCACHE", "go"),
    ("PIP_CACHE_DIR", "pip"),
    ("UV_CACHE_DIR", "uv"),
    ("npm_config_cache", "npm"),
    ("YARN_CACHE_FOLDER", "yarn"),
    ("CCACHE_DIR", "ccache"),
];

/// The same, which only sessions need: a check fetches nothing.
const FETCHING: [(&str, &str); 5] = [
    ("PNPM_HOME", "pnpm"),
    ("YARN_GLOBAL_FOLDER", "berry"),
    ("BUN_INSTALL_CACHE_DIR", "bun"),
    ("DENO_DIR", "deno"),
    ("COREPACK_HOME", "corepack"),
];

const CARGO: &str = "CARGO_HOME";

/// Files of cargo's home that are its settings. `bin` is not among it: programs are found by PATH.
const SETTINGS: [&str; 4] = ["config.toml", "config", "credentials.toml", "credentials"];

/// The parts of cargo's home in which each entry is something that was fetched once, and how deep those lie.
const FETCHED: [(&str, usize); 5] = [
    ("registry/index", 2),
    ("registry/cache", 2),
    ("registry/src", 2),
    ("git/db", 1),
    ("git/checkouts", 2),
];

/// Makes them in a directory, and says by which variables they are found. What the user has put where the session may write stays there.
pub(crate) fn furnish(
    environment: &BTreeMap<OsString, OsString>,
    writable: &[PathBuf],
    into: &Path,
) -> io::Result<Vec<(&'static str, PathBuf)>> {
    let is_free = |name: &str| {
        let place = environment.get(OsStr::new(name)).map(Path::new);
        place.is_some_and(|place| writable.iter().any(|it| place.starts_with(it)))
    };
    let mut variables = vec![];
    for (name, folder) in CACHES.into_iter().chain(FETCHING) {
        if !is_free(name) {
            let place = into.join(folder);
            fs::create_dir_all(&place)?;
            variables.push((name, place));
        }
    }
    if !is_free(CARGO) {
        let place = into.join("cargo");
        fs::create_dir_all(&place)?;
        if let Some(home) = cargo_home(environment) {
            link_cargo(&home, &place)?;
        }
        variables.push((CARGO, place));
    }
    Ok(variables)
}

fn cargo_home(environment: &BTreeMap<OsString, OsString>) -> Option<PathBuf> {
    let place = |name: &str| {
        let value = environment.get(OsStr::new(name))?;
        Some(PathBuf::from(value)).filter(|it| it.is_absolute())
    };
    place(CARGO).or_else(|| Some(place("HOME")?.join(".cargo")))
}

/// A home of cargo that has what the person's has: the directories are new, so that more can be fetched into them.
fn link_cargo(home: &Path, into: &Path) -> io::Result<()> {
    for name in SETTINGS {
        if home.join(name).is_file() {
            link(&home.join(name), &into.join(name))?;
        }
    }
    for (part, depth) in FETCHED {
        link_entries(&home.join(part), &into.join(part), depth)?;
    }
    Ok(())
}

fn link_entries(from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    for (name, path) in entries(from) {
        if depth > 1 && path.is_dir() {
            link_entries(&path, &to.join(name), depth - 1)?;
        } else {
            link(&path, &to.join(name))?;
        }
    }
    Ok(())
}

/// What is in a directory; nothing where there is none, or none that can be read.
fn entries(directory: &Path) -> Vec<(OsString, PathBuf)> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let entries = entries.filter_map(Result::ok);
    entries
        .map(|entry| (entry.file_name(), entry.path()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_has_fetched_is_there_and_more_can_be_fetched() {
        let root = tempfile::tempdir().unwrap();
        let (home, into) = (root.path().join("home"), root.path().join("own"));
        for file in [
            "config.toml",
            "bin/tool",
            "registry/index/i/.cache/a",
            "registry/cache/i/a-1.crate",
            "registry/src/i/a-1/lib.rs",
            "git/db/d/HEAD",
            "git/checkouts/d/abc/lib.rs",
        ] {
            let path = home.join(".cargo").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        let environment = [("HOME".into(), home.into_os_string())].into();
        let variables = furnish(&environment, &[], &into).unwrap();
        let own = into.join("cargo");
        assert!(variables.contains(&(CARGO, own.clone())));
        let is_link = |name: &str| own.join(name).is_symlink();
        for link in [
            "config.toml",
            "registry/index/i/.cache",
            "registry/cache/i/a-1.crate",
            "registry/src/i/a-1",
            "git/db/d",
            "git/checkouts/d/abc",
        ] {
            assert!(is_link(link), "{link}");
        }
        for place in ["registry/index/i", "registry/cache/i", "git/checkouts/d"] {
            assert!(own.join(place).is_dir() && !is_link(place), "{place}");
        }
        assert!(!own.join("bin").exists());
    }

    #[test]
    fn a_cache_that_the_person_has_put_into_scratch_stays() {
        let into = tempfile::tempdir().unwrap();
        let environment = [
            ("GOCACHE", "/scratch/go"),
            ("UV_CACHE_DIR", "/else/uv"),
            (CARGO, "/scratch/cargo"),
        ];
        let environment = environment
            .map(|(name, it)| (name.into(), it.into()))
            .into();
        let variables = furnish(&environment, &["/scratch".into()], into.path()).unwrap();
        let has = |name: &str| variables.iter().any(|(it, _)| *it == name);
        assert_eq!(
            [has("GOCACHE"), has("UV_CACHE_DIR"), has(CARGO)],
            [false, true, false]
        );
    }
}
