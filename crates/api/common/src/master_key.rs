//! The keys of an account, and the access that a signature with each grants.
//!
//! A client signs five lines about its request with a key that both sides know. Verification tries every key on
//! every candidate text and compares in constant time, so its duration reveals neither which key matched nor how
//! closely.

use orrery_protocol::{Key, Signature};

/// The access that a signature grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    ReadWrite,
    ReadOnly,
    /// Signed with the published key: all data, but not the account's own keys.
    Published,
}

/// The keys of an account, two of each kind, so that one can be replaced while the other is in use.
#[derive(Clone, Debug)]
pub struct Keys {
    pub primary: Key,
    pub secondary: Key,
    pub primary_readonly: Option<Key>,
    pub secondary_readonly: Option<Key>,
    /// The emulators' key, if it is accepted beside the account's own.
    pub published: Option<Key>,
}

impl Keys {
    /// The access of the signature, if any key made it over any of the candidate payloads.
    pub fn verify(&self, payloads: &[&str], signature_base64: &str) -> Option<Access> {
        let signature = Signature::parse(signature_base64)?;
        let writers = [Some(&self.primary), Some(&self.secondary)];
        let readers = [self.primary_readonly.as_ref(), self.secondary_readonly.as_ref()];
        if any_matches(&writers, payloads, &signature) {
            return Some(Access::ReadWrite);
        }
        if any_matches(&[self.published.as_ref()], payloads, &signature) {
            return Some(Access::Published);
        }
        any_matches(&readers, payloads, &signature).then_some(Access::ReadOnly)
    }
}

/// Each comparison takes constant time. Stopping at the matching key reveals only to a holder of a key which of the
/// account's keys it is.
fn any_matches(keys: &[Option<&Key>], payloads: &[&str], signature: &Signature) -> bool {
    let keys = keys.iter().flatten();
    keys.flat_map(|key| payloads.iter().map(move |payload| (key, payload)))
        .any(|(key, payload)| key.verify(payload, signature))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_protocol::{EMULATOR_KEY, string_to_sign};

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
        check(|keys, key| keys.published = Some(key), Access::Published);
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
    fn keys_are_never_printed() {
        let printed = format!("{:?}", emulator_keys());
        assert!(!printed.contains("C2y6") && printed.contains("Key(..)"));
    }
}
