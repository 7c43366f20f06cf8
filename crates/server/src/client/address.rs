//! Where a server listens: scheme, host and port of a URL.

use http::Uri;
use std::net::IpAddr;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub is_tls: bool,
    /// Without the brackets that an IPv6 address has in a URL.
    pub host: String,
    pub port: u16,
}

const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;

impl Address {
    /// Parses a flag's value.
    pub fn parse(flag: &str, url: &str) -> Result<Self, String> {
        let unlike = || format!("{flag} '{url}' is not like http://localhost:8081");
        let uri: Uri = url.parse().map_err(|_| unlike())?;
        let is_tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(unlike()),
        };
        match (uri.host(), uri.path()) {
            (Some(host), "/" | "") => {
                let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
                let port = uri.port_u16().unwrap_or(if is_tls { HTTPS_PORT } else { HTTP_PORT });
                Ok(Self { is_tls, host, port })
            }
            _ => Err(unlike()),
        }
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

    /// Whether it is this machine, by a name that nobody else can give.
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

    #[test]
    fn an_address_is_http_or_https_and_has_no_path() {
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
        for url in ["localhost:8081", "http://localhost/dbs", "ftp://localhost", ""] {
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
