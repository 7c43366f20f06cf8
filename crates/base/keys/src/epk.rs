//! The effective partition key: the position of a partition key value in its container's key space.
//!
//! It is a byte string; clients see it as upper-case hex. The key space of a container runs from the empty
//! string to `FF`, and ranges are half-open. The order is bytewise, a prefix first.

use std::fmt;

use crate::limits::EPK_BYTES_MAX;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epk(Vec<u8>);

/// The text or bytes are not an effective partition key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidEpk {
    OddLength,
    NotHex { at: usize },
    TooLong { bytes: usize },
}

impl Epk {
    /// The start of every container's key space, inclusive.
    pub fn start() -> Self {
        Self(Vec::new())
    }

    /// The end of every container's key space, exclusive.
    pub fn end() -> Self {
        Self(vec![0xff])
    }

    /// Parses hex digits of either case.
    pub fn parse(hex: &str) -> Result<Self, InvalidEpk> {
        if let Some(at) = hex.bytes().position(|byte| !byte.is_ascii_hexdigit()) {
            return Err(InvalidEpk::NotHex { at });
        }
        let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
        if !rest.is_empty() {
            return Err(InvalidEpk::OddLength);
        }
        Self::from_bytes(&pairs.iter().map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect::<Vec<u8>>())
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidEpk> {
        if bytes.len() > EPK_BYTES_MAX {
            return Err(InvalidEpk::TooLong { bytes: bytes.len() });
        }
        Ok(Self(bytes.to_vec()))
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Bytes computed by this crate, which are short enough.
    pub(crate) fn computed(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

/// The range of all keys with this prefix: the range of a hierarchical partition key's prefix. No hash begins
/// with FF (its two top bits are clear), so `P`+`FF` is greater than all of them.
pub fn prefix_range(epk: &Epk) -> (Epk, Epk) {
    (epk.clone(), Epk([epk.as_bytes(), &[0xff]].concat()))
}

fn digit(hex: u8) -> u8 {
    match hex {
        b'0'..=b'9' => hex - b'0',
        _ => (hex & 0xdf) - b'A' + 10,
    }
}

impl fmt::Display for Epk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
    }
}

impl fmt::Display for InvalidEpk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OddLength => f.write_str("an effective partition key has an even number of hex digits"),
            Self::NotHex { at } => write!(f, "at byte {at}: expected a hex digit"),
            Self::TooLong { bytes } => {
                write!(f, "{bytes} bytes are too long for an effective partition key")
            }
        }
    }
}

impl std::error::Error for InvalidEpk {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_of_either_case_is_read_and_upper_case_written() {
        assert_eq!(Epk::parse("05c1Ed45").unwrap().to_string(), "05C1ED45");
        assert_eq!(Epk::parse("").unwrap(), Epk::start());
        assert_eq!(Epk::parse("ff").unwrap(), Epk::end());
    }

    #[test]
    fn other_text_is_refused() {
        assert_eq!(Epk::parse("05C"), Err(InvalidEpk::OddLength));
        assert_eq!(Epk::parse("05 C"), Err(InvalidEpk::NotHex { at: 2 }));
        assert_eq!(Epk::parse("é0"), Err(InvalidEpk::NotHex { at: 0 }));
        assert_eq!(Epk::parse(&"0".repeat(258)), Err(InvalidEpk::TooLong { bytes: 129 }));
        assert!(Epk::parse(&"0".repeat(256)).is_ok());
    }

    #[test]
    fn order_is_that_of_the_bytes() {
        let ascending = ["", "00", "0000", "05", "05C1", "06", "3FFF", "FF", "FFFF"];
        let parsed: Vec<Epk> = ascending.iter().map(|hex| Epk::parse(hex).unwrap()).collect();
        assert!(parsed.is_sorted());
    }

    #[test]
    fn a_prefix_covers_what_begins_with_it() {
        let (min, max) = prefix_range(&Epk::parse("22E3").unwrap());
        assert_eq!((min.to_string().as_str(), max.to_string().as_str()), ("22E3", "22E3FF"));
    }
}
