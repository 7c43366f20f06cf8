//! One service of a storage account, and requests to it, with retries.
//!
//! A busy service (429, or 503 `ServerBusy`) has executed nothing, so the request is repeated. A request that may have
//! been executed without a response is repeated only if that is safe. The delay is the one that the service asks for,
//! else an exponential back-off, within a time limit.

use super::call::{Call, Repeat, Signing};
use super::credential::StorageCredential;
use super::error::{Refusal, StorageError};
use crate::answer::Answer;
use crate::connection::Host;
use crate::http::{Address, SendError, Trust, Versions};
use crate::limits;
use http::Uri;
use orrery_core::Env;
use orrery_protocol::storage::Service;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A cheap handle; clones share the connections.
#[derive(Clone)]
pub struct Endpoint(Arc<Inner>);

struct Inner {
    service: Service,
    host: Host,
    /// The path prefix: the account, unless the host is its own.
    prefix: String,
    credential: StorageCredential,
    /// Supplies the signed dates, which a service compares with its own clock.
    env: Env,
    patience: Duration,
}

impl Endpoint {
    /// At the URL of an account's service: `http://127.0.0.1:10002/devstoreaccount1`, `https://acct.queue.core.windows.net`.
    /// Connects with the first request.
    pub fn new(
        service: Service,
        url: &str,
        credential: StorageCredential,
        trust: Trust,
        env: Env,
    ) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|_| format!("'{url}' is no URL of a storage service"))?;
        if uri.query().is_some() {
            return Err("the URL of a storage service has no query; give its signature apart".to_owned());
        }
        let host = Host::trusting(Address::of(&uri)?, trust, Versions::Http1)?;
        let prefix = uri.path().trim_end_matches('/').to_owned();
        let patience = Duration::from_secs(limits::STORAGE_SECONDS_MAX);
        Ok(Self(Arc::new(Inner { service, host, prefix, credential, env, patience })))
    }

    /// Variant with another time limit for one request and its retries.
    pub fn with_patience(&self, patience: Duration) -> Self {
        let Inner { service, host, prefix, credential, env, .. } = &*self.0;
        Self(Arc::new(Inner {
            service: *service,
            host: host.clone(),
            prefix: prefix.clone(),
            credential: credential.clone(),
            env: env.clone(),
            patience,
        }))
    }

    pub fn address(&self) -> &Address {
        &self.0.host.address
    }

    /// The base URL of paths, as known to the service.
    pub(super) fn url(&self) -> String {
        format!("{}{}", self.0.host.address, self.0.prefix)
    }

    pub(super) fn env(&self) -> &Env {
        &self.0.env
    }

    /// The response, if it is a success.
    pub(super) async fn send(&self, call: &Call) -> Result<Answer, StorageError> {
        let mut tries = Tries::new(&self.0);
        loop {
            // Signed for each attempt, since a signature expires.
            let outcome = self.send_once(call, tries.time_max()).await;
            let Some(pause) = pause_after(&outcome, call.repeat) else { return refused(outcome?) };
            if !tries.wait(pause).await {
                return refused(outcome?);
            }
        }
    }

    async fn send_once(&self, call: &Call, time_max: Duration) -> Result<Answer, StorageError> {
        let Inner { service, prefix, credential, env, .. } = &*self.0;
        let request = call.request(&Signing { service: *service, prefix, credential }, env.now())?;
        Ok(self.0.host.send(request, time_max, limits::STORAGE_ANSWER_BYTES_MAX).await?)
    }
}

fn refused(answer: Answer) -> Result<Answer, StorageError> {
    if answer.status.is_success() { Ok(answer) } else { Err(Refusal::of(&answer).into()) }
}

/// The delay before another attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pause {
    Asked(Duration),
    Growing,
}

/// `None`: this response is final.
fn pause_after(outcome: &Result<Answer, StorageError>, repeat: Repeat) -> Option<Pause> {
    let is_again = match outcome {
        Ok(answer) => match answer.status.as_u16() {
            429 => true,
            503 if Refusal::of(answer).code == "ServerBusy" => true,
            // An unimplemented operation will not be implemented on a retry.
            501 | 505 => false,
            status => (status == 408 || status >= 500) && repeat == Repeat::Safe,
        },
        Err(StorageError::NoAnswer(SendError::TooLarge { .. })) => false,
        Err(StorageError::NoAnswer(error)) => !error.may_have_arrived() || repeat == Repeat::Safe,
        Err(_) => false,
    };
    let asked = outcome.as_ref().ok().and_then(retry_after);
    is_again.then(|| asked.map_or(Pause::Growing, Pause::Asked))
}

