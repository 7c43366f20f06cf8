//! For the tests of this crate: a storage with accounts in a folder of its own, a clock that stands still, and requests.

use crate::{Envelope, Options, Storage, StorageError, StorageRequest};
use http::{HeaderName, HeaderValue, Request};
use orrery_api_common::secrets::StorageAccounts;
use orrery_api_common::{Key, Peer};
use orrery_catalog::storage::ServiceKind;
use orrery_core::{Env, Timestamp};
use orrery_protocol::storage::shared_key::{Form, Message, authorization};
use orrery_protocol::storage::{DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY, Query, Service};
use std::sync::Arc;

pub const DATE: &str = "Sun, 15 Nov 2026 01:02:43 GMT";
pub const NOW: Timestamp = Timestamp::from_seconds(1_794_704_563);

pub struct Fixture {
    pub storage: Storage,
    _folder: tempfile::TempDir,
}

pub fn fixture() -> Fixture {
    fixture_with(|_| ())
}

pub fn fixture_with(change: impl FnOnce(&mut Options)) -> Fixture {
    let folder = tempfile::tempdir().expect("a folder");
    let accounts = StorageAccounts::load_or_make(folder.path(), true).expect("accounts");
    accounts.add("other").expect("another account");
    let mut options = Options::new(Arc::new(accounts), Env::seeded(NOW, 1));
    change(&mut options);
    Fixture { storage: Storage::new(options), _folder: folder }
}

pub fn key() -> Key {
    Key::parse(DEVELOPMENT_KEY).expect("a key")
}

/// A request before it is read.
#[derive(Clone, Debug)]
pub struct Draft {
    pub service: Service,
    pub verb: String,
    pub scheme: &'static str,
    pub address: String,
    /// With the account, as it travels.
    pub path: String,
    pub query: String,
    pub headers: Vec<(String, String)>,
}

impl Draft {
    pub fn new(service: Service, verb: &str, path: &str, query: &str) -> Self {
        Self {
            service,
            verb: verb.to_owned(),
            scheme: "http",
            address: "127.0.0.1:5000".to_owned(),
            path: format!("/{DEVELOPMENT_ACCOUNT}{path}"),
            query: query.to_owned(),
            headers: Vec::new(),
        }
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn signed(self, form: Form, key: &Key) -> Self {
        let dated = self.with("x-ms-date", DATE);
        let query = Query::parse(&dated.query).expect("text");
        let names: Vec<String> = dated.headers.iter().map(|(name, _)| name.to_lowercase()).collect();
        let values = dated.headers.iter().map(|(_, value)| value.as_str());
        let headers: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(values).collect();
        let value = authorization(
            &Message {
                service: dated.service,
                verb: &dated.verb,
                account: DEVELOPMENT_ACCOUNT,
                path: &dated.path,
                query: &query,
                headers: &headers,
            },
            form,
            key,
        );
        dated.with("authorization", &value)
    }

    pub fn read(&self, storage: &Storage) -> (Envelope, Result<StorageRequest, StorageError>) {
        let mark = if self.query.is_empty() { "" } else { "?" };
        let uri = format!("{}{mark}{}", self.path, self.query);
        let mut request = Request::builder().method(self.verb.as_str()).uri(uri).body(()).expect("a request");
        request.headers_mut().insert("host", HeaderValue::from_static("127.0.0.1:10001"));
        for (name, value) in &self.headers {
            let name: HeaderName = name.parse().expect("a name");
            request.headers_mut().append(name, HeaderValue::from_bytes(value.as_bytes()).expect("a value"));
        }
        let (head, ()) = request.into_parts();
        let mut envelope = storage.begin(&head.headers);
        let peer = Peer::detached(self.scheme, self.address.parse().expect("an address"));
        let service = match self.service {
            Service::Blob => ServiceKind::Blob,
            Service::Queue => ServiceKind::Queue,
            Service::Table => ServiceKind::Table,
        };
        let read = storage.read(service, head, peer, &mut envelope);
        (envelope, read)
    }
}
