//! A place in the tokens of a query, and the steps every rule of the grammar is made of.

use super::ast::{Name, TextSpan};
use super::query::QueryBuilt;
use crate::error::Complaint;
use crate::lex::{self, Token, TokenKind};
use crate::limits::QUERY_SUBQUERY_LEVELS;
use orrery_core::limits::QUERY_TREE_LEVELS_MAX;

pub(super) struct Cursor<'t> {
    text: &'t str,
    /// The last is the end, and is never passed.
    tokens: Vec<Token>,
    next: usize,
    /// What is wrong with the token that would stand where the end does.
    wrong: Option<Complaint>,
    /// The levels of what is being read around the next token.
    depth: usize,
    /// The most JOINs of any SELECT read so far, and the most items of any IN.
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

    /// The next token's place.
    pub fn place(&self) -> TextSpan {
        self.tokens[self.next].at
    }

    /// The place of the token that was passed last.
    pub fn place_before(&self) -> TextSpan {
        self.tokens[self.next.saturating_sub(1)].at
    }

    /// The kind of the token after the next.
    pub fn second(&self) -> &TokenKind {
        self.tokens.get(self.next + 1).map_or(&TokenKind::End, |token| &token.kind)
    }

    pub fn text_at(&self, at: TextSpan) -> &'t str {
        &self.text[at.start as usize..at.end as usize]
    }

    /// Goes past the next token; gives its place.
    pub fn step(&mut self) -> TextSpan {
        let at = self.place();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        at
    }

    pub fn sees(&self, kind: impl Into<TokenKind>) -> bool {
        *self.kind() == kind.into()
    }

    /// Goes past the next token if it is this.
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

    /// A name where keywords are names too: after a dot, before a colon.
    pub fn word(&mut self) -> Result<Name, Complaint> {
        match self.kind() {
            TokenKind::Name | TokenKind::Keyword(_) => {
                let at = self.step();
                Ok(Name { text: self.text_at(at).to_owned(), at })
            }
            _ => Err(self.unexpected()),
        }
    }

    /// What the next token says, and its place, if it is a string.
    pub fn string(&mut self) -> Option<(String, TextSpan)> {
        let TokenKind::String(text) = &mut self.tokens[self.next].kind else { return None };
        let text = std::mem::take(text);
        Some((text, self.step()))
    }

    /// The complaint that the next token should not be here.
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

    /// Runs a rule that may come back to itself.
    pub fn nested<T>(
        &mut self,
        rule: impl FnOnce(&mut Self) -> Result<T, Complaint>,
    ) -> Result<T, Complaint> {
        self.deeper(1, rule)
    }

    /// Reads a query inside another.
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

/// Whether a tree may have another level.
pub(super) fn check_level(level: usize, at: TextSpan) -> Result<(), Complaint> {
    if level <= QUERY_TREE_LEVELS_MAX {
        return Ok(());
    }
    let message = format!(
        "The SQL query exceeded the maximum nesting depth. The allowed limit is {QUERY_TREE_LEVELS_MAX}."
    );
    Err(Complaint::new("SC3021", at, message))
}

/// From the start of one place to the end of another.
pub(super) fn span(from: TextSpan, to: TextSpan) -> TextSpan {
    TextSpan { start: from.start, end: to.end }
}
