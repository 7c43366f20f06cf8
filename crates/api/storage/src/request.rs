//! A request whose account is known: its path and query as they travelled, its head, and what its answer will say of it.

use crate::address::{Style, locate, protocol_service};
use crate::envelope::Envelope;
use crate::error::StorageError;
use crate::header;
use crate::replica;
use crate::storage::Storage;
use crate::version::Version;
use http::header::{AsHeaderName, HOST};
use http::request::Parts;
use http::{HeaderMap, Method};
use orrery_api_common::percent::decode_segment;
use orrery_api_common::{Peer, split_authority};
use orrery_catalog::storage::{AccountName, ServiceKind};
use orrery_core::Timestamp;
use orrery_protocol::storage::{Query, Service};
use std::borrow::Cow;

#[derive(Debug)]
pub struct StorageRequest {
    pub service: ServiceKind,
    pub account: AccountName,
    /// It names the replica, which may only be read.
    pub is_secondary: bool,
    pub style: Style,
    /// It asks for a document of the account's static website.
    pub is_of_website: bool,
    /// The path as it travelled, where the replica was asked below its own name: some clients sign this one.
    pub replica_path: Option<String>,
    /// What follows the account in the path, as it travelled, without the first slash. For signatures; what it means is in
    /// [`path`](Self::path).
    pub raw_path: String,
    pub query: Query,
    pub head: Parts,
    pub peer: Peer,
    pub envelope: Envelope,
    /// Whether the version is the request's own, and not the default.
    pub has_version: bool,
}

impl StorageRequest {
    /// Reads a head. The version is written to the envelope as soon as it is known.
    pub fn read(
        storage: &Storage,
        service: ServiceKind,
        mut head: Parts,
        peer: Peer,
        envelope: &mut Envelope,
    ) -> Result<Self, StorageError> {
        let signed_url = replica::signed_url(&head.uri);
        let replica_path = signed_url.is_some().then(|| head.uri.path().to_owned());
        head.uri = signed_url.unwrap_or(head.uri);
        let query =
            Query::parse(head.uri.query().unwrap_or_default()).map_err(|_| StorageError::invalid_uri())?;
        let asked = version(&head.headers, &query)?;
        envelope.version = asked.unwrap_or(Version::DEFAULT);
        let host = authority(&head).and_then(split_authority).map(|(host, _)| host);
        let is_account = |name: &str| storage.accounts().has(name);
        let address = locate(service, storage.addressing(), host, head.uri.path(), is_account)?;
        Ok(Self {
            service,
            account: address.account,
            is_secondary: address.is_secondary || replica_path.is_some(),
            replica_path,
            style: address.style,
            is_of_website: address.is_of_website,
            raw_path: address.path.to_owned(),
            query,
            peer,
            envelope: envelope.clone(),
            has_version: asked.is_some(),
            head,
        })
    }

    pub fn method(&self) -> &Method {
        &self.head.method
    }

    /// The text of a header; one that is not text is as good as missing.
    pub fn header(&self, name: impl AsHeaderName) -> Option<&str> {
        self.head.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// What a parameter of the query means.
    pub fn query(&self, name: &str) -> Option<Cow<'_, str>> {
        self.query.get(name)
    }

    /// Whether a parameter has this value, in any case: `comp=List`.
    pub fn query_is(&self, name: &str, value: &str) -> bool {
        self.query.get(name).is_some_and(|found| found.eq_ignore_ascii_case(value))
    }

