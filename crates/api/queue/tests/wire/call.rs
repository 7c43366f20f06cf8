//! A request, signed as SDKs sign unless a test says otherwise, written out as HTTP/1.1 bytes.

use orrery_api_common::Key;
use orrery_protocol::storage::shared_key::{Form, Message, authorization};
use orrery_protocol::storage::{DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY, Query, Service};

pub fn key() -> Key {
    Key::parse(DEVELOPMENT_KEY).unwrap()
}

#[derive(Clone)]
pub struct Call {
    method: &'static str,
    /// The account, as the path names it.
    account: String,
    /// After the account, with its query: `/q/messages?numofmessages=2`.
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    identity: Identity,
    date: Option<String>,
}

#[derive(Clone)]
enum Identity {
    Key(Key),
    Header(String),
    Nobody,
}

impl Call {
    pub fn new(method: &'static str, target: &str) -> Self {
        Self {
            method,
            account: DEVELOPMENT_ACCOUNT.to_owned(),
            target: target.to_owned(),
            headers: vec![("x-ms-version".to_owned(), "2026-10-06".to_owned())],
            body: Vec::new(),
            identity: Identity::Key(key()),
            date: None,
        }
    }

    pub fn get(target: &str) -> Self {
        Self::new("GET", target)
    }

    pub fn put(target: &str) -> Self {
        Self::new("PUT", target)
    }

    pub fn delete(target: &str) -> Self {
        Self::new("DELETE", target)
    }

    /// Puts a message whose text needs no escapes.
    pub fn send(target: &str, text: &str) -> Self {
        let body = format!("<QueueMessage><MessageText>{text}</MessageText></QueueMessage>");
        Self::new("POST", target).body(body)
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn version(mut self, version: &str) -> Self {
        version.clone_into(&mut self.headers[0].1);
        self
    }

    pub fn secondary(self) -> Self {
        Self { account: format!("{DEVELOPMENT_ACCOUNT}-secondary"), ..self }
    }

    pub fn account(self, account: &str) -> Self {
        Self { account: account.to_owned(), ..self }
    }

    pub fn signed_with(self, key: Key) -> Self {
        Self { identity: Identity::Key(key), ..self }
    }

    pub fn authorization(self, header: &str) -> Self {
        Self { identity: Identity::Header(header.to_owned()), ..self }
    }

    pub fn unsigned(self) -> Self {
        Self { identity: Identity::Nobody, ..self }
    }

    /// With a shared access signature, and no other.
    pub fn token(self, token: &str) -> Self {
        let joined = if self.target.contains('?') { '&' } else { '?' };
        let target = format!("{}{joined}{token}", self.target);
        Self { target, ..self }.unsigned()
    }

    /// What `x-ms-date` says, and is signed.
    pub fn date(self, date: &str) -> Self {
        Self { date: Some(date.to_owned()), ..self }
    }

    pub fn encode(&self, now: &str) -> Vec<u8> {
        let mut headers = vec![
            ("Host".to_owned(), "127.0.0.1".to_owned()),
            ("Content-Length".to_owned(), self.body.len().to_string()),
            ("x-ms-date".to_owned(), self.date.clone().unwrap_or_else(|| now.to_owned())),
        ];
        headers.extend(self.headers.iter().cloned());
        if let Some(value) = self.credential(&headers) {
            headers.push(("Authorization".to_owned(), value));
        }
        let mut bytes = format!("{} /{}{} HTTP/1.1\r\n", self.method, self.account, self.target);
        for (name, value) in headers {
            bytes += &format!("{name}: {value}\r\n");
        }
        [bytes.as_bytes(), b"\r\n", &self.body].concat()
    }

    fn credential(&self, headers: &[(String, String)]) -> Option<String> {
        let key = match &self.identity {
            Identity::Key(key) => key,
            Identity::Header(header) => return Some(header.clone()),
            Identity::Nobody => return None,
        };
        let (path, query) = self.target.split_once('?').unwrap_or((&self.target, ""));
        let lower: Vec<(String, &str)> =
            headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.as_str())).collect();
        let lower: Vec<(&str, &str)> = lower.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let message = Message {
            service: Service::Queue,
            verb: self.method,
            account: self.account.trim_end_matches("-secondary"),
            path: &format!("/{}{path}", self.account),
            query: &Query::parse(query).unwrap(),
            headers: &lower,
        };
        Some(authorization(&message, Form::Full, key))
    }
}
