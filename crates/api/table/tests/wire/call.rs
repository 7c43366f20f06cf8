//! A request, signed as SDKs sign unless a test says otherwise, written out as HTTP/1.1 bytes.
//!
//! Signatures are made here by hand, from the wire guide alone (§2.3, §2.4, §3.2, §3.5).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::Sha256;

pub const ACCOUNT: &str = "devstoreaccount1";
pub const KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

#[derive(Clone)]
pub struct Call {
    method: String,
    /// The path after the account, as it travels, with its query.
    target: String,
    account: String,
    host: &'static str,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    identity: Identity,
    version: &'static str,
    /// The path that is signed, if it is not the one that is asked for.
    signed_at: Option<&'static str>,
}

#[derive(Clone)]
enum Identity {
    /// As Python signs.
    SharedKey(&'static str),
    /// As JavaScript signs.
    SharedKeyLite(&'static str),
    Header(String),
    Nobody,
}

impl Call {
    /// `target` is what follows the account in the URL, from its slash on.
    pub fn new(method: &str, target: &str) -> Self {
        Self {
            method: method.to_owned(),
            target: target.to_owned(),
            account: ACCOUNT.to_owned(),
            host: "127.0.0.1",
            headers: Vec::new(),
            body: Vec::new(),
            identity: Identity::SharedKey(KEY),
            version: "2019-02-02",
            signed_at: None,
        }
    }

    pub fn get(target: &str) -> Self {
        Self::new("GET", target)
    }

    pub fn post(target: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::new("POST", target).body(body)
    }

    pub fn put(target: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::new("PUT", target).body(body)
    }

    pub fn merge(target: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::new("PATCH", target).body(body)
    }

    pub fn delete(target: &str) -> Self {
        Self::new("DELETE", target)
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The condition that every delete has to have.
    pub fn any(self) -> Self {
        self.header("If-Match", "*")
    }

    pub fn account(self, account: &str) -> Self {
        Self { account: account.to_owned(), ..self }
    }

    /// An account named by its host alone.
    pub fn host(self, host: &'static str) -> Self {
        Self { host, account: String::new(), ..self }
    }

    /// The version of the protocol that the client speaks.
    pub fn version(self, version: &'static str) -> Self {
        Self { version, ..self }
    }

    pub fn signed_at(self, path: &'static str) -> Self {
        Self { signed_at: Some(path), ..self }
    }

    pub fn lite(self) -> Self {
        Self { identity: Identity::SharedKeyLite(KEY), ..self }
    }

    pub fn signed_with(self, key: &'static str) -> Self {
        Self { identity: Identity::SharedKey(key), ..self }
    }

    pub fn authorization(self, text: &str) -> Self {
        Self { identity: Identity::Header(text.to_owned()), ..self }
    }

    pub fn unsigned(self) -> Self {
        Self { identity: Identity::Nobody, ..self }
    }

    /// With a shared access signature and nothing else.
    pub fn sas(self, token: &str) -> Self {
        let mark = if self.target.contains('?') { '&' } else { '?' };
        Self { target: format!("{}{mark}{token}", self.target), identity: Identity::Nobody, ..self }
    }

    pub fn encode(&self, now: &str) -> Vec<u8> {
        let prefix = if self.account.is_empty() { String::new() } else { format!("/{}", self.account) };
        let path = format!("{prefix}{}", self.target);
        let mut head = format!("{} {path} HTTP/1.1\r\nHost: {}\r\n", self.method, self.host);
        head.push_str(&format!("x-ms-version: {}\r\nx-ms-date: {now}\r\n", self.version));
        match &self.identity {
            Identity::SharedKey(key) => {
                let lines =
                    [&self.method, &self.header_text("content-md5"), &self.header_text("content-type")];
                let text =
                    format!("{}\n{}\n{}\n{now}\n{}", lines[0], lines[1], lines[2], self.resource(&path));
                head.push_str(&format!("Authorization: SharedKey {ACCOUNT}:{}\r\n", sign(key, &text)));
            }
            Identity::SharedKeyLite(key) => {
                let text = format!("{now}\n{}", self.resource(&path));
                head.push_str(&format!("Authorization: SharedKeyLite {ACCOUNT}:{}\r\n", sign(key, &text)));
            }
            Identity::Header(text) => head.push_str(&format!("Authorization: {text}\r\n")),
            Identity::Nobody => {}
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !self.body.is_empty() {
            head.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        }
        [head.as_bytes(), b"\r\n", &self.body].concat()
    }

    fn header_text(&self, name: &str) -> String {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    }

    fn resource(&self, path: &str) -> String {
        let (path, query) = self.signed_at.unwrap_or(path).split_once('?').unwrap_or((path, ""));
        let comp = query.split('&').find_map(|pair| pair.strip_prefix("comp="));
        let comp = comp.map(|comp| format!("?comp={comp}")).unwrap_or_default();
        format!("/{ACCOUNT}{path}{comp}")
    }
}

pub fn sign(key: &str, text: &str) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(&STANDARD.decode(key).unwrap()).unwrap();
    STANDARD.encode(mac.chain_update(text).finalize().into_bytes())
}

/// A signature for one table: its permissions, and what else it says, such as `("spk", "p")`.
pub fn table_sas(table: &str, permissions: &str, more: &[(&str, &str)]) -> String {
    let of = |name: &str| more.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| *value);
    let expiry = if of("si").is_empty() { "2030-01-01T00:00:00Z" } else { of("se") };
    let expiry = if of("se").is_empty() { expiry } else { of("se") };
    let resource = format!("/table/{ACCOUNT}/{}", table.to_lowercase());
    let lines = [
        permissions,
        of("st"),
        expiry,
        &resource,
        of("si"),
        of("sip"),
        of("spr"),
        "2019-02-02",
        of("spk"),
        of("srk"),
        of("epk"),
        of("erk"),
    ];
    let mut pairs = vec![("sv", "2019-02-02"), ("tn", table), ("sp", permissions), ("se", expiry)];
    pairs.extend(more.iter().filter(|(name, _)| *name != "se"));
    query(&pairs, &sign(KEY, &lines.join("\n")))
}

/// A signature for the account: permissions, resource types, services.
pub fn account_sas(permissions: &str, types: &str, services: &str) -> String {
    let expiry = "2030-01-01T00:00:00Z";
    let lines = [ACCOUNT, permissions, services, types, "", expiry, "", "", "2019-02-02", ""];
    let pairs = [("sv", "2019-02-02"), ("ss", services), ("srt", types), ("sp", permissions), ("se", expiry)];
    query(&pairs, &sign(KEY, &lines.join("\n")))
}

fn query(pairs: &[(&str, &str)], signature: &str) -> String {
    let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let pairs = pairs.iter().filter(|(_, value)| !value.is_empty());
    let pairs = pairs.map(|(name, value)| format!("{name}={}", encode(value)));
    [pairs.collect::<Vec<_>>().join("&"), format!("sig={}", encode(signature))].join("&")
}
