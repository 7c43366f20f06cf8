//! Continuation tokens: where a feed goes on, opaque to clients, small, and checked when they come back.
//!
//! Base64 of: version u8, container u32, the key of the last row, and eight bytes of a MAC under a secret of
//! this data folder. No cursor is kept, so a token outlives restarts, other page sizes and splits.

use crate::failure::Failure;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use orrery_core::limits;
use sha2::Sha256;

const VERSION: u8 = 1;
const MAC_BYTES: usize = 8;
const HEAD_BYTES: usize = 5;

#[derive(Clone)]
pub struct Tokens(Hmac<Sha256>);

impl Tokens {
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(Hmac::new_from_slice(secret).expect("HMAC takes keys of any length"))
    }

    pub fn write(&self, container: u32, after: &[u8]) -> String {
        let mut token = Vec::with_capacity(HEAD_BYTES + after.len() + MAC_BYTES);
        token.push(VERSION);
        token.extend_from_slice(&container.to_be_bytes());
        token.extend_from_slice(after);
        let mac = self.mac(&token);
        token.extend_from_slice(&mac);
        URL_SAFE_NO_PAD.encode(token)
    }

    pub fn read(&self, container: u32, token: &str) -> Result<Vec<u8>, Failure> {
        self.checked(container, token).ok_or_else(|| {
            Failure::bad_request("Invalid Continuation Token: it is not one that this container gave; start from the first page.")
        })
    }

    fn checked(&self, container: u32, token: &str) -> Option<Vec<u8>> {
        if token.len() > limits::CONTINUATION_BYTES_MAX {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (text, mac) = bytes.split_at_checked(bytes.len().checked_sub(MAC_BYTES)?)?;
        self.0.clone().chain_update(text).verify_truncated_left(mac).ok()?;
        let (head, after) = text.split_at_checked(HEAD_BYTES)?;
        (head[0] == VERSION && head[1..] == container.to_be_bytes()).then(|| after.to_vec())
    }

    fn mac(&self, text: &[u8]) -> [u8; MAC_BYTES] {
        let whole = self.0.clone().chain_update(text).finalize().into_bytes();
        let mut short = [0; MAC_BYTES];
        short.copy_from_slice(&whole[..MAC_BYTES]);
        short
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_back_only_whole_and_to_its_container() {
        let tokens = Tokens::new(&[7; 32]);
        let token = tokens.write(3, b"key");
        assert_eq!(tokens.read(3, &token), Ok(b"key".to_vec()));
        assert!(tokens.read(4, &token).is_err());
        assert!(Tokens::new(&[8; 32]).read(3, &token).is_err());
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("ascii");
            assert!(tokens.read(3, &changed).is_err(), "{changed}");
        }
        for garbage in ["", "x", "####", "AQAAAAM"] {
            assert!(tokens.read(3, garbage).is_err());
        }
    }
}
