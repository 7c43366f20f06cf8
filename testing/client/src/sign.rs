//! Master-key signatures, as the SDKs make them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use orrery_core::Timestamp;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::Sha256;

/// The key every emulator publishes.
pub const EMULATOR_KEY: &str =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

/// A key at one moment. Signatures hold for a quarter of an hour around it, so a load run signs ahead.
#[derive(Clone, Debug)]
pub struct Signer {
    mac: Hmac<Sha256>,
    date: String,
}

impl Signer {
    /// `None` if the key is not base64.
    pub fn new(key: &str, now: Timestamp) -> Option<Self> {
        let mac = Hmac::new_from_slice(&STANDARD.decode(key).ok()?).ok()?;
        Some(Self { mac, date: now.to_http() })
    }

    pub fn emulator(now: Timestamp) -> Self {
        Self::new(EMULATOR_KEY, now).expect("the published key is base64, and HMAC takes any length")
    }

    /// What `x-ms-date` must say beside the signatures made here.
    pub fn date(&self) -> &str {
        &self.date
    }

    /// The `authorization` header for a verb on a decoded path such as `dbs/d/colls/c/docs/i`.
    pub fn authorization(&self, verb: &str, path: &str) -> String {
        let (kind, link) = resource(path);
        let text = format!("{}\n{kind}\n{link}\n{}\n\n", verb.to_lowercase(), self.date.to_lowercase());
        let mut mac = self.mac.clone();
        mac.update(text.as_bytes());
        let token = format!("type=master&ver=1.0&sig={}", STANDARD.encode(mac.finalize().into_bytes()));
        utf8_percent_encode(&token, NON_ALPHANUMERIC).to_string()
    }
}

/// The resource type and link that are signed: an odd number of segments is a feed and signs its parent.
fn resource(path: &str) -> (&str, &str) {
    let path = path.trim_matches('/');
    if path.is_empty() {
        return ("", "");
    }
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
        let at = Timestamp::parse_http("Thu, 27 Apr 2017 00:51:12 GMT").unwrap();
        let signer = Signer::new(key, at).unwrap();
        assert_eq!(
            signer.authorization("GET", "dbs/ToDoList"),
            "type%3Dmaster%26ver%3D1%2E0%26sig%3Dc09PEVJrgp2uQRkr934kFbTqhByc7TVr3OHyqlu%2Bc%2Bc%3D"
        );
    }

    #[test]
    fn a_feed_signs_its_parent_and_a_resource_itself() {
        assert_eq!(resource("/"), ("", ""));
        assert_eq!(resource("dbs"), ("dbs", ""));
        assert_eq!(resource("dbs/d"), ("dbs", "dbs/d"));
        assert_eq!(resource("dbs/d/colls"), ("colls", "dbs/d"));
        assert_eq!(resource("/dbs/d/colls/c/docs"), ("docs", "dbs/d/colls/c"));
        assert_eq!(resource("dbs/d/colls/c/docs/i"), ("docs", "dbs/d/colls/c/docs/i"));
    }

    #[test]
    fn a_key_that_is_not_base64_is_refused() {
        assert!(Signer::new("not base64!", Timestamp::default()).is_none());
    }
}
