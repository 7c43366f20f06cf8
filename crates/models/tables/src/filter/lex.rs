//! The tokens of a filter.

use super::error::FilterError;
use super::literal;
use crate::edm::Value;
use crate::entity::{continues_name, starts_name};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Open,
    Close,
    /// A keyword or the name of a property.
    Word(String),
    Literal(Value),
    Null,
}

pub(super) struct Lexer<'a> {
    text: &'a str,
    /// In bytes.
    at: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The next token and its first byte; `None` at the end.
    pub fn next(&mut self) -> Result<Option<(Token, usize)>, FilterError> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        let start = self.at;
        let Some(first) = self.rest().chars().next() else { return Ok(None) };
        let token = match first {
            '(' => self.mark(Token::Open),
            ')' => self.mark(Token::Close),
            '\'' => Token::Literal(Value::String(self.quoted(start)?)),
            '0'..='9' | '-' => self.number(start)?,
            first if starts_name(first) => self.word(start)?,
            other => {
                let found = other.to_string();
                let expected = "a property, a literal, an operator or a parenthesis";
                return Err(FilterError::Unexpected { at: self.position(start), found, expected });
            }
        };
        Ok(Some((token, start)))
    }

    fn mark(&mut self, token: Token) -> Token {
        self.at += 1;
        token
    }

    /// What the token that was read last, from `start` on, looked like.
    pub fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    /// Whether a parenthesis is next.
    pub fn opens(&self) -> bool {
        self.rest().trim_start().starts_with('(')
    }

    /// The place of a byte, in characters.
    pub fn position(&self, byte: usize) -> usize {
        self.text[..byte].chars().count()
    }

    pub fn end(&self) -> usize {
        self.text.chars().count()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The text up to the quote that ends it; two quotes stand for one.
    fn quoted(&mut self, start: usize) -> Result<String, FilterError> {
        let mut text = String::new();
        self.at += 1;
        loop {
            let rest = self.rest();
            let Some(quote) = rest.find('\'') else {
                return Err(FilterError::Unterminated { at: self.position(start) });
            };
            text.push_str(&rest[..quote]);
            self.at += quote + 1;
            if !self.rest().starts_with('\'') {
                return Ok(text);
            }
            text.push('\'');
            self.at += 1;
        }
    }

    /// A number, as far as anything goes that numbers are made of.
    fn number(&mut self, start: usize) -> Result<Token, FilterError> {
        let mut before = ' ';
        for character in self.rest().chars() {
            let is_sign = matches!(character, '-' | '+') && (self.at == start || matches!(before, 'e' | 'E'));
            if !is_sign && character != '.' && !continues_name(character) {
                break;
            }
            self.at += character.len_utf8();
            before = character;
        }
        let written = self.since(start);
        literal::number(written).map(Token::Literal).ok_or_else(|| self.invalid(start, "number"))
    }

    fn word(&mut self, start: usize) -> Result<Token, FilterError> {
        let rest = self.rest();
        self.at += rest.find(|character| !continues_name(character)).unwrap_or(rest.len());
        let word = self.since(start);
        if self.rest().starts_with('\'') {
            return self.prefixed(start, word);
        }
        Ok(match literal::word(word) {
            Some(literal) => literal.map_or(Token::Null, Token::Literal),
            None => Token::Word(word.to_owned()),
        })
    }

    /// A literal that says its type before its quotes.
    fn prefixed(&mut self, start: usize, prefix: &str) -> Result<Token, FilterError> {
        let kind = literal::kind(prefix).ok_or_else(|| self.invalid(start, "type of a literal"))?;
        let text = self.quoted(start)?;
        let literal = literal::prefixed(prefix, &text).ok_or_else(|| self.invalid(start, kind))?;
        Ok(Token::Literal(literal))
    }

    fn invalid(&self, start: usize, kind: &'static str) -> FilterError {
        FilterError::InvalidLiteral { at: self.position(start), literal: self.since(start).to_owned(), kind }
    }
}
