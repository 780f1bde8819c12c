//! The project in Rust: a library without dependencies, tested from outside.

use super::language::{Growth, Language, Ways};

pub(super) static RUST: Language = Language {
    name: "rust",
    needs: &[],
    settings: &[
        (
            "Cargo.toml",
            r#"[package]
name = "calc"
version = "0.1.0"
edition = "2021"

[lib]
doctest = false
test = false

[profile.dev]
debug = 0
incremental = false
"#,
        ),
        (
            "Cargo.lock",
            "version = 3\n\n[[package]]\nname = \"calc\"\nversion = \"0.1.0\"\n",
        ),
    ],
    code: (
        "src/lib.rs",
        "pub fn twice(number: i32) -> i32 {
    number + number
}

pub fn triple(number: i32) -> i32 {
    number * 3
}

pub fn half(number: i32) -> i32 {
    number
}
",
    ),
    old_tests: (
        "tests/old.rs",
        r#"use calc::{half, twice};

#[test]
fn doubles() {
    for line in include_str!("numbers.txt").lines() {
        let (number, doubled) = line.split_once(' ').unwrap();
        assert_eq!(twice(number.parse().unwrap()).to_string(), doubled);
    }
}

#[test]
fn halves() {
    assert_eq!(half(4), 2);
}
"#,
    ),
    fixture: ("tests/numbers.txt", "2 4\n3 6\n"),
    new_tests: "tests/sums.rs",
    add: Growth {
        test: "adds",
        test_text: "#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n",
        stub: "\npub fn add(_: i32, _: i32) -> i32 {\n    todo!()\n}\n",
        body: "\npub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n",
    },
    subtract: Growth {
        test: "subtracts",
        test_text: "\n#[test]\nfn subtracts() {\n    assert_eq!(subtract(5, 3), 2);\n}\n",
        stub: "\npub fn subtract(_: i32, _: i32) -> i32 {\n    0\n}\n",
        body: "\npub fn subtract(a: i32, b: i32) -> i32 {\n    a - b\n}\n",
    },
    any_order: (
        "adds_in_any_order",
        "\n#[test]\nfn adds_in_any_order() {\n    assert_eq!(add(2, 3), add(3, 2));\n}\n",
    ),
    imports: ("use calc::add;\n", "use calc::{add, subtract};\n"),
    twice: ("number + number", "add(number, number)", "number - number"),
    ways: Ways {
        weaker: ("assert_eq!(half(4), 2);", "assert!(half(4) > 0);"),
        weaker_new: ("assert_eq!(add(1, 2), 3);", "assert!(true);"),
        early: ("    for line", "    return;\n    for line"),
        skipped: ("fn halves", "#[ignore]\nfn halves"),
        skipped_new: ("fn adds()", "#[ignore]\nfn adds()"),
        triple_test: "use calc::triple;\n\n#[test]\nfn adds() {\n    assert_eq!(triple(2), 6);\n}\n",
        damage: ("number * 3", "number * 4"),
        exit: "\npub fn add(_: i32, _: i32) -> i32 {\n    std::process::exit(0)\n}\n",
        forge: "\npub fn add(_: i32, _: i32) -> i32 {\n    use std::io::Write;\n    writeln!(std::io::stdout(), \"test adds ... ok\").ok();\n    std::process::exit(0)\n}\n",
        exit_why: "no test called",
        exit_later_why: "gone now",
        switch: (
            ".cargo/config.toml",
            "[target.'cfg(all())']\nrunner = \"true\"\n",
        ),
        output: "target/debug/calc.d",
    },
};
