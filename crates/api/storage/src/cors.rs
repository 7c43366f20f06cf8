//! Which web pages may use a service: the CORS rules in its properties (wire guide §4.5).
//!
//! A browser asks first (`OPTIONS`, unsigned), then sends the request, and then reads of the answer what the rule shows. The
//! first rule that matches decides. On loopback the listener marks requests of pages of other origins, and without a rule they
//! are refused: such a page could sign with the published key. Elsewhere keys are secret, and such a request goes on without the
//! headers that would let the page read the answer, as Azure does it.

use crate::error::StorageError;
use crate::request::StorageRequest;
use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use orrery_api_common::{Body, ForeignPage, body};
use orrery_catalog::storage::CorsRule;

const REQUEST_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");
const ANY: &str = "*";

/// What the answer to a request says to a browser.
#[derive(Clone, Debug, Default)]
pub struct CorsHeaders {
    matched: Option<(HeaderValue, CorsRule)>,
    varies: bool,
}

/// The answer to `OPTIONS`, which needs no credential.
pub fn preflight(request: &StorageRequest, rules: &[CorsRule]) -> Result<Response<Body>, StorageError> {
    let asked = |name: HeaderName| request.header(&name).map(str::to_owned);
    let origin = asked(ORIGIN).ok_or_else(|| StorageError::missing_header("Origin"))?;
    let method = asked(ACCESS_CONTROL_REQUEST_METHOD);
    let method = method.ok_or_else(|| StorageError::missing_header("Access-Control-Request-Method"))?;
    let wanted = asked(ACCESS_CONTROL_REQUEST_HEADERS).unwrap_or_default();
    let allows = |rule: &&CorsRule| {
        let mut names = wanted.split(',').map(str::trim).filter(|name| !name.is_empty());
        has_origin(rule, &origin)
            && has_method(rule, &method)
            && names.all(|name| is_listed(&rule.allowed_headers, name))
    };
    let rule = rules.iter().find(allows).ok_or_else(refused)?;
    let mut response = Response::new(body(""));
    *response.status_mut() = StatusCode::OK;
    let headers = response.headers_mut();
    allow_origin(headers, rule, &text(&origin)?);
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, text(&method)?);
    if !wanted.is_empty() {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, text(&wanted)?);
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from(rule.max_age_seconds));
    if request.head.headers.contains_key(REQUEST_PRIVATE_NETWORK) {
        headers.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// For every other request, before anything of it is done.
pub fn judge(request: &StorageRequest, rules: &[CorsRule]) -> Result<CorsHeaders, StorageError> {
    let origin = request.header(ORIGIN);
    let allows = |rule: &&CorsRule| {
        origin.is_some_and(|origin| has_origin(rule, origin) && has_method(rule, request.method().as_str()))
    };
    let found = rules.iter().find(allows);
    if found.is_none() && request.head.extensions.get::<ForeignPage>().is_some() {
        return Err(refused_page(origin));
    }
    let matched =
        found.zip(request.head.headers.get(ORIGIN)).map(|(rule, origin)| (origin.clone(), rule.clone()));
    Ok(CorsHeaders { matched, varies: !rules.is_empty() })
}

impl CorsHeaders {
    /// Once the answer has all its other headers.
    pub fn finish(&self, headers: &mut HeaderMap) {
        if let Some((origin, rule)) = &self.matched {
            let exposed = exposed(rule, headers);
            allow_origin(headers, rule, origin);
            if let Ok(exposed) = HeaderValue::from_str(&exposed)
                && !exposed.is_empty()
            {
                headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
            }
        }
        if self.varies {
            headers.append(VARY, HeaderValue::from_static("Origin"));
        }
    }
}

fn allow_origin(headers: &mut HeaderMap, rule: &CorsRule, origin: &HeaderValue) {
    if rule.allowed_origins.iter().any(|allowed| allowed == ANY) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static(ANY));
        return;
    }
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
}

