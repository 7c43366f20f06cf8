//! The `authorization` header of Cosmos DB: `type=<kind>&ver=1.0&sig=<signature>`, percent-encoded as a whole.
//!
//! Most clients encode it, some send it plain; decoding once serves both, because a plain one contains nothing
//! that looks like an escape. `+` belongs to Base64 and stays a plus. Absent: the verification of signatures.

use crate::percent::decode_segment;

/// A parsed header; `signature` is the part after `sig=`.
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

/// Parses the header's value, encoded or not.
pub fn parse_authorization(header: &str) -> Result<Authorization, AuthError> {
    let text = decode_segment(header).map_err(|_| AuthError::NotText)?;
    let parts = Parts::of(&text);
    let kind = parse_kind(parts.kind.ok_or(AuthError::Missing("type"))?)?;
    check_version(parts.version.ok_or(AuthError::Missing("ver"))?)?;
    let signature = parts.signature.ok_or(AuthError::Missing("sig"))?.to_owned();
    Ok(Authorization { kind, signature })
}

/// The parts of a header, in any order; an empty one counts as missing, and the first of two counts.
#[derive(Default)]
struct Parts<'a> {
    kind: Option<&'a str>,
    version: Option<&'a str>,
    signature: Option<&'a str>,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Self {
        let mut parts = Self::default();
        // Only the first `=` of a part is a separator; Base64 may end in more.
        for (name, value) in text.split('&').filter_map(|part| part.split_once('=')) {
            if let Some(part) = parts.named(name).filter(|_| !value.is_empty()) {
                part.get_or_insert(value);
            }
        }
        parts
    }

    fn named(&mut self, name: &str) -> Option<&mut Option<&'a str>> {
        let Self { kind, version, signature } = self;
        let mut known = [("type", kind), ("ver", version), ("sig", signature)].into_iter();
        known.find_map(|(known, part)| name.eq_ignore_ascii_case(known).then_some(part))
    }
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
        // Resource tokens use a shorter form.
        "1.0" | "1" => Ok(()),
        other => Err(AuthError::UnknownVersion(other.to_owned())),
    }
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
        check("type=resource&ver=1&sig=one;two;", TokenKind::Resource, "one;two;");
        check("type=sas&ver=1.0&sig=one;payload", TokenKind::Sas, "one;payload");
    }

    #[test]
    fn parts_come_in_any_order_and_case() {
        check("sig=abc=&Ver=1.0&TYPE=Master", TokenKind::Master, "abc=");
        check("sig=&sig=a&other=b&sig=c&ver=1.0&type=master", TokenKind::Master, "a");
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
