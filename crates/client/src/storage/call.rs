//! One request to a storage service: resource, parameters and headers, and the signed HTTP request.

use super::credential::StorageCredential;
use super::error::StorageError;
use crate::call::segment;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderName, HeaderValue, Method, Request};
use orrery_core::Timestamp;
use orrery_protocol::storage::shared_key::{self, Form, Message};
use orrery_protocol::storage::{Query, Service};

/// The version that all current services support, including tokens.
const VERSION: &str = "2020-12-06";
const AGENT: &str = concat!("orrery/", env!("CARGO_PKG_VERSION"));

/// Whether a request that may have been executed can be repeated: reads, and writes whose second execution would be
/// refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    Safe,
    Unsafe,
}

pub(super) struct Call {
    pub verb: Method,
    /// The path after the account, percent-encoded, with a leading slash.
    path: String,
    query: Vec<(&'static str, String)>,
    headers: Vec<(String, String)>,
    body: Bytes,
    pub repeat: Repeat,
}

/// The context of a signature: the service, and the position of the account in its URLs.
pub(super) struct Signing<'a> {
    pub service: Service,
    /// The path prefix: empty if the host is the account's own.
    pub prefix: &'a str,
    pub credential: &'a StorageCredential,
}

impl Call {
    /// `path` is the encoded path after the account: `/queue/messages`.
    pub fn new(verb: Method, path: impl Into<String>) -> Self {
        let repeat = if verb == Method::GET || verb == Method::HEAD { Repeat::Safe } else { Repeat::Unsafe };
        let (path, body) = (path.into(), Bytes::new());
        Self { verb, path, query: Vec::new(), headers: Vec::new(), body, repeat }
    }

    pub fn repeat(self, repeat: Repeat) -> Self {
        Self { repeat, ..self }
    }

    pub fn parameter(mut self, name: &'static str, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }

    /// Adds a header, if there is a value.
    pub fn parameter_if(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        self.query.extend(value.map(|value| (name, value.to_string())));
        self
    }

    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub fn body(self, content_type: &str, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self.header(CONTENT_TYPE.as_str(), content_type) }
    }

    /// The request, whose URI is a path.
    pub fn request(&self, signing: &Signing<'_>, now: Timestamp) -> Result<Request<Bytes>, StorageError> {
        let path = format!("{}{}", signing.prefix, self.path);
        let query = self.raw_query(signing.credential);
        let headers = self.all_headers(now);
        let authorization = self.authorization(signing, &path, &query, &headers)?;
        let uri = if query.is_empty() { path } else { format!("{path}?{query}") };
        let mut request = Request::builder().method(&self.verb).uri(uri).header(USER_AGENT, AGENT);
        for (name, value) in headers.iter().chain(&authorization) {
            let name = HeaderName::try_from(name.as_str()).map_err(|error| unwritable(&error))?;
            // Values may be any text, although services accept only ASCII.
            let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|error| unwritable(&error))?;
            request = request.header(name, value);
        }
        request.body(self.body.clone()).map_err(|error| unwritable(&error))
    }

    /// The encoded parameters, including those of a shared access signature.
    fn raw_query(&self, credential: &StorageCredential) -> String {
        let parameters = self.query.iter().map(|(name, value)| format!("{name}={}", segment(value)));
        let signature = match credential {
            StorageCredential::Sas(query) if !query.is_empty() => Some(query.clone()),
            _ => None,
        };
        parameters.chain(signature).collect::<Vec<_>>().join("&")
    }

    /// With names in lower case.
    fn all_headers(&self, now: Timestamp) -> Vec<(String, String)> {
        let said = self.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
        let general = [("x-ms-date", now.to_http()), ("x-ms-version", VERSION.to_owned())];
        said.chain(general.map(|(name, value)| (name.to_owned(), value))).collect()
    }

    fn authorization(
        &self,
        signing: &Signing<'_>,
        path: &str,
        query: &str,
        headers: &[(String, String)],
    ) -> Result<Option<(String, String)>, StorageError> {
        let value = match signing.credential {
            StorageCredential::Sas(_) => return Ok(None),
            StorageCredential::Token(token) => format!("Bearer {}", token()),
            StorageCredential::Key { account, key } => {
                let query = Query::parse(query).map_err(|error| unwritable(&error))?;
                let length = self.body.len().to_string();
                let mut signed: Vec<(&str, &str)> =
                    headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                signed.push(("content-length", &length));
                let message = Message {
                    service: signing.service,
                    verb: self.verb.as_str(),
                    account,
                    path,
                    query: &query,
                    headers: &signed,
                };
                shared_key::authorization(&message, Form::Full, key)
            }
        };
        Ok(Some((AUTHORIZATION.as_str().to_owned(), value)))
    }
}