/// `Retry-After`, in seconds.
fn retry_after(answer: &Answer) -> Option<Duration> {
    answer.retry_after().or_else(|| {
        let seconds = answer.header("retry-after")?.parse().ok()?;
        Some(Duration::from_secs(seconds))
    })
}

/// The attempts of one request.
struct Tries<'a> {
    env: &'a Env,
    until: Instant,
    count: usize,
    pause: Duration,
}

impl<'a> Tries<'a> {
    fn new(inner: &'a Inner) -> Self {
        let pause = Duration::from_millis(limits::STORAGE_PAUSE_MILLIS_MIN);
        Self { env: &inner.env, until: Instant::now() + inner.patience, count: 1, pause }
    }

    /// The timeout of one attempt: at most the remaining time, but never zero.
    fn time_max(&self) -> Duration {
        let most = Duration::from_secs(limits::STORAGE_REQUEST_SECONDS_MAX);
        self.until.saturating_duration_since(Instant::now()).clamp(Duration::from_millis(100), most)
    }

    /// Returns false, without waiting, if the time is up.
    async fn wait(&mut self, pause: Pause) -> bool {
        // Between 0.5 and 1.5, so that clients refused together do not return together.
        let jitter = 0.5 + (self.env.random_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let wait = match pause {
            Pause::Asked(asked) => asked,
            Pause::Growing => self.pause.mul_f64(jitter),
        };
        if self.count >= limits::STORAGE_TRIES_MAX || Instant::now() + wait > self.until {
            return false;
        }
        self.count += 1;
        self.pause = (self.pause * 2).min(Duration::from_millis(limits::STORAGE_PAUSE_MILLIS_MAX));
        tokio::time::sleep(wait).await;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Arrived;
    use bytes::Bytes;
    use http::Response;

    fn endpoint(url: &str) -> Result<Endpoint, String> {
        let env = Env::system().map_err(|error| error.to_string())?;
        let trust = Trust::These(Vec::new());
        Endpoint::new(Service::Queue, url, StorageCredential::sas("sig=x"), trust, env)
    }

    #[test]
    fn an_account_is_in_the_path_or_in_the_host() {
        let check = |url: &str, address: &str, prefix: &str| {
            let endpoint = endpoint(url).expect(url);
            assert_eq!(
                (endpoint.address().to_string(), endpoint.0.prefix.as_str()),
                (address.to_owned(), prefix)
            );
        };
        check("http://127.0.0.1:10001/devstoreaccount1/", "http://127.0.0.1:10001", "/devstoreaccount1");
        check("https://acct.queue.core.windows.net", "https://acct.queue.core.windows.net:443", "");
        for url in ["acct", "ftp://h/a", "http://h/a?sig=x"] {
            assert!(endpoint(url).is_err(), "{url}");
        }
    }

    fn answered(status: u16, code: &str) -> Result<Answer, StorageError> {
        let response = Response::builder().status(status).header("x-ms-error-code", code);
        Ok(Answer::new(response.body(Bytes::new()).expect("a response")))
    }

    #[test]
    fn a_busy_service_is_asked_again_and_what_may_be_done_only_if_that_is_harmless() {
        let check = |outcome: Result<Answer, StorageError>, safe: bool, unsafe_too: bool| {
            let is_again = |repeat| pause_after(&outcome, repeat).is_some();
            assert_eq!((is_again(Repeat::Safe), is_again(Repeat::Unsafe)), (safe, unsafe_too));
        };
        check(answered(429, ""), true, true);
        check(answered(503, "ServerBusy"), true, true);
        check(answered(503, "OperationTimedOut"), true, false);
        check(answered(500, "InternalError"), true, false);
        check(answered(408, ""), true, false);
        check(answered(501, "NotImplemented"), false, false);
        check(answered(404, "QueueNotFound"), false, false);
        check(answered(204, ""), false, false);
        let broken = |arrived| SendError::Broken { reason: "it ended".to_owned(), arrived };
        check(Err(broken(Arrived::Maybe).into()), true, false);
        check(Err(broken(Arrived::No).into()), true, true);
        check(Err(SendError::TooLarge { bytes_max: 1 }.into()), false, false);
        check(Err(StorageError::Invalid("no".to_owned())), false, false);
    }

    #[test]
    fn a_service_says_how_long_to_wait() {
        let response = Response::builder().status(503).header("retry-after", "3");
        let mut busy = Answer::new(response.body(Bytes::new()).expect("a response"));
        busy.headers.insert("x-ms-error-code", "ServerBusy".parse().expect("a value"));
        assert_eq!(pause_after(&Ok(busy), Repeat::Unsafe), Some(Pause::Asked(Duration::from_secs(3))));
    }
}
