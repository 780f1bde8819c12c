//! The limits that nothing may pass.

use super::facts::{FileFacts, Function, Place};
use super::report::file_lengths;
use super::source::Purpose;

pub(super) const MAX_FILE_LINES: usize = 800;
pub(super) const MAX_FUNCTION_LINES: usize = 100;
const MAX_PARAMETERS: usize = 6;

pub(super) fn is_overlong(function: &Function) -> bool {
    function.lines > MAX_FUNCTION_LINES && !function.has_dated_reason
}

pub(super) fn is_crowded(function: &Function) -> bool {
    function.parameters > MAX_PARAMETERS
}

/// What breaks a gate, each with its place.
pub(super) fn violations(facts: &[FileFacts]) -> Vec<String> {
    let mut violations = large_files(facts);
    for file in facts {
        violations.extend(file.functions.iter().flat_map(function_violations));
        violations.extend(at(&file.text_states, "a state as text; make it an enum"));
        violations.extend(at(
            &file.allows,
            "an `allow`; fix it, or `expect` it with a reason",
        ));
    }
    violations
}

fn large_files(facts: &[FileFacts]) -> Vec<String> {
    let purposes = [Purpose::Product, Purpose::Support];
    let files = purposes
        .into_iter()
        .flat_map(|purpose| file_lengths(facts, purpose));
    files
        .filter(|file| file.lines > MAX_FILE_LINES)
        .map(|file| {
            format!(
                "{}: {} lines of code, over {MAX_FILE_LINES}",
                file.name, file.lines
            )
        })
        .collect()
}

fn function_violations(function: &Function) -> Vec<String> {
    let Function {
        name,
        place: Place(place),
        lines,
        parameters,
        ..
    } = function;
    let overlong = is_overlong(function)
        .then(|| format!("{place}: `{name}` has {lines} lines and no dated reason"));
    let crowded = is_crowded(function)
        .then(|| format!("{place}: `{name}` has {parameters} parameters, over {MAX_PARAMETERS}"));
    overlong.into_iter().chain(crowded).collect()
}

fn at(places: &[Place], what: &str) -> Vec<String> {
    places
        .iter()
        .map(|Place(place)| format!("{place}: {what}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::*;

    fn violations_of(path: &str, text: &str) -> Vec<String> {
        let source = Source::parse(path.to_owned(), Purpose::Product, text.to_owned()).unwrap();
        violations(&[FileFacts::gather(&source)])
    }

    fn lines(count: usize) -> String {
        "    g();\n".repeat(count)
    }

    #[test]
    fn a_file_may_have_800_lines_and_not_one_more() {
        let file = |count| "const A: u8 = 0;\n".repeat(count);
        assert_eq!(violations_of("a.rs", &file(800)), [""; 0]);
        assert_eq!(
            violations_of("a.rs", &file(801)),
            ["a.rs: 801 lines of code, over 800"]
        );
    }

    #[test]
    fn tests_in_a_file_have_a_limit_of_their_own() {
        let tests = format!(
            "const A: u8 = 0;\n#[cfg(test)]\nmod tests {{\n{}}}",
            "const B: u8 = 0;\n".repeat(798)
        );
        assert_eq!(
            violations_of("a.rs", &tests),
            ["a.rs (tests): 801 lines of code, over 800"]
        );
    }

    #[test]
    fn a_long_function_needs_a_dated_reason() {
        let long = format!("fn f() {{\n{}}}", lines(99));
        assert_eq!(
            violations_of("a.rs", &long),
            ["a.rs:1: `f` has 101 lines and no dated reason"]
        );
        let reason = "#[expect(clippy::too_many_lines, reason = \"a table, 2026-11-15\")]\n";
        assert_eq!(violations_of("a.rs", &format!("{reason}{long}")), [""; 0]);
    }

    #[test]
    fn parameters_states_and_allows_are_named_by_place() {
        let text = "fn f(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8) {}\n\
            #[allow(dead_code)]\nstruct S {\n status: String,\n}";
        assert_eq!(
            violations_of("crates/core/src/a.rs", text),
            [
                "crates/core/src/a.rs:1: `f` has 7 parameters, over 6",
                "crates/core/src/a.rs:4: a state as text; make it an enum",
                "crates/core/src/a.rs:2: an `allow`; fix it, or `expect` it with a reason",
            ]
        );
    }
}
