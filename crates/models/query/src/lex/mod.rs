//! The lexer: from text to tokens.
//!
//! A token is a kind and a span. Names and parameters are read from the text at that span; only strings,
//! which may have escapes, carry their own text. Comments run from `--` to the end of the line; there is no
//! other kind.
//!
//! A character that starts no token becomes a token too ([`TokenKind::Stray`]): the service names it in a
//! syntax error, like any other misplaced token. So only strings and numbers can be malformed here.

mod keyword;
mod literal;
mod symbol;

pub use keyword::Keyword;
pub use symbol::Symbol;

use crate::error::Complaint;
use crate::limits::{QUERY_TEXT_BYTES_MAX, QUERY_TOKEN_SHOWN_BYTES_MAX};
use crate::parse::TextSpan;
use orrery_value::Number;

#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    pub kind: TokenKind,
    pub at: TextSpan,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TokenKind {
    Name,
    Keyword(Keyword),
    Number(Number),
    /// The literal's value.
    String(String),
    /// `@name`
    Parameter,
    Symbol(Symbol),
    /// A character that starts no token.
    Stray,
    /// The end of the text; always the last token.
    End,
}

impl From<Keyword> for TokenKind {
    fn from(keyword: Keyword) -> Self {
        Self::Keyword(keyword)
    }
}

impl From<Symbol> for TokenKind {
    fn from(symbol: Symbol) -> Self {
        Self::Symbol(symbol)
    }
}

/// The tokens of a query, ending with [`TokenKind::End`].
pub fn lex(text: &str) -> Result<Vec<Token>, Complaint> {
    check_length(text)?;
    match scan(text) {
        (tokens, None) => Ok(tokens),
        (_, Some(complaint)) => Err(complaint),
    }
}

/// Whether this can be written as a plain name: an identifier that is not a keyword.
pub fn is_name(text: &str) -> bool {
    text.starts_with(starts_name) && text.chars().all(continues_name) && Keyword::find(text).is_none()
}

/// Refuses texts that are too long, before any offset is stored in 32 bits.
pub(crate) fn check_length(text: &str) -> Result<(), Complaint> {
    if text.len() <= QUERY_TEXT_BYTES_MAX {
        return Ok(());
    }
    let whole = TextSpan { start: 0, end: u32::try_from(text.len()).unwrap_or(u32::MAX) };
    let message =
        format!("The SQL query text exceeded the maximum limit of {QUERY_TEXT_BYTES_MAX} characters.");
    Err(Complaint::new("SC3020", whole, message))
}

/// The tokens up to the end or the first malformed one. A syntax error before a malformed token takes
/// precedence, so the parser reads the tokens that exist and reports this complaint at the end.
pub(crate) fn scan(text: &str) -> (Vec<Token>, Option<Complaint>) {
    orrery_core::tour_step!();
    let mut tokens = Vec::with_capacity(text.len() / 4 + 1);
    let mut at = 0;
    loop {
        at = skip_blanks(text, at);
        let (kind, length) = read(&text[at..]);
        let place = TextSpan { start: at as u32, end: (at + length) as u32 };
        match kind {
            Ok(kind) => {
                let ended = kind == TokenKind::End;
                tokens.push(Token { kind, at: place });
                if ended {
                    return (tokens, None);
                }
            }
            Err(wrong) => {
                tokens.push(Token { kind: TokenKind::End, at: place });
                return (tokens, Some(wrong.complaint(text, place)));
            }
        }
        at += length;
    }
}

/// What can be wrong inside a token.
enum Wrong {
    Number,
    String,
}

impl Wrong {
    fn complaint(&self, text: &str, at: TextSpan) -> Complaint {
        let shown = shown(text, at);
        match self {
            Self::Number => {
                Complaint::new("SC1011", at, format!("Syntax error, invalid numeric value token '{shown}'."))
            }
            Self::String => {
                Complaint::new("SC1012", at, format!("Syntax error, invalid string literal token '{shown}'."))
            }
        }
    }
}

/// The text of a span for a message, truncated if long.
pub(crate) fn shown(text: &str, at: TextSpan) -> &str {
    let token = text.get(at.start as usize..at.end as usize).unwrap_or_default();
    let cut = (0..=token.len().min(QUERY_TOKEN_SHOWN_BYTES_MAX)).rev().find(|at| token.is_char_boundary(*at));
    &token[..cut.unwrap_or_default()]
}

/// The token at the start of `rest`, which starts with no blank, and its length in bytes.
fn read(rest: &str) -> (Result<TokenKind, Wrong>, usize) {
    let mut characters = rest.chars();
    let Some(first) = characters.next() else { return (Ok(TokenKind::End), 0) };
    let second = characters.next().unwrap_or('\0');
    match first {
        '\'' | '"' => literal::string(rest),
        '0'..='9' => literal::number(rest),
        '.' if second.is_ascii_digit() => literal::number(rest),
        '@' if continues_name(second) => (Ok(TokenKind::Parameter), 1 + name_length(&rest[1..])),
        _ if starts_name(first) => word(rest),
        _ => match Symbol::at_start(rest) {
            Some((symbol, length)) => (Ok(symbol.into()), length),
            None => (Ok(TokenKind::Stray), first.len_utf8()),
        },
    }
}

fn word(rest: &str) -> (Result<TokenKind, Wrong>, usize) {
    let length = name_length(rest);
    let kind = Keyword::find(&rest[..length]).map_or(TokenKind::Name, TokenKind::Keyword);
    (Ok(kind), length)
}

fn name_length(rest: &str) -> usize {
    rest.find(|c| !continues_name(c)).unwrap_or(rest.len())
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}

fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn skip_blanks(text: &str, mut at: usize) -> usize {
    loop {
        let rest = text[at..].trim_start();
        at = text.len() - rest.len();
        if !rest.starts_with("--") {
            return at;
        }
        at += rest.find('\n').unwrap_or(rest.len());
    }
}

#[cfg(test)]
mod tests;
