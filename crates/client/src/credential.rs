//! The value of `authorization`: a signature with an account key, or a bearer token.

use http::Method;
use orrery_protocol::{InvalidKey, Key, Scheme, authorization};
use std::sync::Arc;

/// Never printed.
#[derive(Clone)]
pub enum Credential {
    Key {
        key: Key,
        text: String,
    },
    /// Called for every request, so that the token can be renewed.
    Token(Arc<dyn Fn() -> String + Send + Sync>),
}

impl Credential {
    /// An account key, in Base64.
    pub fn key(text: &str) -> Result<Self, InvalidKey> {
        Ok(Self::Key { key: Key::parse(text)?, text: text.to_owned() })
    }

    pub fn token(text: String) -> Self {
        Self::Token(Arc::new(move || text.clone()))
    }

    /// For a verb on a decoded path of the Cosmos DB endpoint, such as `dbs/d/colls/c/docs/i`, with a date in
    /// HTTP's format.
    pub fn authorization(&self, verb: &str, path: &str, date: &str) -> String {
        match self {
            Self::Key { key, .. } => key.authorization(verb, path, date),
            Self::Token(token) => authorization(Scheme::Aad, &token()),
        }
    }

    /// For the services port, where a signature covers the encoded path.
    pub(crate) fn services_authorization(&self, verb: &Method, path: &str, date: &str) -> String {
        match self {
            Self::Key { key, .. } => key.services_authorization(verb.as_str(), path, date),
            Self::Token(_) => self.bearer(),
        }
    }

    /// For routes that take the plain key or a token.
    pub fn bearer(&self) -> String {
        match self {
            Self::Key { text, .. } => format!("Bearer {text}"),
            Self::Token(token) => format!("Bearer {}", token()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_the_one_computed_by_other_means() {
        // Computed with Python's hmac module over "get\ndbs\ndbs/ToDoList\n<date>\n\n".
        let key = "dsZQi3KtZmCv1ljt3VNWNm7sQUF1y5rJfC6kv5JiwvW0EndXdDku/dkKBp8/ufDToSxLzR4y+O/0H/t4bQtVNw==";
        let credential = Credential::key(key).expect("a key");
        assert_eq!(
            credential.authorization("GET", "dbs/ToDoList", "Thu, 27 Apr 2017 00:51:12 GMT"),
            "type%3Dmaster%26ver%3D1%2E0%26sig%3Dc09PEVJrgp2uQRkr934kFbTqhByc7TVr3OHyqlu%2Bc%2Bc%3D"
        );
    }

    #[test]
    fn a_token_is_asked_for_each_time() {
        let count = Arc::new(std::sync::atomic::AtomicU32::new(0));
        let token = move || count.fetch_add(1, std::sync::atomic::Ordering::Relaxed).to_string();
        let credential = Credential::Token(Arc::new(token));
        let sent = || credential.authorization("GET", "dbs", "");
        assert_eq!(
            [sent(), sent()],
            ["type%3Daad%26ver%3D1%2E0%26sig%3D0", "type%3Daad%26ver%3D1%2E0%26sig%3D1"]
        );
    }

    #[test]
    fn a_key_that_is_not_base64_is_refused() {
        for key in ["", "not base64!"] {
            assert!(Credential::key(key).is_err(), "{key}");
        }
    }
}
