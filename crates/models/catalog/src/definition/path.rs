//! Paths to properties: `/address/zip`, `/"odd name"/x`.
//!
//! One scanner splits any path of a definition into pieces with positions, so that every error can say where.
//! A name may be quoted with `"` or `'`, and must be unless it consists of letters, digits and `_`; inside
//! quotes, `\` escapes a quote or another `\`.

use orrery_query::access::NameDisplay;
use std::fmt;

/// A path to one property: names only, at least one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PropertyPath(Vec<String>);

/// The position at which a path becomes invalid, in characters from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("path '{path}' could not be accepted, failed near position '{position}'")]
pub struct InvalidPath {
    pub path: String,
    pub position: usize,
}

impl PropertyPath {
    pub fn parse(raw: &str) -> Result<Self, InvalidPath> {
        let names = pieces(raw)?.into_iter().map(|(position, piece)| match piece {
            Piece::Name(name) => Ok(name),
            Piece::Each | Piece::Subtree | Piece::Value => Err(invalid(raw, position)),
        });
        Ok(Self(names.collect::<Result<_, _>>()?))
    }

    pub fn segments(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for PropertyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|name| write!(f, "{}", NameDisplay(name)))
    }
}

/// A path piece: a name, `[]`, `*` or `?`.
pub(super) enum Piece {
    Name(String),
    Each,
    Subtree,
    Value,
}

/// The pieces of a path with their positions; never empty.
pub(super) fn pieces(raw: &str) -> Result<Vec<(usize, Piece)>, InvalidPath> {
    let mut scan = Scan { chars: raw.chars().collect(), at: 0 };
    let mut found = Vec::new();
    while found.is_empty() || scan.peek().is_some() {
        let piece = scan.next_piece().ok_or_else(|| invalid(raw, scan.at))?;
        found.push(piece);
    }
    Ok(found)
}

pub(super) fn invalid(path: &str, position: usize) -> InvalidPath {
    InvalidPath { path: path.to_owned(), position }
}

struct Scan {
    chars: Vec<char>,
    at: usize,
}

/// Each of these returns `None` with `at` on the offending character.
impl Scan {
    fn next_piece(&mut self) -> Option<(usize, Piece)> {
        self.expect('/')?;
        let position = self.at;
        let piece = match self.peek()? {
            '*' => self.expect('*').map(|()| Piece::Subtree),
            '?' => self.expect('?').map(|()| Piece::Value),
            '[' => self.expect('[').and_then(|()| self.expect(']')).map(|()| Piece::Each),
            quote @ ('"' | '\'') => self.quoted(quote).map(Piece::Name),
            _ => self.bare().map(Piece::Name),
        };
        Some((position, piece?))
    }

    fn quoted(&mut self, quote: char) -> Option<String> {
        self.expect(quote)?;
        let mut name = String::new();
        while self.peek()? != quote {
            let escaped =
                self.peek() == Some('\\') && matches!(self.chars.get(self.at + 1), Some('\\' | '"' | '\''));
            self.at += usize::from(escaped);
            name.push(self.peek()?);
            self.at += 1;
        }
        self.expect(quote)?;
        Some(name).filter(|name| !name.is_empty())
    }

    fn bare(&mut self) -> Option<String> {
        let name: String = self.chars[self.at..].iter().copied().take_while(|c| is_bare(*c)).collect();
        self.at += name.chars().count();
        Some(name).filter(|name| !name.is_empty())
    }

    fn expect(&mut self, wanted: char) -> Option<()> {
        self.peek().filter(|c| *c == wanted)?;
        self.at += 1;
        Some(())
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }
}

fn is_bare(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(raw: &str, segments: &[&str]) {
        assert_eq!(PropertyPath::parse(raw).unwrap().segments(), segments, "{raw}");
    }

    fn refused(raw: &str, position: usize) {
        assert_eq!(PropertyPath::parse(raw), Err(invalid(raw, position)));
    }

    #[test]
    fn names_are_bare_or_quoted() {
        check("/a", &["a"]);
        check("/a_1/B", &["a_1", "B"]);
        check(r#"/a/"b c"/d"#, &["a", "b c", "d"]);
        check(r#"/"a/b""#, &["a/b"]);
        check("/'$v'/akey", &["$v", "akey"]);
        check(r#"/"say \"hi\" \\ \n""#, &[r#"say "hi" \ \n"#]);
        check("/größe", &["größe"]);
    }

    #[test]
    fn a_refusal_says_where() {
        refused("", 0);
        refused("pk", 0);
        refused("/", 1);
        refused("/a/", 3);
        refused("/a//b", 3);
        refused("/my-key", 3);
        refused("/a b", 2);
        refused("/a/*", 3);
        refused("/a/?", 3);
        refused("/tags/[]/name", 6);
        refused("/a/\"open", 8);
        refused("/a[]", 2);
    }

    proptest! {
        #[test]
        fn parse_undoes_display(names in prop::collection::vec("\\PC{1,8}", 1..4)) {
            let path = PropertyPath(names);
            prop_assert_eq!(PropertyPath::parse(&path.to_string()), Ok(path));
        }
    }
}
