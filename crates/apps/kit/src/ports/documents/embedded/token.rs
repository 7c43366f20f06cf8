//! Continuations of queries: where one goes on, as text that a client may hold.
//!
//! Base64 of: version u8, container u32, the question's name (16 bytes), the state, and sixteen bytes of a MAC. So a
//! token goes on with its own query in its own partition, and with no other.

use crate::ports::documents::{Query, StoreError};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac as _};
use orrery_core::limits;
use sha2::{Digest as _, Sha256};

const VERSION: u8 = 1;
const QUESTION_BYTES: usize = 16;
const MAC_BYTES: usize = 16;
const HEAD_BYTES: usize = 1 + 4 + QUESTION_BYTES;

#[derive(Clone)]
pub struct Tokens(Hmac<Sha256>);

/// A short name of what was asked: the text, its parameters and the partition.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Question([u8; QUESTION_BYTES]);

impl Question {
    pub fn new(partition: Option<&str>, query: &Query) -> Self {
        let mut hasher = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hasher.update((bytes.len() as u64).to_be_bytes());
            hasher.update(bytes);
        };
        add(&[u8::from(partition.is_some())]);
        add(partition.unwrap_or_default().as_bytes());
        add(query.text.as_bytes());
        for (name, value) in &query.parameters {
            add(name.as_bytes());
            add(value.to_string().as_bytes());
        }
        let whole = hasher.finalize();
        let mut short = [0; QUESTION_BYTES];
        short.copy_from_slice(&whole[..QUESTION_BYTES]);
        Self(short)
    }
}

impl Tokens {
    /// The secret serves others too, so the key is made of it for this alone.
    pub fn new(secret: &[u8; 32]) -> Self {
        let key = Sha256::new().chain_update(b"orrery.kit.continuation").chain_update(secret).finalize();
        Self(Hmac::new_from_slice(&key).expect("HMAC takes keys of any length"))
    }

    pub fn write(&self, container: u32, question: Question, state: &[u8]) -> String {
        let mut token = Vec::with_capacity(HEAD_BYTES + state.len() + MAC_BYTES);
        token.push(VERSION);
        token.extend_from_slice(&container.to_be_bytes());
        token.extend_from_slice(&question.0);
        token.extend_from_slice(state);
        let mac = self.0.clone().chain_update(&token).finalize().into_bytes();
        token.extend_from_slice(&mac[..MAC_BYTES]);
        URL_SAFE_NO_PAD.encode(token)
    }

    pub fn read(&self, container: u32, question: Question, token: &str) -> Result<Vec<u8>, StoreError> {
        self.checked(container, question, token).ok_or_else(|| StoreError::Refused {
            status: 400,
            message: "the continuation is not one of this query; start from the first page".to_owned(),
        })
    }

    fn checked(&self, container: u32, question: Question, token: &str) -> Option<Vec<u8>> {
        if token.len() > limits::CONTINUATION_BYTES_MAX {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (text, mac) = bytes.split_at_checked(bytes.len().checked_sub(MAC_BYTES)?)?;
        self.0.clone().chain_update(text).verify_truncated_left(mac).ok()?;
        let (head, state) = text.split_at_checked(HEAD_BYTES)?;
        let is_ours = head[0] == VERSION && head[1..5] == container.to_be_bytes() && head[5..] == question.0;
        is_ours.then(|| state.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query { text: text.to_owned(), ..Query::default() }
    }

    #[test]
    fn a_token_comes_back_only_whole_and_to_its_question() {
        let tokens = Tokens::new(&[7; 32]);
        let asked = Question::new(Some("p"), &query("SELECT 1"));
        let token = tokens.write(3, asked, b"state");
        assert_eq!(tokens.read(3, asked, &token), Ok(b"state".to_vec()));
        assert!(tokens.read(4, asked, &token).is_err());
        assert!(tokens.read(3, Question::new(Some("q"), &query("SELECT 1")), &token).is_err());
        assert!(tokens.read(3, Question::new(None, &query("SELECT 1")), &token).is_err());
        assert!(tokens.read(3, Question::new(Some("p"), &query("SELECT 2")), &token).is_err());
        assert!(Tokens::new(&[8; 32]).read(3, asked, &token).is_err());
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("ascii");
            assert!(tokens.read(3, asked, &changed).is_err(), "{changed}");
        }
        for garbage in ["", "x", "####", "AQAAAAM"] {
            assert!(tokens.read(3, asked, garbage).is_err());
        }
    }
}
