//! The source files of the workspace, and what each is for.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use proc_macro2::TokenStream;
use serde::Serialize;
use syn::Item;

use super::facts::is_test_only;
use handoff_chores::program::workspace_root;

/// What code is written for. Each has numbers of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Purpose {
    /// What users run.
    Product,
    /// Tests, and the crates that only tests and chores use.
    Support,
}

/// A parsed file, named by its path in the workspace.
pub(super) struct Source {
    pub(super) path: String,
    pub(super) purpose: Purpose,
    pub(super) text: String,
    pub(super) tokens: TokenStream,
    pub(super) syntax: syn::File,
}

impl Source {
    pub(super) fn parse(path: String, purpose: Purpose, text: String) -> Result<Self> {
        let tokens: TokenStream = text
            .parse()
            .map_err(|error| anyhow::anyhow!("{error}"))
            .with_context(|| format!("`{path}` is not Rust"))?;
        let syntax =
            syn::parse2(tokens.clone()).with_context(|| format!("`{path}` is not Rust"))?;
        Ok(Self {
            path,
            purpose,
            text,
            tokens,
            syntax,
        })
    }

    /// The crate's directory, which is its name without the family's prefix.
    pub(super) fn crate_name(&self) -> &str {
        self.path.split('/').nth(1).unwrap_or_default()
    }
}

pub(super) fn find_all() -> Result<Vec<Source>> {
    let root = workspace_root();
    let mut paths = Vec::new();
    collect(&root.join("crates"), &mut paths)?;
    paths.sort();

    let mut sources = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path)?;
        let name = path.strip_prefix(root)?.to_string_lossy().into_owned();
        sources.push(Source::parse(name.clone(), purpose(&name), text)?);
    }
    mark_test_modules(&mut sources);
    Ok(sources)
}

fn collect(directory: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let is_build = path.ends_with("target");
        if path.is_dir() && !is_build {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
    Ok(())
}

fn purpose(path: &str) -> Purpose {
    let mut parts = path.split('/').skip(1);
    let (crate_name, directory) = (parts.next(), parts.next());
    match (crate_name, directory) {
        (Some("testkit" | "xtask" | "chores" | "campaign" | "bench"), _)
        | (_, Some("tests" | "benches" | "examples")) => Purpose::Support,
        _ => Purpose::Product,
    }
}

/// `#[cfg(test)] mod tests;` makes another file a test, which does not say so itself.
fn mark_test_modules(sources: &mut [Source]) {
    let test_files: BTreeSet<String> = sources.iter().flat_map(test_modules_of).collect();
    for source in sources {
        if test_files.contains(&source.path) {
            source.purpose = Purpose::Support;
        }
    }
}

fn test_modules_of(source: &Source) -> Vec<String> {
    let file = source.path.trim_end_matches(".rs");
    let directory = ["/lib", "/main"]
        .iter()
        .find_map(|root| file.strip_suffix(root));
    let directory = directory.unwrap_or(file);
    let modules = source.syntax.items.iter().filter_map(|item| {
        let Item::Mod(module) = item else { return None };
        let is_test_file = module.content.is_none() && is_test_only(&module.attrs);
        is_test_file.then(|| format!("{directory}/{}.rs", module.ident))
    });
    modules.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source::parse(path.to_owned(), purpose(path), text.to_owned()).unwrap()
    }

    #[test]
    fn purpose_follows_from_the_place() {
        for (path, expected) in [
            ("crates/core/src/task.rs", Purpose::Product),
            ("crates/core/tests/it/main.rs", Purpose::Support),
            ("crates/xtask/src/main.rs", Purpose::Support),
            ("crates/campaign/src/main.rs", Purpose::Support),
            ("crates/testkit/src/lib.rs", Purpose::Support),
            ("crates/store/benches/claim.rs", Purpose::Support),
        ] {
            assert_eq!(purpose(path), expected, "{path}");
        }
    }

    #[test]
    fn the_file_of_a_test_module_is_a_test() {
        let mut sources = [
            source(
                "crates/core/src/lib.rs",
                "#[cfg(test)] mod tests; mod task;",
            ),
            source("crates/core/src/tests.rs", ""),
            source("crates/core/src/task.rs", "#[cfg(test)] mod tests;"),
            source("crates/core/src/task/tests.rs", ""),
        ];
        mark_test_modules(&mut sources);
        assert_eq!(
            sources.map(|source| source.purpose),
            [
                Purpose::Product,
                Purpose::Support,
                Purpose::Product,
                Purpose::Support
            ]
        );
    }
}
