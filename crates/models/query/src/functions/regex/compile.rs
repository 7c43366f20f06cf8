//! Compiles the text of a pattern into a program, within limits.

use super::{Engine, Regex, vm};
use crate::limits;
use fancy_regex::internal::{analyze, can_compile_as_anchored, compile, optimize};
use fancy_regex::{Error, Expr, ParseError, RegexBuilder};

/// Why a pattern cannot be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompileError {
    Wrong,
    TooLarge,
}

impl From<Error> for CompileError {
    fn from(error: Error) -> Self {
        let is_large = match &error {
            Error::ParseError(_, ParseError::RecursionExceeded) => true,
            Error::CompileError(fancy_regex::CompileError::InnerError(inner)) => inner.size_limit().is_some(),
            _ => false,
        };
        if is_large { Self::TooLarge } else { Self::Wrong }
    }
}

impl Regex {
    /// A pattern in the engine's own syntax.
    pub fn compile(pattern: &str) -> Result<Self, CompileError> {
        if pattern.len() > limits::REGEX_PATTERN_BYTES_MAX {
            return Err(CompileError::TooLarge);
        }
        let mut tree = Expr::parse_tree(pattern)?;
        let (positions, shape) = (positions(&tree.expr), Shape::of(&tree.expr));
        if !shape.is_hard {
            let built = RegexBuilder::new(pattern).delegate_size_limit(limits::REGEX_BYTES_MAX).build()?;
            let groups = built.captures_len();
            return Ok(Self { engine: Engine::Automata(built), groups, positions });
        }
        // Each class may become an automaton, and together they must not exceed the limit of one.
        if shape.classes > limits::REGEX_CLASSES_MAX {
            return Err(CompileError::TooLarge);
        }
        let plain = plain(&tree.expr);
        let mut text = String::new();
        plain.to_str(&mut text, 0);
        RegexBuilder::new(&text).delegate_size_limit(limits::REGEX_BYTES_MAX).build()?;
        let has_own_group = optimize(&mut tree);
        let info = analyze(&tree, has_own_group)?;
        let program = compile(&info, can_compile_as_anchored(&tree.expr))?;
        let groups = 1 + shape.groups;
        Ok(Self { engine: Engine::Machine(vm::Program::new(program.body)), groups, positions })
    }
}

/// The properties of a pattern that decide how it is compiled.
#[derive(Default)]
struct Shape {
    /// Whether it needs backtracking.
    is_hard: bool,
    classes: usize,
    groups: usize,
}

impl Shape {
    fn of(expr: &Expr) -> Self {
        let mut shape = Self::default();
        shape.visit(expr);
        shape
    }

    fn visit(&mut self, expr: &Expr) {
        match expr {
            Expr::Delegate { .. } | Expr::Any { .. } => self.classes += 1,
            // Not all automata support word boundaries, and the one that does is slow.
            Expr::Assertion(assertion) => self.is_hard |= is_of_words(*assertion),
            Expr::Group(_) => self.groups += 1,
            Expr::Empty | Expr::Literal { .. } | Expr::Concat(_) | Expr::Alt(_) | Expr::Repeat { .. } => {}
            _ => self.is_hard = true,
        }
        children(expr).into_iter().for_each(|child| self.visit(child));
    }
}

fn is_of_words(assertion: fancy_regex::Assertion) -> bool {
    use fancy_regex::Assertion::{LeftWordBoundary, NotWordBoundary, RightWordBoundary, WordBoundary};
    matches!(assertion, LeftWordBoundary | RightWordBoundary | WordBoundary | NotWordBoundary)
}

fn children(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Concat(list) | Expr::Alt(list) => list.iter().collect(),
        Expr::Group(child)
        | Expr::LookAround(child, _)
        | Expr::AtomicGroup(child)
        | Expr::Repeat { child, .. } => vec![child],
        Expr::Conditional { condition, true_branch, false_branch } => {
            vec![condition, true_branch, false_branch]
        }
        _ => Vec::new(),
    }
}

/// Characters and classes, with repetitions expanded.
fn positions(expr: &Expr) -> u64 {
    let own = match expr {
        Expr::Literal { val, .. } => val.len() as u64,
        _ => 1,
    };
    let inner = children(expr).into_iter().map(positions).fold(0u64, u64::saturating_add);
    match expr {
        Expr::Repeat { lo, hi, .. } => {
            let times = if *hi == usize::MAX { (*lo).max(1) } else { *hi };
            inner.saturating_mul(times as u64).max(1)
        }
        _ => own.saturating_add(inner),
    }
}

/// The pattern without the parts that automata do not support: about as large, and built only to check the
/// size.
fn plain(expr: &Expr) -> Expr {
    let all = |list: &[Expr]| list.iter().map(plain).collect();
    match expr {
        Expr::Concat(list) => Expr::Concat(all(list)),
        Expr::Alt(list) => Expr::Alt(all(list)),
        Expr::Group(child) => Expr::Group(Box::new(plain(child))),
        Expr::LookAround(child, _) | Expr::AtomicGroup(child) => plain(child),
        Expr::Repeat { child, lo, hi, greedy } => {
            Expr::Repeat { child: Box::new(plain(child)), lo: *lo, hi: *hi, greedy: *greedy }
        }
        Expr::Conditional { condition, true_branch, false_branch } => {
            Expr::Concat(vec![plain(condition), plain(true_branch), plain(false_branch)])
        }
        Expr::Empty | Expr::Any { .. } | Expr::Literal { .. } | Expr::Delegate { .. } => expr.clone(),
        _ => Expr::Empty,
    }
}
