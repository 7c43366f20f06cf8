//! A request, signed as SDKs sign unless a test says otherwise, written out as HTTP/1.1 bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::Sha256;

pub const READ_WRITE_KEY: &str = "cmVhZC13cml0ZSBrZXkgb2YgdGhlIHRlc3Rz";
pub const READ_ONLY_KEY: &str = "cmVhZC1vbmx5IGtleSBvZiB0aGUgdGVzdHM=";

#[derive(Clone)]
pub struct Call {
    method: &'static str,
    /// Decoded, without its leading slash: what is signed.
    path: String,
    target: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
    framing: Framing,
    identity: Identity,
    date: Option<String>,
    version: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
enum Framing {
    Length,
    Chunks,
}

#[derive(Clone)]
enum Identity {
    Key(&'static str),
    Header(String),
    Nobody,
}

impl Call {
    pub fn new(method: &'static str, path: &str) -> Self {
        let segments = path.split('/').map(|part| utf8_percent_encode(part, NON_ALPHANUMERIC).to_string());
        Self {
            method,
            path: path.to_owned(),
            target: format!("/{}", segments.collect::<Vec<_>>().join("/")),
            headers: Vec::new(),
            body: Vec::new(),
            framing: Framing::Length,
            identity: Identity::Key(READ_WRITE_KEY),
            date: None,
            version: "2020-07-15",
        }
    }

    pub fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    pub fn post(path: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::new("POST", path).body(body)
    }

    pub fn put(path: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::new("PUT", path).body(body)
    }

    pub fn patch(path: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::new("PATCH", path).body(body)
    }

    pub fn delete(path: &str) -> Self {
        Self::new("DELETE", path)
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// The body in chunks, without a length told ahead.
    pub fn chunked(self) -> Self {
        Self { framing: Framing::Chunks, ..self }
    }

    pub fn header(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The version of the protocol that the client speaks.
    pub fn version(self, version: &'static str) -> Self {
        Self { version, ..self }
    }

    /// The partition key header as it is written.
    pub fn partition(self, json: &str) -> Self {
        self.header("x-ms-documentdb-partitionkey", json)
    }

    pub fn upsert(self) -> Self {
        self.header("x-ms-documentdb-is-upsert", "True")
    }

    pub fn query(self) -> Self {
        self.header("x-ms-documentdb-isquery", "true")
    }

    /// What stands in the request line, if not the path percent-encoded.
    pub fn target(self, target: &str) -> Self {
        Self { target: target.to_owned(), ..self }
    }

    pub fn signed_with(self, key: &'static str) -> Self {
        Self { identity: Identity::Key(key), ..self }
    }

    pub fn authorization(self, header: &str) -> Self {
        Self { identity: Identity::Header(header.to_owned()), ..self }
    }

    pub fn unsigned(self) -> Self {
        Self { identity: Identity::Nobody, ..self }
    }

    /// What `x-ms-date` says, and is signed.
    pub fn date(self, date: &str) -> Self {
        Self { date: Some(date.to_owned()), ..self }
    }

    pub fn encode(&self, now: &str) -> Vec<u8> {
        let mut bytes = self.head(now);
        match self.framing {
            Framing::Length => bytes.extend_from_slice(&self.body),
            Framing::Chunks => write_chunks(&mut bytes, &self.body),
        }
        bytes
    }

    pub fn head(&self, now: &str) -> Vec<u8> {
        let date = self.date.as_deref().unwrap_or(now);
        let mut head = format!(
            "{} {} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-ms-version: {}\r\n",
            self.method, self.target, self.version
        );
        if !date.is_empty() {
            head.push_str(&format!("x-ms-date: {date}\r\n"));
        }
        match &self.identity {
            Identity::Key(key) => head.push_str(&format!("authorization: {}\r\n", self.sign(key, date))),
            Identity::Header(text) => head.push_str(&format!("authorization: {text}\r\n")),
            Identity::Nobody => {}
        }
        match self.framing {
            Framing::Length if self.body.is_empty() => {}
            Framing::Length => head.push_str(&format!("content-length: {}\r\n", self.body.len())),
            Framing::Chunks => head.push_str("transfer-encoding: chunked\r\n"),
        }
        let mut bytes = head.into_bytes();
        for (name, value) in &self.headers {
            bytes.extend_from_slice(&[name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes
    }

    fn sign(&self, key: &str, date: &str) -> String {
        let (kind, link) = signed(&self.path);
        let text = format!("{}\n{kind}\n{link}\n{}\n\n", self.method.to_lowercase(), date.to_lowercase());
        token("master", &signature(key, &text))
    }
}

/// Five lines and a key to the signature, in Base64.
pub fn signature(key: &str, text: &str) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(&STANDARD.decode(key).unwrap()).unwrap();
    STANDARD.encode(mac.chain_update(text).finalize().into_bytes())
}

/// The header's value, percent-encoded as SDKs send it.
pub fn token(kind: &str, signature: &str) -> String {
    utf8_percent_encode(&format!("type={kind}&ver=1.0&sig={signature}"), NON_ALPHANUMERIC).to_string()
}

/// The resource type and link: an odd number of segments is a feed, which signs its parent (wire guide §4.1).
fn signed(path: &str) -> (String, String) {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [] => (String::new(), String::new()),
        [.., "operations", "partitionkeydelete"] => ("colls".to_owned(), parts[..parts.len() - 2].join("/")),
        ["offers", rid] => ("offers".to_owned(), rid.to_lowercase()),
        [parent @ .., kind] if parts.len() % 2 == 1 => ((*kind).to_owned(), parent.join("/")),
        [.., kind, _] => ((*kind).to_owned(), parts.join("/")),
        [only] => ((*only).to_owned(), String::new()),
    }
}

fn write_chunks(bytes: &mut Vec<u8>, body: &[u8]) {
    for chunk in body.chunks(100_000) {
        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
}
