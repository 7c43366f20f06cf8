//! Continuation tokens: positions in a feed, opaque to clients, small, and verified on return.
//!
//! Base64 of: version u8, kind u8, container u32, the position, and eight bytes of a MAC under a secret of
//! this data folder. The position in a feed is the key of its last row; that in a query is the query's state,
//! preceded by four bytes that identify the query. The server keeps no cursor, so a token outlives restarts,
//! other page sizes and splits.

use crate::limits;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use orrery_documents::subresources::Kind;
use sha2::Sha256;

const VERSION: u8 = 2;
const FEED: u8 = 0;
const QUERY: u8 = 1;
/// Followed by the kind of the listed children.
const CHILDREN: u8 = 16;
const MAC_BYTES: usize = 8;
const HEAD_BYTES: usize = 6;
const QUESTION_BYTES: usize = 4;

#[derive(Clone)]
pub struct Tokens(Hmac<Sha256>);

impl Tokens {
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(Hmac::new_from_slice(secret).expect("HMAC takes keys of any length"))
    }

    pub fn write(&self, container: u32, after: &[u8]) -> String {
        self.sealed(FEED, container, after)
    }

    pub fn read(&self, container: u32, token: &str) -> Result<Vec<u8>, ContinuationError> {
        self.checked(FEED, container, token).ok_or(ContinuationError::Invalid)
    }

    /// The position in a list of an owner's children: after this name.
    pub fn write_children(&self, kind: Kind, owner: u32, after: &str) -> String {
        self.sealed(CHILDREN + kind as u8, owner, after.as_bytes())
    }

    pub fn read_children(&self, kind: Kind, owner: u32, token: &str) -> Result<String, ContinuationError> {
        let after = self.checked(CHILDREN + kind as u8, owner, token).ok_or(ContinuationError::Invalid)?;
        String::from_utf8(after).map_err(|_| ContinuationError::Invalid)
    }

    /// The tokens of a read feed of items.
    pub fn of_feed(&self, container: u32) -> Seal<'_> {
        Seal { tokens: self, container, question: None }
    }

    /// The tokens of a query over items; `question` distinguishes it from other queries.
    pub fn of_query(&self, container: u32, question: u32) -> Seal<'_> {
        Seal { tokens: self, container, question: Some(question) }
    }

    /// The position in a query; `question` distinguishes it from other queries.
    pub fn write_query(&self, container: u32, question: u32, state: &[u8]) -> String {
        self.sealed(QUERY, container, &[&question.to_be_bytes(), state].concat())
    }

    pub fn read_query(
        &self,
        container: u32,
        question: u32,
        token: &str,
    ) -> Result<Vec<u8>, ContinuationError> {
        let state = self.checked(QUERY, container, token).ok_or(ContinuationError::Invalid)?;
        match state.split_at_checked(QUESTION_BYTES) {
            Some((asked, state)) if asked == question.to_be_bytes() => Ok(state.to_vec()),
            _ => Err(ContinuationError::OfAnotherQuery),
        }
    }

    fn sealed(&self, kind: u8, container: u32, after: &[u8]) -> String {
        let mut token = Vec::with_capacity(HEAD_BYTES + after.len() + MAC_BYTES);
        token.extend_from_slice(&[VERSION, kind]);
        token.extend_from_slice(&container.to_be_bytes());
        token.extend_from_slice(after);
        let mac = self.mac(&token);
        token.extend_from_slice(&mac);
        URL_SAFE_NO_PAD.encode(token)
    }

    fn checked(&self, kind: u8, container: u32, token: &str) -> Option<Vec<u8>> {
        if token.len() > limits::CONTINUATION_BYTES_MAX {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (text, mac) = bytes.split_at_checked(bytes.len().checked_sub(MAC_BYTES)?)?;
        self.0.clone().chain_update(text).verify_truncated_left(mac).ok()?;
        let (head, after) = text.split_at_checked(HEAD_BYTES)?;
        (head[..2] == [VERSION, kind] && head[2..] == container.to_be_bytes()).then(|| after.to_vec())
    }

    fn mac(&self, text: &[u8]) -> [u8; MAC_BYTES] {
        let whole = self.0.clone().chain_update(text).finalize().into_bytes();
        let mut short = [0; MAC_BYTES];
        short.copy_from_slice(&whole[..MAC_BYTES]);
        short
    }
}

/// Seals and opens the tokens of one result.
pub struct Seal<'a> {
    tokens: &'a Tokens,
    container: u32,
    question: Option<u32>,
}

impl Seal<'_> {
    pub fn seal(&self, state: &[u8]) -> String {
        orrery_core::tour_step!();
        match self.question {
            None => self.tokens.write(self.container, state),
            Some(question) => self.tokens.write_query(self.container, question, state),
        }
    }

    pub fn unseal(&self, token: &str) -> Result<Vec<u8>, ContinuationError> {
        orrery_core::tour_step!();
        match self.question {
            None => self.tokens.read(self.container, token),
            Some(question) => self.tokens.read_query(self.container, question, token),
        }
    }
}

/// Why a continuation token is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContinuationError {
    #[error("Invalid Continuation Token: it is not one that this container gave; start from the first page.")]
    Invalid,
    #[error(
        "Invalid Continuation Token: it is of another query; its text and parameters must stay the same, but for the filter under an ORDER BY."
    )]
    OfAnotherQuery,
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
        let query = tokens.write_query(3, 5, b"state");
        assert_eq!(tokens.read_query(3, 5, &query), Ok(b"state".to_vec()));
        assert!(tokens.read_query(3, 6, &query).is_err() && tokens.read(3, &query).is_err());
        assert!(tokens.read_query(3, 5, &token).is_err());
        let list = tokens.write_children(Kind::User, 3, "name");
        assert_eq!(tokens.read_children(Kind::User, 3, &list), Ok("name".to_owned()));
        assert!(tokens.read_children(Kind::Trigger, 3, &list).is_err() && tokens.read(3, &list).is_err());
        for garbage in ["", "x", "####", "AQAAAAM"] {
            assert!(tokens.read(3, garbage).is_err());
        }
    }
}
