//! What is sent as `authorization`: five lines signed with an account key, or a bearer token.

use super::Credential;
use orrery_protocol::{Key, Scheme, authorization};
use std::sync::Arc;

/// Never printed.
pub enum Signer {
    Key(Key),
    Token(Arc<dyn Fn() -> String + Send + Sync>),
}

impl Signer {
    pub fn new(credential: Credential) -> Result<Self, String> {
        match credential {
            Credential::Token(token) => Ok(Self::Token(token)),
            Credential::Key(key) => {
                let key = Key::parse(&key).map(Self::Key);
                key.map_err(|_| "the store's key is not Base64; copy it as the account shows it".to_owned())
            }
        }
    }

    /// For a verb on a decoded path such as `dbs/d/colls/c/docs/i`, at a moment as HTTP writes it.
    pub fn authorization(&self, verb: &str, path: &str, date: &str) -> String {
        match self {
            Self::Token(token) => authorization(Scheme::Aad, &token()),
            Self::Key(key) => key.authorization(verb, path, date),
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
        let signer = Signer::new(Credential::Key(key.to_owned())).unwrap();
        assert_eq!(
            signer.authorization("GET", "dbs/ToDoList", "Thu, 27 Apr 2017 00:51:12 GMT"),
            "type%3Dmaster%26ver%3D1%2E0%26sig%3Dc09PEVJrgp2uQRkr934kFbTqhByc7TVr3OHyqlu%2Bc%2Bc%3D"
        );
    }

    #[test]
    fn a_token_is_asked_for_each_time() {
        let count = Arc::new(std::sync::atomic::AtomicU32::new(0));
        let token = move || count.fetch_add(1, std::sync::atomic::Ordering::Relaxed).to_string();
        let signer = Signer::new(Credential::Token(Arc::new(token))).unwrap();
        let sent = || signer.authorization("GET", "dbs", "");
        assert_eq!(
            [sent(), sent()],
            ["type%3Daad%26ver%3D1%2E0%26sig%3D0", "type%3Daad%26ver%3D1%2E0%26sig%3D1"]
        );
    }

    #[test]
    fn a_key_that_is_not_base64_is_refused() {
        for key in ["", "not base64!"] {
            assert!(Signer::new(Credential::Key(key.to_owned())).is_err(), "{key}");
        }
    }
}
