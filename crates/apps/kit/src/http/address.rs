//! Where a request goes: the part of its address that a connection is for.

use http::Uri;
use http::uri::Scheme;
use std::net::IpAddr;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    pub is_tls: bool,
    /// Without the brackets that an IPv6 address has in a URL.
    pub host: String,
    pub port: u16,
}

impl Address {
    /// The error is a sentence.
    pub fn of(uri: &Uri) -> Result<Self, String> {
        // What follows the host is not shown: it may be somebody's secret.
        let unlike = || {
            let (scheme, host) = (uri.scheme_str().unwrap_or_default(), uri.host().unwrap_or_default());
            format!("'{scheme}://{host}' is not the beginning of an address such as https://example.com/path")
        };
        let is_tls = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err(unlike()),
        };
        let host = uri.host().ok_or_else(unlike)?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        Ok(Self { is_tls, host, port: uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 }) })
    }

    /// Whether it is this machine, by a name that nobody else can give.
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost"
            || self.host.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scheme = if self.is_tls { "https" } else { "http" };
        let (open, close) = if self.host.contains(':') { ("[", "]") } else { ("", "") };
        write!(f, "{scheme}://{open}{}{close}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Result<Address, String> {
        Address::of(&url.parse().expect("a URI"))
    }

    #[test]
    fn scheme_host_and_port_are_read() {
        let check = |url: &str, expected: &str, is_loopback: bool| {
            let address = address(url).expect(url);
            assert_eq!((address.to_string(), address.is_loopback()), (expected.to_owned(), is_loopback));
        };
        check("https://Example.com/a?b", "https://example.com:443", false);
        check("http://localhost", "http://localhost:80", true);
        check("http://127.0.0.7:99/x", "http://127.0.0.7:99", true);
        check("https://[::1]:7/x", "https://[::1]:7", true);
        check("https://[::ffff:127.0.0.1]/x", "https://[::ffff:127.0.0.1]:443", true);
        check("https://localhost.example", "https://localhost.example:443", false);
        check("https://10.0.0.1", "https://10.0.0.1:443", false);
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for url in ["/path", "ftp://example.com", "example.com"] {
            assert!(address(url).is_err(), "{url}");
        }
    }
}
