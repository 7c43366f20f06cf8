//! Paths of an indexing policy: `/*`, `/status/?`, `/tags/[]/name/?`.
//!
//! A path consists of properties and array elements and ends with its scope: `/?` is the scalar there, `/*`
//! everything below. The text is shown as sent, with the service's two exceptions: the old root `/` becomes
//! `/*`, and the etag's path is shown as `/"_etag"/?`.

use super::members::DefinitionError;
use super::path::{self, InvalidPath, Piece};
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IndexPath {
    steps: Vec<IndexStep>,
    reach: IndexReach,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IndexStep {
    Property(String),
    /// `[]`: every element of an array.
    Each,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexReach {
    /// `/?`
    Value,
    /// `/*`
    Subtree,
}

const ETAG: &str = "_etag";

impl IndexPath {
    pub fn parse(raw: &str) -> Result<Self, InvalidPath> {
        if raw == "/" {
            return Ok(Self::root());
        }
        let mut pieces = path::pieces(raw)?;
        let reach = match pieces.pop() {
            Some((_, Piece::Subtree)) => IndexReach::Subtree,
            Some((_, Piece::Value)) => IndexReach::Value,
            _ => return Err(path::invalid(raw, raw.chars().count())),
        };
        let steps = pieces.into_iter().map(|(position, piece)| match piece {
            Piece::Name(name) => Ok(IndexStep::Property(name)),
            Piece::Each => Ok(IndexStep::Each),
            Piece::Subtree | Piece::Value => Err(path::invalid(raw, position)),
        });
        Ok(Self::new(steps.collect::<Result<_, _>>()?, reach, raw))
    }

    /// `/*`: everything.
    pub fn root() -> Self {
        Self::new(Vec::new(), IndexReach::Subtree, "/*")
    }

    /// `/"_etag"/?`, which is indexed only if a policy says so.
    pub fn etag() -> Self {
        Self::new(vec![IndexStep::Property(ETAG.to_owned())], IndexReach::Value, "")
    }

    pub fn steps(&self) -> &[IndexStep] {
        &self.steps
    }

    pub fn reach(&self) -> IndexReach {
        self.reach
    }

    pub fn is_root(&self) -> bool {
        self.steps.is_empty() && self.reach == IndexReach::Subtree
    }

    pub fn is_etag(&self) -> bool {
        is_etag(&self.steps)
    }

    /// The meaning of the path, however it is spelled.
    pub fn place(&self) -> (&[IndexStep], IndexReach) {
        (&self.steps, self.reach)
    }

    fn new(steps: Vec<IndexStep>, reach: IndexReach, raw: &str) -> Self {
        let text = match reach {
            IndexReach::Value if is_etag(&steps) => "/\"_etag\"/?".to_owned(),
            IndexReach::Subtree if is_etag(&steps) => "/\"_etag\"/*".to_owned(),
            IndexReach::Value | IndexReach::Subtree => raw.to_owned(),
        };
        Self { steps, reach, text }
    }
}

fn is_etag(steps: &[IndexStep]) -> bool {
    matches!(steps, [IndexStep::Property(name)] if name == ETAG)
}

impl fmt::Display for IndexPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

pub(super) fn refusal(error: InvalidPath) -> DefinitionError {
    DefinitionError::Invalid(format!(
        "The indexing {error}. Please ensure that the path is a valid path: it starts with '/', ends with \
         '/?' or '/*', has '*' only at its end ('[]' stands for the elements of an array), and quotes names \
         that have other characters than letters, digits and '_'."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, shown: &str, steps: usize, reach: IndexReach) {
        let path = IndexPath::parse(raw).unwrap();
        assert_eq!((path.to_string().as_str(), path.steps().len(), path.reach()), (shown, steps, reach));
    }

    fn refused(raw: &str, position: usize) {
        assert_eq!(IndexPath::parse(raw), Err(path::invalid(raw, position)));
    }

    #[test]
    fn paths_are_shown_as_sent_except_the_root_and_the_etag() {
        check("/*", "/*", 0, IndexReach::Subtree);
        check("/", "/*", 0, IndexReach::Subtree);
        check("/status/?", "/status/?", 1, IndexReach::Value);
        check("/\"status\"/?", "/\"status\"/?", 1, IndexReach::Value);
        check("/agents/[]/result/*", "/agents/[]/result/*", 3, IndexReach::Subtree);
        check("/_etag/?", "/\"_etag\"/?", 1, IndexReach::Value);
        check("/_ts/?", "/_ts/?", 1, IndexReach::Value);
    }

    #[test]
    fn an_inner_star_and_a_missing_suffix_are_refused_by_position() {
        refused("/agents/*/result/*", 8);
        refused("/a/?/b/?", 3);
        refused("/expiration", 11);
        refused("/my-key/?", 3);
        refused("/a/*x", 4);
        refused("status/?", 0);
    }

    #[test]
    fn two_spellings_of_a_path_are_one_place() {
        let (bare, quoted) = (IndexPath::parse("/a/?").unwrap(), IndexPath::parse("/\"a\"/?").unwrap());
        assert_eq!(bare.place(), quoted.place());
        assert_ne!(bare.place(), IndexPath::parse("/a/*").unwrap().place());
    }
}
