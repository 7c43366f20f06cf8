//! A server as one client sees it, over as many connections as there are requests at a time.
//!
//! What passes by itself is waited for here, up to a limit. A server that has no throughput left is waited for always.
//! Long work ([`Remote::open`]) also waits for one that does not answer or is about to start, and goes on when it comes
//! back: then what is asked may have been done already, and callers look again instead of believing that a second try was
//! the first. Who sits in front of a terminal ([`Remote::at_once`]) hears of it instead.

use super::{Account, Answer, Call, Connection};
use orrery_core::{Env, limits};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub struct Remote {
    account: Account,
    env: Env,
    waits_for: WaitsFor,
    idle: Mutex<Vec<Connection>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitsFor {
    Throughput,
    TheServer,
}

const PATIENCE: Duration = Duration::from_secs(limits::MIGRATION_PATIENCE_SECONDS_MAX);
const PAUSE_MIN: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(2);

impl Remote {
    /// Of a server that answers now; later it may be away for a while.
    pub async fn open(account: Account) -> Result<Self, String> {
        let env = Env::system().map_err(|error| error.to_string())?;
        Self::connected(account, env, WaitsFor::TheServer).await
    }

    /// One that gives up as soon as the server does not answer. `env` tells the time that requests are signed with.
    pub async fn at_once(account: Account, env: Env) -> Result<Self, String> {
        Self::connected(account, env, WaitsFor::Throughput).await
    }

    async fn connected(account: Account, env: Env, waits_for: WaitsFor) -> Result<Self, String> {
        let idle = Mutex::new(vec![account.connect().await?]);
        Ok(Self { account, env, waits_for, idle })
    }

    pub fn env(&self) -> &Env {
        &self.env
    }

    /// Whatever it answers in the end.
    pub async fn call(&self, call: &Call) -> Result<Answer, String> {
        let (begun, mut pause) = (Instant::now(), PAUSE_MIN);
        loop {
            let outcome = self.once(call).await;
            if !self.waits_for.passes(outcome.as_ref().ok()) || begun.elapsed() > PATIENCE {
                return outcome;
            }
            let asked = outcome.ok().as_ref().and_then(retry_after);
            tokio::time::sleep(asked.unwrap_or(pause).min(PAUSE_MAX)).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    async fn once(&self, call: &Call) -> Result<Answer, String> {
        let request = call.request(&self.account, self.env.now())?;
        let kept = self.idle().pop();
        let mut connection = match kept {
            Some(connection) => connection,
            None => self.account.connect().await?,
        };
        let answer = connection.exchange(request).await;
        match answer {
            Ok(_) => self.idle().push(connection),
            // What breaks one connection has most often broken all.
            Err(_) => self.idle().clear(),
        }
        answer
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitsFor {
    /// Whether this outcome may be another one soon; none is a connection that broke.
    fn passes(self, answer: Option<&Answer>) -> bool {
        match (self, answer.map(|answer| answer.status.as_u16())) {
            (_, Some(429)) => true,
            (Self::TheServer, None | Some(449 | 408 | 503)) => true,
            (_, _) => false,
        }
    }
}

fn retry_after(answer: &Answer) -> Option<Duration> {
    let millis = answer.headers.get("x-ms-retry-after-ms")?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_millis(millis).max(Duration::from_millis(1)))
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
        assert_eq!(retry_after(&busy), None);
        busy.headers.insert("x-ms-retry-after-ms", http::HeaderValue::from_static("0"));
        assert_eq!(retry_after(&busy), Some(Duration::from_millis(1)));
    }
}
