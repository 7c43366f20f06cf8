//! Session tokens: `<range>:-1#<lsn>`, several joined by commas (wire guide §21).
//!
//! A token has, for each range, the newest commit that its holder has seen. Ours contain the newest commit of that
//! range, so a write advances the token of its own range and of no other. LSNs are in one order over all ranges, so the
//! token of a split range is valid for its descendants.

use crate::failure::Failure;
use crate::service::Cosmos;
use orrery_core::Lsn;
use orrery_document_store::limits;
use orrery_documents::catalog::Container;
use orrery_documents::ranges::Range;

/// The token of one range for a reader of the state as of `seen`, and its LSN.
pub fn token(cosmos: &Cosmos, container: &Container, range: u32, seen: Lsn) -> (String, Lsn) {
    let newest = cosmos.store().range_lsn(container.number(), range, seen);
    (part(range, newest), newest)
}

/// The token of several ranges together.
pub fn tokens(cosmos: &Cosmos, container: &Container, ranges: &[Range], seen: Lsn) -> String {
    let mut text = String::with_capacity(ranges.len() * 16);
    for range in ranges {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&token(cosmos, container, range.id, seen).0);
    }
    text
}

fn part(range: u32, lsn: Lsn) -> String {
    [&range.to_string(), ":-1#", &lsn.0.to_string()].concat()
}

/// The LSNs that a client has seen, by range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token(Vec<(u32, Lsn)>);

impl Token {
    pub fn parse(text: &str) -> Result<Self, Failure> {
        if text.len() > limits::CONTINUATION_BYTES_MAX {
            return Err(malformed(text));
        }
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let parts = parts.map(|part| read_part(part).ok_or_else(|| malformed(text)));
        Ok(Self(parts.collect::<Result<_, _>>()?))
    }

    /// The newest commit that its holder has seen of a range or of its ancestors. Other ranges do not matter.
    pub fn wants(&self, range: &Range) -> Lsn {
        let speaks_of = |id: &u32| *id == range.id || range.parents.contains(id);
        let lsns = self.0.iter().filter(|(id, _)| speaks_of(id)).map(|(_, lsn)| *lsn);
        lsns.max().unwrap_or(Lsn(0))
    }
}

/// `0:-1#12` or with regions `0:-1#12#1=9`; the short form `0:12` of old clients too.
fn read_part(part: &str) -> Option<(u32, Lsn)> {
    let (range, vector) = part.split_once(':')?;
    let range = range.parse().ok()?;
    let mut fields = vector.split('#');
    let first = fields.next()?;
    let lsn = match fields.next() {
        None => first,
        Some(lsn) => {
            first.parse::<i64>().ok()?;
            lsn
        }
    };
    Some((range, Lsn(lsn.parse().ok()?)))
}

fn malformed(token: &str) -> Failure {
    let shown: String = token.chars().take(64).collect();
    Failure::bad_request(format!("The session token '{shown}' is malformed; send it as it was received."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_keys::Epk;

    fn range(id: u32, parents: &[u32]) -> Range {
        Range { id, min: Epk::start(), max: Epk::end(), parents: parents.to_vec(), since: 1 }
    }

    fn wants(token: &str, range: &Range) -> u64 {
        Token::parse(token).expect(token).wants(range).0
    }

    #[test]
    fn tokens_are_read_as_they_are_written() {
        assert_eq!(wants(&part(3, Lsn(9)), &range(3, &[])), 9);
        assert_eq!(wants("0:-1#8#1=3", &range(0, &[])), 8);
        assert_eq!(wants("0:12", &range(0, &[])), 12);
        assert_eq!(wants("", &range(0, &[])), 0);
    }

    #[test]
    fn parts_of_other_ranges_are_ignored_and_those_of_ancestors_count() {
        assert_eq!(wants("0:-1#8,1:-1#7", &range(1, &[])), 7);
        assert_eq!(wants("0:-1#8,1:-1#7", &range(2, &[])), 0);
        assert_eq!(wants("0:-1#8,4:-1#7,5:-1#99", &range(4, &[0, 2])), 8);
        assert_eq!(wants("0:-1#3,0:-1#9", &range(0, &[])), 9, "the newest of what is said twice");
    }

    #[test]
    fn a_malformed_token_is_a_bad_request() {
        for token in ["x", "0:", "0:-1#", "0:-1#x", "x:-1#1", "0:a#1", "0:-1#99999999999999999999"] {
            assert_eq!(Token::parse(token).expect_err(token).status, 400);
        }
    }
}
