//! A request with an `Idempotency-Key` that is sent again is answered as it was; the same key with another request is
//! refused.
//!
//! What is remembered is the answer of a success. After a failure, or a crash on the way, the request is done again: the
//! services make their ids from the key, so that this makes nothing twice.

use crate::problem::Problem;
use crate::reply::{Content, Reply};
use http::StatusCode;
use orrery_kit::idempotency::{self, Begun, Key, Records};
use orrery_kit::ports::documents::Documents;
use serde_json::{Value, json};

/// Where answers are remembered: the service's own container.
pub struct Memory {
    pub documents: Documents,
    pub container: &'static str,
}

pub async fn once(
    memory: &Memory,
    caller: &str,
    key: &str,
    said: &[&[u8]],
    work: impl Future<Output = Result<Reply, Problem>>,
) -> Result<Reply, Problem> {
    let body_hash = idempotency::hash(said);
    let key = Key { caller, key, body_hash: &body_hash };
    let records = Records { documents: &memory.documents, container: memory.container };
    let begun = match records.begin(&key, None).await? {
        Begun::First(begun) | Begun::Unfinished(begun) => begun,
        Begun::Repeated(answer) => return Ok(read(&answer)),
        Begun::Different => return Err(Problem::reused()),
    };
    let reply = work.await?;
    if let Some(answer) = written(&reply) {
        // It was done; that it is not remembered means only that it is done again, with the same ids.
        if let Err(error) = records.finish(&key, begun, &answer).await {
            tracing::warn!(%error, "an answer could not be remembered for its idempotency key");
        }
    }
    Ok(reply)
}

fn written(reply: &Reply) -> Option<Value> {
    match &reply.content {
        Content::Json(body) if reply.is_whole => {
            Some(json!({ "status": reply.status.as_u16(), "etag": reply.etag, "body": body }))
        }
        Content::Json(_) | Content::Page(_) | Content::Events(_) => None,
    }
}

fn read(answer: &Value) -> Reply {
    let status = answer["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    let status = status.and_then(|status| StatusCode::from_u16(status).ok()).unwrap_or(StatusCode::OK);
    let etag = answer["etag"].as_str().map(str::to_owned);
    Reply { etag, ..Reply::with_status(status, &answer["body"]) }
}
