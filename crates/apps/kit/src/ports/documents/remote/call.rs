//! Sends a request, and repeats it where that is safe, within a time limit.

use super::Remote;
use super::errors::{self, Answer, RetryReason};
use crate::limits;
use crate::ports::documents::StoreError;
use bytes::Bytes;
use http::{HeaderValue, Method, Request};
use orrery_client::{Call, PARTITION_KEY};
use orrery_core::Env;
use orrery_protocol::ascii_json;
use std::time::Duration;
use tokio::time::Instant;

const SESSION_TOKEN: &str = "x-ms-session-token";

/// Whether a request that may have been executed can be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    Safe,
    Unsafe,
}

/// A request under construction.
pub struct RequestBuilder<'a> {
    call: Call,
    repeat: Repeat,
    /// The container whose session token it uses, and whether it reads.
    session: Option<(&'a str, Sees)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sees {
    /// It must see everything seen before.
    Before,
    Nothing,
}

impl<'a> RequestBuilder<'a> {
    /// The path is unencoded, one string per segment.
    pub fn new(method: Method, path: Vec<&str>) -> Self {
        Self::of(Call::new(method, &path))
    }

    pub fn of(call: Call) -> Self {
        Self { call, repeat: Repeat::Safe, session: None }
    }

    pub fn header(self, name: &'static str, value: impl Into<String>) -> Self {
        Self { call: self.call.header(name, value), ..self }
    }

    /// Adds a continuation, if there is one.
    pub fn after(self, continuation: Option<&str>) -> Self {
        Self { call: self.call.after(continuation), ..self }
    }

    pub fn body(self, body: impl Into<Bytes>) -> Self {
        Self { call: self.call.body(body), ..self }
    }

    pub fn repeat(self, repeat: Repeat) -> Self {
        Self { repeat, ..self }
    }

    pub fn session(self, container: &'a str, sees: Sees) -> Self {
        Self { session: Some((container, sees)), ..self }
    }

    pub fn partition(self, partition: &str) -> Self {
        self.header(PARTITION_KEY, partition_key(partition))
    }
}

/// A JSON array of the one string, in ASCII as headers require.
fn partition_key(partition: &str) -> String {
    format!("[{}]", ascii_json(&serde_json::Value::from(partition).to_string()))
}

/// The time left for the retries of an operation.
pub struct RetryBudget {
    env: Env,
    until: Instant,
    tries: usize,
    wait: Duration,
}

impl RetryBudget {
    pub fn new(remote: &Remote) -> Self {
        Self {
            env: remote.inner.env.clone(),
            until: Instant::now() + remote.patience,
            tries: 1,
            wait: Duration::from_millis(limits::SERVICE_STORE_WAIT_MILLIS_MIN),
        }
    }

    /// Waits before the next attempt: as long as the store asked for, else with exponential back-off.
    /// Returns false, without waiting, if the time is up.
    pub async fn wait(&mut self, asked: Option<Duration>) -> bool {
        let jitter = 0.5 + (self.env.random_u64() >> 11) as f64 / (1u64 << 54) as f64;
        let wait = asked.unwrap_or_else(|| self.wait.mul_f64(jitter));
        if self.tries >= limits::SERVICE_STORE_TRIES_MAX || Instant::now() + wait > self.until {
            return false;
        }
        self.tries += 1;
        if asked.is_none() {
            self.wait = (self.wait * 2).min(Duration::from_millis(limits::SERVICE_STORE_WAIT_MILLIS_MAX));
        }
        tokio::time::sleep(wait).await;
        true
    }

    /// The time limit of one request: at most what is left, but never zero.
    fn timeout(&self) -> Duration {
        let most = Duration::from_secs(limits::SERVICE_STORE_REQUEST_SECONDS_MAX);
        self.until.saturating_duration_since(Instant::now()).clamp(Duration::from_millis(100), most)
    }
}

/// Sends the request until it gets a final response. That may be a refusal; refusals and ranges that are gone
/// are left to the caller.
pub async fn send(
    remote: &Remote,
    ask: &RequestBuilder<'_>,
    patience: &mut RetryBudget,
) -> Result<Answer, StoreError> {
    let names_a_range = ask.call.names_a_range();
    loop {
        // Signed for each attempt, since a signature expires.
        let request = request(remote, ask)?;
        let failed = match try_once(remote, ask, request, patience.timeout()).await {
            Err(failed) => failed,
            Ok(answer) => match errors::trouble(&answer, names_a_range) {
                None => return Ok(answer),
                Some(trouble) => trouble,
            },
        };
        let is_repeated = failed.nothing_was_done || ask.repeat == Repeat::Safe;
        if is_repeated && patience.wait(failed.after).await {
            tracing::debug!(error = %failed.error, "the store is asked again");
            continue;
        }
        if let (true, Some((container, _))) = (failed.is_behind, ask.session) {
            // The store's data is older than before, and will stay so.
            remote.inner.sessions.forget(container);
        }
        return Err(failed.error);
    }
}

/// The response, or the reason why there is none.
async fn try_once(
    remote: &Remote,
    ask: &RequestBuilder<'_>,
    request: Request<Bytes>,
    timeout: Duration,
) -> Result<Answer, RetryReason> {
    let sent = remote.inner.account.host.send(request, timeout, limits::SERVICE_STORE_ANSWER_BYTES_MAX).await;
    let answer = sent.map_err(|error| RetryReason {
        error: StoreError::Unavailable(error.to_string()),
        after: None,
        nothing_was_done: !error.may_have_arrived(),
        is_behind: false,
    })?;
    let answer = Answer(answer);
    if let (Some((container, _)), Some(token)) = (ask.session, answer.header(SESSION_TOKEN)) {
        remote.inner.sessions.note(container, token);
    }
    Ok(answer)
}

fn request(remote: &Remote, ask: &RequestBuilder<'_>) -> Result<Request<Bytes>, StoreError> {
    let inner = &remote.inner;
    let unwritable = |error: String| errors::refused(400, error);
    let mut request = ask.call.request(&inner.account, inner.env.now()).map_err(unwritable)?;
    if let Some((container, Sees::Before)) = ask.session
        && let Some(token) = inner.sessions.token(container)
    {
        let token = HeaderValue::from_str(&token).map_err(|error| unwritable(error.to_string()))?;
        request.headers_mut().insert(SESSION_TOKEN, token);
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_key_is_ascii() {
        let check = |partition: &str, header: &str| assert_eq!(partition_key(partition), header);
        check("u1", r#"["u1"]"#);
        check("a\"b\\", r#"["a\"b\\"]"#);
        check("é東🚀", r#"["\u00e9\u6771\ud83d\ude80"]"#);
        check("\u{7f}\n", r#"["\u007f\n"]"#);
    }
}
