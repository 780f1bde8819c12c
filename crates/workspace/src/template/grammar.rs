//! What a template may say: text, variables and conditions.
//!
//! The engine can do far more, and a template may come out of a repository of strangers: with loops, assignments or text that is
//! multiplied it would take all memory before the length of its result is looked at. So the syntax tree is walked, and
//! what is not named here is refused, before the engine sees it: it computes constants already while it compiles.

use minijinja::machinery::{self, Span, Token, ast};
use minijinja::syntax::SyntaxConfig;

use super::engine::{Fault, FaultKind, fault};

/// The most tokens between all delimiters. A chain of operators or of `elif` becomes a tree as deep as it is long, which
/// is walked, compiled and dropped by recursion.
const MOST_TOKENS: usize = 2000;

/// A variable that a template asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mention<'text> {
    pub(super) name: &'text str,
    pub(super) line: usize,
}

/// All variables in the order of the text, whether they are ever reached or not.
pub(super) fn mentions(text: &str, syntax: SyntaxConfig) -> Result<Vec<Mention<'_>>, Fault> {
    check_size(text, syntax.clone())?;
    let template = machinery::parse(text, "", syntax).map_err(|error| fault(&error))?;
    let mut walk = Walk {
        text,
        found: vec![],
    };
    walk.statement(&template)?;
    Ok(walk.found)
}

fn check_size(text: &str, syntax: SyntaxConfig) -> Result<(), Fault> {
    let tokens = machinery::tokenize(text, false, syntax).map_while(Result::ok);
    let mut inside = tokens.filter(|(token, _)| !matches!(token, Token::TemplateData(_)));
    inside.nth(MOST_TOKENS).map_or(Ok(()), |(_, span)| {
        let what = format!("a template has at most {MOST_TOKENS} words and signs in its tags");
        Err(refusal(line_at(text, span.start_offset as usize), what))
    })
}

fn refusal(line: usize, what: String) -> Fault {
    let what = FaultKind::Syntax(what);
    Fault { line, what }
}

fn line_at(text: &str, place: usize) -> usize {
    let before = &text.as_bytes()[..place.min(text.len())];
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

struct Walk<'text> {
    text: &'text str,
    found: Vec<Mention<'text>>,
}

impl<'text> Walk<'text> {
    fn statement(&mut self, statement: &ast::Stmt<'text>) -> Result<(), Fault> {
        use ast::Stmt;
        match statement {
            Stmt::EmitRaw(_) => Ok(()),
            Stmt::Template(it) => self.statements(&it.children),
            Stmt::EmitExpr(it) => self.expression(&it.expr),
            Stmt::IfCond(it) => {
                self.expression(&it.expr)?;
                self.statements(&it.true_body)?;
                self.statements(&it.false_body)
            }
            Stmt::ForLoop(it) => Err(self.refused("a loop", it.span())),
            Stmt::WithBlock(it) => Err(self.refused("`with`", it.span())),
            Stmt::Set(it) => Err(self.refused("`set`", it.span())),
            Stmt::SetBlock(it) => Err(self.refused("`set`", it.span())),
            Stmt::AutoEscape(it) => Err(self.refused("`autoescape`", it.span())),
            Stmt::FilterBlock(it) => Err(self.refused("`filter`", it.span())),
            Stmt::Do(it) => Err(self.refused("`do`", it.span())),
        }
    }

    fn statements(&mut self, statements: &[ast::Stmt<'text>]) -> Result<(), Fault> {
        statements.iter().try_for_each(|it| self.statement(it))
    }

    fn expression(&mut self, expression: &ast::Expr<'text>) -> Result<(), Fault> {
        use ast::Expr;
        match expression {
            Expr::Const(_) => Ok(()),
            Expr::Var(it) => {
                let line = line_at(self.text, it.span().start_offset as usize);
                self.found.push(Mention { name: it.id, line });
                Ok(())
            }
            Expr::UnaryOp(it) => self.expression(&it.expr),
            Expr::BinOp(it) if is_question(it.op) => {
                self.expression(&it.left)?;
                self.expression(&it.right)
            }
            Expr::Compare(it) => {
                self.expression(&it.expr)?;
                it.ops.iter().try_for_each(|it| self.expression(&it.expr))
            }
            Expr::IfExpr(it) => {
                self.expression(&it.test_expr)?;
                self.expression(&it.true_expr)?;
                it.false_expr.iter().try_for_each(|it| self.expression(it))
            }
            Expr::BinOp(it) => Err(self.refused("an operator such as `~`, `+` or `*`", it.span())),
            Expr::Filter(it) => Err(self.refused("a filter", it.span())),
            Expr::Test(it) => Err(self.refused("a test with `is`", it.span())),
            Expr::Call(it) => Err(self.refused("a call", it.span())),
            Expr::Slice(_) | Expr::GetAttr(_) | Expr::GetItem(_) => {
                Err(self.refused("a part of a value", expression.span()))
            }
            Expr::List(_) | Expr::Tuple(_) | Expr::Map(_) => {
                Err(self.refused("a list", expression.span()))
            }
        }
    }

    fn refused(&self, what: &str, span: Span) -> Fault {
        let line = line_at(self.text, span.start_offset as usize);
        refusal(
            line,
            format!("{what} cannot be used here; a template has text, variables and conditions"),
        )
    }
}

/// What only asks, and makes nothing longer.
const fn is_question(operator: ast::BinOpKind) -> bool {
    use ast::BinOpKind;
    match operator {
        BinOpKind::Eq
        | BinOpKind::Ne
        | BinOpKind::Lt
        | BinOpKind::Lte
        | BinOpKind::Gt
        | BinOpKind::Gte
        | BinOpKind::ScAnd
        | BinOpKind::ScOr
        | BinOpKind::In => true,
        BinOpKind::Add
        | BinOpKind::Sub
        | BinOpKind::Mul
        | BinOpKind::Div
        | BinOpKind::FloorDiv
        | BinOpKind::Rem
        | BinOpKind::Pow
        | BinOpKind::Concat => false,
    }
}
