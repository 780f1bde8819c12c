//! Tests that stand in the file of the code that they test, as those of Rust often do.
//!
//! Such tests cannot be laid over another tree as files. Which part of a file they are is told from its text, and so is whether they
//! stayed as they were. That is a weaker proof than one by files: code beside them can change what their words mean.

/// A file of Rust, taken apart into code and tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source<'a> {
    pieces: Vec<Piece<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'a> {
    Code(&'a str),
    Tests(&'a str),
}

impl<'a> Source<'a> {
    /// Takes a file apart. Whatever stands behind `#[cfg(test)]` or `#[test]` is tests.
    pub fn of(text: &'a str) -> Self {
        let mut pieces = vec![];
        let (mut begun, mut at) = (0, 0);
        while at < text.len() {
            if let Some(end) = item_of_tests(text, at) {
                pieces.push(Piece::Code(&text[begun..at]));
                pieces.push(Piece::Tests(&text[at..end]));
                (begun, at) = (end, end);
            } else {
                at = behind_attributes(text, at).unwrap_or_else(|| behind_token(text, at));
            }
        }
        pieces.push(Piece::Code(&text[begun..]));
        Self { pieces }
    }

    /// Whether there are any tests in it.
    pub fn has_tests(&self) -> bool {
        self.tests().next().is_some()
    }

    /// Its tests, one after the other.
    pub fn tests(&self) -> impl Iterator<Item = &'a str> {
        self.pieces.iter().filter_map(|it| match it {
            Piece::Tests(text) => Some(*text),
            Piece::Code(_) => None,
        })
    }

    /// All its tests as one text.
    pub fn tests_text(&self) -> String {
        self.tests().map(|it| format!("{it}\n")).collect()
    }

    /// Its code without the tests and without the blank space around them.
    pub fn code_text(&self) -> String {
        let code = self.pieces.iter().filter_map(|it| match it {
            Piece::Code(text) => Some(text.trim_end()),
            Piece::Tests(_) => None,
        });
        code.filter(|it| !it.is_empty())
            .map(|it| format!("{it}\n"))
            .collect()
    }

    /// Its code with the tests of another file: each in the place of one of its own, what is more of them at the end.
    pub fn with_tests_of(&self, other: &Self) -> String {
        let mut tests = other.tests();
        let pieces = self.pieces.iter().map(|it| match it {
            Piece::Code(text) => *text,
            Piece::Tests(_) => tests.next().unwrap_or_default(),
        });
        let mut text: String = pieces.collect();
        for test in tests {
            text.push_str("\n\n");
            text.push_str(test);
        }
        text
    }
}

/// Where an item ends that begins here with attributes, one of which says that it is a test or only there for tests.
fn item_of_tests(text: &str, at: usize) -> Option<usize> {
    let (mut here, mut is_test) = (at, false);
    while let Some((content, end)) = attribute(text, here) {
        is_test |= says_test(content);
        here = behind_blank(text, end);
    }
    is_test.then(|| item_end(text, here))
}

/// Behind all the attributes that begin here, if any does.
fn behind_attributes(text: &str, at: usize) -> Option<usize> {
    let mut end = None;
    let mut here = at;
    while let Some((_, behind)) = attribute(text, here) {
        end = Some(behind);
        here = behind_blank(text, behind);
    }
    end
}

/// `#[…]`: what is in it, and where it ends.
fn attribute(text: &str, at: usize) -> Option<(&str, usize)> {
    let rest = text[at..].strip_prefix('#')?;
    rest.trim_start().strip_prefix('[')?;
    let open = at + text[at..].find('[')?;
    let end = closed(text, open);
    Some((text[open + 1..end].trim_end_matches(']'), end))
}

fn says_test(attribute: &str) -> bool {
    let words: String = attribute.split_whitespace().collect();
    let path = words.split('(').next().unwrap_or_default();
    if path == "cfg" {
        return words == "cfg(test)"
            || words.starts_with("cfg(all(test,")
            || (words.starts_with("cfg(all(") && words.ends_with(",test))"));
    }
    path.rsplit("::").next() == Some("test")
}

