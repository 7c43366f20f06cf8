//! ETags of blobs and containers: the moment of the last change, in hexadecimal digits.

use orrery_core::Ticks;
use std::fmt;

/// `0x8DE23A1B2C3D4E5F`, in the form that lists show; headers have it in quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobETag(Ticks);

/// What `If-Match` and `If-None-Match` name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ETagMatch {
    /// `*`
    Any,
    /// One of these. Tags that no blob of ours can have are left out.
    OneOf(Vec<BlobETag>),
}

impl BlobETag {
    pub const fn new(modified: Ticks) -> Self {
        Self(modified)
    }

    /// With or without quotes, as clients send both. `None`: no blob of ours has it.
    pub fn parse(raw: &str) -> Option<Self> {
        let digits = raw.trim().trim_matches('"').strip_prefix("0x")?;
        if digits.len() != DIGITS || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        u64::from_str_radix(digits, 16).ok().map(|count| Self(Ticks::from_count(count)))
    }

    /// In quotes, as headers have it.
    pub fn quoted(self) -> String {
        format!("\"{self}\"")
    }
}

const DIGITS: usize = 16;

impl fmt::Display for BlobETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:016X}", self.0.count())
    }
}

impl ETagMatch {
    /// The value of a header: `*`, or tags with commas between them.
    pub fn parse(header: &str) -> Self {
        if header.trim() == "*" {
            return Self::Any;
        }
        Self::OneOf(header.split(',').filter_map(BlobETag::parse).collect())
    }

    pub fn holds(&self, etag: BlobETag) -> bool {
        match self {
            Self::Any => true,
            Self::OneOf(tags) => tags.contains(&etag),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_read_with_and_without_quotes() {
        let etag = BlobETag::new(Ticks::from_count(0x08de_0123_4567_89ab));
        assert_eq!(etag.to_string(), "0x08DE0123456789AB");
        assert_eq!(etag.quoted(), "\"0x08DE0123456789AB\"");
        for text in ["0x08DE0123456789AB", "\"0x08DE0123456789AB\"", " \"0x08de0123456789ab\" "] {
            assert_eq!(BlobETag::parse(text), Some(etag), "{text}");
        }
        for text in
            ["", "*", "0x", "08DE0123456789AB", "0x8DE", "0x08DE0123456789AG", "W/\"0x08DE0123456789AB\""]
        {
            assert_eq!(BlobETag::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_header_names_any_or_some() {
        let [one, other] = [1, 2].map(|count| BlobETag::new(Ticks::from_count(count)));
        assert!(ETagMatch::parse("*").holds(one));
        let listed = ETagMatch::parse("\"0x0000000000000001\", \"unknown\"");
        assert!(listed.holds(one) && !listed.holds(other));
        assert!(!ETagMatch::parse("unknown").holds(one));
    }
}
