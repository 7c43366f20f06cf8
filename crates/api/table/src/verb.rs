//! What a request does to what it names: its method, or the one that it tunnels through POST.
//!
//! Clients that see a host which is not Azure's send `POST` with `X-HTTP-Method: MERGE`; older ones send the verb `MERGE`
//! itself. Both mean what `PATCH` means.

use http::Method;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Get,
    Post,
    Put,
    Merge,
    Delete,
}

/// The verb, or None for one that no resource of this service has. The header counts on POST alone.
pub fn verb(method: &Method, tunnelled: Option<&str>) -> Option<Verb> {
    named(match tunnelled {
        Some(tunnelled) if method == Method::POST => tunnelled.trim(),
        _ => method.as_str(),
    })
}

pub fn named(method: &str) -> Option<Verb> {
    let known = [
        ("GET", Verb::Get),
        ("POST", Verb::Post),
        ("PUT", Verb::Put),
        ("PATCH", Verb::Merge),
        ("MERGE", Verb::Merge),
        ("DELETE", Verb::Delete),
    ];
    known.iter().find(|(name, _)| method.eq_ignore_ascii_case(name)).map(|(_, verb)| *verb)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merge_has_three_spellings() {
        let check = |method: &str, tunnelled: Option<&str>, expected: Option<Verb>| {
            let method = Method::from_bytes(method.as_bytes()).expect("a method");
            assert_eq!(verb(&method, tunnelled), expected, "{method} {tunnelled:?}");
        };
        check("PATCH", None, Some(Verb::Merge));
        check("MERGE", None, Some(Verb::Merge));
        check("POST", Some("MERGE"), Some(Verb::Merge));
        check("POST", Some("PUT"), Some(Verb::Put));
        check("POST", None, Some(Verb::Post));
        check("GET", Some("DELETE"), Some(Verb::Get));
        check("POST", Some("STEAL"), None);
        check("HEAD", None, None);
    }
}
