//! Requests to the storage ports: the tables and queues of the account that every emulator has, signed with its published
//! key as the SDKs sign (SharedKey).

use crate::request::Method;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use orrery_core::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::Sha256;

pub const STORAGE_ACCOUNT: &str = "devstoreaccount1";
/// The key that every emulator publishes for it.
pub const STORAGE_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// What stays readable in the value of a parameter.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageService {
    Queue,
    Table,
}

impl StorageService {
    const fn version(self) -> &'static str {
        match self {
            Self::Queue => "2026-04-06",
            Self::Table => "2019-02-02",
        }
    }
}

/// A request to what follows the account in the path, as it travels: `t(PartitionKey='p',RowKey='r')`.
#[derive(Clone, Debug)]
pub struct StorageRequest {
    service: StorageService,
    method: Method,
    path: String,
    query: Vec<(&'static str, String)>,
    headers: Vec<(&'static str, String)>,
    content_type: String,
    body: Vec<u8>,
}

impl StorageRequest {
    pub fn new(service: StorageService, method: Method, path: impl Into<String>) -> Self {
        let (query, headers, content_type, body) = (Vec::new(), Vec::new(), String::new(), Vec::new());
        Self { service, method, path: path.into(), query, headers, content_type, body }
    }

    pub fn queue(method: Method, path: impl Into<String>) -> Self {
        Self::new(StorageService::Queue, method, path)
    }

    pub fn table(method: Method, path: impl Into<String>) -> Self {
        Self::new(StorageService::Table, method, path)
            .header("accept", "application/json;odata=minimalmetadata")
            .header("dataserviceversion", "3.0;NetFx")
    }

    pub fn parameter(mut self, name: &'static str, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }

    /// None of those that are signed; these are made here.
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn body(self, content_type: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self { content_type: content_type.into(), body: body.into(), ..self }
    }

    /// The bytes of the request, signed for this moment.
    pub fn encode(&self, now: Timestamp) -> Vec<u8> {
        let mut bytes = self.encode_head(now, self.body.len());
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// The head alone, for a body of that length which the caller appends, or not.
    pub fn encode_head(&self, now: Timestamp, body_bytes: usize) -> Vec<u8> {
        let date = now.to_http();
        let mut head = format!(
            "{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: orrery-testing-client\r\nx-ms-version: {}\r\nx-ms-date: {date}\r\n",
            self.method.as_str(),
            self.target(),
            self.service.version(),
        );
        let signature = sign(&self.text_to_sign(&date, body_bytes));
        head.push_str(&format!("authorization: SharedKey {STORAGE_ACCOUNT}:{signature}\r\n"));
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !self.content_type.is_empty() {
            head.push_str(&format!("content-type: {}\r\n", self.content_type));
        }
        if self.method != Method::Get && self.method != Method::Delete {
            head.push_str(&format!("content-length: {body_bytes}\r\n"));
        }
        head.push_str("\r\n");
        head.into_bytes()
    }

    /// The path and query as they travel.
    pub fn target(&self) -> String {
        let query =
            self.query.iter().map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, VALUE)));
        let query = query.collect::<Vec<_>>().join("&");
        let separator = if query.is_empty() { "" } else { "?" };
        format!("/{STORAGE_ACCOUNT}/{}{separator}{query}", self.path)
    }

    fn text_to_sign(&self, date: &str, body_bytes: usize) -> String {
        let (verb, kind) = (self.method.as_str(), &self.content_type);
        let resource = format!("/{STORAGE_ACCOUNT}/{STORAGE_ACCOUNT}/{}", self.path);
        match self.service {
            StorageService::Table => {
                let comp = self.query.iter().find(|(name, _)| *name == "comp");
                let comp = comp.map(|(_, value)| format!("?comp={value}")).unwrap_or_default();
                format!("{verb}\n\n{kind}\n{date}\n{resource}{comp}")
            }
            StorageService::Queue => {
                let length = if body_bytes == 0 { String::new() } else { body_bytes.to_string() };
                let version = self.service.version();
                let mut query: Vec<_> =
                    self.query.iter().map(|(name, value)| format!("\n{name}:{value}")).collect();
                query.sort();
                format!(
                    "{verb}\n\n\n{length}\n\n{kind}\n\n\n\n\n\n\nx-ms-date:{date}\nx-ms-version:{version}\n{resource}{}",
                    query.concat()
                )
            }
        }
    }
}

fn sign(text: &str) -> String {
    let key = STANDARD.decode(STORAGE_KEY).expect("the published key is base64");
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("HMAC takes any length");
    mac.update(text.as_bytes());
    STANDARD.encode(mac.finalize().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(request: &StorageRequest) -> String {
        let now = Timestamp::parse_http("Sun, 15 Nov 2026 01:02:43 GMT").unwrap();
        String::from_utf8(request.encode(now)).unwrap()
    }

    /// Signatures computed with Python's hmac module over the texts of the wire guide (§2.1, §2.3).
    #[test]
    fn signatures_are_those_computed_by_other_means() {
        let signed = |request: StorageRequest, signature: &str| {
            let sent = text(&request);
            assert!(sent.contains(&format!("SharedKey devstoreaccount1:{signature}\r\n")), "{sent}");
        };
        let update = StorageRequest::queue(Method::Put, "q/messages/i")
            .parameter("visibilitytimeout", 0)
            .parameter("popreceipt", "a+b/=")
            .body("application/xml", "<x/>");
        signed(update, "6ByiM0ZYQjiEVQciC27uAQkGgYEm2l485ADF6++g3Dg=");
        signed(
            StorageRequest::table(Method::Post, "t").body("application/json", "{}"),
            "VZws6OgLb2ODZVaGsooIaN0BZK1lL/d7Awagd400ydM=",
        );
        signed(
            StorageRequest::table(Method::Get, "t").parameter("comp", "acl"),
            "U/c//XyppwvZEvJUR20VVYyK5tj4IWYQGQ0ODJLaHXs=",
        );
        signed(
            StorageRequest::queue(Method::Get, "q/messages").parameter("numofmessages", 2),
            "f/mWzeb5l49jlLmYQ7hgNQNVDrU1glJ3+3StJGaOonQ=",
        );
    }

    #[test]
    fn a_request_is_to_the_account_and_its_values_are_escaped() {
        let get = StorageRequest::table(Method::Get, "t()").parameter("$filter", "a eq 'x y'");
        assert!(
            text(&get).starts_with("GET /devstoreaccount1/t()?$filter=a%20eq%20%27x%20y%27 HTTP/1.1\r\n")
        );
        let put = text(&StorageRequest::queue(Method::Put, "q"));
        assert!(put.ends_with("content-length: 0\r\n\r\n"), "{put}");
    }
}
