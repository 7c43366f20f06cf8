//! The bearer token: a token signed by the service account is exchanged for one signed by Google (RFC 7523).
//!
//! It is kept until a minute before it expires. One exchange runs at a time, and concurrent callers wait for
//! it. After a failure there is no exchange for a few seconds, so that a thousand pushes are not a thousand
//! exchanges.

use super::{NAME, TIME_MAX};
use crate::limits;
use crate::policy::render::cut;
use crate::push::key::NamedKey;
use crate::push::outcome::{Outcome, retry_after};
use bytes::Bytes;
use http::{Request, Uri, header};
use orrery_core::{Env, Timestamp};
use orrery_kit::http::Client;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::Mutex;

pub struct Bearer {
    client_email: String,
    key: NamedKey,
    url: Uri,
    held: Mutex<Option<Held>>,
}

struct Held {
    token: Result<String, Outcome>,
    until: Timestamp,
}

const SCOPE: &str = "https://www.googleapis.com/auth/firebase.messaging";
const ASSERTION_SECONDS: u64 = 3_600;
const MARGIN: Duration = Duration::from_secs(60);
const FAILURE_KEPT: Duration = Duration::from_secs(5);

impl Bearer {
    pub fn new(client_email: String, key: NamedKey, url: Uri) -> Self {
        Self { client_email, key, url, held: Mutex::default() }
    }

    /// The token; a new one if it equals the refused one.
    pub async fn get(&self, client: &Client, env: &Env, refused: Option<&str>) -> Result<String, Outcome> {
        let mut held = self.held.lock().await;
        if let Some(held) = &*held
            && env.now() < held.until
            && (refused.is_none() || held.token.as_deref().ok() != refused)
        {
            return held.token.clone();
        }
        let now = env.now();
        let fresh = match self.exchange(client, env).await {
            Ok((token, lasts)) => {
                let kept = lasts.saturating_sub(MARGIN).max(Duration::from_secs(1));
                Held { token: Ok(token), until: now.plus(kept) }
            }
            Err(outcome) => Held { token: Err(outcome), until: now.plus(FAILURE_KEPT) },
        };
        held.insert(fresh).token.clone()
    }

    async fn exchange(&self, client: &Client, env: &Env) -> Result<(String, Duration), Outcome> {
        let misconfigured = |reason: String, status| Outcome::Misconfigured { reason, status };
        let assertion = self.assertion(env.now()).map_err(|why| misconfigured(why, None))?;
        // The token needs no encoding.
        let form =
            format!("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion={assertion}");
        let request = Request::post(self.url.clone())
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(header::ACCEPT, "application/json")
            .body(Bytes::from(form))
            .map_err(|error| misconfigured(format!("token_uri makes no request: {error}"), None))?;
        let answer = client.send(request, TIME_MAX, limits::PUSH_ANSWER_BYTES_MAX).await;
        // Nothing was pushed, whether or not the exchange succeeded.
        let answer = answer.map_err(|error| Outcome::Later {
            after: None,
            reason: format!("the token endpoint of {NAME} gave no answer: {error}"),
            status: None,
            may_have_arrived: false,
        })?;
        let status = answer.status().as_u16();
        let after = retry_after(answer.headers(), env.now());
        read(status, after, answer.body())
    }

    fn assertion(&self, now: Timestamp) -> Result<String, String> {
        self.key.sign(&json!({
            "iss": self.client_email,
            "scope": SCOPE,
            "aud": self.url.to_string(),
            "iat": now.seconds(),
            "exp": now.seconds() + ASSERTION_SECONDS,
        }))
    }
}

fn read(status: u16, after: Option<Duration>, body: &[u8]) -> Result<(String, Duration), Outcome> {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    if status == 200 {
        let token = body["access_token"].as_str().filter(|token| !token.is_empty());
        let lasts = body["expires_in"].as_u64();
        if let (Some(token), Some(lasts)) = (token, lasts) {
            return Ok((token.to_owned(), Duration::from_secs(lasts)));
        }
        let reason = "the token endpoint's answer has no access_token or no expires_in; is token_uri right?";
        return Err(Outcome::Misconfigured { reason: reason.to_owned(), status: Some(status) });
    }
    let said =
        [&body["error"], &body["error_description"]].map(|part| part.as_str().unwrap_or_default()).join(" ");
    let said = cut(&format!("the token endpoint of {NAME} answers {status} {}", said.trim()), 300);
    let said = said.trim_end().to_owned();
    Err(match status {
        429 | 500.. => Outcome::Later { after, reason: said, status: Some(status), may_have_arrived: false },
        _ => {
            let reason =
                format!("{said}; is the service account's key still valid, and this machine's clock right?");
            Outcome::Misconfigured { reason, status: Some(status) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_the_token_endpoint_have_their_meaning() {
        assert_eq!(
            read(200, None, br#"{"access_token": "a", "expires_in": 3599, "token_type": "Bearer"}"#),
            Ok(("a".to_owned(), Duration::from_secs(3599)))
        );
        let check = |status, body: &str, is_misconfigured: bool, fragment: &str| {
            let outcome = read(status, None, body.as_bytes()).expect_err(body);
            assert_eq!(matches!(outcome, Outcome::Misconfigured { .. }), is_misconfigured, "{outcome:?}");
            assert!(outcome.reason().contains(fragment), "{outcome:?}");
        };
        check(200, "{}", true, "access_token");
        check(
            400,
            r#"{"error": "invalid_grant", "error_description": "Invalid JWT Signature."}"#,
            true,
            "Invalid JWT",
        );
        check(401, r#"{"error": "invalid_client"}"#, true, "invalid_client");
        check(503, "", false, "503");
        check(429, "", false, "429");
    }
}
