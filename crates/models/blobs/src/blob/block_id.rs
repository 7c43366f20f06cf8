//! The id of a block: up to 64 bytes that the client chooses, in Base64 on the wire.

use crate::limits;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(Bytes);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the id of a block is Base64 of 1 to {} bytes", limits::BLOCK_ID_BYTES_MAX)]
pub struct InvalidBlockId;

impl BlockId {
    pub fn parse(base64: &str) -> Result<Self, InvalidBlockId> {
        let bytes = STANDARD.decode(base64).map_err(|_| InvalidBlockId)?;
        Self::from_bytes(bytes.into())
    }

    pub(crate) fn from_bytes(bytes: Bytes) -> Result<Self, InvalidBlockId> {
        if (1..=limits::BLOCK_ID_BYTES_MAX).contains(&bytes.len()) {
            Ok(Self(bytes))
        } else {
            Err(InvalidBlockId)
        }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// In Base64.
impl fmt::Display for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_up_to_64_bytes() {
        let check = |raw: &str, is_id: bool| assert_eq!(BlockId::parse(raw).is_ok(), is_id, "{raw}");
        check("QUFBQQ==", true);
        check(&STANDARD.encode([7; 64]), true);
        check(&STANDARD.encode([7; 65]), false);
        check("", false);
        check("QUFBQQ", false);
        check("not base64", false);
        assert_eq!(BlockId::parse("QUFBQQ==").map(|id| id.to_string()), Ok("QUFBQQ==".to_owned()));
    }
}
