//! The etag of one version of a resource. Opaque to clients; written quoted, in the form of a GUID.

use crate::Guid;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ETag(u128);

impl ETag {
    pub const fn from_u128(raw: u128) -> Self {
        Self(raw)
    }

    pub const fn as_u128(self) -> u128 {
        self.0
    }

    /// Accepts the etag with or without quotes, as clients send both. `None` is an etag that no version
    /// of ours ever had, so it equals none.
    pub fn parse(raw: &str) -> Option<Self> {
        let text = raw.trim().trim_matches('"');
        let groups: Vec<&str> = text.split('-').collect();
        let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
        if lengths != [8, 4, 4, 4, 12] || !text.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit()) {
            return None;
        }
        u128::from_str_radix(&groups.concat(), 16).ok().map(Self)
    }
}

impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", Guid::new(self.0).as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parse_undoes_display(raw: u128) {
            let tag = ETag::from_u128(raw);
            prop_assert_eq!(ETag::parse(&tag.to_string()), Some(tag));
            prop_assert_eq!(ETag::parse(tag.to_string().trim_matches('"')), Some(tag));
        }

        #[test]
        fn parse_never_panics(text in ".{0,60}") {
            let _ = ETag::parse(&text);
        }
    }

    #[test]
    fn a_foreign_tag_is_none() {
        for text in ["", "*", "\"abc\"", "0000000g-0000-0000-0000-000000000000"] {
            assert_eq!(ETag::parse(text), None, "{text}");
        }
    }
}
