//! Reads parts of validated JSON text in place.
//!
//! Nothing here checks the grammar again. On unvalidated text the results are meaningless, but there is no
//! panic and no endless loop.

use std::borrow::Cow;

use crate::scan::hex_unit;
use crate::swar::plain_end;

/// Unescapes the inside of a string token. An unpaired surrogate becomes U+FFFD.
pub fn unescape(raw: &str) -> Cow<'_, str> {
    let Some(first) = raw.find('\\') else { return Cow::Borrowed(raw) };
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    let mut next = Some(first);
    while let Some(at) = next {
        text.push_str(&rest[..at]);
        let (character, width) = read_escape(&rest.as_bytes()[at..]);
        text.push(character);
        rest = rest.get(at + width..).unwrap_or_default();
        next = rest.find('\\');
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// The character of the escape at the start of `text`, and its length in bytes.
fn read_escape(text: &[u8]) -> (char, usize) {
    match text.get(1) {
        Some(b'u') => read_unicode_escape(text),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'n') => ('\n', 2),
        Some(b'r') => ('\r', 2),
        Some(b't') => ('\t', 2),
        Some(&other) if other.is_ascii() => (other as char, 2),
        _ => (char::REPLACEMENT_CHARACTER, 1),
    }
}

fn read_unicode_escape(text: &[u8]) -> (char, usize) {
    let Some(unit) = hex_unit(text, 0) else { return (char::REPLACEMENT_CHARACTER, 2) };
    if let Some(character) = char::from_u32(u32::from(unit)) {
        return (character, 6);
    }
    let pair = hex_unit(text, 6).map(|low| [unit, low]);
    match pair.and_then(|units| char::decode_utf16(units).next()) {
        Some(Ok(character)) => (character, 12),
        _ => (char::REPLACEMENT_CHARACTER, 6),
    }
}

/// Appends `text` as a JSON string with quotes. Escapes only what JSON requires.
pub fn escape_into(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    out.push(b'"');
    let mut start = 0;
    loop {
        let end = plain_end(bytes, start);
        out.extend_from_slice(&bytes[start..end]);
        let Some(&byte) = bytes.get(end) else { break };
        escape_byte(byte, out);
        start = end + 1;
    }
    out.push(b'"');
}

fn escape_byte(byte: u8, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let letter = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x09 => b't',
        0x0a => b'n',
        0x0c => b'f',
        0x0d => b'r',
        _ => {
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', letter]);
}

/// The raw text at `path` below `value`. `None` if a member is missing or its parent is not an object; the
/// empty path returns `value` itself.
pub fn at_path<'a>(value: &'a str, path: &[String]) -> Option<&'a str> {
    path.iter().try_fold(value, |object, name| member(object, name))
}

/// The raw text of one member's value.
pub fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    members(object).find(|(raw, _)| is_name(raw, name)).map(|(_, value)| value)
}

/// The raw texts of several members' values, found in one pass.
pub fn members_named<'a, const N: usize>(object: &'a str, names: [&str; N]) -> [Option<&'a str>; N] {
    let mut found = [None; N];
    for (raw, value) in members(object) {
        if let Some(at) = names.iter().position(|name| is_name(raw, name)) {
            found[at].get_or_insert(value);
        }
        if found.iter().all(Option::is_some) {
            break;
        }
    }
    found
}

fn is_name(raw: &str, name: &str) -> bool {
    raw == name && !raw.contains('\\') || raw.contains('\\') && unescape(raw) == name
}

/// The members of an object as raw name (no quotes, still escaped) and raw value. Empty for anything but an
/// object.
pub fn members(object: &str) -> impl Iterator<Item = (&str, &str)> {
    let start = skip_space(object.as_bytes(), 0);
    let is_object = object.as_bytes().get(start) == Some(&b'{');
    Members { text: object, at: if is_object { start + 1 } else { object.len() } }
}

struct Members<'a> {
    text: &'a str,
    at: usize,
}

/// The elements of an array as raw values. Empty for anything but an array.
pub fn elements(array: &str) -> impl Iterator<Item = &str> {
    let start = skip_space(array.as_bytes(), 0);
    let is_array = array.as_bytes().get(start) == Some(&b'[');
    Elements { text: array, at: if is_array { start + 1 } else { array.len() } }
}

struct Elements<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        let mut start = skip_space(bytes, self.at);
        if bytes.get(start) == Some(&b',') {
            start = skip_space(bytes, start + 1);
        }
        if matches!(bytes.get(start)?, b']' | b',') {
            return None;
        }
        let end = value_end(bytes, start)?;
        self.at = end;
        self.text.get(start..end).filter(|value| !value.is_empty())
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        let name_start = skip_until(bytes, self.at, b'"')?;
        let name_end = string_end(bytes, name_start)?;
        let colon = skip_until(bytes, name_end, b':')?;
        let value_start = skip_space(bytes, colon + 1);
        let value_end = value_end(bytes, value_start)?;
        self.at = value_end;
        Some((self.text.get(name_start + 1..name_end - 1)?, self.text.get(value_start..value_end)?))
    }
}