/// The names of the rule, and of a name that ends in `*` those headers of the answer that begin so.
fn exposed(rule: &CorsRule, headers: &HeaderMap) -> String {
    let mut names: Vec<&str> =
        rule.exposed_headers.iter().map(String::as_str).filter(|name| !name.ends_with(ANY)).collect();
    let present = headers.keys().map(HeaderName::as_str);
    names.extend(present.filter(|name| is_listed(&rule.exposed_headers, name)));
    names.sort_unstable_by_key(|name| name.to_ascii_lowercase());
    names.dedup_by(|one, other| one.eq_ignore_ascii_case(other));
    names.join(",")
}

/// `*`, the origin itself, or `https://*.example.com` for one below it.
fn has_origin(rule: &CorsRule, origin: &str) -> bool {
    rule.allowed_origins.iter().any(|allowed| {
        let below = allowed.split_once("*.").is_some_and(|(scheme, domain)| {
            let host = origin.strip_prefix(scheme).and_then(|host| host.strip_suffix(domain));
            scheme.ends_with("://") && host.is_some_and(|host| host.len() > 1 && host.ends_with('.'))
        });
        allowed == ANY || allowed == origin || below
    })
}

fn has_method(rule: &CorsRule, method: &str) -> bool {
    rule.allowed_methods.iter().any(|allowed| allowed == method)
}

/// An item that ends in `*` is for all names that begin so.
fn is_listed(items: &[String], name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    items.iter().map(|item| item.to_ascii_lowercase()).any(|item| match item.strip_suffix(ANY) {
        Some(prefix) => name.starts_with(prefix),
        None => name == item,
    })
}

fn text(text: &str) -> Result<HeaderValue, StorageError> {
    HeaderValue::from_str(text).map_err(|_| refused())
}

fn refused() -> StorageError {
    let message = "CORS not enabled or no matching rule found for this request.";
    StorageError::new(StatusCode::FORBIDDEN, "CorsPreflightFailure", message)
}

