//! How the tests of a project are run, where nobody says.

use handoff_core::Ownership;
use handoff_core::workflow::{Suite, SuiteFormat};

/// A way that many projects share.
struct Custom {
    /// A file at the root that gives it away.
    marks: &'static [&'static str],
    command: &'static str,
    format: SuiteFormat,
    tests: &'static [&'static str],
    config: &'static [&'static str],
}

const CUSTOMS: [Custom; 3] = [
    Custom {
        marks: &["Cargo.toml"],
        // What it tells programs says which member of a workspace a target is of.
        command: "cargo test --no-fail-fast --message-format=json-render-diagnostics",
        format: SuiteFormat::Cargo,
        tests: &[
            "tests/",
            "**/tests/**",
            "**/tests.rs",
            "**/*_{test,tests}.rs",
            "**/fixtures/**",
            "**/testdata/**",
            "**/*.snap",
        ],
        config: &[
            ".cargo/",
            "**/.cargo/**",
            "build.rs",
            "**/build.rs",
            "rust-toolchain",
            "rust-toolchain.toml",
        ],
    },
    Custom {
        marks: &[
            "pytest.ini",
            "pyproject.toml",
            "setup.py",
            "setup.cfg",
            "tox.ini",
            "requirements.txt",
            "conftest.py",
        ],
        command: "python3 -m pytest -q -p no:cacheprovider --junitxml=\"$HANDOFF_REPORT\"",
        format: SuiteFormat::Junit,
        tests: &[
            "tests/",
            "test/",
            "**/tests/**",
            "**/test_*.py",
            "**/*_test.py",
            "**/fixtures/**",
            "**/testdata/**",
        ],
        config: &[
            "**/conftest.py",
            "pytest.ini",
            "pyproject.toml",
            "setup.cfg",
            "tox.ini",
            "pytest.py",
            "_pytest/",
            "sitecustomize.py",
        ],
    },
    Custom {
        marks: &["package.json"],
        command: "node --test --test-reporter=tap",
        format: SuiteFormat::Tap,
        tests: &[
            "test/",
            "tests/",
            "**/test/**",
            "**/*[._-]test.{js,mjs,cjs}",
            "**/test.{js,mjs,cjs}",
            "**/test-*.{js,mjs,cjs}",
            "**/fixtures/**",
            "**/__fixtures__/**",
            "**/__snapshots__/**",
        ],
        config: &[".npmrc", "node.config.json"],
    },
];

/// The suite of a project that has these files at its root, if it is run in a way that many share.
pub(crate) fn found(has: impl Fn(&str) -> bool) -> Option<Suite> {
    let has = |name: &&str| has(name);
    let custom = CUSTOMS.iter().find(|it| it.marks.iter().any(has))?;
    let paths = |texts: &[&str]| {
        let patterns = texts.iter().map(|it| it.parse().expect("a pattern"));
        Ownership::new(patterns.collect()).expect("a few patterns")
    };
    Some(Suite {
        command: custom.command.parse().expect("a command"),
        format: custom.format,
        report: None,
        tests: paths(custom.tests),
        config: Some(paths(custom.config)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_known_by_its_files() {
        assert_eq!(found(|_| false), None);
        for (mark, format) in [
            ("package.json", SuiteFormat::Tap),
            ("pyproject.toml", SuiteFormat::Junit),
            ("Cargo.toml", SuiteFormat::Cargo),
        ] {
            assert_eq!(found(|it| it == mark).unwrap().format, format);
        }
    }
}
