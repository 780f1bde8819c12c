//! What is counted in one file.

use std::ops::RangeInclusive;

use serde::Serialize;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, Field, Fields, GenericArgument, ImplItemFn, ItemFn, ItemImpl, ItemMod,
    ItemStruct, PathArguments, Signature, TraitItemFn, Type,
};

use super::comments::CommentCounts;
use super::lines::CodeLines;
use super::source::{Purpose, Source};

/// Where something is, as editors open it: `path:line`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Place(pub(super) String);

#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) purpose: Purpose,
    pub(super) lines: usize,
    pub(super) parameters: usize,
    /// It carries an `expect(clippy::too_many_lines, reason = "…")` whose reason has a date.
    pub(super) has_dated_reason: bool,
}

#[derive(Debug)]
pub(super) struct FileFacts {
    pub(super) path: String,
    pub(super) purpose: Purpose,
    /// Lines of code outside of tests, when the file is not itself a test.
    pub(super) lines: usize,
    /// Lines of code in the tests that the file contains.
    pub(super) test_lines: usize,
    pub(super) functions: Vec<Function>,
    pub(super) newtypes: usize,
    pub(super) text_states: Vec<Place>,
    pub(super) allows: Vec<Place>,
    pub(super) comments: CommentCounts,
}

/// Names under which state travels as text where no one gave it a type.
const STATE_NAMES: [&str; 4] = ["status", "state", "kind", "phase"];

/// The crates at the edge, where states have a text form.
const TEXT_CRATES: [&str; 2] = ["api", "store"];

impl FileFacts {
    pub(super) fn gather(source: &Source) -> Self {
        let code = CodeLines::of(source.tokens.clone());
        let mut visitor = Visitor {
            source,
            code: &code,
            is_test: source.purpose == Purpose::Support,
            test_ranges: Vec::new(),
            functions: Vec::new(),
            newtypes: 0,
            text_states: Vec::new(),
        };
        visitor.visit_file(&source.syntax);
        let test_lines = visitor
            .test_ranges
            .iter()
            .map(|range| code.count_in(range.clone()))
            .sum();
        Self {
            path: source.path.clone(),
            purpose: source.purpose,
            lines: code.count() - test_lines,
            test_lines,
            functions: visitor.functions,
            newtypes: visitor.newtypes,
            text_states: visitor.text_states,
            allows: code
                .allows
                .iter()
                .map(|line| place(source, *line))
                .collect(),
            comments: CommentCounts::of(&source.text, &code),
        }
    }
}

struct Visitor<'a> {
    source: &'a Source,
    code: &'a CodeLines,
    /// Whether the items visited now are tests, by their place or by an attribute around them.
    is_test: bool,
    /// Tests inside a file that is none.
    test_ranges: Vec<RangeInclusive<usize>>,
    functions: Vec<Function>,
    newtypes: usize,
    text_states: Vec<Place>,
}

impl Visitor<'_> {
    /// Visits an item's inside as a test when its attributes make it one.
    fn within(
        &mut self,
        attributes: &[Attribute],
        lines: RangeInclusive<usize>,
        visit: impl FnOnce(&mut Self),
    ) {
        let begins = !self.is_test && is_test_only(attributes);
        if begins {
            let first = attributes
                .first()
                .map_or(*lines.start(), |first| first.span().start().line);
            self.test_ranges.push(first..=*lines.end());
        }
        self.is_test |= begins;
        visit(self);
        self.is_test &= !begins;
    }

    fn function(&mut self, attributes: &[Attribute], signature: &Signature, block: &Block) {
        let lines = lines_of(signature, block);
        self.functions.push(Function {
            name: signature.ident.to_string(),
            place: place(self.source, *lines.start()),
            purpose: if self.is_test {
                Purpose::Support
            } else {
                Purpose::Product
            },
            lines: self.code.count_in(lines),
            parameters: signature.inputs.len(),
            has_dated_reason: attributes.iter().any(is_dated_reason),
        });
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.within(&item.attrs, item.lines(), |visitor| {
            visit::visit_item_mod(visitor, item);
        });
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        self.within(&item.attrs, item.lines(), |visitor| {
            visit::visit_item_impl(visitor, item);
        });
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.within(&item.attrs, item.lines(), |visitor| {
            visitor.function(&item.attrs, &item.sig, &item.block);
            visit::visit_item_fn(visitor, item);
        });
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.within(&item.attrs, item.lines(), |visitor| {
            visitor.function(&item.attrs, &item.sig, &item.block);
            visit::visit_impl_item_fn(visitor, item);
        });
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.attrs, &item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        let is_newtype =
            matches!(&item.fields, Fields::Unnamed(fields) if fields.unnamed.len() == 1);
        self.newtypes += usize::from(is_newtype && !self.is_test);
        visit::visit_item_struct(self, item);
    }

    fn visit_field(&mut self, field: &'ast Field) {
        let named = |ident: &syn::Ident| STATE_NAMES.iter().any(|name| ident == name);
        let is_text_state = field.ident.as_ref().is_some_and(named) && is_text(&field.ty);
        if is_text_state && !self.is_test && !TEXT_CRATES.contains(&self.source.crate_name()) {
            self.text_states
                .push(place(self.source, field.span().start().line));
        }
        visit::visit_field(self, field);
    }
}

trait Lines {
    fn lines(&self) -> RangeInclusive<usize>;
}

impl<T: syn::spanned::Spanned> Lines for T {
    fn lines(&self) -> RangeInclusive<usize> {
        self.span().start().line..=self.span().end().line
    }
}