fn refused_page(origin: Option<&str>) -> StorageError {
    let mut error = StorageError::authorization_failure();
    let page = origin
        .map_or_else(|| "Web pages of another origin".to_owned(), |origin| format!("Web pages of {origin}"));
    let why = "may not use this server: no CORS rule in the properties of the service allows them.";
    error.message = format!("{} {page} {why}", error.message).into();
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Draft, Fixture, fixture};
    use orrery_protocol::storage::Service;

    fn list(items: &str) -> Vec<String> {
        items.split(',').filter(|item| !item.is_empty()).map(str::to_owned).collect()
    }

    fn rule(origins: &str, methods: &str, allowed: &str, exposed: &str) -> CorsRule {
        CorsRule {
            allowed_origins: list(origins),
            allowed_methods: list(methods),
            allowed_headers: list(allowed),
            exposed_headers: list(exposed),
            max_age_seconds: 60,
        }
    }

    fn request(fixture: &Fixture, verb: &str, headers: &[(&str, &str)], is_foreign: bool) -> StorageRequest {
        let mut draft = Draft::new(Service::Queue, verb, "/q", "");
        for (name, value) in headers {
            draft = draft.with(name, value);
        }
        let mut request = draft.read(&fixture.storage).1.expect("a request");
        if is_foreign {
            request.head.extensions.insert(ForeignPage);
        }
        request
    }

    fn preflight_of(
        origin: &str,
        method: &str,
        headers: &str,
        rules: &[CorsRule],
    ) -> Result<HeaderMap, &'static str> {
        let asked = [
            ("origin", origin),
            ("access-control-request-method", method),
            ("access-control-request-headers", headers),
        ];
        let asked: Vec<_> = asked.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        let answer =
            preflight(&request(&fixture(), "OPTIONS", &asked, true), rules).map_err(|error| error.code)?;
        assert_eq!(answer.status(), StatusCode::OK);
        Ok(answer.headers().clone())
    }

    #[test]
    fn a_browser_is_told_what_the_first_matching_rule_allows() {
        let rules = [rule("http://a", "GET", "x-ms-*,Accept", ""), rule("*", "PUT", "*", "")];
        let answer = preflight_of("http://a", "GET", "X-MS-Date, accept", &rules).expect("allowed");
        for (name, value) in [
            ("access-control-allow-origin", "http://a"),
            ("access-control-allow-credentials", "true"),
            ("access-control-allow-methods", "GET"),
            ("access-control-allow-headers", "X-MS-Date, accept"),
            ("access-control-max-age", "60"),
        ] {
            assert_eq!(answer[name], value, "{name}");
        }
        let any = preflight_of("http://b", "PUT", "", &rules).expect("allowed");
        assert_eq!(any["access-control-allow-origin"], "*");
        assert!(!any.contains_key("access-control-allow-credentials"));
    }

    #[test]
    fn what_no_rule_allows_is_refused() {
        let rules = [rule("http://a,https://*.b.example", "GET", "accept", "")];
        let check = |origin: &str, method: &str, headers: &str, expected: &str| {
            let code = preflight_of(origin, method, headers, &rules).err().unwrap_or_default();
            assert_eq!(code, expected, "{origin} {method} {headers}");
        };
        check("http://a", "GET", "accept", "");
        check("https://x.b.example", "GET", "", "");
        check("https://b.example", "GET", "", "CorsPreflightFailure");
        check("https://.b.example", "GET", "", "CorsPreflightFailure");
        check("https://evilb.example", "GET", "", "CorsPreflightFailure");
        check("http://A", "GET", "", "CorsPreflightFailure");
        check("http://a", "PUT", "", "CorsPreflightFailure");
        check("http://a", "GET", "x-ms-date", "CorsPreflightFailure");
        check("", "GET", "", "MissingRequiredHeader");
        check("http://a", "", "", "MissingRequiredHeader");
    }

    #[test]
    fn a_page_reads_the_headers_that_its_rule_shows() {
        let rules = [rule("http://a", "GET", "", "etag,x-ms-meta-*")];
        let fixture = fixture();
        let request = request(&fixture, "GET", &[("origin", "http://a")], true);
        let mut answer = HeaderMap::new();
        answer.insert("x-ms-meta-foo", HeaderValue::from_static("1"));
        answer.insert("x-ms-version", HeaderValue::from_static("1"));
        judge(&request, &rules).expect("allowed").finish(&mut answer);
        assert_eq!(answer[ACCESS_CONTROL_EXPOSE_HEADERS], "etag,x-ms-meta-foo");
        assert_eq!(
            (&answer[ACCESS_CONTROL_ALLOW_ORIGIN], &answer[VARY]),
            (&HeaderValue::from_static("http://a"), &HeaderValue::from_static("Origin"))
        );
    }

    #[test]
    fn a_foreign_page_without_a_rule_gets_no_further_and_a_program_does() {
        let fixture = fixture();
        let judged = |headers: &[(&str, &str)], is_foreign, rules: &[CorsRule]| {
            let judged = judge(&request(&fixture, "GET", headers, is_foreign), rules);
            judged.map(|cors| cors.matched.is_some()).map_err(|error| error.code)
        };
        let rules = [rule("http://a", "GET", "", "")];
        let (ours, theirs) = (("origin", "http://a"), ("origin", "http://b"));
        assert_eq!(judged(&[ours], true, &rules), Ok(true));
        assert_eq!(judged(&[ours], true, &[]), Err("AuthorizationFailure"));
        assert_eq!(judged(&[theirs], true, &rules), Err("AuthorizationFailure"));
        assert_eq!(judged(&[], true, &rules), Err("AuthorizationFailure"));
        assert_eq!(judged(&[theirs], false, &rules), Ok(false), "not on loopback");
        assert_eq!(judged(&[], false, &rules), Ok(false));
        let open = [rule("*", "GET", "", "")];
        assert_eq!(judged(&[], true, &open), Err("AuthorizationFailure"), "it names no origin");
    }
}
