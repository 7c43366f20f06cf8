//! A server as one client with several connections sees it.
//!
//! Whatever passes by itself is waited for here, up to a limit: a server that does not answer, is about to start, or has
//! no throughput left. So long work goes on when its server comes back, and what is asked may have been done already:
//! callers look again instead of believing that a second try was the first.

use super::{Account, Answer, Connection, SEGMENT};
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use orrery_core::{Env, limits};
use percent_encoding::utf8_percent_encode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

pub struct Remote {
    account: Account,
    env: Env,
    idle: Mutex<Vec<Connection>>,
}

/// A request, as often as it takes.
pub struct Call {
    pub verb: Method,
    pub kind: &'static str,
    /// The names as they are, of the resource or the owner of what is meant.
    pub link: String,
    /// What is asked for, each part as it is.
    pub path: Vec<String>,
    pub headers: Vec<(&'static str, String)>,
    pub body: Bytes,
}

const PATIENCE: Duration = Duration::from_secs(limits::MIGRATION_PATIENCE_SECONDS_MAX);
const PAUSE_MIN: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(2);

impl Remote {
    /// Of a server that answers now; later it may be away for a while.
    pub async fn open(account: Account) -> Result<Self, String> {
        let env = Env::system().map_err(|error| error.to_string())?;
        let idle = Mutex::new(vec![account.connect().await?]);
        Ok(Self { account, env, idle })
    }

    pub fn env(&self) -> &Env {
        &self.env
    }

    pub async fn call(&self, call: &Call) -> Result<Answer, String> {
        let (begun, mut pause) = (Instant::now(), PAUSE_MIN);
        loop {
            let outcome = self.once(call).await;
            let wait = match &outcome {
                Ok(answer) if matches!(answer.status.as_u16(), 429 | 449 | 408 | 503) => retry_after(answer),
                Ok(_) => return outcome,
                Err(_) => None,
            };
            if begun.elapsed() > PATIENCE {
                return outcome.and_then(|answer| Err(answer.refusal()));
            }
            tokio::time::sleep(wait.unwrap_or(pause).min(PAUSE_MAX)).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    async fn once(&self, call: &Call) -> Result<Answer, String> {
        let request = self.request(call)?;
        let kept = self.idle.lock().map_err(|_| broken_lock())?.pop();
        let mut connection = match kept {
            Some(connection) => connection,
            None => self.account.connect().await?,
        };
        let answer = connection.exchange(request).await;
        let mut idle = self.idle.lock().map_err(|_| broken_lock())?;
        match answer {
            Ok(_) => idle.push(connection),
            // What breaks one connection has most often broken all.
            Err(_) => idle.clear(),
        }
        answer
    }

    fn request(&self, call: &Call) -> Result<Request<Full<Bytes>>, String> {
        let path: String =
            call.path.iter().map(|part| format!("/{}", utf8_percent_encode(part, SEGMENT))).collect();
        let mut request =
            self.account.request(call.verb.clone(), call.kind, &call.link, &path, self.env.now());
        for (name, value) in &call.headers {
            request = request.header(*name, value);
        }
        if !call.body.is_empty() {
            request = request.header("content-type", "application/json");
        }
        let request = request.body(Full::new(call.body.clone()));
        request.map_err(|error| format!("the request cannot be written: {error}"))
    }
}

fn broken_lock() -> String {
    "a part of the work failed".to_owned()
}

fn retry_after(answer: &Answer) -> Option<Duration> {
    let millis = answer.headers.get("x-ms-retry-after-ms")?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_millis(millis).max(Duration::from_millis(1)))
}
