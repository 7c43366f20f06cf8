//! Pages of rows that need no merging: range after range, with one or more pages each, as on the service.
//!
//! The token is the service's: `{"token":…,"range":{"min":…,"max":…}}` after the first page, and a list of one such
//! object after later ones. The inner token is one of [`Tokens`](crate::continuation::Tokens); an empty state means
//! the beginning of the range.

use crate::continuation::{ContinuationError, Seal};
use crate::limits;
use crate::partition_key::Scope;
use orrery_documents::catalog::Container;
use orrery_documents::ranges::Range;
use orrery_keys::Epk;
use serde_json::Value;

/// The partitions that a filter names, as `(min, max)`; none if it does not restrict them.
pub(crate) type NamedPartitions<'a> = Option<&'a [(Epk, Epk)]>;

/// A received continuation: the inner token, and the part of the container that it belongs to.
#[derive(Debug, PartialEq, Eq)]
pub struct Received {
    token: String,
    piece: Option<Piece>,
}

impl Received {
    pub fn parse(text: &str) -> Result<Self, ContinuationError> {
        if !text.starts_with(['{', '[']) {
            return Ok(Self { token: text.to_owned(), piece: None });
        }
        if text.len() > limits::CONTINUATION_BYTES_MAX {
            return Err(ContinuationError::Invalid);
        }
        Self::of_json(text).ok_or(ContinuationError::Invalid)
    }

    fn of_json(text: &str) -> Option<Self> {
        let read: Value = serde_json::from_str(text).ok()?;
        let one = match &read {
            Value::Array(list) if list.len() == 1 => &list[0],
            other => other,
        };
        let bound = |name: &str| Epk::parse(one["range"][name].as_str()?).ok();
        let piece = Piece { min: bound("min")?, max: bound("max")? };
        let token = one["token"].as_str()?.to_owned();
        (piece.min < piece.max).then_some(Self { token, piece: Some(piece) })
    }
}

/// The part of a container that one page reads: one range, or the token's part of one that was split since.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    min: Epk,
    max: Epk,
}

impl Piece {
    /// The first part from `start` on that overlaps the named partitions.
    fn from(start: &Epk, ranges: &[Range], named: NamedPartitions<'_>) -> Option<Self> {
        let ahead = ranges.iter().filter(|range| range.max > *start);
        let mut pieces =
            ahead.map(|range| Self { min: range.min.clone().max(start.clone()), max: range.max.clone() });
        pieces.find(|piece| named.is_none_or(|named| named.iter().any(|one| piece.shares(one))))
    }

    fn shares(&self, (min, max): &(Epk, Epk)) -> bool {
        *min < self.max && (self.min < *max || (min == max && self.min <= *min))
    }

    fn of(scope: &Scope) -> Self {
        match scope {
            Scope::Partition(epk) => Self { min: epk.clone(), max: epk.clone() },
            Scope::Between(min, max) => Self { min: min.clone(), max: max.clone() },
        }
    }

    /// Its intersection with a scope.
    fn within(self, scope: &Scope) -> Result<Scope, ContinuationError> {
        let Scope::Between(min, max) = scope else { return Ok(scope.clone()) };
        let (min, max) = (self.min.max(min.clone()), self.max.min(max.clone()));
        if min < max { Ok(Scope::Between(min, max)) } else { Err(ContinuationError::Invalid) }
    }

    fn continuation(&self, token: &str, is_resumed: bool) -> String {
        let Self { min, max } = self;
        // The token is Base64, and the bounds are hexadecimal: nothing needs escaping.
        let one = format!(r#"{{"token":"{token}","range":{{"min":"{min}","max":"{max}"}}}}"#);
        if is_resumed { format!("[{one}]") } else { one }
    }
}

/// The pages of one answer.
pub(crate) struct Pages<'a> {
    pub container: &'a Container,
    /// The scope of the request.
    pub scope: &'a Scope,
    pub named: NamedPartitions<'a>,
    pub seal: Seal<'a>,
}

/// Where a page begins.
pub(crate) struct Begin {
    pub scope: Scope,
    pub resume: Option<Vec<u8>>,
    /// Whether the result is paged range by range.
    pub is_by_range: bool,
}

