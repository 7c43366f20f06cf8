//! Signatures of requests: the signed content, and the form of the header.

use crate::Key;
use std::borrow::Cow;

/// How a caller authenticates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// A signature with an account key.
    Master,
    /// A bearer token.
    Aad,
}

impl Key {
    /// The `authorization` header of a request for a decoded path such as `dbs/d/colls/c/docs/i`, with
    /// an HTTP date.
    pub fn authorization(&self, verb: &str, path: &str, date: &str) -> String {
        let (kind, link) = resource(path);
        authorization(Scheme::Master, &self.sign(&string_to_sign(verb, kind, &link, date, "")))
    }

    /// Variant for the services port, where a signature covers the encoded path.
    pub fn services_authorization(&self, verb: &str, path: &str, date: &str) -> String {
        let (kind, link) = (services_kind(path), path.trim_matches('/'));
        authorization(Scheme::Master, &self.sign(&string_to_sign(verb, kind, link, date, "")))
    }
}

/// The resource type that a signature for the services port covers: the first path segment after the version.
pub fn services_kind(path: &str) -> &str {
    let path = path.strip_prefix("/v1").unwrap_or(path);
    path.split('/').find(|segment| !segment.is_empty()).unwrap_or_default()
}

/// The value of the `authorization` header, percent-encoded as a whole.
pub fn authorization(scheme: Scheme, signature: &str) -> String {
    let scheme = match scheme {
        Scheme::Master => "master",
        Scheme::Aad => "aad",
    };
    encoded(&format!("type={scheme}&ver=1.0&sig={signature}"))
}

/// The five signed lines. Everything but the link is lower-cased; `date` is empty if missing.
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

/// The signed resource type and link of a decoded path without its leading slash: an odd number of segments
/// is a feed and signs its parent. An offer signs only its id, in lower case.
pub fn resource(path: &str) -> (&str, Cow<'_, str>) {
    if let Some(rid) = path.strip_prefix("offers/") {
        return ("offers", rid.to_lowercase().into());
    }
    let (parent, last) = path.rsplit_once('/').unwrap_or(("", path));
    if path.split('/').count() % 2 == 1 {
        return (last, parent.into());
    }
    (parent.rsplit('/').next().unwrap_or(parent), path.into())
}

fn push_line_lower(text: &mut String, line: &str) {
    let start = text.len();
    text.push_str(line);
    text[start..].make_ascii_lowercase();
    text.push('\n');
}

/// Escapes everything but letters and digits as `%XX`.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 3 / 2);
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => out.push(char::from(byte)),
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_string_to_sign_has_five_lines_and_keeps_the_case_of_the_link_only() {
        let date = "Sun, 15 Nov 2026 01:02:43 GMT";
        let expected = "get\ndocs\ndbs/Shop/colls/Orders/docs/a+b\nsun, 15 nov 2026 01:02:43 gmt\n\n";
        assert_eq!(string_to_sign("GET", "docs", "dbs/Shop/colls/Orders/docs/a+b", date, ""), expected);
        assert_eq!(string_to_sign("POST", "DBS", "", "", "NOW"), "post\ndbs\n\n\nnow\n");
        assert_eq!(string_to_sign("GET", "", "", "", ""), "get\n\n\n\n\n");
    }

    #[test]
    fn a_feed_signs_its_parent_and_a_resource_itself() {
        for (path, kind, link) in [
            ("", "", ""),
            ("dbs", "dbs", ""),
            ("dbs/d", "dbs", "dbs/d"),
            ("dbs/d/colls", "colls", "dbs/d"),
            ("dbs/d/colls/c/docs", "docs", "dbs/d/colls/c"),
            ("dbs/d/colls/c/docs/i", "docs", "dbs/d/colls/c/docs/i"),
            ("dbs/d/colls/c/pkranges", "pkranges", "dbs/d/colls/c"),
            ("offers", "offers", ""),
            ("offers/AbC1", "offers", "abc1"),
        ] {
            assert_eq!(resource(path), (kind, link.into()), "{path}");
        }
    }

    #[test]
    fn a_header_equals_one_computed_independently() {
        // Computed with Python's hmac module over "get\ndbs\ndbs/ToDoList\n<date>\n\n".
        let key = "dsZQi3KtZmCv1ljt3VNWNm7sQUF1y5rJfC6kv5JiwvW0EndXdDku/dkKBp8/ufDToSxLzR4y+O/0H/t4bQtVNw==";
        let key = Key::parse(key).expect("a valid key");
        assert_eq!(
            key.authorization("GET", "dbs/ToDoList", "Thu, 27 Apr 2017 00:51:12 GMT"),
            "type%3Dmaster%26ver%3D1%2E0%26sig%3Dc09PEVJrgp2uQRkr934kFbTqhByc7TVr3OHyqlu%2Bc%2Bc%3D"
        );
        assert_eq!(authorization(Scheme::Aad, "é.1"), "type%3Daad%26ver%3D1%2E0%26sig%3D%C3%A9%2E1");
    }

    #[test]
    fn a_services_signature_covers_the_first_path_segment() {
        assert_eq!(
            ["/v1/keys/primary", "/metrics", "/v1/top", "/"].map(services_kind),
            ["keys", "metrics", "top", ""]
        );
    }
}
