//! The shape of a query: its text without constants, so that queries which differ only in values have the same
//! shape.
//!
//! Numbers and strings become `?`, several in a row `?…`; what stands in quotes only to name a member stays, and so
//! do parameters. Blanks and comments become one blank.

use crate::limits;
use orrery_query::lex::{Symbol, Token, TokenKind, lex};
use std::hash::{DefaultHasher, Hash, Hasher};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// A hash of the whole text; two shapes may share the part that is kept.
    pub hash: u64,
    pub text: String,
}

impl Shape {
    /// Of a valid query.
    pub fn of(query: &str) -> Self {
        let whole = lex(query).map_or_else(|_| query.to_owned(), |tokens| without_constants(query, &tokens));
        let mut hasher = DefaultHasher::new();
        whole.hash(&mut hasher);
        Self { hash: hasher.finish(), text: cut(whole) }
    }
}

fn cut(whole: String) -> String {
    match whole.char_indices().nth(limits::USAGE_SHAPE_CHARS_MAX) {
        None => whole,
        Some((end, _)) => format!("{}…", &whole[..end]),
    }
}

const CONSTANT: &str = "?";
const CONSTANTS: &str = "?…";

struct Piece<'a> {
    text: &'a str,
    follows_blank: bool,
}

fn without_constants(query: &str, tokens: &[Token]) -> String {
    let mut pieces: Vec<Piece<'_>> = Vec::with_capacity(tokens.len());
    let mut end = 0;
    for (at, token) in tokens.iter().enumerate() {
        let source = query.get(token.at.start as usize..token.at.end as usize).unwrap_or_default();
        let text = if is_constant(tokens, at) { CONSTANT } else { source };
        match &mut pieces[..] {
            [.., last, comma] if text == CONSTANT && comma.text == "," && last.is_constant() => {
                last.text = CONSTANTS;
                pieces.pop();
            }
            _ => pieces.push(Piece { text, follows_blank: token.at.start > end }),
        }
        end = token.at.end;
    }
    written(&pieces)
}

impl Piece<'_> {
    fn is_constant(&self) -> bool {
        self.text == CONSTANT || self.text == CONSTANTS
    }
}

fn written(pieces: &[Piece<'_>]) -> String {
    let mut text = String::new();
    for piece in pieces {
        text.push_str(if piece.follows_blank { " " } else { "" });
        text.push_str(piece.text);
    }
    text.trim().to_owned()
}

fn is_constant(tokens: &[Token], at: usize) -> bool {
    match &tokens[at].kind {
        TokenKind::Number(_) => true,
        TokenKind::String(_) => !names_member(tokens, at),
        _ => false,
    }
}

/// `c["name"]` and `{"name": …}`.
fn names_member(tokens: &[Token], at: usize) -> bool {
    let kind = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map(|token| &token.kind);
    let is = |at: Option<usize>, symbol: Symbol| kind(at) == Some(&TokenKind::Symbol(symbol));
    let (before, after) = (at.checked_sub(1), Some(at + 1));
    let is_key = is(after, Symbol::Colon) && (is(before, Symbol::LeftBrace) || is(before, Symbol::Comma));
    let of = at.checked_sub(2);
    let follows_value = matches!(kind(of), Some(TokenKind::Name))
        || is(of, Symbol::RightBracket)
        || is(of, Symbol::RightParen);
    is_key || (is(before, Symbol::LeftBracket) && is(after, Symbol::RightBracket) && follows_value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, expected: &str) {
        assert_eq!(Shape::of(query).text, expected, "{query}");
    }

    #[test]
    fn constants_are_left_out() {
        check("SELECT * FROM c WHERE c.a = 1 AND c.b='x'", "SELECT * FROM c WHERE c.a = ? AND c.b=?");
        check("SELECT TOP 10 c.id FROM c OFFSET 5 LIMIT 20", "SELECT TOP ? c.id FROM c OFFSET ? LIMIT ?");
        check(
            "SELECT * FROM c WHERE c.a = -1.5e3 OR c.b = true",
            "SELECT * FROM c WHERE c.a = -? OR c.b = true",
        );
        check("SELECT * FROM c WHERE c.a = @a", "SELECT * FROM c WHERE c.a = @a");
    }

    #[test]
    fn a_list_of_constants_is_one_whatever_its_length() {
        for list in ["1, 2", "1,2,3", "'a', 'b',\n 'c', 4"] {
            check(&format!("SELECT * FROM c WHERE c.a IN ({list})"), "SELECT * FROM c WHERE c.a IN (?…)");
        }
        check("SELECT * FROM c WHERE c.a IN (1)", "SELECT * FROM c WHERE c.a IN (?)");
        check("SELECT VALUE CONCAT('a', c.b, 'd', 'e') FROM c", "SELECT VALUE CONCAT(?, c.b, ?…) FROM c");
        check("SELECT VALUE [1, c.a] FROM c", "SELECT VALUE [?, c.a] FROM c");
    }

    #[test]
    fn names_in_quotes_stay() {
        check(
            "SELECT c['a b'][\"d\"] FROM c WHERE c.x[0] = ['e']",
            "SELECT c['a b'][\"d\"] FROM c WHERE c.x[?] = [?]",
        );
        check("SELECT VALUE {'a': 'b', \"d\": 1} FROM c", "SELECT VALUE {'a': ?, \"d\": ?} FROM c");
        check("SELECT VALUE c.a ? 'x' : 'y' FROM c", "SELECT VALUE c.a ? ? : ? FROM c");
    }

    #[test]
    fn blanks_and_comments_are_one_blank() {
        check("  SELECT *\n\tFROM c -- all\n  WHERE c.a  =  1 ", "SELECT * FROM c WHERE c.a = ?");
    }

    #[test]
    fn a_long_text_is_cut_and_still_told_apart() {
        let long = |end: &str| format!("SELECT {} AS {end} FROM c", "é".repeat(400));
        let (a, b) = (Shape::of(&long("a")), Shape::of(&long("b")));
        assert_eq!(a.text.chars().count(), limits::USAGE_SHAPE_CHARS_MAX + 1);
        assert_eq!(a.text, b.text);
        assert_ne!(a.hash, b.hash);
        assert_eq!(Shape::of("SELECT 1").hash, Shape::of("SELECT  2").hash);
    }
}