impl Pages<'_> {
    pub(crate) fn begin(
        &self,
        token: Option<&Received>,
        is_by_range: bool,
    ) -> Result<Begin, ContinuationError> {
        orrery_core::tour_step!();
        let resume = token.map(|received| self.seal.unseal(&received.token)).transpose()?;
        let resume = resume.filter(|state| !state.is_empty());
        let piece = match token {
            None if is_by_range => self.first(),
            None => None,
            // The token decides whether its result is paged range by range, whatever the server's setting is by now.
            Some(received) => received.piece.clone(),
        };
        let is_by_range = piece.is_some();
        let scope = piece.map_or(Ok(self.scope.clone()), |piece| piece.within(self.scope))?;
        Ok(Begin { scope, resume, is_by_range })
    }

    /// The range that the first page reads; the very first range if none overlaps the named partitions.
    fn first(&self) -> Option<Piece> {
        let ranges = self.container.ranges().leaves();
        Piece::from(&Epk::start(), ranges, self.named).or_else(|| Piece::from(&Epk::start(), ranges, None))
    }

    /// The token of the page after one of this scope, which ended at `state` or at the end of the scope.
    pub(crate) fn next(&self, is_resumed: bool, scope: &Scope, state: Option<&[u8]>) -> Option<String> {
        let read = Piece::of(scope);
        let (piece, token) = match state {
            Some(state) => (read, self.seal.seal(state)),
            None => {
                let ranges = self.container.ranges().leaves();
                let next = Piece::from(&read.max, ranges, self.named)?;
                let is_meant = matches!(self.scope, Scope::Between(_, max) if next.min < *max);
                (Some(next).filter(|_| is_meant)?, self.seal.seal(&[]))
            }
        };
        Some(piece.continuation(&token, is_resumed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_documents::ranges::Ranges;
    use orrery_keys::Hashing;

    fn key(text: &str) -> Epk {
        Epk::parse(text).expect(text)
    }

    fn piece(min: &str, max: &str) -> Piece {
        Piece { min: key(min), max: key(max) }
    }

    #[test]
    fn a_continuation_is_an_object_first_and_a_list_then() {
        let piece = piece("", "1F");
        let first = piece.continuation("t", false);
        assert_eq!(first, r#"{"token":"t","range":{"min":"","max":"1F"}}"#);
        let later = piece.continuation("t", true);
        assert_eq!(later, format!("[{first}]"));
        let expected = Received { token: "t".to_owned(), piece: Some(piece) };
        assert_eq!(Received::parse(&first), Ok(expected));
        assert_eq!(Received::parse(&first), Received::parse(&later));
        assert_eq!(Received::parse("t"), Ok(Received { token: "t".to_owned(), piece: None }));
    }

    #[test]
    fn json_that_is_no_continuation_is_refused() {
        for text in [
            "{",
            "{}",
            "[]",
            r#"{"token":"t"}"#,
            r#"{"token":null,"range":{"min":"","max":"FF"}}"#,
            r#"{"token":"t","range":{"min":"","max":"x"}}"#,
            r#"{"token":"t","range":{"min":"1F","max":"1F"}}"#,
            r#"{"token":"t","range":{"min":"1F","max":"0F"}}"#,
        ] {
            Received::parse(text).expect_err(text);
        }
    }

    #[test]
    fn ranges_without_a_named_partition_are_passed_over() {
        let ranges = Ranges::even(Hashing::HashV2, 4);
        let ranges = ranges.leaves();
        let bounds = |index: usize| Piece { min: ranges[index].min.clone(), max: ranges[index].max.clone() };
        assert_eq!(Piece::from(&Epk::start(), ranges, None), Some(bounds(0)));
        assert_eq!(Piece::from(&ranges[0].max, ranges, None), Some(bounds(1)));
        let in_third = (ranges[2].min.clone(), ranges[2].min.clone());
        let named = [in_third];
        assert_eq!(Piece::from(&Epk::start(), ranges, Some(&named)), Some(bounds(2)));
        assert_eq!(Piece::from(&ranges[2].max, ranges, Some(&named)), None);
        assert_eq!(Piece::from(&Epk::end(), ranges, None), None);
        let prefix = [(ranges[0].min.clone(), ranges[1].max.clone())];
        assert_eq!(
            Piece::from(&ranges[1].max, ranges, Some(&prefix)),
            None,
            "the end of a prefix is not in it"
        );
    }

    #[test]
    fn a_token_of_a_split_range_covers_all_of_its_descendants() {
        let ranges = Ranges::even(Hashing::HashV2, 2);
        let (old, now) = (ranges.leaves()[0].clone(), ranges.grown(Hashing::HashV2, 4));
        assert_eq!(Piece::from(&old.max, now.leaves(), None).map(|next| next.min), Some(old.max));
    }
}
