//! A client of a server, with as many connections as concurrent requests.
//!
//! Retries transient errors, up to a limit. A server without throughput left is always waited for. Long-running work
//! ([`Remote::open`]) also waits for a server that does not respond or is starting, and continues when it is back: a
//! repeated request may then have been executed already, so callers check the state instead of assuming that the second
//! attempt was the first. An interactive user ([`Remote::at_once`]) gets the error instead.

use crate::account::Account;
use crate::answer::{Answer, allowed, not_understood};
use crate::call::Call;
use crate::connection::Connection;
use crate::limits;
use crate::merged::Exchange;
use crate::ranges::Range;
use orrery_core::Env;
use orrery_query::QueryError;
use serde_json::{Map, Value as Json};
use std::time::{Duration, Instant};

pub struct Remote {
    account: Account,
    env: Env,
    waits_for: WaitsFor,
    connection: Connection,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitsFor {
    Throughput,
    TheServer,
}

const PATIENCE: Duration = Duration::from_secs(limits::MIGRATION_PATIENCE_SECONDS_MAX);
const PAUSE_MIN: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// The minimum delay, even if the server asks for none.
const ASKED_MIN: Duration = Duration::from_millis(1);

impl Remote {
    /// For a server that responds now; later it may be away for a while.
    pub async fn open(account: Account) -> Result<Self, String> {
        let env = Env::system().map_err(|error| error.to_string())?;
        Self::connected(account, env, WaitsFor::TheServer).await
    }

    /// Variant that gives up as soon as the server does not respond. `env` supplies the signed dates.
    pub async fn at_once(account: Account, env: Env) -> Result<Self, String> {
        Self::connected(account, env, WaitsFor::Throughput).await
    }

    async fn connected(account: Account, env: Env, waits_for: WaitsFor) -> Result<Self, String> {
        let connection = account.connect().await?;
        Ok(Self { account, env, waits_for, connection })
    }

    pub fn env(&self) -> &Env {
        &self.env
    }

    /// The final response, whatever its status.
    pub async fn call(&self, call: &Call) -> Result<Answer, String> {
        let (begun, mut pause) = (Instant::now(), PAUSE_MIN);
        loop {
            let outcome = self.once(call).await;
            if !self.waits_for.passes(outcome.as_ref().ok()) || begun.elapsed() > PATIENCE {
                return outcome;
            }
            let asked = outcome.ok().and_then(|answer| answer.retry_after());
            tokio::time::sleep(asked.map_or(pause, |asked| asked.max(ASKED_MIN)).min(PAUSE_MAX)).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// The resources of a list, from all pages; or the response that refuses a page, such as 404.
    pub async fn list(
        &self,
        path: &[&str],
        member: &str,
    ) -> Result<Result<Vec<Map<String, Json>>, Answer>, String> {
        let (mut found, mut continuation) = (Vec::new(), None);
        loop {
            let answer = self.call(&Call::get(path).after(continuation.take())).await?;
            if !answer.status.is_success() {
                return Ok(Err(answer));
            }
            let page = answer.json()?;
            let page = page.get(member).and_then(Json::as_array).ok_or_else(not_understood)?;
            found.extend(page.iter().filter_map(|resource| resource.as_object().cloned()));
            continuation = answer.continuation();
            if continuation.is_none() {
                return Ok(Ok(found));
            }
        }
    }

    async fn once(&self, call: &Call) -> Result<Answer, String> {
        self.connection.exchange(call.request(&self.account, self.env.now())?).await
    }
}

impl Exchange for Remote {
    type Error = String;

    async fn exchange(&self, call: Call) -> Result<Answer, String> {
        let answer = self.call(&call).await?;
        if answer.status.as_u16() == 410 {
            return Err("the container's partitions were split during the query; ask again".to_owned());
        }
        allowed(answer, &[200])
    }

    async fn ranges(&self, database: &str, container: &str) -> Result<Vec<Range>, String> {
        let answer = allowed(self.call(&Call::ranges(database, container)).await?, &[200])?;
        Range::read(&answer).map(Range::leaves).map_err(|_| not_understood())
    }

    fn not_understood(&self, why: String) -> String {
        why
    }

    fn refused(&self, error: QueryError) -> String {
        error.to_string()
    }
}

impl WaitsFor {
    /// Whether this outcome is transient; `None` is a broken connection.
    fn passes(self, answer: Option<&Answer>) -> bool {
        match (self, answer.map(|answer| answer.status.as_u16())) {
            (_, Some(429)) => true,
            (Self::TheServer, None | Some(449 | 408 | 503)) => true,
            (_, _) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use http::{HeaderMap, StatusCode};

    fn answer(status: u16) -> Answer {
        let status = StatusCode::from_u16(status).expect("a status");
        Answer { status, headers: HeaderMap::new(), body: Bytes::new() }
    }

    #[test]
    fn throughput_is_waited_for_always_and_the_server_itself_by_long_work_alone() {
        for (status, at_once, long) in [
            (Some(429), true, true),
            (Some(503), false, true),
            (Some(449), false, true),
            (Some(408), false, true),
            (None, false, true),
            (Some(200), false, false),
            (Some(404), false, false),
            (Some(500), false, false),
        ] {
            let found = status.map(answer);
            let passes = |waits_for: WaitsFor| waits_for.passes(found.as_ref());
            assert_eq!(
                (passes(WaitsFor::Throughput), passes(WaitsFor::TheServer)),
                (at_once, long),
                "{status:?}"
            );
        }
    }

    #[test]
    fn the_server_says_how_long_to_wait() {
        let mut busy = answer(429);
        assert_eq!(busy.retry_after(), None);
        busy.headers.insert("x-ms-retry-after-ms", http::HeaderValue::from_static("7"));
        assert_eq!(busy.retry_after(), Some(Duration::from_millis(7)));
    }
}