/// The next `wanted` byte, if only white space and commas precede it.
fn skip_until(bytes: &[u8], at: usize, wanted: u8) -> Option<usize> {
    let mut at = skip_space(bytes, at);
    if bytes.get(at) == Some(&b',') {
        at = skip_space(bytes, at + 1);
    }
    (bytes.get(at) == Some(&wanted)).then_some(at)
}

pub(crate) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
    }
    at
}

fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => string_end(bytes, at),
        b'{' | b'[' => container_end(bytes, at),
        _ => Some(scalar_end(bytes, at)),
    }
}

/// The index after the closing quote of the string that starts at `at`.
pub(crate) fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        at = plain_end(bytes, at);
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn container_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0usize;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = string_end(bytes, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// The index after a number or a word.
pub(crate) fn scalar_end(bytes: &[u8], at: usize) -> usize {
    let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t');
    bytes[at..].iter().position(ends).map_or(bytes.len(), |length| at + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn escapes_are_undone() {
        let check = |raw: &str, expected: &str| assert_eq!(unescape(raw), expected, "{raw}");
        assert!(matches!(unescape("plain é"), Cow::Borrowed("plain é")));
        check(r#"a\"\\\/\b\f\n\r\t"#, "a\"\\/\u{8}\u{c}\n\r\t");
        check(r"\u00e9\ud83d\ude80!", "é🚀!");
        check(r"\ud83d|\ude80|\ud83d\u0041", "\u{fffd}|\u{fffd}|\u{fffd}A");
        check(r"\ud83d\ud83d\ude80", "\u{fffd}🚀");
    }

    #[test]
    fn only_what_must_be_escaped_is() {
        let mut out = Vec::new();
        escape_into("a/é\"\\\u{1f}\n\u{7f}", &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "\"a/é\\\"\\\\\\u001f\\n\u{7f}\"");
    }

    #[test]
    fn a_path_leads_through_objects_only() {
        let text = r#" { "a\u0062" : {"x":{ "y" : [1,{"z":2}] } , "}":"\"}"}, "n":null, "e":{} }"#;
        assert_eq!(at_path(text, &path(&[])), Some(text));
        assert_eq!(at_path(text, &path(&["ab", "x", "y"])), Some(r#"[1,{"z":2}]"#));
        assert_eq!(at_path(text, &path(&["ab", "}"])), Some(r#""\"}""#));
        assert_eq!(at_path(text, &path(&["n"])), Some("null"));
        assert_eq!(at_path(text, &path(&["a\\u0062"])), None, "names are compared unescaped");
        for missing in [&["b"][..], &["n", "x"], &["ab", "x", "y", "z"], &["e", "e"]] {
            assert_eq!(at_path(text, &path(missing)), None, "{missing:?}");
        }
    }

    #[test]
    fn members_come_in_the_order_of_the_text() {
        let found: Vec<_> = members(r#"{"b":[{},"]"], "a" : -1.5e3 ,"c":"x"}"#).collect();
        assert_eq!(found, [("b", r#"[{},"]"]"#), ("a", "-1.5e3"), ("c", r#""x""#)]);
        assert_eq!(members("[1]").count() + members("{}").count() + members("\"{\"").count(), 0);
    }

    #[test]
    fn several_members_are_found_in_one_pass_and_the_first_duplicate_wins() {
        let text = r#"{"a":1,"x":0,"\u0062":[2],"a":3}"#;
        assert_eq!(members_named(text, ["b", "a", "c"]), [Some("[2]"), Some("1"), None]);
        assert_eq!(members_named(text, ["a", "x"]), ["a", "x"].map(|name| member(text, name)));
        assert_eq!(members_named("[1]", ["a"]), [None]);
    }

    #[test]
    fn elements_come_in_order() {
        let found: Vec<_> = elements(r#" [ 1 ,"a,]", [2,[3]] ,{"x":[]}, null ] "#).collect();
        assert_eq!(found, ["1", r#""a,]""#, "[2,[3]]", r#"{"x":[]}"#, "null"]);
        assert_eq!(elements("[]").count() + elements("{}").count() + elements("1").count(), 0);
    }

    proptest! {
        #[test]
        fn unescape_undoes_escape(text: String) {
            let mut out = Vec::new();
            escape_into(&text, &mut out);
            let token = String::from_utf8(out).unwrap();
            prop_assert_eq!(unescape(&token[1..token.len() - 1]), text.as_str());
            prop_assert_eq!(serde_json::from_str::<String>(&token).unwrap(), text);
        }

        #[test]
        fn no_text_breaks_the_readers(text in r#"[{}\[\]":,\\u0-9a-f é]{0,60}"#) {
            let _ = unescape(&text);
            let _ = members(&text).count();
            let _ = elements(&text).count();
            let _ = at_path(&text, &path(&["a", "b"]));
        }
    }
}
