//! Protects a local server from web pages that its user visits.
//!
//! A browser sends requests to `localhost` on behalf of any page. Two attacks follow: a page posts a form or
//! `text/plain` across origins, and a page whose DNS name is rebound to 127.0.0.1 reads the answers as its own. A page
//! cannot forge three headers, so every request is judged by them, before any credential:
//!
//! ```text
//! Host             a loopback name or a configured one; else 403 (on loopback, or where names are configured)
//! Origin           our own, or one that a CORS rule allows; else 403
//! Sec-Fetch-Site   none, same-origin, or absent; otherwise only a top-level navigation by GET
//! ```
//!
//! `same-site` counts as foreign: a page of http://localhost:3000 belongs to another program. Programs send neither
//! `Origin` nor `Sec-Fetch-Site` and are judged by `Host` alone; a request without `Host` is not from a browser.
//!
//! Storage has its own CORS rules, stored with the users' data. There the guard judges `Host` and leaves foreign pages
//! to the protocol: on loopback it marks their requests as [`ForeignPage`], and the protocol refuses those that no rule
//! allows, because a page could sign with the published key. Off loopback keys are secret, and the protocol behaves
//! like Azure's.
//!
//! Absent: cookies and other ambient credentials, which no port accepts.

use http::header::{HOST, HeaderName, ORIGIN};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use std::net::IpAddr;

pub const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
pub const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
pub const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// How much of a header a refusal quotes.
const SHOWN_CHARS_MAX: usize = 100;

/// The host names and origins that a listener serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebGuard {
    hosts: Hosts,
    cors: CorsRules,
    is_loopback: bool,
    judge: Judge,
}

/// Who decides about origins that [`CorsRules`] do not cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judge {
    Guard,
    Protocol,
}

/// A request extension: a page of another origin made the request. The protocol must refuse it unless one of its own
/// CORS rules allows the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignPage;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Hosts {
    /// Off loopback, the names that resolve to the server are unknown.
    Any,
    /// Loopback names and these.
    Loopback { others: Vec<String> },
}

/// The origins whose pages may use a listener and read its answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorsRules {
    origins: Vec<String>,
}

/// A request that is let through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passage {
    Direct,
    /// A CORS rule allows this origin; the response must tell the browser.
    CrossOrigin(HeaderValue),
    /// The protocol decides.
    Foreign,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the request names its host twice")]
    TwoHosts,
    #[error(
        "the Host '{0}' is no name of this server, which keeps web pages of other sites out; \
         if it is one, start the server with --allow-host {0}"
    )]
    ForeignHost(String),
    #[error(
        "web pages of the origin '{0}' may not use this server; to allow them, start it with --allow-origin {0}"
    )]
    ForeignOrigin(String),
    #[error("a web page of another origin made this request, which is not allowed")]
    CrossSite,
}

impl Refusal {
    pub fn status(&self) -> StatusCode {
        match self {
            Self::TwoHosts => StatusCode::BAD_REQUEST,
            Self::ForeignHost(_) | Self::ForeignOrigin(_) | Self::CrossSite => StatusCode::FORBIDDEN,
        }
    }
}

impl CorsRules {
    /// Each is `scheme://host[:port]`, or `*` for every origin.
    pub fn parse(origins: &[String]) -> Result<Self, String> {
        let parsed = origins.iter().map(|text| {
            let is_origin = text == "*" || authority_of(text).is_some_and(|one| split(one).is_some());
            if is_origin {
                return Ok(text.trim_end_matches('/').to_ascii_lowercase());
            }
            Err(format!("'{text}' is not an origin like http://localhost:3000"))
        });
        Ok(Self { origins: parsed.collect::<Result<_, _>>()? })
    }

    fn allow(&self, origin: &str) -> bool {
        self.origins.iter().any(|allowed| allowed == "*" || allowed.eq_ignore_ascii_case(origin))
    }
}

impl WebGuard {
    /// Checks `Host` if the server is on loopback, or if names are configured; `others` are allowed beside the loopback
    /// names, without ports.
    pub fn new(is_loopback: bool, others: Vec<String>, cors: CorsRules) -> Self {
        let hosts = if is_loopback || !others.is_empty() { Hosts::Loopback { others } } else { Hosts::Any };
        Self { hosts, cors, is_loopback, judge: Judge::Guard }
    }

    /// Variant for a protocol with its own CORS rules.
    #[must_use]
    pub fn with_rules_of_protocol(self) -> Self {
        Self { judge: Judge::Protocol, ..self }
    }

