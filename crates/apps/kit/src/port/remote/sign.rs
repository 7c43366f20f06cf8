//! What is sent as `authorization`: five lines signed with an account key, or a bearer token.

use super::Credential;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::Sha256;
use std::sync::Arc;

/// Never printed.
pub enum Signer {
    Key(Hmac<Sha256>),
    Token(Arc<dyn Fn() -> String + Send + Sync>),
}

impl Signer {
    pub fn new(credential: Credential) -> Result<Self, String> {
        match credential {
            Credential::Token(token) => Ok(Self::Token(token)),
            Credential::Key(key) => {
                let bytes = STANDARD.decode(key.trim()).ok().filter(|bytes| !bytes.is_empty());
                let bytes = bytes.ok_or("the store's key is not Base64; copy it as the account shows it")?;
                Hmac::new_from_slice(&bytes).map(Self::Key).map_err(|error| error.to_string())
            }
        }
    }

    /// For a verb on a decoded path such as `dbs/d/colls/c/docs/i`, at a moment as HTTP writes it.
    pub fn authorization(&self, verb: &str, path: &str, date: &str) -> String {
        let text = match self {
            Self::Token(token) => format!("type=aad&ver=1.0&sig={}", token()),
            Self::Key(mac) => {
                let (kind, link) = resource(path);
                let (verb, date) = (verb.to_ascii_lowercase(), date.to_ascii_lowercase());
                let lines = format!("{verb}\n{kind}\n{link}\n{date}\n\n");
                let signature = mac.clone().chain_update(lines).finalize().into_bytes();
                format!("type=master&ver=1.0&sig={}", STANDARD.encode(signature))
            }
        };
        utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string()
    }
}

/// The resource type and link that are signed: an odd number of segments is a feed and signs its parent.
fn resource(path: &str) -> (&str, &str) {
    let (parent, last) = path.rsplit_once('/').unwrap_or(("", path));
    if path.split('/').count() % 2 == 1 {
        return (last, parent);
    }
    (parent.rsplit('/').next().unwrap_or(parent), path)
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
    fn a_feed_signs_its_parent_and_a_resource_itself() {
        assert_eq!(resource("dbs"), ("dbs", ""));
        assert_eq!(resource("dbs/d"), ("dbs", "dbs/d"));
        assert_eq!(resource("dbs/d/colls"), ("colls", "dbs/d"));
        assert_eq!(resource("dbs/d/colls/c/docs"), ("docs", "dbs/d/colls/c"));
        assert_eq!(resource("dbs/d/colls/c/docs/i"), ("docs", "dbs/d/colls/c/docs/i"));
    }

    #[test]
    fn a_key_that_is_not_base64_is_refused() {
        for key in ["", "not base64!"] {
            assert!(Signer::new(Credential::Key(key.to_owned())).is_err(), "{key}");
        }
    }
}
