//! Asking the services of a running server, as somebody.

use crate::client::{ServerFlags, segment};
use bytes::Bytes;
use clap::Args;
use http::{Method, Request};
use serde_json::Value;

/// Where it is, and as whom.
#[derive(Args)]
pub struct AskFlags {
    #[command(flatten)]
    server: ServerFlags,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// One request.
pub struct Ask {
    pub method: Method,
    pub path: String,
    pub body: Option<Value>,
    pub headers: Vec<(&'static str, String)>,
}

impl Ask {
    pub fn get(path: String) -> Self {
        Self { method: Method::GET, path, body: None, headers: Vec::new() }
    }

    pub fn post(path: String, body: Option<Value>) -> Self {
        Self { method: Method::POST, path, body, headers: Vec::new() }
    }

    pub fn with(method: Method, path: String, body: Option<Value>) -> Self {
        Self { method, path, body, headers: Vec::new() }
    }

    pub fn header(mut self, name: &'static str, value: Option<&String>) -> Self {
        self.headers.extend(value.map(|value| (name, value.clone())));
        self
    }
}

/// What it answers; else why not, in a sentence.
pub async fn ask(flags: &AskFlags, ask: Ask) -> Result<Value, String> {
    let account = flags.server.account()?;
    let mut services = flags.server.services_of(&account).await?;
    let mut request =
        Request::builder().method(ask.method).uri(ask.path).header("authorization", account.bearer());
    for (name, value) in ask.headers {
        request = request.header(name, value);
    }
    let body = ask.body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
    services.ask(request, body).await
}

/// A path under `/v1`, its pieces encoded.
pub fn path(pieces: &[&str]) -> String {
    let encoded = pieces.iter().map(|piece| segment(piece));
    format!("/v1/{}", encoded.collect::<Vec<_>>().join("/"))
}

/// A path with a query string of what is given.
pub fn with_query(path: String, pairs: &[(&str, Option<String>)]) -> String {
    let given = pairs.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
    let query: Vec<String> = given.map(|(name, value)| format!("{name}={}", segment(value))).collect();
    if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_queries_are_encoded() {
        let path = path(&["users", "a/b é", "notifications"]);
        assert_eq!(path, "/v1/users/a%2Fb%20%C3%A9/notifications");
        let query = with_query(path, &[("limit", Some("5".into())), ("x", None), ("c", Some("+/=".into()))]);
        assert_eq!(query, "/v1/users/a%2Fb%20%C3%A9/notifications?limit=5&c=%2B%2F%3D");
    }
}