fn place(source: &Source, line: usize) -> Place {
    Place(format!("{}:{line}", source.path))
}

fn lines_of(signature: &Signature, block: &Block) -> RangeInclusive<usize> {
    signature.span().start().line..=block.brace_token.span.close().end().line
}

/// `#[test]`, `#[cfg(test)]`, `#[cfg(all(test, …))]`.
pub(super) fn is_test_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_test_condition = || {
            let condition = attribute
                .meta
                .require_list()
                .map(|list| list.tokens.to_string());
            condition.is_ok_and(|text| text == "test" || text.starts_with("all (test"))
        };
        attribute.path().is_ident("test")
            || (attribute.path().is_ident("cfg") && is_test_condition())
    })
}

fn is_dated_reason(attribute: &Attribute) -> bool {
    let is_expect = attribute.path().is_ident("expect");
    let words = attribute
        .meta
        .require_list()
        .map(|list| list.tokens.to_string());
    is_expect && words.is_ok_and(|words| words.contains("too_many_lines") && has_date(&words))
}

/// Holds something of the form 2026-11-15.
fn has_date(text: &str) -> bool {
    let is_date = |window: &[u8]| {
        let form = window.iter().zip(b"0000-00-00");
        form.into_iter().all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            _ => byte == form,
        })
    };
    text.as_bytes().windows(10).any(is_date)
}

/// `String`, `&str` or an `Option` of one. A `&'static str` is a word the program itself chose.
fn is_text(ty: &Type) -> bool {
    if let Type::Reference(reference) = ty {
        let lifetime = reference.lifetime.as_ref();
        let is_static = lifetime.is_some_and(|lifetime| lifetime.ident == "static");
        return !is_static && matches!(&*reference.elem, Type::Path(it) if it.path.is_ident("str"));
    }
    let Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|last| {
        last.ident == "String" || (last.ident == "Option" && is_text_argument(&last.arguments))
    })
}

fn is_text_argument(arguments: &PathArguments) -> bool {
    let PathArguments::AngleBracketed(arguments) = arguments else {
        return false;
    };
    matches!(arguments.args.first(), Some(GenericArgument::Type(ty)) if is_text(ty))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gather(path: &str, purpose: Purpose, text: &str) -> FileFacts {
        FileFacts::gather(&Source::parse(path.to_owned(), purpose, text.to_owned()).unwrap())
    }

    fn product(text: &str) -> FileFacts {
        gather("crates/core/src/task.rs", Purpose::Product, text)
    }

    #[test]
    fn tests_in_a_file_are_counted_apart() {
        let facts = product(
            "fn f() {\n    g();\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {}\n}\n",
        );
        assert_eq!((facts.lines, facts.test_lines), (3, 5));
        let purposes: Vec<_> = facts
            .functions
            .iter()
            .map(|f| (&*f.name, f.purpose))
            .collect();
        assert_eq!(purposes, [("f", Purpose::Product), ("t", Purpose::Support)]);
    }

    #[test]
    fn a_function_is_as_long_as_its_code() {
        let facts =
            product("/// Doc.\npub fn f(\n    a: u8,\n) {\n    // Reason.\n\n    g();\n}\n");
        let [function] = &facts.functions[..] else {
            panic!("{facts:?}")
        };
        assert_eq!((function.lines, function.parameters), (5, 1));
        assert_eq!(
            function.place,
            Place("crates/core/src/task.rs:2".to_owned())
        );
    }

    #[test]
    fn methods_and_default_methods_are_functions() {
        let facts = product("impl S { fn a(&self) {} }\ntrait T { fn b() {} fn c(); }");
        let names: Vec<_> = facts
            .functions
            .iter()
            .map(|function| &*function.name)
            .collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn a_reason_counts_when_it_has_a_date() {
        let dated = |text: &str| product(text).functions[0].has_dated_reason;
        assert!(dated(
            "#[expect(clippy::too_many_lines, reason = \"a table; 2026-11-15\")] fn f() {}"
        ));
        assert!(!dated(
            "#[expect(clippy::too_many_lines, reason = \"a table\")] fn f() {}"
        ));
        assert!(!dated(
            "#[expect(clippy::unwrap_used, reason = \"2026-11-15\")] fn f() {}"
        ));
    }

    #[test]
    fn newtypes_are_structs_of_one_unnamed_field() {
        let facts = product("struct A(u8); struct B(u8, u8); struct C { a: u8 } struct D;");
        assert_eq!(facts.newtypes, 1);
    }

    #[test]
    fn state_as_text_is_found_in_structs_and_variants() {
        let text = "struct S<'a> {\n status: String,\n kind: Option<String>,\n phase: &'a str,\n\
             name: String,\n state: State,\n kind: &'static str,\n}\n\
             enum E { V {\n state: std::string::String } }";
        let facts = product(text);
        let lines: Vec<_> = facts
            .text_states
            .iter()
            .map(|place| place.0.rsplit(':').next().unwrap())
            .collect();
        assert_eq!(lines, ["2", "3", "4", "10"]);
    }

    #[test]
    fn state_is_text_at_the_edge_and_in_tests() {
        let text = "struct S { status: String }";
        for (path, purpose) in [
            ("crates/api/src/task.rs", Purpose::Product),
            ("crates/store/src/row.rs", Purpose::Product),
            ("crates/core/tests/it/main.rs", Purpose::Support),
        ] {
            assert_eq!(gather(path, purpose, text).text_states, [], "{path}");
        }
    }
}
