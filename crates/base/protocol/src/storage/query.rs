//! The query of a storage URL, as it travelled: what is signed is another reading of it than what is meant.
//!
//! A signature covers values whose `%XX` are decoded once and whose `+` stays a plus. What a parameter means is read as forms
//! are, where `+` is a space. Names make no difference by case; of two with one name the first counts.

use std::borrow::Cow;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    raw: String,
}

/// A name or value whose bytes, decoded, are not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the query is not valid UTF-8 once it is decoded")]
pub struct NotText;

impl Query {
    /// Of what follows the question mark.
    pub fn parse(raw: &str) -> Result<Self, NotText> {
        let query = Self { raw: raw.to_owned() };
        for (name, value) in query.raw_pairs() {
            decode(name, Plus::Plus).ok_or(NotText)?;
            decode(value, Plus::Plus).ok_or(NotText)?;
        }
        Ok(query)
    }

    pub fn raw(&self) -> &str {
        &self.raw
    }

    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// What a parameter means.
    pub fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        self.find(name, Plus::Space)
    }

    /// The same with each `+` as it is: what is signed, and what signatures themselves are written in.
    pub fn literal(&self, name: &str) -> Option<Cow<'_, str>> {
        self.find(name, Plus::Plus)
    }

    pub fn has(&self, name: &str) -> bool {
        self.find(name, Plus::Plus).is_some()
    }

    /// All parameters with each `+` as it is, in the order they came.
    pub fn literals(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        self.pairs(Plus::Plus)
    }

    /// All parameters as they are meant.
    pub fn meant(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        self.pairs(Plus::Space)
    }

    fn find(&self, name: &str, plus: Plus) -> Option<Cow<'_, str>> {
        let mut pairs = self.pairs(plus);
        pairs.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub(super) fn pairs(&self, plus: Plus) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        self.raw_pairs().filter_map(move |(name, value)| Some((decode(name, plus)?, decode(value, plus)?)))
    }

    /// A dangling `?` or `&` is no parameter.
    fn raw_pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let parts = self.raw.split('&').filter(|part| !part.is_empty());
        parts.map(|part| part.split_once('=').unwrap_or((part, "")))
    }
}

/// What a `+` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plus {
    Plus,
    Space,
}

/// Decodes once; a `%` that no two hex digits follow stands for itself.
pub(super) fn decode(raw: &str, plus: Plus) -> Option<Cow<'_, str>> {
    let has_space = plus == Plus::Space && raw.contains('+');
    if !has_space && !raw.contains('%') {
        return Some(Cow::Borrowed(raw));
    }
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = if first == b'%' { hex_pair(after) } else { None };
        bytes.push(match (first, escaped) {
            (_, Some(byte)) => byte,
            (b'+', None) if plus == Plus::Space => b' ',
            (byte, None) => byte,
        });
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

fn hex_pair(bytes: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
    u8::try_from(digit(0)? << 4 | digit(1)?).ok()
}

/// All but the marks that every encoder leaves alone (RFC 3986, 2.3) as `%XX`.
pub(super) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plus_is_a_space_in_what_is_meant_and_a_plus_in_what_is_signed() {
        let query = Query::parse("prefix=a+b%2Bc&sig=x+y%3D").expect("text");
        assert_eq!(query.get("prefix").as_deref(), Some("a b+c"));
        assert_eq!(query.literal("prefix").as_deref(), Some("a+b+c"));
        assert_eq!(query.literal("SIG").as_deref(), Some("x+y="));
    }

    #[test]
    fn dangling_marks_are_no_parameters_and_empty_values_are() {
        let query = Query::parse("&comp=list&&prefix=&flag&").expect("text");
        let pairs: Vec<_> = query.literals().collect();
        assert_eq!(
            pairs,
            [("comp", "list"), ("prefix", ""), ("flag", "")].map(|(n, v)| (n.into(), v.into()))
        );
        assert!(query.has("flag") && !query.has("marker"));
    }

    #[test]
    fn values_are_decoded_once_and_must_be_text() {
        let get = |raw: &str| Query::parse(raw).map(|query| query.get("a").map(Cow::into_owned));
        assert_eq!(get("a=%2541"), Ok(Some("%41".to_owned())));
        assert_eq!(get("a=100%&b=%zz"), Ok(Some("100%".to_owned())));
        assert_eq!(get("a=%ff"), Err(NotText));
        assert_eq!(get("%ff=a"), Err(NotText));
        assert_eq!(encode("a b/é+~"), "a%20b%2F%C3%A9%2B~");
    }
}
