//! A cursor over the tokens of a query, with the operations that every grammar rule uses.

use super::ast::{Name, TextSpan};
use super::query::QueryBuilt;
use crate::error::Complaint;
use crate::lex::{self, Token, TokenKind};
use crate::limits::QUERY_SUBQUERY_LEVELS;
use orrery_core::limits::QUERY_TREE_LEVELS_MAX;

pub(super) struct Cursor<'t> {
    text: &'t str,
    /// The last is the end token, which is never consumed.
    tokens: Vec<Token>,
    next: usize,
    /// The complaint about the malformed token at which lexing stopped.
    wrong: Option<Complaint>,
    /// The nesting depth at the next token.
    depth: usize,
    /// The most JOINs of any SELECT and the most items of any IN so far.
    pub joins_most: usize,
    pub in_items_most: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t str) -> Self {
        let (tokens, wrong) = lex::scan(text);
        Self { text, tokens, next: 0, wrong, depth: 0, joins_most: 0, in_items_most: 0 }
    }

    /// The next token's kind.
    pub fn kind(&self) -> &TokenKind {
        &self.tokens[self.next].kind
    }

    /// The next token's span.
    pub fn place(&self) -> TextSpan {
        self.tokens[self.next].at
    }

    /// The span of the token consumed last.
    pub fn place_before(&self) -> TextSpan {
        self.tokens[self.next.saturating_sub(1)].at
    }

    /// The kind of the token after the next one.
    pub fn second(&self) -> &TokenKind {
        self.tokens.get(self.next + 1).map_or(&TokenKind::End, |token| &token.kind)
    }

    pub fn text_at(&self, at: TextSpan) -> &'t str {
        &self.text[at.start as usize..at.end as usize]
    }

    /// Consumes the next token and returns its span.
    pub fn step(&mut self) -> TextSpan {
        let at = self.place();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        at
    }

    pub fn sees(&self, kind: impl Into<TokenKind>) -> bool {
        *self.kind() == kind.into()
    }

    /// Consumes the next token if it is this one.
    pub fn eat(&mut self, kind: impl Into<TokenKind>) -> bool {
        let seen = self.sees(kind);
        if seen {
            self.step();
        }
        seen
    }

    pub fn expect(&mut self, kind: impl Into<TokenKind>) -> Result<TextSpan, Complaint> {
        if self.sees(kind) { Ok(self.step()) } else { Err(self.unexpected()) }
    }

    pub fn expect_end(&self) -> Result<(), Complaint> {
        if self.sees(TokenKind::End) && self.wrong.is_none() { Ok(()) } else { Err(self.unexpected()) }
    }

    pub fn name(&mut self) -> Result<Name, Complaint> {
        let at = self.expect(TokenKind::Name)?;
        Ok(Name { text: self.text_at(at).to_owned(), at })
    }

    /// A name in a position where keywords are names too: after a dot, before a colon.
    pub fn word(&mut self) -> Result<Name, Complaint> {
        match self.kind() {
            TokenKind::Name | TokenKind::Keyword(_) => {
                let at = self.step();
                Ok(Name { text: self.text_at(at).to_owned(), at })
            }
            _ => Err(self.unexpected()),
        }
    }

    /// The value and span of the next token, if it is a string.
    pub fn string(&mut self) -> Option<(String, TextSpan)> {
        let TokenKind::String(text) = &mut self.tokens[self.next].kind else { return None };
        let text = std::mem::take(text);
        Some((text, self.step()))
    }

    /// The complaint that the next token is misplaced.
    pub fn unexpected(&self) -> Complaint {
        let at = self.place();
        match (self.kind(), &self.wrong) {
            (TokenKind::End, Some(wrong)) => wrong.clone(),
            (TokenKind::End, None) => Complaint::new("SC1002", at, "Syntax error, unexpected end-of-file."),
            (TokenKind::Stray, _) => {
                let shown = lex::shown(self.text, at);
                Complaint::new("SC1010", at, format!("Syntax error, invalid token '{shown}'."))
            }
            _ => {
                let shown = lex::shown(self.text, at);
                Complaint::new("SC1001", at, format!("Syntax error, incorrect syntax near '{shown}'."))
            }
        }
    }

    /// Runs a rule that may recurse.
    pub fn nested<T>(
        &mut self,
        rule: impl FnOnce(&mut Self) -> Result<T, Complaint>,
    ) -> Result<T, Complaint> {
        self.deeper(1, rule)
    }

    /// Reads a nested query.
    pub fn nested_query(&mut self) -> Result<QueryBuilt, Complaint> {
        self.deeper(QUERY_SUBQUERY_LEVELS, Self::query)
    }

    fn deeper<T>(
        &mut self,
        levels: usize,
        rule: impl FnOnce(&mut Self) -> Result<T, Complaint>,
    ) -> Result<T, Complaint> {
        check_level(self.depth + levels, self.place())?;
        self.depth += levels;
        let result = rule(self);
        self.depth -= levels;
        result
    }
}

/// Checks that a tree may have another level.
pub(super) fn check_level(level: usize, at: TextSpan) -> Result<(), Complaint> {
    if level <= QUERY_TREE_LEVELS_MAX {
        return Ok(());
    }
    let message = format!(
        "The SQL query exceeded the maximum nesting depth. The allowed limit is {QUERY_TREE_LEVELS_MAX}."
    );
    Err(Complaint::new("SC3021", at, message))
}

/// From the start of one span to the end of another.
pub(super) fn span(from: TextSpan, to: TextSpan) -> TextSpan {
    TextSpan { start: from.start, end: to.end }
}
