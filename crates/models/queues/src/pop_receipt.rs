//! Pop receipts: what a client shows to update or delete a message that it holds.
//!
//! A receipt names the visibility row that was written when it was given. A get or an update removes that row and writes
//! another, so an earlier receipt opens nothing any more.

use crate::row::Position;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use orrery_core::Timestamp;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PopReceipt {
    pub(crate) position: Position,
    pub(crate) nonce: Nonce,
}

/// Differs between any two visibility rows that a message had: the count of changes by itself, and the salt keeps others
/// from guessing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Nonce {
    pub changes: u32,
    pub salt: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Invalid pop receipt format")]
pub struct InvalidPopReceipt;

const BYTES: usize = 24;

impl PopReceipt {
    pub fn parse(text: &str) -> Result<Self, InvalidPopReceipt> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidPopReceipt)?;
        let bytes: [u8; BYTES] = bytes.try_into().map_err(|_| InvalidPopReceipt)?;
        let word = |at: usize| bytes[at..at + 8].iter().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
        let (changes, salt) = ((word(16) >> 32) as u32, word(16) as u32);
        Ok(Self {
            position: Position { visible_at: Timestamp::from_millis(word(0)), ordinal: word(8) },
            nonce: Nonce { changes, salt },
        })
    }

    /// Where the message stands since the receipt was given.
    pub fn position(&self) -> Position {
        self.position
    }
}

/// Without characters that a URL must escape.
impl fmt::Display for PopReceipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, nonce } = self;
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&position.visible_at.millis().to_be_bytes());
        bytes[8..16].copy_from_slice(&position.ordinal.to_be_bytes());
        bytes[16..20].copy_from_slice(&nonce.changes.to_be_bytes());
        bytes[20..].copy_from_slice(&nonce.salt.to_be_bytes());
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_receipt_is_refused() {
        for text in ["", "abc", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "é"] {
            assert_eq!(PopReceipt::parse(text), Err(InvalidPopReceipt), "{text}");
        }
    }

    proptest! {
        #[test]
        fn parse_undoes_display(at: u64, ordinal: u64, changes: u32, salt: u32) {
            let position = Position { visible_at: Timestamp::from_millis(at), ordinal };
            let receipt = PopReceipt { position, nonce: Nonce { changes, salt } };
            let text = receipt.to_string();
            prop_assert_eq!(PopReceipt::parse(&text), Ok(receipt));
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
        }
    }
}
