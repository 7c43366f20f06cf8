//! Several writes to one container in one request, each independent of the others.

use crate::answer::{allowed, not_understood};
use crate::call::Call;
use crate::remote::Remote;
use http::Method;
use serde_json::Value as Json;

/// Sends the operations, each as the text of a JSON object; returns their results in order.
pub async fn bulk(
    remote: &Remote,
    database: &str,
    container: &str,
    operations: &[String],
) -> Result<Vec<Json>, String> {
    let call = Call::items(Method::POST, database, container)
        .header("x-ms-cosmos-is-batch-request", "true")
        .header("x-ms-cosmos-batch-atomic", "false")
        .header("x-ms-cosmos-batch-continue-on-error", "true")
        .header("prefer", "return=minimal")
        .body(format!("[{}]", operations.join(",")));
    let answer = allowed(remote.call(&call).await?, &[200, 207])?;
    let answers: Vec<Json> = answer.parse().map_err(|_| not_understood())?;
    if answers.len() == operations.len() { Ok(answers) } else { Err(not_understood()) }
}
