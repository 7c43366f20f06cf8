//! Account keys and the signatures made with them.
//!
//! A client signs five lines about its request (`string_to_sign`) with HMAC-SHA256 under a key that both sides
//! know. A [`Key`] holds the HMAC state after the key has gone in, so a request pays only for its own lines.
//!
//! Verifying tries every key on every candidate text and compares in constant time, so the time it takes says
//! neither which key matched nor how nearly.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// The key published for emulators; accepted only while every listener is on loopback.
pub const EMULATOR_KEY: &str =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

const SIGNATURE_BYTES: usize = 32;

/// An account key, ready to sign. Never printed.
#[derive(Clone)]
pub struct Key(Hmac<Sha256>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an account key is Base64 text of at least one byte")]
pub struct InvalidKey;

impl Key {
    /// Reads a key as it is shown to people: Base64.
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        Self::from_bytes(&STANDARD.decode(text.trim()).map_err(|_| InvalidKey)?)
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidKey> {
        if bytes.is_empty() {
            return Err(InvalidKey);
        }
        Hmac::new_from_slice(bytes).map(Self).map_err(|_| InvalidKey)
    }

    /// The signature of `payload`, in Base64 as it travels.
    pub fn sign(&self, payload: &str) -> String {
        STANDARD.encode(self.mac(payload).finalize().into_bytes())
    }

    fn matches(&self, payload: &str, signature: &[u8; SIGNATURE_BYTES]) -> bool {
        self.mac(payload).verify_slice(signature).is_ok()
    }

    fn mac(&self, payload: &str) -> Hmac<Sha256> {
        self.0.clone().chain_update(payload)
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

/// What a signature allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    ReadWrite,
    ReadOnly,
}

/// The keys of an account. Two of each kind, so that one can be replaced while the other is in use.
#[derive(Clone, Debug)]
pub struct Keys {
    pub primary: Key,
    pub secondary: Key,
    pub primary_readonly: Option<Key>,
    pub secondary_readonly: Option<Key>,
    /// The emulators' key, where it is taken beside the account's own.
    pub published: Option<Key>,
}

impl Keys {
    /// What the signature allows if any key made it over any of the candidate payloads.
    pub fn verify(&self, payloads: &[&str], signature_base64: &str) -> Option<Access> {
        let signature = decode_signature(signature_base64)?;
        let writers = [Some(&self.primary), Some(&self.secondary), self.published.as_ref()];
        let readers = [self.primary_readonly.as_ref(), self.secondary_readonly.as_ref()];
        if any_matches(&writers, payloads, &signature) {
            return Some(Access::ReadWrite);
        }
        any_matches(&readers, payloads, &signature).then_some(Access::ReadOnly)
    }
}

/// The five lines a client signs. Everything but the link is lower-cased; `date` is empty if there is none.
pub fn string_to_sign(verb: &str, resource_type: &str, link: &str, x_ms_date: &str, date: &str) -> String {
    let length = verb.len() + resource_type.len() + link.len() + x_ms_date.len() + date.len() + 5;
    let mut text = String::with_capacity(length);
    push_line_lower(&mut text, verb);
    push_line_lower(&mut text, resource_type);
    text.push_str(link);
    text.push('\n');
    push_line_lower(&mut text, x_ms_date);
    push_line_lower(&mut text, date);
    text
}

fn push_line_lower(text: &mut String, line: &str) {
    let start = text.len();
    text.push_str(line);
    text[start..].make_ascii_lowercase();
    text.push('\n');
}

fn decode_signature(text: &str) -> Option<[u8; SIGNATURE_BYTES]> {
    // The decoder wants room for a whole last group, which is more than the 32 bytes it leaves there.
    let mut bytes = [0; SIGNATURE_BYTES + 1];
    let length = STANDARD.decode_slice(text, &mut bytes).ok()?;
    bytes[..length].try_into().ok()
}

/// Each comparison takes the same time whatever the bytes. That it stops at the key that matched tells a holder of
/// a key only which of the account's keys it holds.
fn any_matches(keys: &[Option<&Key>], payloads: &[&str], signature: &[u8; SIGNATURE_BYTES]) -> bool {
    let keys = keys.iter().flatten();
    keys.flat_map(|key| payloads.iter().map(move |payload| (key, payload)))
        .any(|(key, payload)| key.matches(payload, signature))
}

#[cfg(test)]
mod tests {
    use super::*;

    // The signatures below were made with Python's `hmac` from the same keys and lines.
    const PAYLOAD: &str = "get\ndocs\ndbs/Shop/colls/Orders/docs/a+b\nsun, 15 nov 2026 01:02:43 gmt\n\n";
    const BY_EMULATOR_KEY: &str = "r7KYg8DYiikc1An/+ucZt7BZeRKSrxzXnrqkMhAu8a8=";
    const RANGES_BY_EMULATOR_KEY: &str = "G4KVNkK6il4lAti+S23qqzuSLIpgdZFqU6j+T1rHA4U=";
    const OTHER_KEY: &str = "c2Vjb25kYXJ5IGtleSBvZiB0aGUgdGVzdHM=";
    const BY_OTHER_KEY: &str = "VqcxPfrn027TZ7iv25g+4dFSTTnyz6z4YLTo+NYMFy0=";

    fn key(text: &str) -> Key {
        Key::parse(text).expect("a valid key")
    }

    fn emulator_keys() -> Keys {
        Keys {
            primary: key(EMULATOR_KEY),
            secondary: key("c29tZSBvdGhlciBrZXk="),
            primary_readonly: None,
            secondary_readonly: None,
            published: None,
        }
    }

    #[test]
    fn the_string_to_sign_has_five_lines_and_keeps_the_case_of_the_link_only() {
        let date = "Sun, 15 Nov 2026 01:02:43 GMT";
        assert_eq!(string_to_sign("GET", "docs", "dbs/Shop/colls/Orders/docs/a+b", date, ""), PAYLOAD);
        assert_eq!(string_to_sign("POST", "DBS", "", "", "NOW"), "post\ndbs\n\n\nnow\n");
        assert_eq!(string_to_sign("GET", "", "", "", ""), "get\n\n\n\n\n");
    }

    #[test]
    fn signatures_are_those_another_implementation_makes() {
        assert_eq!(key(EMULATOR_KEY).sign(PAYLOAD), BY_EMULATOR_KEY);
        assert_eq!(key(OTHER_KEY).sign(PAYLOAD), BY_OTHER_KEY);
    }

    #[test]
    fn a_signature_over_any_candidate_is_accepted() {
        let date = "Sun, 15 Nov 2026 01:02:43 GMT";
        let by_name = string_to_sign("GET", "pkranges", "dbs/QAAQAQ==/colls/QAAQAYAAEAI=", date, "");
        let by_rid = string_to_sign("GET", "pkranges", "qaaqayaaeai=", date, "");
        let keys = emulator_keys();
        assert_eq!(keys.verify(&[&by_name, &by_rid], RANGES_BY_EMULATOR_KEY), Some(Access::ReadWrite));
        assert_eq!(keys.verify(&[&by_name], RANGES_BY_EMULATOR_KEY), None);
        assert_eq!(keys.verify(&[], RANGES_BY_EMULATOR_KEY), None);
    }

    #[test]
    fn each_key_gives_its_own_access() {
        let check = |place: fn(&mut Keys, Key), expected| {
            let mut keys = emulator_keys();
            assert_eq!(keys.verify(&[PAYLOAD], BY_OTHER_KEY), None);
            place(&mut keys, key(OTHER_KEY));
            assert_eq!(keys.verify(&[PAYLOAD], BY_OTHER_KEY), Some(expected));
        };
        check(|keys, key| keys.primary = key, Access::ReadWrite);
        check(|keys, key| keys.secondary = key, Access::ReadWrite);
        check(|keys, key| keys.published = Some(key), Access::ReadWrite);
        check(|keys, key| keys.primary_readonly = Some(key), Access::ReadOnly);
        check(|keys, key| keys.secondary_readonly = Some(key), Access::ReadOnly);
    }

    #[test]
    fn a_key_that_is_in_two_places_gives_the_wider_access() {
        let keys = Keys { primary_readonly: Some(key(EMULATOR_KEY)), ..emulator_keys() };
        assert_eq!(keys.verify(&[PAYLOAD], BY_EMULATOR_KEY), Some(Access::ReadWrite));
    }

    #[test]
    fn a_damaged_signature_is_refused() {
        let keys = emulator_keys();
        assert_eq!(keys.verify(&[PAYLOAD], BY_EMULATOR_KEY), Some(Access::ReadWrite));
        for index in 0..BY_EMULATOR_KEY.len() {
            let mut damaged = BY_EMULATOR_KEY.to_owned();
            let other = if damaged.as_bytes()[index] == b'A' { "B" } else { "A" };
            damaged.replace_range(index..=index, other);
            assert_eq!(keys.verify(&[PAYLOAD], &damaged), None, "{damaged}");
        }
        for wrong in ["", "=", "not base64!", "QUJD", &BY_EMULATOR_KEY.repeat(2)] {
            assert_eq!(keys.verify(&[PAYLOAD], wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_key_is_base64_and_never_printed() {
        assert!(Key::parse("").is_err() && Key::parse("not base64!").is_err());
        let printed = format!("{:?} {:?}", key(EMULATOR_KEY), emulator_keys());
        assert!(!printed.contains("C2y6") && printed.contains("Key(..)"));
    }
}
