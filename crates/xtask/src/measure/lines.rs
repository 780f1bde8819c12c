//! Which lines of a file hold code, read from the places of its tokens.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};

/// Line numbers from 1.
#[derive(Debug, Default)]
pub(super) struct CodeLines {
    lines: BTreeSet<usize>,
    /// Where an `allow` attribute stands, inside macros too.
    pub(super) allows: Vec<usize>,
}

impl CodeLines {
    pub(super) fn of(tokens: TokenStream) -> Self {
        let mut code = Self::default();
        code.add(tokens);
        code
    }

    pub(super) fn contains(&self, line: usize) -> bool {
        self.lines.contains(&line)
    }

    pub(super) fn count(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn count_in(&self, range: RangeInclusive<usize>) -> usize {
        self.lines.range(range).count()
    }

    fn add(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut index = 0;
        while let Some(token) = tokens.get(index) {
            index += 1;
            if let Some((attribute, length)) = attribute_after(token, &tokens[index..]) {
                if names_allow(attribute) {
                    self.allows.push(attribute.span_open().start().line);
                }
                // To the parser a documentation comment is an attribute.
                if first_word(attribute).as_deref() == Some("doc") {
                    index += length;
                    continue;
                }
            }
            self.add_token(token);
        }
    }

    fn add_token(&mut self, token: &TokenTree) {
        match token {
            TokenTree::Group(group) => {
                self.add_span(group.span_open());
                self.add(group.stream());
                self.add_span(group.span_close());
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {
                self.add_span(token.span());
            }
        }
    }

    fn add_span(&mut self, span: Span) {
        self.lines.extend(span.start().line..=span.end().line);
    }
}

/// The brackets of an attribute whose `#` is `token`, and how many tokens follow the `#`.
fn attribute_after<'a>(token: &TokenTree, rest: &'a [TokenTree]) -> Option<(&'a Group, usize)> {
    if !is_punct(token, '#') {
        return None;
    }
    let is_inner = rest.first().is_some_and(|token| is_punct(token, '!'));
    let at = usize::from(is_inner);
    match rest.get(at) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
            Some((group, at + 1))
        }
        _ => None,
    }
}

fn is_punct(token: &TokenTree, expected: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == expected)
}

fn first_word(group: &Group) -> Option<String> {
    match group.stream().into_iter().next() {
        Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
        _ => None,
    }
}

/// `allow(…)`, or `cfg_attr(…, allow(…))`.
fn names_allow(attribute: &Group) -> bool {
    match first_word(attribute).as_deref() {
        Some("allow") => true,
        Some("cfg_attr") => has_word(attribute.stream(), "allow"),
        _ => false,
    }
}

fn has_word(tokens: TokenStream, word: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => has_word(group.stream(), word),
        TokenTree::Ident(ident) => ident == word,
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> CodeLines {
        CodeLines::of(text.parse().unwrap())
    }

    #[test]
    fn blank_lines_and_comments_are_no_code() {
        let text = "//! Module.\n\n/// Item.\nfn f() {\n    // Reason.\n\n    g() /* x */\n}\n";
        let code = lines(text);
        assert_eq!(code.lines, [4, 7, 8].into());
        assert_eq!(code.count_in(4..=7), 2);
    }

    #[test]
    fn text_over_several_lines_is_code() {
        assert_eq!(lines("const T: &str = \"a\n\n// b\n\";").count(), 4);
    }

    #[test]
    fn attributes_are_code() {
        assert_eq!(lines("#[derive(Debug)]\nstruct S;").count(), 2);
    }

    #[test]
    fn allow_is_found_in_every_form() {
        let text = "#![allow(a)]\n#[cfg_attr(test, allow(b))]\nfn f() {}\n\
            macro_rules! m { () => { #[allow(c)] fn g() {} } }\n\
            #[expect(d)]\n#[cfg_attr(test, derive(Debug))]\nstruct S { allow: u8 }";
        assert_eq!(lines(text).allows, [1, 2, 4]);
    }
}
