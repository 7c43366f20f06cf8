//! A request as bytes: built once, sent as often as wanted.

use crate::Signer;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What stays readable inside one segment of a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// A request to a decoded path without its leading slash, as it is signed: `dbs/d/colls/c/docs/i`.
#[derive(Clone, Debug)]
pub struct Request {
    method: Method,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Request {
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), headers: Vec::new(), body: Vec::new() }
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn header_if(self, name: &'static str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.header(name, value),
            None => self,
        }
    }

    /// The partition key header, for a key of one string.
    pub fn partition(self, key: &str) -> Self {
        let value = serde_json::Value::from(vec![key]).to_string();
        self.header("x-ms-documentdb-partitionkey", value)
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// The bytes of the request, signed, with the headers an SDK sends.
    pub fn encode(&self, signer: &Signer) -> Vec<u8> {
        let mut bytes = self.encode_head(signer, self.body.len());
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// The head alone, for a body of that length which the caller appends.
    pub fn encode_head(&self, signer: &Signer, body_bytes: usize) -> Vec<u8> {
        let mut head = format!(
            "{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: orrery-testing-client\r\n\
             Accept: application/json\r\nCache-Control: no-cache\r\nx-ms-version: 2020-07-15\r\n\
             x-ms-date: {}\r\nauthorization: {}\r\n",
            self.method.as_str(),
            encode_path(&self.path),
            signer.date(),
            signer.authorization(self.method.as_str(), &self.path),
        );
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if self.method != Method::Get && self.method != Method::Delete {
            head.push_str(&format!("Content-Type: application/json\r\nContent-Length: {body_bytes}\r\n"));
        }
        head.push_str("\r\n");
        head.into_bytes()
    }
}

fn encode_path(path: &str) -> String {
    let segments = path.trim_matches('/').split('/');
    segments.map(|segment| format!("/{}", utf8_percent_encode(segment, SEGMENT))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_core::Timestamp;

    fn text(request: &Request) -> String {
        String::from_utf8(request.encode(&Signer::emulator(Timestamp::default()))).unwrap()
    }

    #[test]
    fn a_write_carries_its_length_and_body() {
        let sent = text(&Request::new(Method::Post, "dbs").body("{\"id\":\"a\"}"));
        assert!(sent.starts_with("POST /dbs HTTP/1.1\r\n"), "{sent}");
        assert!(sent.ends_with("Content-Length: 10\r\n\r\n{\"id\":\"a\"}"), "{sent}");
    }

    #[test]
    fn a_read_has_no_body_headers_and_the_path_is_encoded() {
        let sent = text(&Request::new(Method::Get, "dbs/a b/colls/é").partition("x\"y"));
        assert!(sent.starts_with("GET /dbs/a%20b/colls/%C3%A9 HTTP/1.1\r\n"), "{sent}");
        assert!(sent.contains("x-ms-documentdb-partitionkey: [\"x\\\"y\"]\r\n"), "{sent}");
        assert!(!sent.contains("Content-Length"), "{sent}");
    }

    #[test]
    fn the_account_is_at_the_root() {
        assert!(text(&Request::new(Method::Get, "")).starts_with("GET / HTTP/1.1\r\n"));
    }
}
