//! The endpoint of a connection: scheme, host and port of a URL.

use http::Uri;
use http::uri::Scheme;
use std::net::IpAddr;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    pub is_tls: bool,
    /// Without the brackets of an IPv6 address.
    pub host: String,
    pub port: u16,
}

impl Address {
    /// The address of a server, whose URL has no path. `flag` names its setting in errors.
    pub fn parse(flag: &str, url: &str) -> Result<Self, String> {
        let unlike = || format!("{flag} '{url}' is not like http://localhost:8081");
        let uri: Uri = url.parse().map_err(|_| unlike())?;
        if !matches!(uri.path(), "/" | "") || uri.query().is_some() {
            return Err(unlike());
        }
        Self::of(&uri).map_err(|_| unlike())
    }

    /// The address in a URL; the error is a sentence.
    pub fn of(uri: &Uri) -> Result<Self, String> {
        // The rest of the URL is not shown, since it may be a secret.
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

    /// Another port of the same machine.
    pub fn at_port(&self, port: u16) -> Self {
        Self { port, ..self.clone() }
    }

    /// `localhost:8081`
    pub fn authority(&self) -> String {
        if self.host.contains(':') {
            return format!("[{}]:{}", self.host, self.port);
        }
        format!("{}:{}", self.host, self.port)
    }

    /// Whether it is this machine, by a name that cannot resolve to another.
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost"
            || self.host.ends_with(".localhost")
            || self.host.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}", if self.is_tls { "https" } else { "http" }, self.authority())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> Result<Address, String> {
        Address::of(&url.parse().expect("a URI"))
    }

    #[test]
    fn scheme_host_and_port_are_read() {
        let check = |url: &str, expected: &str, is_loopback: bool| {
            let address = of(url).expect(url);
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
    fn a_malformed_address_is_refused() {
        for url in ["/path", "ftp://example.com", "example.com"] {
            assert!(of(url).is_err(), "{url}");
        }
    }

    #[test]
    fn the_address_of_a_server_is_http_or_https_and_has_no_path() {
        let check = |url: &str, shown: &str, is_loopback: bool| {
            let address = Address::parse("--url", url).expect(url);
            assert_eq!((address.to_string().as_str(), address.is_loopback()), (shown, is_loopback), "{url}");
        };
        check("http://[::1]:9", "http://[::1]:9", true);
        check("http://example.com", "http://example.com:80", false);
        check("https://example.com/", "https://example.com:443", false);
        check("https://localhost:8081", "https://localhost:8081", true);
        check("http://127.0.0.7:1", "http://127.0.0.7:1", true);
        check("http://localhost.example:1", "http://localhost.example:1", false);
        for url in
            ["localhost:8081", "http://localhost/dbs", "https://a/?b", "https://", "ftp://localhost", ""]
        {
            let refused = Address::parse("--url", url);
            assert!(refused.is_err_and(|sentence| sentence.contains("not like http")), "{url}");
        }
    }

    #[test]
    fn another_port_of_the_machine_keeps_scheme_and_host() {
        let address = Address::parse("--url", "https://db:8081").expect("an address");
        assert_eq!(address.at_port(8080).to_string(), "https://db:8080");
    }
}
