//! `GET /` of the services port: what is where, for a person with a browser.

use crate::config::PortNumbers;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Response};
use orrery_api_common::{Body, body, split_authority};

const PAGE: &str = include_str!("front_page.html");

/// The page, with the other ports under the name that the browser dialled.
pub fn answer(headers: &HeaderMap, ports: PortNumbers) -> Response<Body> {
    let host = dialled(headers);
    let url = |port: u16| format!("http://{host}:{port}/");
    let page = PAGE.replace("{endpoint}", &url(ports.cosmos)).replace("{version}", env!("CARGO_PKG_VERSION"));
    let page = page.replace("{queue}", &url(ports.queue)).replace("{table}", &url(ports.table));
    let mut response = Response::new(body(page));
    for (name, value) in [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
        (X_FRAME_OPTIONS, "DENY"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-store"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The host of the address bar; one that could be more than a host is not repeated on a page.
fn dialled(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).and_then(split_authority);
    let is_plain = |host: &str| host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._:".contains(&b));
    match host {
        Some((host, _)) if is_plain(host) && host.contains(':') => format!("[{host}]"),
        Some((host, _)) if is_plain(host) => host.to_owned(),
        _ => "localhost".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_is_none_is_not_repeated() {
        let check = |host: &'static str, expected: &str| {
            let headers = HeaderMap::from_iter([(HOST, HeaderValue::from_static(host))]);
            assert_eq!(dialled(&headers), expected, "{host}");
        };
        check("db.example:8080", "db.example");
        check("[::1]:8080", "[::1]");
        check("<script>alert(1)</script>", "localhost");
        check("a\"onload=x", "localhost");
        assert_eq!(dialled(&HeaderMap::new()), "localhost");
    }
}