    /// What follows the account in the path, decoded once.
    pub fn path(&self) -> Result<Cow<'_, str>, StorageError> {
        decode_segment(&self.raw_path).map_err(|_| StorageError::invalid_uri())
    }

    /// The segments of the path, split as it travelled and then decoded once each; none for the account itself.
    pub fn segments(&self) -> Result<Vec<Cow<'_, str>>, StorageError> {
        if self.raw_path.is_empty() {
            return Ok(Vec::new());
        }
        let decoded = self.raw_path.split('/').map(decode_segment);
        decoded.collect::<Result<_, _>>().map_err(|_| StorageError::invalid_uri())
    }

    /// `http://127.0.0.1:10001/devstoreaccount1`: the account as the client addressed it, without a slash at the end.
    pub fn base_url(&self) -> String {
        let scheme = self.peer.scheme;
        let authority = authority(&self.head).unwrap_or("localhost");
        let secondary = if self.is_secondary { "-secondary" } else { "" };
        match self.style {
            Style::Host => format!("{scheme}://{authority}"),
            Style::Path => format!("{scheme}://{authority}/{}{secondary}", self.account.as_str()),
        }
    }

    pub(crate) fn protocol_service(&self) -> Service {
        protocol_service(self.service)
    }

    pub fn version(&self) -> Version {
        self.envelope.version
    }

    pub fn now(&self) -> Timestamp {
        self.envelope.now
    }

    /// What requests without a version are answered by, if the properties of the service say so.
    pub fn default_version(&mut self, version: Option<&str>) {
        if let Some(version) = version.and_then(Version::parse).filter(|_| !self.has_version) {
            self.envelope.version = version;
        }
    }
}

/// The one that a request names: by its header, by `api-version`, or by its shared access signature.
fn version(headers: &HeaderMap, query: &Query) -> Result<Option<Version>, StorageError> {
    if let Some(value) = headers.get(header::VERSION) {
        let text = String::from_utf8_lossy(value.as_bytes());
        let refused = || StorageError::invalid_header(header::VERSION.as_str(), &text);
        return Version::parse(&text).map(Some).ok_or_else(refused);
    }
    let by_query = ["api-version", "sv"].iter().find_map(|name| Some((name, query.get(name)?)));
    let Some((name, text)) = by_query else { return Ok(None) };
    let refused = || StorageError::invalid_query(name, &text, "It is no version, which is a date.");
    Version::parse(&text).map(Some).ok_or_else(refused)
}

fn authority(head: &Parts) -> Option<&str> {
    let named = head.uri.authority().map(http::uri::Authority::as_str);
    named.or_else(|| head.headers.get(HOST)?.to_str().ok())
}

#[cfg(test)]
mod tests {
    use crate::testing::{Draft, fixture};
    use orrery_protocol::storage::Service;

    #[test]
    fn a_version_is_the_headers_or_the_signatures_or_the_services() {
        let fixture = fixture();
        let version = |draft: Draft| {
            let (envelope, request) = draft.read(&fixture.storage);
            let mut request = request.map_err(|error| (error.code, error.details))?;
            assert_eq!(envelope.version, request.version(), "a refusal says it too");
            request.default_version(Some("2011-08-18"));
            Ok(request.version().to_string())
        };
        let draft = |query: &str| Draft::new(Service::Queue, "GET", "/q", query);
        let ok = |text: &str| Ok(text.to_owned());
        assert_eq!(version(draft("sv=2019-02-02").with("x-ms-version", "2099-01-01")), ok("2099-01-01"));
        assert_eq!(version(draft("sv=2019-02-02")), ok("2019-02-02"));
        assert_eq!(version(draft("sv=2019-02-02&api-version=2020-10-02")), ok("2020-10-02"));
        assert_eq!(version(draft("")), ok("2011-08-18"));
        let details = vec![("HeaderName", "x-ms-version".to_owned()), ("HeaderValue", "latest".to_owned())];
        assert_eq!(version(draft("").with("x-ms-version", "latest")), Err(("InvalidHeaderValue", details)));
        assert!(version(draft("sv=latest")).is_err());
    }

    #[test]
    fn a_path_is_decoded_once_and_split_as_it_travelled() {
        let fixture = fixture();
        let read = |path: &str| {
            Draft::new(Service::Blob, "GET", path, "").read(&fixture.storage).1.expect("a request")
        };
        let request = read("/c/a%2Fb//%25C3/../+%20");
        assert_eq!(request.raw_path, "c/a%2Fb//%25C3/../+%20");
        assert_eq!(request.path().expect("text"), "c/a/b//%C3/../+ ");
        assert_eq!(request.segments().expect("text"), ["c", "a/b", "", "%C3", "..", "+ "]);
        assert_eq!(request.base_url(), "http://127.0.0.1:10001/devstoreaccount1");
        assert!(
            read("/").segments().expect("text").is_empty() && read("").segments().expect("text").is_empty()
        );
        assert_eq!(read("/%ff").path().map_err(|error| error.code), Err("InvalidUri"));
    }
}
