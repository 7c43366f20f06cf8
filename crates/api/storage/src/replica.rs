//! How Python's clients of tables and queues ask the replica for statistics: at
//! `/account-secondary/account/`, signed as that or, by the client of tables, as if it asked at `/account/`.
//!
//! What it signed is what is read then, as a request to the replica. No other request has this form: a service is at the
//! account itself, and not below it.

use http::Uri;
use http::uri::PathAndQuery;

/// The URL that was signed, if this is such a request.
pub fn signed_url(uri: &Uri) -> Option<Uri> {
    let (account, rest) = uri.path().strip_prefix('/')?.split_once("-secondary/")?;
    let is_of_service = uri.query()?.split('&').any(|pair| pair.eq_ignore_ascii_case("restype=service"));
    if rest.trim_end_matches('/') != account || !is_of_service {
        return None;
    }
    let mut parts = uri.clone().into_parts();
    let signed = format!("/{rest}?{}", uri.query()?);
    parts.path_and_query = Some(PathAndQuery::try_from(signed).ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_service_below_its_account_is_another_address() {
        let check = |given: &str, expected: Option<&str>| {
            let uri = given.parse().expect("a URL");
            assert_eq!(signed_url(&uri).map(|uri| uri.to_string()).as_deref(), expected, "{given}");
        };
        let query = "?restype=service&comp=stats";
        check(&format!("/a1b-secondary/a1b/{query}"), Some(&format!("/a1b/{query}")));
        check(&format!("http://h/a1b-secondary/a1b{query}"), Some(&format!("http://h/a1b{query}")));
        check(&format!("/a1b-secondary/{query}"), None);
        check(&format!("/a1b-secondary/runs{query}"), None);
        check("/a1b-secondary/a1b/", None);
        check("/a1b-secondary/a1b?comp=acl", None);
        check(&format!("/a1b/a1b/{query}"), None);
    }
}
