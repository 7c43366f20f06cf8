//! Requests to the ports of storage as bytes, signed with the key that every emulator publishes (SharedKey).

use orrery_core::Timestamp;
use orrery_protocol::Key;
use orrery_protocol::storage::shared_key::{Form, Message, authorization};
use orrery_protocol::storage::{DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY, Query, Service};

/// The key at one moment; its signatures hold for a quarter of an hour.
#[derive(Clone, Debug)]
pub struct Signer {
    key: Key,
    date: String,
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    pub service: Service,
    pub verb: &'a str,
    /// What follows the account, as it travels.
    pub path: &'a str,
    /// As it travels, without the question mark.
    pub query: &'a str,
    pub headers: &'a [(&'a str, &'a str)],
    /// The length of a body that the caller appends.
    pub body_bytes: usize,
}

impl Signer {
    pub fn new(now: Timestamp) -> Self {
        let key = Key::parse(DEVELOPMENT_KEY).expect("the published key is base64");
        Self { key, date: now.to_http() }
    }

    /// The head of a request, with the headers that an SDK sends.
    pub fn head(&self, ask: &Ask<'_>) -> Vec<u8> {
        let Ask { service, verb, path, query, headers, body_bytes } = ask;
        let (path, length) = (format!("/{DEVELOPMENT_ACCOUNT}/{path}"), body_bytes.to_string());
        let mut all = vec![("x-ms-date", self.date.as_str()), ("x-ms-version", version(*service))];
        if !matches!(*verb, "GET" | "DELETE") {
            all.push(("content-length", &length));
        }
        all.extend_from_slice(headers);
        let parsed = Query::parse(query).expect("queries made here are text");
        let message = Message {
            service: *service,
            verb,
            account: DEVELOPMENT_ACCOUNT,
            path: &path,
            query: &parsed,
            headers: &all,
        };
        let authorization = authorization(&message, Form::Full, &self.key);
        let separator = if query.is_empty() { "" } else { "?" };
        let mut head = format!(
            "{verb} {path}{separator}{query} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: orrery-bench\r\n\
             Authorization: {authorization}\r\n"
        );
        for (name, value) in &all {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        head.into_bytes()
    }
}

/// What current SDKs say; Azurite is told to take any.
fn version(service: Service) -> &'static str {
    match service {
        Service::Table => "2019-02-02",
        Service::Blob | Service::Queue => "2026-04-06",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(ask: &Ask<'_>) -> String {
        String::from_utf8(Signer::new(Timestamp::default()).head(ask)).unwrap()
    }

    #[test]
    fn what_is_signed_is_what_is_sent() {
        let ask = Ask {
            service: Service::Queue,
            verb: "DELETE",
            path: "work/messages/m",
            query: "popreceipt=a%2Bb",
            headers: &[],
            body_bytes: 0,
        };
        let sent = text(&ask);
        let target = "DELETE /devstoreaccount1/work/messages/m?popreceipt=a%2Bb HTTP/1.1\r\n";
        assert!(sent.starts_with(target) && sent.ends_with("\r\n\r\n"), "{sent}");
        let date = Timestamp::default().to_http();
        let to_sign = format!(
            "DELETE\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:{date}\nx-ms-version:2026-04-06\n\
             /devstoreaccount1/devstoreaccount1/work/messages/m\npopreceipt:a+b"
        );
        let signature = Key::parse(DEVELOPMENT_KEY).unwrap().sign(&to_sign);
        assert!(sent.contains(&format!("SharedKey devstoreaccount1:{signature}\r\n")), "{sent}");
    }

    #[test]
    fn a_body_is_announced_where_there_can_be_one() {
        let ask = |verb| Ask {
            service: Service::Table,
            verb,
            path: "t",
            query: "",
            headers: &[("content-type", "application/json")],
            body_bytes: 7,
        };
        assert!(text(&ask("POST")).contains("content-length: 7\r\ncontent-type: application/json\r\n"));
        assert!(!text(&ask("GET")).contains("content-length"));
    }
}