fn unwritable(error: &dyn std::fmt::Display) -> StorageError {
    StorageError::Invalid(format!("the request cannot be written: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(service: Service, credential: &StorageCredential, call: &Call) -> Request<Bytes> {
        let now = Timestamp::parse_http("Sun, 15 Nov 2026 01:02:43 GMT").expect("a date");
        let signing = Signing { service, prefix: "/acct", credential };
        call.request(&signing, now).expect("a request")
    }

    fn header<'a>(request: &'a Request<Bytes>, name: &str) -> &'a str {
        request.headers().get(name).map(|value| value.to_str().expect("ASCII")).unwrap_or_default()
    }

    #[test]
    fn a_key_signs_what_is_sent() {
        let credential = StorageCredential::key("acct", "YQ==").expect("a key");
        let StorageCredential::Key { key, .. } = &credential else { unreachable!("it is a key") };
        let call = Call::new(Method::PUT, "/my-queue/messages/i%2F")
            .parameter("popreceipt", "a+b/=")
            .body("application/xml", "<x/>");
        let sent = request(Service::Queue, &credential, &call);
        assert_eq!(sent.uri(), "/acct/my-queue/messages/i%2F?popreceipt=a%2Bb%2F%3D");
        let text = "PUT\n\n\n4\n\napplication/xml\n\n\n\n\n\n\nx-ms-date:Sun, 15 Nov 2026 01:02:43 GMT\n\
                    x-ms-version:2020-12-06\n/acct/acct/my-queue/messages/i%2F\npopreceipt:a+b/=";
        assert_eq!(header(&sent, "authorization"), format!("SharedKey acct:{}", key.sign(text)));
        let table = Call::new(Method::POST, "/t").body("application/json", "{}");
        let text = "POST\n\napplication/json\nSun, 15 Nov 2026 01:02:43 GMT\n/acct/acct/t";
        let sent = request(Service::Table, &credential, &table);
        assert_eq!(header(&sent, "authorization"), format!("SharedKey acct:{}", key.sign(text)));
    }

    #[test]
    fn a_signature_is_part_of_the_query_and_a_token_is_a_header() {
        let call = Call::new(Method::GET, "/").parameter("comp", "list");
        let sent = request(Service::Queue, &StorageCredential::sas("?sv=1&sig=a%3D"), &call);
        assert_eq!(sent.uri(), "/acct/?comp=list&sv=1&sig=a%3D");
        assert_eq!(header(&sent, "authorization"), "");
        let sent = request(Service::Queue, &StorageCredential::token("t".to_owned()), &call);
        assert_eq!((header(&sent, "authorization"), sent.uri().path()), ("Bearer t", "/acct/"));
    }

    #[test]
    fn a_value_that_no_header_can_hold_is_refused() {
        let call = Call::new(Method::PUT, "/q").header("x-ms-meta-a", "b\nc");
        let signing =
            Signing { service: Service::Queue, prefix: "", credential: &StorageCredential::sas("") };
        let refused = call.request(&signing, Timestamp::default());
        assert!(matches!(refused, Err(StorageError::Invalid(_))));
    }
}
