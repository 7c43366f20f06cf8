//! An account key and the signatures made with it.
//!
//! A [`Key`] holds the HMAC state after the key has been absorbed, so a request pays only for its own lines.
//! Signatures are compared in constant time, so timing reveals nothing about partial matches.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
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

/// A signature received with a request.
#[derive(Clone, Copy, Debug)]
pub struct Signature([u8; SIGNATURE_BYTES]);

impl Key {
    /// Parses the Base64 form of a key.
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        Self::from_bytes(&STANDARD.decode(text.trim()).map_err(|_| InvalidKey)?)
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidKey> {
        if bytes.is_empty() {
            return Err(InvalidKey);
        }
        Hmac::new_from_slice(bytes).map(Self).map_err(|_| InvalidKey)
    }

    /// The signature of `payload`, in Base64.
    pub fn sign(&self, payload: &str) -> String {
        STANDARD.encode(self.mac(payload).finalize().into_bytes())
    }

    /// Whether this key made the signature for this payload.
    pub fn verify(&self, payload: &str, signature: &Signature) -> bool {
        self.mac(payload).verify_slice(&signature.0).is_ok()
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

impl Signature {
    /// `None` if it cannot be a signature.
    pub fn parse(base64: &str) -> Option<Self> {
        // The decoder needs space for a complete last group, which is more than the 32 bytes.
        let mut bytes = [0; SIGNATURE_BYTES + 1];
        let length = STANDARD.decode_slice(base64, &mut bytes).ok()?;
        bytes[..length].try_into().ok().map(Self)
    }
}

/// One of an account's four keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    Primary,
    Secondary,
    PrimaryReadonly,
    SecondaryReadonly,
}

impl KeyKind {
    pub const ALL: [Self; 4] =
        [Self::Primary, Self::Secondary, Self::PrimaryReadonly, Self::SecondaryReadonly];

    /// The display form.
    pub fn name(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Secondary => "secondary",
            Self::PrimaryReadonly => "primary-readonly",
            Self::SecondaryReadonly => "secondary-readonly",
        }
    }

    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The key's purpose, for people.
    pub fn about(self) -> &'static str {
        match self {
            Self::Primary => "Reads and writes",
            Self::Secondary => "Reads and writes; to change to while the primary key is replaced",
            Self::PrimaryReadonly => "Reads",
            Self::SecondaryReadonly => "Reads; to change to while the primary one is replaced",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Made with Python's `hmac` from the same keys and lines.
    const PAYLOAD: &str = "get\ndocs\ndbs/Shop/colls/Orders/docs/a+b\nsun, 15 nov 2026 01:02:43 gmt\n\n";
    const BY_EMULATOR_KEY: &str = "r7KYg8DYiikc1An/+ucZt7BZeRKSrxzXnrqkMhAu8a8=";
    const OTHER_KEY: &str = "c2Vjb25kYXJ5IGtleSBvZiB0aGUgdGVzdHM=";
    const BY_OTHER_KEY: &str = "VqcxPfrn027TZ7iv25g+4dFSTTnyz6z4YLTo+NYMFy0=";

    fn key(text: &str) -> Key {
        Key::parse(text).expect("a valid key")
    }

    #[test]
    fn signatures_equal_those_of_another_implementation() {
        assert_eq!(key(EMULATOR_KEY).sign(PAYLOAD), BY_EMULATOR_KEY);
        assert_eq!(key(OTHER_KEY).sign(PAYLOAD), BY_OTHER_KEY);
    }

    #[test]
    fn only_the_key_that_signed_verifies_and_only_what_it_signed() {
        let signature = Signature::parse(BY_OTHER_KEY).expect("a signature");
        assert!(key(OTHER_KEY).verify(PAYLOAD, &signature));
        assert!(!key(EMULATOR_KEY).verify(PAYLOAD, &signature));
        assert!(!key(OTHER_KEY).verify(&PAYLOAD.replace("get", "put"), &signature));
    }

    #[test]
    fn a_signature_is_32_bytes_in_base64() {
        for wrong in ["", "=", "not base64!", "QUJD", &BY_OTHER_KEY.repeat(2), &BY_OTHER_KEY[..40]] {
            assert!(Signature::parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_key_is_base64_and_never_printed() {
        assert!(Key::parse("").is_err() && Key::parse("not base64!").is_err());
        let printed = format!("{:?}", key(EMULATOR_KEY));
        assert!(!printed.contains("C2y6") && printed.contains("Key(..)"));
    }
}
