//! The tip: the LSN of the last commit, and a checksum over all commits up to it.

use crate::{Error, META, Put};
use orrery_core::Lsn;
use xxhash_rust::xxh3::xxh3_64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tip {
    pub lsn: Lsn,
    pub chain: u64,
}

impl Tip {
    pub const BYTES: usize = 24;
    /// Key of the tip row, in `meta`.
    pub const KEY: &[u8] = b"\0tip";

    /// The tip that a put writes, if it writes the tip row.
    pub fn written_by(put: &Put) -> Option<Self> {
        let is_tip = put.space == META && put.key == Self::KEY;
        put.value.as_ref().filter(|_| is_tip).and_then(|value| Self::from_bytes(value))
    }

    /// The tip after one more commit whose log entries have these links.
    pub fn next(self, lsn: Lsn, links: &[u64]) -> Self {
        let mut text = Vec::with_capacity(16 + 8 * links.len());
        text.extend_from_slice(&self.chain.to_be_bytes());
        text.extend_from_slice(&lsn.0.to_be_bytes());
        for link in links {
            text.extend_from_slice(&link.to_be_bytes());
        }
        Self { lsn, chain: xxh3_64(&text) }
    }

    /// LSN, chain, and a checksum of both, which tells a torn record from a whole one.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.lsn.0.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.chain.to_be_bytes());
        let check = xxh3_64(&bytes[..16]);
        bytes[16..].copy_from_slice(&check.to_be_bytes());
        bytes
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let whole = bytes.len() == Self::BYTES && word(16)? == xxh3_64(&bytes[..16]);
        whole.then_some(Self { lsn: Lsn(word(0)?), chain: word(8)? })
    }

    /// Whether a store that ends at `self` still has everything acknowledged up to `promised`.
    pub fn keeps(self, promised: Tip) -> Result<(), Error> {
        if self.lsn < promised.lsn {
            return Err(Error::Truncated { found: self.lsn, promised: promised.lsn });
        }
        if self.lsn == promised.lsn && self.chain != promised.chain {
            let lsn = self.lsn;
            return Err(Error::Corrupt(format!("commit {lsn} is not the one that was acknowledged")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_note_is_not_a_tip() {
        let tip = Tip::default().next(Lsn(9), &[1, 2]);
        assert_eq!(Tip::from_bytes(&tip.to_bytes()), Some(tip));
        let mut torn = tip.to_bytes();
        torn[3] ^= 1;
        assert_eq!(Tip::from_bytes(&torn), None);
        assert_eq!(Tip::from_bytes(&torn[..20]), None);
    }

    #[test]
    fn a_store_that_ends_early_or_differs_is_noticed() {
        let at = |lsn, chain| Tip { lsn: Lsn(lsn), chain };
        assert_eq!(at(5, 1).keeps(at(5, 1)), Ok(()));
        assert_eq!(at(6, 2).keeps(at(5, 1)), Ok(()));
        assert!(matches!(at(4, 0).keeps(at(5, 1)), Err(Error::Truncated { .. })));
        assert!(matches!(at(5, 2).keeps(at(5, 1)), Err(Error::Corrupt(_))));
    }
}