/// Where an item ends: behind its block, or its semicolon; at the latest where that ends in which it stands, as a field does that is
/// the last one.
fn item_end(text: &str, at: usize) -> usize {
    let is_statement = is_statement(&text[at..]);
    let mut here = at;
    while let Some(next) = text[here..].chars().next() {
        match next {
            ';' => return here + 1,
            ')' | ']' | '}' => return here,
            '{' if !is_statement => return closed(text, here),
            '(' | '[' | '{' => here = closed(text, here),
            _ => here = behind_token(text, here),
        }
    }
    text.len()
}

/// Whether an item ends with a semicolon whatever blocks are in it. A function that is `const` does not.
fn is_statement(item: &str) -> bool {
    const STATEMENTS: [&str; 5] = ["use ", "pub use ", "const ", "static ", "type "];
    const FUNCTIONS: [&str; 4] = [
        "const fn ",
        "const unsafe ",
        "const async ",
        "const extern ",
    ];
    let is_any = |words: &[&str]| words.iter().any(|it| item.starts_with(it));
    is_any(&STATEMENTS) && !is_any(&FUNCTIONS)
}

/// Behind the bracket that closes the one here.
fn closed(text: &str, at: usize) -> usize {
    let (mut here, mut depth) = (at, 0_usize);
    while let Some(next) = text[here..].chars().next() {
        match next {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        here = behind_token(text, here);
        if depth == 0 {
            return here;
        }
    }
    text.len()
}

/// Behind white space and comments.
fn behind_blank(text: &str, at: usize) -> usize {
    let mut here = at;
    loop {
        let rest = &text[here..];
        let blank = rest.len() - rest.trim_start().len();
        let is_comment = ["//", "/*"].iter().any(|it| rest[blank..].starts_with(it));
        here += blank;
        if !is_comment {
            return here;
        }
        here = behind_token(text, here);
    }
}

/// Behind the next thing in which brackets mean something, or nothing: a comment, a string, a word, or a character.
fn behind_token(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    let length = if rest.starts_with("//") {
        rest.find('\n').unwrap_or(rest.len())
    } else if rest.starts_with("/*") {
        comment(rest)
    } else if rest.starts_with('"') {
        string(rest)
    } else if rest.starts_with('\'') {
        letter(rest)
    } else {
        raw_string(rest).unwrap_or_else(|| word(rest))
    };
    at + length.max(1).min(rest.len())
}

/// The length of a comment with those in it.
fn comment(rest: &str) -> usize {
    let (mut here, mut depth) = (2, 1_usize);
    while depth > 0 {
        let Some(next) = rest[here..].find(['*', '/']) else {
            return rest.len();
        };
        here += next;
        let pair = rest[here..].get(..2);
        (depth, here) = match pair {
            Some("*/") => (depth - 1, here + 2),
            Some("/*") => (depth + 1, here + 2),
            _ => (depth, here + 1),
        };
    }
    here
}

/// The length of a string with its quotes.
fn string(rest: &str) -> usize {
    let mut is_escaped = false;
    for (place, letter) in rest.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return place + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The length of a character in quotes; of a lifetime, that of its quote.
fn letter(rest: &str) -> usize {
    let mut letters = rest.char_indices().skip(1);
    match (letters.next(), letters.next()) {
        (Some((_, '\\')), Some((escaped, letter))) => {
            let from = escaped + letter.len_utf8();
            let behind = rest[from..].find('\'');
            behind.map_or(rest.len(), |it| from + it + 1)
        }
        (Some(_), Some((end, '\''))) => end + 1,
        _ => 1,
    }
}

/// The length of a string that begins with `r"` or `br#"`, if this is one.
fn raw_string(rest: &str) -> Option<usize> {
    let mark = ["br", "cr", "r"]
        .iter()
        .find(|it| rest.starts_with(**it))?
        .len();
    let hashes = rest[mark..].len() - rest[mark..].trim_start_matches('#').len();
    let open = mark + hashes;
    rest[open..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let end = rest[open + 1..].find(&close);
    Some(end.map_or(rest.len(), |it| open + 1 + it + close.len()))
}

/// The length of a word, so that no string begins in the middle of one; of anything else, that of a character.
fn word(rest: &str) -> usize {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let length = rest.find(|it| !is_word(it)).unwrap_or(rest.len());
    let first = rest.chars().next().map_or(1, char::len_utf8);
    length.max(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r##"//! A file. #[test]
use std::fmt;

/// `#[cfg(test)]` in words.
pub fn add(a: i32, b: i32) -> i32 { let _c = '}'; let _s = "{ #[test]"; a + b }

fn life<'a>(it: &'a str) -> &'a str { it }

#[cfg(test)]
mod tests {
    use super::*;

    // A bracket } in words, and r"one" in a string:
    const TEXT: &str = r#"} #[test] ""#;

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
    }
}

pub fn later() {}
"##;

    #[test]
    fn a_module_of_tests_is_told_from_the_code_around_it() {
        let source = Source::of(FILE);
        let tests: Vec<_> = source.tests().collect();
        assert_eq!(tests.len(), 1, "{tests:?}");
        assert!(tests[0].starts_with("#[cfg(test)]\nmod tests {") && tests[0].ends_with("}\n}"));
        let code = source.code_text();
        assert!(code.contains("pub fn later") && !code.contains("assert_eq"));
        assert_eq!(source.with_tests_of(&source), FILE);
    }

    #[test]
    fn whatever_is_there_for_tests_only_is_tests() {
        let text = "#[cfg(test)]\nuse a::{b, c};\n#[ignore]\n#[tokio::test(flavor = \"x\")]\nasync fn runs() { b(); }\n\
                    #[cfg(all(test, unix))]\nfn help() -> [u8; 2] { [1, 2] }\n#[cfg(test)] mod outside;\n#[derive(Debug)]\nstruct It;\n\
                    #[cfg(not(test))]\nfn real() {}\n";
        let source = Source::of(text);
        let tests: Vec<_> = source.tests().collect();
        assert_eq!(
            tests,
            [
                "#[cfg(test)]\nuse a::{b, c};",
                "#[ignore]\n#[tokio::test(flavor = \"x\")]\nasync fn runs() { b(); }",
                "#[cfg(all(test, unix))]\nfn help() -> [u8; 2] { [1, 2] }",
                "#[cfg(test)] mod outside;",
            ]
        );
    }

    #[test]
    fn what_is_there_for_tests_only_ends_where_it_ends() {
        for (text, expected) in [
            (
                "struct It {\n    a: u8,\n    #[cfg(test)]\n    seen: Vec<[u8; 2]>\n}\nfn real() { 1; }\n",
                "#[cfg(test)]\n    seen: Vec<[u8; 2]>\n",
            ),
            (
                "#[cfg(test)]\nconst fn two() -> u8 { 2 }\nfn real() { 1; }\n",
                "#[cfg(test)]\nconst fn two() -> u8 { 2 }",
            ),
            (
                "#[cfg(test)]\nconst unsafe fn two() -> u8 { 2 }\nfn real() { 1; }\n",
                "#[cfg(test)]\nconst unsafe fn two() -> u8 { 2 }",
            ),
            (
                "#[cfg(test)]\nconst TWO: u8 = { 2 };\nfn real() { 1; }\n",
                "#[cfg(test)]\nconst TWO: u8 = { 2 };",
            ),
        ] {
            let source = Source::of(text);
            assert_eq!(source.tests().collect::<Vec<_>>(), [expected]);
            assert!(source.code_text().contains("fn real() { 1; }"), "{text}");
        }
    }

    #[test]
    fn tests_of_one_file_stand_in_the_code_of_another() {
        let code = "fn a() {}\n";
        let both = "fn a() { 1 }\n\n#[cfg(test)]\nmod tests {}\n";
        let laid = Source::of(code).with_tests_of(&Source::of(both));
        assert_eq!(laid, "fn a() {}\n\n\n#[cfg(test)]\nmod tests {}");
        let old = "fn a() {}\n#[cfg(test)]\nmod tests { old }\nfn b() {}\n";
        let laid = Source::of(old).with_tests_of(&Source::of(both));
        assert_eq!(laid, "fn a() {}\n#[cfg(test)]\nmod tests {}\nfn b() {}\n");
    }

    #[test]
    fn what_is_not_finished_ends_with_its_file() {
        for text in [
            "#[cfg(test)]\nmod tests {",
            "\"",
            "/* a",
            "r#\"x",
            "'",
            "'\\",
            "#[",
            "#",
        ] {
            let source = Source::of(text);
            assert_eq!(source.with_tests_of(&source), text);
        }
    }
}