    pub fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Passage, Refusal> {
        let host = self.check_host(uri, headers)?;
        match headers.get(ORIGIN) {
            Some(origin) if !is_own(origin, host) => self.check_origin(origin),
            _ if is_from_elsewhere(headers) && !is_navigation(method, headers) => {
                self.refuse(|| Refusal::CrossSite)
            }
            _ => Ok(Passage::Direct),
        }
    }

    fn refuse(&self, refusal: impl FnOnce() -> Refusal) -> Result<Passage, Refusal> {
        match self.judge {
            Judge::Guard => Err(refusal()),
            Judge::Protocol if self.is_loopback => Ok(Passage::Foreign),
            Judge::Protocol => Ok(Passage::Direct),
        }
    }

    /// The requested host: HTTP/2's authority or HTTP/1.1's Host. A proxy's request has both.
    fn check_host<'r>(&self, uri: &'r Uri, headers: &'r HeaderMap) -> Result<Option<&'r str>, Refusal> {
        let mut hosts = headers.get_all(HOST).iter();
        let header = hosts.next().map(|host| host.to_str().unwrap_or_default());
        if hosts.next().is_some() {
            return Err(Refusal::TwoHosts);
        }
        let authority = uri.authority().map(http::uri::Authority::as_str);
        for named in [authority, header].into_iter().flatten() {
            if !self.hosts.has(named) {
                return Err(Refusal::ForeignHost(shown(named)));
            }
        }
        Ok(authority.or(header))
    }

    fn check_origin(&self, origin: &HeaderValue) -> Result<Passage, Refusal> {
        let text = origin.to_str().unwrap_or_default();
        if self.cors.allow(text) {
            return Ok(Passage::CrossOrigin(origin.clone()));
        }
        self.refuse(|| Refusal::ForeignOrigin(shown(text)))
    }
}

impl Hosts {
    fn has(&self, authority: &str) -> bool {
        let Self::Loopback { others } = self else { return true };
        split(authority).is_some_and(|(host, _)| {
            is_loopback_name(host) || others.iter().any(|other| other.eq_ignore_ascii_case(host))
        })
    }
}

