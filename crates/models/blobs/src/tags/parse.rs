//! From a text to a filter or an expression. Both have one grammar; a filter allows less of it.

use super::filter::{Comparison, Operator, TagExpression, TagFilter, TagSyntaxError};
use orrery_catalog::storage::BlobContainerName;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A key without quotes, or AND, OR.
    Word(String),
    /// A key in double quotes.
    Key(String),
    /// A value in single quotes.
    Value(String),
    Operator(Operator),
    Open,
    Close,
}

/// Tokens are read before anything else, so an error is always at the first wrong one.
pub(super) struct Parser {
    tokens: Vec<(usize, Token)>,
    at: usize,
    end: usize,
    terms_left: usize,
}

impl Parser {
    pub fn new(text: &str, terms_max: usize) -> Result<Self, TagSyntaxError> {
        let mut lexer = Lexer { text, at: 0 };
        let mut tokens = Vec::new();
        while let Some(token) = lexer.next()? {
            tokens.push(token);
        }
        Ok(Self { tokens, at: 0, end: text.len(), terms_left: terms_max })
    }

    pub fn expression(mut self) -> Result<TagExpression, TagSyntaxError> {
        let expression = self.any_of(0)?;
        match self.peek() {
            None => Ok(expression),
            Some(_) => Err(self.error("expected AND, OR or the end")),
        }
    }

    pub fn filter(mut self) -> Result<TagFilter, TagSyntaxError> {
        let mut filter = TagFilter { container: None, comparisons: Vec::new() };
        loop {
            let at = self.position();
            let comparison = self.comparison()?;
            self.add(&mut filter, comparison).map_err(|what| TagSyntaxError { at, what })?;
            if self.peek().is_none() {
                return if filter.comparisons.is_empty() {
                    Err(self.error("expected a tag besides @container"))
                } else {
                    Ok(filter)
                };
            }
            if !self.takes_word("AND") {
                return Err(self.error("expected AND or the end"));
            }
        }
    }

    fn add(&self, filter: &mut TagFilter, comparison: Comparison) -> Result<(), String> {
        if comparison.operator == Operator::NotEqual {
            return Err("<> is of conditions alone".to_owned());
        }
        if comparison.key != CONTAINER {
            filter.comparisons.push(comparison);
            return Ok(());
        }
        if comparison.operator != Operator::Equal || filter.container.is_some() {
            return Err("@container equals one name".to_owned());
        }
        let name = BlobContainerName::parse(&comparison.value).map_err(|error| error.to_string())?;
        filter.container = Some(name);
        Ok(())
    }

    fn any_of(&mut self, depth: usize) -> Result<TagExpression, TagSyntaxError> {
        let first = self.all_of(depth)?;
        let mut parts = vec![first];
        while self.takes_word("OR") {
            parts.push(self.all_of(depth)?);
        }
        Ok(joined(parts, TagExpression::Or))
    }

    fn all_of(&mut self, depth: usize) -> Result<TagExpression, TagSyntaxError> {
        let mut parts = vec![self.term(depth)?];
        while self.takes_word("AND") {
            parts.push(self.term(depth)?);
        }
        Ok(joined(parts, TagExpression::And))
    }

    fn term(&mut self, depth: usize) -> Result<TagExpression, TagSyntaxError> {
        if self.peek() != Some(&Token::Open) {
            let at = self.position();
            let comparison = self.comparison()?;
            if comparison.key == CONTAINER {
                return Err(TagSyntaxError { at, what: "@container is of filters alone".to_owned() });
            }
            return Ok(TagExpression::Compare(comparison));
        }
        // Every parenthesis has a comparison in it, so those are the limit of the depth as well.
        if depth >= self.terms_left {
            return Err(self.error("too many parentheses"));
        }
        self.at += 1;
        let inner = self.any_of(depth + 1)?;
        if self.peek() != Some(&Token::Close) {
            return Err(self.error("expected ')'"));
        }
        self.at += 1;
        Ok(inner)
    }

    fn comparison(&mut self) -> Result<Comparison, TagSyntaxError> {
        if self.terms_left == 0 {
            return Err(self.error("too many comparisons"));
        }
        self.terms_left -= 1;
        let key = match self.peek() {
            Some(Token::Word(key) | Token::Key(key)) => key.clone(),
            _ => return Err(self.error("expected the key of a tag")),
        };
        self.at += 1;
        let Some(Token::Operator(operator)) = self.peek() else {
            return Err(self.error("expected an operator"));
        };
        let operator = *operator;
        self.at += 1;
        let Some(Token::Value(value)) = self.peek() else {
            return Err(self.error("expected a value in single quotes"));
        };
        let value = value.clone();
        self.at += 1;
        Ok(Comparison { key, operator, value })
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let is_next = matches!(self.peek(), Some(Token::Word(next)) if next.eq_ignore_ascii_case(word));
        self.at += usize::from(is_next);
        is_next
    }

    fn position(&self) -> usize {
        self.tokens.get(self.at).map_or(self.end, |(at, _)| *at)
    }

    fn error(&self, what: &str) -> TagSyntaxError {
        TagSyntaxError { at: self.position(), what: what.to_owned() }
    }
}

const CONTAINER: &str = "@container";

fn joined(mut parts: Vec<TagExpression>, join: fn(Vec<TagExpression>) -> TagExpression) -> TagExpression {
    if parts.len() == 1 { parts.remove(0) } else { join(parts) }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl Lexer<'_> {
    fn next(&mut self) -> Result<Option<(usize, Token)>, TagSyntaxError> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        let at = self.at;
        let rest = &self.text[at..];
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let token = match first {
            '(' => self.take(1, Token::Open),
            ')' => self.take(1, Token::Close),
            '=' => self.take(1, Token::Operator(Operator::Equal)),
            '<' if rest.starts_with("<>") => self.take(2, Token::Operator(Operator::NotEqual)),
            '<' if rest.starts_with("<=") => self.take(2, Token::Operator(Operator::LessOrEqual)),
            '<' => self.take(1, Token::Operator(Operator::Less)),
            '>' if rest.starts_with(">=") => self.take(2, Token::Operator(Operator::GreaterOrEqual)),
            '>' => self.take(1, Token::Operator(Operator::Greater)),
            '\'' => Token::Value(self.quoted('\'')?),
            '"' => Token::Key(self.quoted('"')?),
            first if is_word(first) || first == '@' => {
                let end = rest[1..].find(|char: char| !is_word(char)).map_or(rest.len(), |end| end + 1);
                self.take(end, Token::Word(rest[..end].to_owned()))
            }
            first => {
                return Err(TagSyntaxError { at, what: format!("'{first}' begins nothing") });
            }
        };
        Ok(Some((at, token)))
    }

    fn take(&mut self, bytes: usize, token: Token) -> Token {
        self.at += bytes;
        token
    }

    /// A quote inside is doubled.
    fn quoted(&mut self, quote: char) -> Result<String, TagSyntaxError> {
        let at = self.at;
        let (mut text, mut rest) = (String::new(), &self.text[at + 1..]);
        loop {
            let end = rest
                .find(quote)
                .ok_or_else(|| TagSyntaxError { at, what: "the quotation does not end".to_owned() })?;
            text.push_str(&rest[..end]);
            rest = &rest[end + 1..];
            if !rest.starts_with(quote) {
                self.at = self.text.len() - rest.len();
                return Ok(text);
            }
            text.push(quote);
            rest = &rest[1..];
        }
    }
}

fn is_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}
