//! Where a server listens.

use http::Uri;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Without the brackets that an IPv6 address has in a URL.
    pub host: String,
    pub port: u16,
}

const HTTP_PORT: u16 = 80;

impl Address {
    /// Of a flag's value.
    pub fn parse(flag: &str, url: &str) -> Result<Self, String> {
        let unlike = || format!("{flag} '{url}' is not like http://127.0.0.1:8081");
        let uri: Uri = url.parse().map_err(|_| unlike())?;
        match (uri.scheme_str(), uri.host(), uri.path()) {
            (Some("http"), Some(host), "/" | "") => {
                let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
                Ok(Self { host, port: uri.port_u16().unwrap_or(HTTP_PORT) })
            }
            (Some("https"), ..) => Err(format!("{flag} '{url}': this command speaks http, on the same port")),
            _ => Err(unlike()),
        }
    }

    /// `localhost:8081`
    pub fn authority(&self) -> String {
        if self.host.contains(':') {
            return format!("[{}]:{}", self.host, self.port);
        }
        format!("{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_addresses_are_taken() {
        let address = |url: &str| Address::parse("--url", url);
        let at = |host: &str, port| Ok(Address { host: host.to_owned(), port });
        assert_eq!(address("http://[::1]:9"), at("::1", 9));
        assert_eq!(address("http://example.com"), at("example.com", 80));
        for (url, fragment) in [
            ("https://localhost:8081", "speaks http"),
            ("localhost:8081", "not like http"),
            ("http://localhost/dbs", "not like http"),
            ("", "not like http"),
        ] {
            assert!(address(url).is_err_and(|sentence| sentence.contains(fragment)), "{url}");
        }
    }
}
