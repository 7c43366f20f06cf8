//! Punctuation tokens.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    Dot,
    Comma,
    Colon,
    Question,
    QuestionQuestion,
    Star,
    Slash,
    Percent,
    Plus,
    Minus,
    Tilde,
    Ampersand,
    Caret,
    Bar,
    BarBar,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    ShiftRightZero,
}

/// Each before its own prefixes.
const TABLE: &[(&str, Symbol)] = &[
    (">>>", Symbol::ShiftRightZero),
    (">>", Symbol::ShiftRight),
    (">=", Symbol::GreaterEqual),
    (">", Symbol::Greater),
    ("<<", Symbol::ShiftLeft),
    ("<=", Symbol::LessEqual),
    ("<>", Symbol::NotEqual),
    ("<", Symbol::Less),
    ("!=", Symbol::NotEqual),
    ("??", Symbol::QuestionQuestion),
    ("?", Symbol::Question),
    ("||", Symbol::BarBar),
    ("|", Symbol::Bar),
    ("(", Symbol::LeftParen),
    (")", Symbol::RightParen),
    ("[", Symbol::LeftBracket),
    ("]", Symbol::RightBracket),
    ("{", Symbol::LeftBrace),
    ("}", Symbol::RightBrace),
    (".", Symbol::Dot),
    (",", Symbol::Comma),
    (":", Symbol::Colon),
    ("*", Symbol::Star),
    ("/", Symbol::Slash),
    ("%", Symbol::Percent),
    ("+", Symbol::Plus),
    ("-", Symbol::Minus),
    ("~", Symbol::Tilde),
    ("&", Symbol::Ampersand),
    ("^", Symbol::Caret),
    ("=", Symbol::Equal),
];

impl Symbol {
    /// The longest symbol that `rest` starts with, and its length in bytes.
    pub(super) fn at_start(rest: &str) -> Option<(Self, usize)> {
        let found = TABLE.iter().find(|(text, _)| rest.starts_with(text));
        found.map(|(text, symbol)| (*symbol, text.len()))
    }
}