/// `localhost`, names below it, and addresses that reach only this machine.
pub fn is_loopback_name(host: &str) -> bool {
    let name = host.to_ascii_lowercase();
    name == "localhost"
        || name.ends_with(".localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

/// The host without brackets and trailing dot, and the port, of `host[:port]`.
pub fn split(authority: &str) -> Option<(&str, &str)> {
    let (host, rest) = match authority.strip_prefix('[') {
        Some(inner) => inner.split_once(']')?,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let port = if rest.is_empty() { rest } else { rest.strip_prefix(':')? };
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_valid = !host.is_empty() && !host.contains(['/', '@']) && port.bytes().all(|b| b.is_ascii_digit());
    is_valid.then_some((host, port))
}

/// Whether a proxy forwarded the request.
pub fn is_forwarded(headers: &HeaderMap) -> bool {
    const NAMES: [&str; 6] =
        ["forwarded", "via", "x-real-ip", "x-client-ip", "cf-connecting-ip", "true-client-ip"];
    let is_told =
        |name: &HeaderName| name.as_str().starts_with("x-forwarded-") || NAMES.contains(&name.as_str());
    headers.keys().any(is_told)
}

/// Whether the page is of the server itself. The scheme is not compared, since a proxy in front may use another one.
fn is_own(origin: &HeaderValue, host: Option<&str>) -> bool {
    let origin = origin.to_str().ok();
    let (Some(origin), Some(host)) = (origin.and_then(authority_of).and_then(split), host.and_then(split))
    else {
        return false;
    };
    let port = |port: &'_ str| if matches!(port, "80" | "443") { String::new() } else { port.to_owned() };
    origin.0.eq_ignore_ascii_case(host.0) && port(origin.1) == port(host.1)
}

fn authority_of(origin: &str) -> Option<&str> {
    let (_, authority) = origin.split_once("://")?;
    Some(authority.strip_suffix('/').unwrap_or(authority))
}

/// Whether the browser reports another origin. An unknown value is not trusted.
fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    headers.get(SEC_FETCH_SITE).is_some_and(|site| site != "none" && site != "same-origin")
}

/// A followed link: the response is shown in its own tab, and the page with the link cannot read it.
fn is_navigation(method: &Method, headers: &HeaderMap) -> bool {
    let is_document = headers.get(SEC_FETCH_DEST).is_none_or(|destination| destination == "document");
    let is_reading = method == Method::GET || method == Method::HEAD;
    is_reading && is_document && headers.get(SEC_FETCH_MODE).is_some_and(|mode| mode == "navigate")
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(is_loopback: bool, others: &[&str], origins: &[&str]) -> WebGuard {
        let texts = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        WebGuard::new(is_loopback, texts(others), CorsRules::parse(&texts(origins)).expect("origins"))
    }

    #[test]
    fn a_protocol_with_rules_of_its_own_decides_about_pages_and_the_guard_about_names() {
        let here = guard(true, &[], &["http://localhost:3000"]).with_rules_of_protocol();
        let judged = |guard: &WebGuard, lines: &str| judge(guard, "GET", "/", lines);
        for lines in ["host: localhost; origin: http://b", "host: localhost; sec-fetch-site: cross-site"] {
            assert_eq!(judged(&here, lines), Ok(Passage::Foreign), "{lines}");
        }
        direct(&here, "GET", "host: orders.queue.localhost:10001");
        direct(&here, "PUT", "host: localhost:1; origin: http://localhost:1");
        refused(
            &here,
            "GET",
            "host: evil.example; origin: http://b",
            Refusal::ForeignHost("evil.example".into()),
        );
        let allowed = judged(&here, "host: localhost; origin: http://localhost:3000");
        assert!(matches!(allowed, Ok(Passage::CrossOrigin(_))));
        let open = guard(false, &[], &[]).with_rules_of_protocol();
        direct(&open, "GET", "host: a; origin: http://b");
    }

    fn headers(lines: &str) -> HeaderMap {
        let lines = lines.split("; ").filter(|line| !line.is_empty());
        let parsed = lines.map(|line| {
            let (name, value) = line.split_once(": ").expect("a header");
            let name: HeaderName = name.parse().expect("a name");
            (name, HeaderValue::from_str(value).expect("a value"))
        });
        parsed.collect()
    }

    fn judge(guard: &WebGuard, method: &str, uri: &str, lines: &str) -> Result<Passage, Refusal> {
        let (method, uri) = (method.parse().expect("a method"), uri.parse().expect("a uri"));
        guard.check(&method, &uri, &headers(lines))
    }

    fn direct(guard: &WebGuard, method: &str, lines: &str) {
        assert_eq!(judge(guard, method, "/", lines), Ok(Passage::Direct), "{method} {lines}");
    }

    fn refused(guard: &WebGuard, method: &str, lines: &str, expected: Refusal) {
        assert_eq!(judge(guard, method, "/", lines), Err(expected), "{method} {lines}");
    }

    #[test]
    fn on_loopback_only_loopback_names_are_served() {
        let here = guard(true, &[], &[]);
        for host in [
            "localhost",
            "LOCALHOST:8081",
            "localhost.:8081",
            "orders.localhost:1",
            "127.0.0.1:8081",
            "127.8.9.10",
            "[::1]:8081",
            "[::ffff:127.0.0.1]",
        ] {
            direct(&here, "GET", &format!("host: {host}"));
        }
        for host in [
            "evil.example",
            "evil.example:8081",
            "localhost.evil.example",
            "evillocalhost",
            "127.0.0.1.evil.example",
            "0.0.0.0:8081",
            "10.0.0.1",
            "[::2]",
            "[::1",
            "[::1]x",
            "user@localhost",
            "localhost:80@evil",
            ":8081",
        ] {
            refused(&here, "GET", &format!("host: {host}"), Refusal::ForeignHost(host.to_owned()));
        }
        refused(&here, "GET", "host: localhost; host: localhost", Refusal::TwoHosts);
        direct(&here, "GET", "");
    }

    #[test]
    fn configured_names_are_served_and_off_loopback_they_are_what_is_judged() {
        let named = guard(true, &["db.example"], &[]);
        direct(&named, "GET", "host: DB.example:443");
        direct(&named, "GET", "host: localhost");
        refused(&named, "GET", "host: a.db.example", Refusal::ForeignHost("a.db.example".into()));
        let open = guard(false, &[], &[]);
        direct(&open, "GET", "host: anything.example");
        refused(&open, "POST", "host: a; origin: http://b", Refusal::ForeignOrigin("http://b".into()));
        let exposed = guard(false, &["db.example"], &[]);
        direct(&exposed, "GET", "host: db.example");
        refused(&exposed, "GET", "host: evil.example", Refusal::ForeignHost("evil.example".into()));
    }

    #[test]
    fn an_authority_in_the_target_is_judged_too() {
        let here = guard(true, &[], &[]);
        let target = |uri: &str, lines: &str| judge(&here, "GET", uri, lines);
        assert_eq!(target("http://localhost:8081/dbs", ""), Ok(Passage::Direct));
        assert!(target("http://evil.example/dbs", "").is_err());
        assert!(target("http://evil.example/dbs", "host: localhost").is_err());
        assert!(target("http://localhost/dbs", "host: evil.example").is_err());
    }

    #[test]
    fn a_foreign_origin_is_refused_whatever_the_method() {
        let here = guard(true, &[], &[]);
        for origin in [
            "https://evil.example",
            "null",
            "http://localhost:3000",
            "http://localhost",
            "http://127.0.0.1:8080",
            "http://sub.localhost:8080",
            "file://",
            "chrome-extension://abc",
            "",
        ] {
            for method in ["GET", "POST", "OPTIONS", "DELETE"] {
                let lines = format!("host: localhost:8080; origin: {origin}");
                refused(&here, method, &lines, Refusal::ForeignOrigin(origin.to_owned()));
            }
        }
    }

    #[test]
    fn the_servers_own_pages_may_use_it() {
        let here = guard(true, &[], &[]);
        direct(
            &here,
            "POST",
            "host: localhost:8080; origin: http://localhost:8080; sec-fetch-site: same-origin",
        );
        direct(&here, "POST", "host: [::1]:8080; origin: http://[::1]:8080");
        direct(&here, "POST", "host: localhost; origin: http://localhost:80");
        let named = guard(true, &["db.example"], &[]);
        direct(&named, "POST", "host: db.example; origin: https://db.example");
    }

    #[test]
    fn a_cors_rule_lets_a_page_in_and_no_other() {
        let rules = guard(true, &[], &["http://localhost:3000", "https://app.example"]);
        let lines = "host: localhost:8081; sec-fetch-site: same-site; sec-fetch-mode: cors; origin: ";
        let origin = HeaderValue::from_static("http://localhost:3000");
        let allowed = judge(&rules, "POST", "/", &format!("{lines}http://localhost:3000"));
        assert_eq!(allowed, Ok(Passage::CrossOrigin(origin)));
        refused(
            &rules,
            "POST",
            &format!("{lines}http://localhost:3001"),
            Refusal::ForeignOrigin("http://localhost:3001".into()),
        );
        let any = guard(true, &[], &["*"]);
        assert!(matches!(judge(&any, "GET", "/", &format!("{lines}null")), Ok(Passage::CrossOrigin(_))));
        for wrong in ["localhost:3000", "http://a/b", "http://", "evil"] {
            assert!(CorsRules::parse(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn requests_of_other_sites_without_an_origin_are_only_navigations() {
        let here = guard(true, &[], &[]);
        let lines = |site: &str, mode: &str, destination: &str| {
            format!(
                "host: localhost:8080; sec-fetch-site: {site}; sec-fetch-mode: {mode}; sec-fetch-dest: {destination}"
            )
        };
        for site in ["none", "same-origin"] {
            direct(&here, "GET", &lines(site, "navigate", "document"));
            direct(&here, "GET", &lines(site, "no-cors", "image"));
        }
        for site in ["cross-site", "same-site", "unheard-of"] {
            direct(&here, "GET", &lines(site, "navigate", "document"));
            for (method, mode, destination) in [
                ("POST", "navigate", "document"),
                ("GET", "navigate", "iframe"),
                ("GET", "no-cors", "image"),
                ("GET", "no-cors", "script"),
                ("GET", "cors", "empty"),
            ] {
                refused(&here, method, &lines(site, mode, destination), Refusal::CrossSite);
            }
        }
        let own = "host: localhost:8080; origin: http://localhost:8080; sec-fetch-site: cross-site";
        refused(&here, "POST", own, Refusal::CrossSite);
    }

    #[test]
    fn programs_that_are_no_browsers_pass() {
        let here = guard(true, &[], &[]);
        direct(&here, "POST", "host: 127.0.0.1:8081; user-agent: azsdk-python-cosmos/4.9.0");
        // Node's fetch sends the mode, but not the site.
        direct(&here, "POST", "host: localhost:8081; sec-fetch-mode: cors");
    }

    #[test]
    fn a_proxy_is_known_by_what_it_adds() {
        for line in
            ["forwarded: for=1.2.3.4", "x-forwarded-for: 1.2.3.4", "x-forwarded-proto: https", "via: 1.1 p"]
        {
            assert!(is_forwarded(&headers(&format!("host: localhost; {line}"))), "{line}");
        }
        assert!(!is_forwarded(&headers("host: localhost; x-ms-version: 2020-07-15")));
    }
}
