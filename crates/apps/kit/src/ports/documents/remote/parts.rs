//! A position in each part of a container, as its ranges split and merge.
//!
//! A part is an interval of effective partition keys with a token of the store: the position of a query or
//! feed within it. Before a part is read it is narrowed to lie within one range. A part's token is valid in
//! every piece of it, as the protocol guarantees for splits.
//!
//! The text form is Base64 of JSON, with a hash of the query so that it is not used for another one. A client
//! may alter it; that reaches nothing beyond what the query itself can reach.

use super::errors;
use super::ranges::Range;
use crate::ports::documents::StoreError;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use orrery_documents::catalog::limits;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

const VERSION: u8 = 1;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub min: String,
    pub max: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// The parts still to read, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts(pub VecDeque<Part>);

#[derive(Serialize, Deserialize)]
struct Written {
    v: u8,
    of: String,
    parts: VecDeque<Part>,
}

/// The range that contains a part, and the bounds to send if the part is only a fraction of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Within {
    pub range: String,
    pub bounds: Option<(String, String)>,
}

impl Parts {
    pub fn all(token: Option<&str>) -> Self {
        let token = token.map(str::to_owned);
        let all = Part { min: String::new(), max: "FF".to_owned(), token };
        Self(VecDeque::from([all]))
    }

    pub fn read(of: &str, text: &str) -> Result<Self, StoreError> {
        Self::checked(of, text).ok_or_else(|| {
            errors::refused(400, "the continuation is not one of this question; start from the beginning")
        })
    }

    fn checked(of: &str, text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let written: Written = serde_json::from_slice(&bytes).ok()?;
        let is_key =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte));
        let is_part = |part: &Part| is_key(&part.min) && is_key(&part.max) && part.min < part.max;
        let is_ours = written.v == VERSION && written.of == of && written.parts.iter().all(is_part);
        is_ours.then_some(Self(written.parts))
    }

    pub fn write(&self, of: &str) -> Result<String, StoreError> {
        let written = Written { v: VERSION, of: of.to_owned(), parts: self.0.clone() };
        let text = serde_json::to_vec(&written);
        let text = text.map_err(|error| errors::refused(500, error.to_string()))?;
        Ok(URL_SAFE_NO_PAD.encode(text))
    }

    /// Narrows the first part to one range, and returns that range.
    pub fn narrow_to_range(&mut self, ranges: &[Range]) -> Result<Within, StoreError> {
        let lost = || StoreError::Unavailable("its partitions are being moved".to_owned());
        let part = self.0.pop_front().ok_or_else(lost)?;
        let first = ranges.iter().rfind(|range| range.min <= part.min).ok_or_else(lost)?;
        if first.max < part.max {
            if self.0.len() > limits::CONTAINERS_MAX {
                return Err(lost());
            }
            self.0.push_front(Part { min: first.max.clone(), ..part.clone() });
        }
        let head = Part { max: part.max.min(first.max.clone()), ..part };
        let is_whole = head.min == first.min && head.max == first.max;
        let bounds = (!is_whole).then(|| (head.min.clone(), head.max.clone()));
        self.0.push_front(head);
        Ok(Within { range: first.id.clone(), bounds })
    }
}

#[cfg(test)]
mod tests {
    use super::super::ranges::range;
    use super::*;

    fn part(min: &str, max: &str, token: Option<&str>) -> Part {
        Part { min: min.to_owned(), max: max.to_owned(), token: token.map(str::to_owned) }
    }

    #[test]
    fn a_part_of_several_ranges_is_divided_and_keeps_its_token() {
        let ranges = [range("1", "", "1F", &[]), range("2", "1F", "2F", &[]), range("3", "2F", "FF", &[])];
        let mut parts = Parts(VecDeque::from([part("", "2F", Some("t")), part("2F", "FF", None)]));
        let within = parts.narrow_to_range(&ranges).unwrap();
        assert_eq!(within, Within { range: "1".to_owned(), bounds: None });
        let expected = [part("", "1F", Some("t")), part("1F", "2F", Some("t")), part("2F", "FF", None)];
        assert_eq!(Vec::from(parts.0.clone()), expected);
        assert_eq!(parts.narrow_to_range(&ranges).unwrap().range, "1", "what is settled stays so");
        parts.0.pop_front();
        assert_eq!(parts.narrow_to_range(&ranges).unwrap(), Within { range: "2".to_owned(), bounds: None });
    }

    #[test]
    fn a_part_of_a_merged_range_names_its_bounds() {
        let mut parts = Parts(VecDeque::from([part("1F", "2F", Some("t"))]));
        let bounds = Some(("1F".to_owned(), "2F".to_owned()));
        assert_eq!(
            parts.narrow_to_range(&[range("4", "", "FF", &[])]).unwrap(),
            Within { range: "4".to_owned(), bounds }
        );
    }

    #[test]
    fn a_position_is_valid_only_for_its_own_query() {
        let parts = Parts(VecDeque::from([part("", "1F", Some("t")), part("1F", "FF", None)]));
        let text = parts.write("q").unwrap();
        assert_eq!(Parts::read("q", &text), Ok(parts.clone()));
        assert!(Parts::read("r", &text).is_err());
        let bad = Parts(VecDeque::from([part("zz", "FF", None)]));
        for text in ["", "####", "e30", &bad.write("q").unwrap()] {
            assert!(Parts::read("q", text).is_err(), "{text}");
        }
    }
}
