//! The `authorization` header of Cosmos DB: `type=<kind>&ver=1.0&sig=<signature>`, percent-encoded as a whole.
//!
//! Most clients encode it, some send it plain; decoding once serves both, because nothing in a plain one looks
//! like an escape. `+` belongs to Base64 and stays a plus. What the signature means is not decided here.

use crate::percent::decode_segment;
use std::ops::Range;

/// A header taken apart; `signature` is whatever followed `sig=`.
#[derive(Clone, PartialEq, Eq)]
pub struct Authorization {
    pub kind: TokenKind,
    pub signature: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A signature made with one of the account's keys.
    Master,
    /// A token from a permission.
    Resource,
    /// A token from Entra.
    Aad,
    /// A shared access signature.
    Sas,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    #[error("the authorization header is not text")]
    NotText,
    #[error("the authorization header has no '{0}'")]
    Missing(&'static str),
    #[error("the authorization header has the unknown type '{0}'")]
    UnknownType(String),
    #[error("the authorization header has the unknown version '{0}'")]
    UnknownVersion(String),
}

/// Reads the header's value, encoded or not.
pub fn parse_authorization(header: &str) -> Result<Authorization, AuthError> {
    let mut text = decode_segment(header).map_err(|_| AuthError::NotText)?.into_owned();
    let kind = parse_kind(&text[part(&text, "type")?])?;
    check_version(&text[part(&text, "ver")?])?;
    let signature = part(&text, "sig")?;
    // The text becomes the signature in place: this runs for every request.
    text.truncate(signature.end);
    text.drain(..signature.start);
    Ok(Authorization { kind, signature: text })
}

fn parse_kind(kind: &str) -> Result<TokenKind, AuthError> {
    [
        ("master", TokenKind::Master),
        ("resource", TokenKind::Resource),
        ("aad", TokenKind::Aad),
        ("sas", TokenKind::Sas),
    ]
    .into_iter()
    .find_map(|(name, value)| kind.eq_ignore_ascii_case(name).then_some(value))
    .ok_or_else(|| AuthError::UnknownType(kind.to_owned()))
}

fn check_version(version: &str) -> Result<(), AuthError> {
    match version {
        "1.0" => Ok(()),
        other => Err(AuthError::UnknownVersion(other.to_owned())),
    }
}

/// Where the value of `name` is in `text`. Only the first `=` of a part separates; Base64 ends in more.
fn part(text: &str, name: &'static str) -> Result<Range<usize>, AuthError> {
    let mut start = 0;
    for piece in text.split('&') {
        let end = start + piece.len();
        match piece.split_once('=') {
            Some((key, value)) if key.eq_ignore_ascii_case(name) && !value.is_empty() => {
                return Ok(end - value.len()..end);
            }
            _ => start = end + 1,
        }
    }
    Err(AuthError::Missing(name))
}

/// The signature of a token is as good as a password, so it is not printed.
impl std::fmt::Debug for Authorization {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authorization").field("kind", &self.kind).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(header: &str, kind: TokenKind, signature: &str) {
        let expected = Authorization { kind, signature: signature.to_owned() };
        assert!(parse_authorization(header) == Ok(expected), "{header}");
    }

    fn check_refused(header: &str, expected: AuthError) {
        assert_eq!(parse_authorization(header), Err(expected), "{header}");
    }

    #[test]
    fn an_encoded_header_is_decoded_once() {
        check("type%3Dmaster%26ver%3D1.0%26sig%3Da%2Fb%2Bc%3D", TokenKind::Master, "a/b+c=");
        check("type%3dmaster%26ver%3d1.0%26sig%3da%252Fb", TokenKind::Master, "a%2Fb");
    }

    #[test]
    fn a_plain_header_is_taken_as_it_is() {
        check("type=master&ver=1.0&sig=a/b+c==", TokenKind::Master, "a/b+c==");
        check("type=aad&ver=1.0&sig=eyJ0.eyJh.c2ln-_", TokenKind::Aad, "eyJ0.eyJh.c2ln-_");
        check("type=resource&ver=1.0&sig=one;two;", TokenKind::Resource, "one;two;");
        check("type=sas&ver=1.0&sig=one;payload", TokenKind::Sas, "one;payload");
    }

    #[test]
    fn parts_come_in_any_order_and_case() {
        check("sig=abc=&Ver=1.0&TYPE=Master", TokenKind::Master, "abc=");
    }

    #[test]
    fn a_missing_or_empty_part_is_named() {
        check_refused("", AuthError::Missing("type"));
        check_refused("ver=1.0&sig=a", AuthError::Missing("type"));
        check_refused("type=master&sig=a", AuthError::Missing("ver"));
        check_refused("type=master&ver=1.0", AuthError::Missing("sig"));
        check_refused("type=master&ver=1.0&sig=", AuthError::Missing("sig"));
        check_refused("&&=&sig", AuthError::Missing("type"));
    }

    #[test]
    fn unknown_types_versions_and_bytes_are_refused() {
        check_refused("type=guest&ver=1.0&sig=a", AuthError::UnknownType("guest".into()));
        check_refused("type=master&ver=2.0&sig=a", AuthError::UnknownVersion("2.0".into()));
        check_refused("type=master&ver=1.0&sig=%ff", AuthError::NotText);
    }

    #[test]
    fn debug_output_does_not_show_the_signature() {
        let parsed = parse_authorization("type=aad&ver=1.0&sig=secret").expect("valid");
        assert!(!format!("{parsed:?}").contains("secret"));
    }
}
