//! From tokens to the tree.
//!
//! ```text
//! expr    := and ("or" and)*
//! and     := unary ("and" unary)*
//! unary   := "not" unary | primary
//! primary := "(" expr ")" | operand [comparison operand]
//! ```
//!
//! Open parentheses are kept on a stack of our own, so that no text exhausts the thread's. How deep the tree is, is bounded:
//! an `or` inside an `or` becomes part of it, whatever the parentheses.

use super::ast::{Comparison, Expr, Operand, Tree};
use super::error::FilterError;
use super::lex::{Lexer, Token};
use crate::limits;

const OPERAND: &str = "a property or a literal";
const PREDICATE: &str = "a condition";
const CONNECTIVE: &str = "'and', 'or' or the end";

/// A subtree and its levels.
struct Node {
    expr: Expr,
    levels: usize,
}

/// What stands before the next operand: since the beginning, or since a parenthesis was opened.
#[derive(Default)]
struct Frame {
    alternatives: Vec<Node>,
    conjuncts: Vec<Node>,
    negations: usize,
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    next: Option<(Token, usize)>,
    /// What the next token looks like.
    next_text: &'a str,
    names: Vec<String>,
}

pub(super) fn parse(text: &str) -> Result<Tree, FilterError> {
    if text.len() > limits::FILTER_BYTES_MAX {
        return Err(FilterError::TooLong);
    }
    let mut parser = Parser { lexer: Lexer::new(text), next: None, next_text: "", names: Vec::new() };
    parser.advance()?;
    let root = parser.filter()?;
    Ok(Tree { root, names: parser.names })
}

impl<'a> Parser<'a> {
    fn filter(&mut self) -> Result<Expr, FilterError> {
        let mut open = Vec::new();
        let mut frame = Frame::default();
        loop {
            if self.takes_word("not")? {
                frame.negations += 1;
                continue;
            }
            if self.takes(&Token::Open)? {
                open.push(std::mem::take(&mut frame));
                continue;
            }
            let expr = self.predicate()?;
            self.complete(&mut frame, Node { expr, levels: 1 })?;
            loop {
                if self.takes_word("and")? {
                    break;
                }
                if self.takes_word("or")? {
                    self.end_alternative(&mut frame)?;
                    break;
                }
                let closes = !open.is_empty() && self.takes(&Token::Close)?;
                if !closes && (self.next.is_some() || !open.is_empty()) {
                    return Err(self.unexpected(if open.is_empty() { CONNECTIVE } else { "')'" }));
                }
                let node = self.end(&mut frame)?;
                let Some(outer) = open.pop() else { return Ok(node.expr) };
                frame = outer;
                self.complete(&mut frame, node)?;
            }
        }
    }

    /// Takes a condition into its conjunction, negated as was asked.
    fn complete(&self, frame: &mut Frame, mut node: Node) -> Result<(), FilterError> {
        for _ in 0..std::mem::take(&mut frame.negations) {
            node = self.checked(Node { expr: Expr::Not(Box::new(node.expr)), levels: node.levels + 1 })?;
        }
        frame.conjuncts.push(node);
        Ok(())
    }

    fn end_alternative(&self, frame: &mut Frame) -> Result<(), FilterError> {
        let conjuncts = std::mem::take(&mut frame.conjuncts);
        let flatten = |expr| match expr {
            Expr::And(inner) => Ok(inner),
            other => Err(other),
        };
        frame.alternatives.push(self.joined(conjuncts, flatten, Expr::And)?);
        Ok(())
    }

    fn end(&self, frame: &mut Frame) -> Result<Node, FilterError> {
        self.end_alternative(frame)?;
        let flatten = |expr| match expr {
            Expr::Or(inner) => Ok(inner),
            other => Err(other),
        };
        self.joined(std::mem::take(&mut frame.alternatives), flatten, Expr::Or)
    }

    /// One node of all, with the parts of those that are of its own kind in their places.
    fn joined(
        &self,
        mut nodes: Vec<Node>,
        flatten: impl Fn(Expr) -> Result<Vec<Expr>, Expr>,
        join: impl FnOnce(Vec<Expr>) -> Expr,
    ) -> Result<Node, FilterError> {
        if nodes.len() == 1 {
            return Ok(nodes.remove(0));
        }
        let (mut parts, mut levels) = (Vec::with_capacity(nodes.len()), 0);
        for node in nodes {
            match flatten(node.expr) {
                Ok(inner) => {
                    levels = levels.max(node.levels - 1);
                    parts.extend(inner);
                }
                Err(other) => {
                    levels = levels.max(node.levels);
                    parts.push(other);
                }
            }
        }
        self.checked(Node { expr: join(parts), levels: levels + 1 })
    }

    fn checked(&self, node: Node) -> Result<Node, FilterError> {
        if node.levels <= limits::FILTER_TREE_LEVELS_MAX {
            return Ok(node);
        }
        Err(FilterError::TooDeep { at: self.place() })
    }

    fn predicate(&mut self) -> Result<Expr, FilterError> {
        let left = self.operand(PREDICATE)?;
        let Some((Token::Word(word), _)) = &self.next else { return Ok(Expr::Truth(left)) };
        let Some(comparison) = Comparison::parse(word) else { return Ok(Expr::Truth(left)) };
        self.advance()?;
        let right = self.operand(OPERAND)?;
        Ok(Expr::Compare(comparison, left, right))
    }

    fn operand(&mut self, expected: &'static str) -> Result<Operand, FilterError> {
        if let Some((Token::Word(word), start)) = &self.next {
            if is_keyword(word) {
                return Err(self.unexpected(expected));
            }
            if self.lexer.opens() {
                let (at, function) = (self.lexer.position(*start), word.clone());
                return Err(FilterError::NotImplemented { at, function });
            }
        }
        let operand = match &self.next {
            Some((Token::Word(_) | Token::Literal(_) | Token::Null, _)) => self.next.take(),
            _ => return Err(self.unexpected(expected)),
        };
        self.advance()?;
        Ok(match operand {
            Some((Token::Word(name), _)) => Operand::Property(self.index_of(name)),
            Some((Token::Literal(value), _)) => Operand::Literal(value),
            _ => Operand::Null,
        })
    }

    fn index_of(&mut self, name: String) -> usize {
        if let Some(index) = self.names.iter().position(|known| *known == name) {
            return index;
        }
        self.names.push(name);
        self.names.len() - 1
    }

    fn takes(&mut self, wanted: &Token) -> Result<bool, FilterError> {
        let is_next = self.next.as_ref().is_some_and(|(token, _)| token == wanted);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    fn takes_word(&mut self, keyword: &str) -> Result<bool, FilterError> {
        let is_next = matches!(&self.next, Some((Token::Word(word), _)) if word == keyword);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    fn advance(&mut self) -> Result<(), FilterError> {
        self.next = self.lexer.next()?;
        self.next_text = self.next.as_ref().map_or("", |(_, start)| self.lexer.since(*start));
        Ok(())
    }

    /// Where the next token is.
    fn place(&self) -> usize {
        self.next.as_ref().map_or_else(|| self.lexer.end(), |(_, start)| self.lexer.position(*start))
    }

    fn unexpected(&self, expected: &'static str) -> FilterError {
        let (at, found) = (self.place(), self.next_text.to_owned());
        match self.next {
            None => FilterError::UnexpectedEnd { at, expected },
            Some(_) => FilterError::Unexpected { at, found, expected },
        }
    }
}

fn is_keyword(word: &str) -> bool {
    matches!(word, "and" | "or" | "not") || Comparison::parse(word).is_some()
}
