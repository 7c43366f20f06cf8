//! Resource tokens: proof that a permission was read by an authorized caller.
//!
//! A token names a version of a permission, the container of its resource at that moment, and an expiry; it is
//! authenticated by an HMAC under the folder's secret. The permission is looked up when the token is used, so replacing
//! or deleting it ends its tokens at once.
//!
//! ```text
//! type=resource&ver=1&sig=<mac>;<payload>;
//! payload = version 1 u8, expires u64 (seconds), database u32, user u32, permission u64, etag u128, container u32
//! ```

use crate::failure::Failure;
use crate::header;
use crate::limits;
use crate::request::Request;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use orrery_core::{DatabaseRid, ETag, Timestamp, UserRid};
use sha2::Sha256;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceToken {
    pub user: UserRid,
    pub permission: u64,
    pub etag: ETag,
    /// 0 if the permission's resource was not there.
    pub container: u32,
    pub expires: Timestamp,
}

pub struct ResourceTokens(Hmac<Sha256>);

const VERSION: u8 = 1;
const PAYLOAD_BYTES: usize = 45;
const MAC_BYTES: usize = 32;

impl ResourceTokens {
    /// A derived key, so that nothing else signed under the secret passes as a token.
    pub fn new(secret: &[u8; 32]) -> Self {
        let mac = |key: &[u8]| Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
        Self(mac(&mac(secret).chain_update(b"orrery resource token").finalize().into_bytes()))
    }

    /// As in a permission's `_token`.
    pub fn seal(&self, token: &ResourceToken) -> String {
        let payload = payload(token);
        let mac = self.0.clone().chain_update(payload).finalize().into_bytes();
        let (mac, payload) = (URL_SAFE_NO_PAD.encode(mac), URL_SAFE_NO_PAD.encode(payload));
        format!("type=resource&ver=1&sig={mac};{payload};")
    }

    /// The content of a token, if its MAC is valid.
    pub fn open(&self, signature: &str) -> Option<ResourceToken> {
        let mut parts = signature.split(';');
        let (mac, payload) = (parts.next()?, parts.next()?);
        if parts.next() != Some("") || parts.next().is_some() {
            return None;
        }
        let mac: [u8; MAC_BYTES] = URL_SAFE_NO_PAD.decode(mac).ok()?.try_into().ok()?;
        let payload: [u8; PAYLOAD_BYTES] = URL_SAFE_NO_PAD.decode(payload).ok()?.try_into().ok()?;
        self.0.clone().chain_update(payload).verify_slice(&mac).ok()?;
        read(&payload)
    }
}

fn payload(token: &ResourceToken) -> [u8; PAYLOAD_BYTES] {
    let mut bytes = [0; PAYLOAD_BYTES];
    bytes[0] = VERSION;
    bytes[1..9].copy_from_slice(&token.expires.seconds().to_be_bytes());
    bytes[9..13].copy_from_slice(&token.user.database.0.to_be_bytes());
    bytes[13..17].copy_from_slice(&token.user.number().to_be_bytes());
    bytes[17..25].copy_from_slice(&token.permission.to_be_bytes());
    bytes[25..41].copy_from_slice(&token.etag.as_u128().to_be_bytes());
    bytes[41..].copy_from_slice(&token.container.to_be_bytes());
    bytes
}

fn read(bytes: &[u8; PAYLOAD_BYTES]) -> Option<ResourceToken> {
    let number = |from: usize, to: usize| {
        bytes[from..to].iter().fold(0u128, |number, byte| (number << 8) | u128::from(*byte))
    };
    let user = number(13, 17) as u32;
    if bytes[0] != VERSION || user == 0 || user >> 31 != 0 {
        return None;
    }
    Some(ResourceToken {
        user: UserRid::new(DatabaseRid(number(9, 13) as u32), user),
        permission: number(17, 25) as u64,
        etag: ETag::from_u128(number(25, 41)),
        container: number(41, 45) as u32,
        expires: Timestamp::from_seconds(number(1, 9) as u64),
    })
}

/// The requested lifetime of the response's tokens, from the request's header.
pub fn lifetime(request: &Request) -> Result<Duration, Failure> {
    let range = limits::RESOURCE_TOKEN_SECONDS_MIN..=limits::RESOURCE_TOKEN_SECONDS_MAX;
    let seconds = match request.header_or_refuse(&header::EXPIRY_SECONDS)?.filter(|text| !text.is_empty()) {
        None => limits::RESOURCE_TOKEN_SECONDS_DEFAULT,
        Some(text) => match text.parse() {
            Ok(seconds) if range.contains(&seconds) => seconds,
            _ => {
                return Err(Failure::bad_request(format!(
                    "The header {} has the value '{text}'; it must be from {} to {} seconds.",
                    header::EXPIRY_SECONDS,
                    range.start(),
                    range.end(),
                )));
            }
        },
    };
    Ok(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PREFIX: &str = "type=resource&ver=1&sig=";

    fn any_token() -> impl Strategy<Value = ResourceToken> {
        let user = (any::<u32>(), 1u32..1 << 31).prop_map(|(db, user)| UserRid::new(DatabaseRid(db), user));
        (user, any::<u64>(), any::<u128>(), any::<u32>(), 0u64..1 << 40).prop_map(
            |(user, permission, etag, container, expires)| ResourceToken {
                user,
                permission,
                etag: ETag::from_u128(etag),
                container,
                expires: Timestamp::from_seconds(expires),
            },
        )
    }

    fn signature(tokens: &ResourceTokens, token: &ResourceToken) -> String {
        tokens.seal(token).strip_prefix(PREFIX).unwrap().to_owned()
    }

    proptest! {
        #[test]
        fn open_undoes_seal_and_only_under_the_same_secret(token in any_token()) {
            let tokens = ResourceTokens::new(&[1; 32]);
            let sealed = signature(&tokens, &token);
            prop_assert_eq!(tokens.open(&sealed), Some(token));
            prop_assert_eq!(ResourceTokens::new(&[2; 32]).open(&sealed), None);
        }

        #[test]
        fn a_token_changed_in_any_one_byte_is_refused(
            token in any_token(), at: prop::sample::Index, to in 0x20u8..0x7f,
        ) {
            let tokens = ResourceTokens::new(&[1; 32]);
            let mut changed = signature(&tokens, &token).into_bytes();
            let at = at.index(changed.len());
            prop_assume!(changed[at] != to);
            changed[at] = to;
            prop_assert_eq!(tokens.open(std::str::from_utf8(&changed).unwrap()), None);
        }

        #[test]
        fn a_token_cut_or_lengthened_is_refused(token in any_token(), at: prop::sample::Index, more in "[A-Za-z;=]{1,4}") {
            let tokens = ResourceTokens::new(&[1; 32]);
            let sealed = signature(&tokens, &token);
            prop_assert_eq!(tokens.open(&sealed[..at.index(sealed.len())]), None);
            prop_assert_eq!(tokens.open(&format!("{sealed}{more}")), None);
        }
    }

    #[test]
    fn other_things_signed_with_the_secret_are_no_tokens() {
        let feed = orrery_document_store::Tokens::new(&[1; 32]).write(3, b"key");
        for text in ["", ";;", &feed, &format!("{feed};{feed};"), "AAAA;AAAA;"] {
            assert_eq!(ResourceTokens::new(&[1; 32]).open(text), None, "{text}");
        }
    }
}
