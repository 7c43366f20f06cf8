//! Puts a question to the server, page after page.

use crate::question::Question;
use orrery_testing_client::{Client, ClientError, ContainerPath, Method, Request};
use serde_json::Value;

/// Rows on a page; most answers fit on one or two.
const PAGE_ROWS: usize = 400;
/// Pages of one answer; far more than there can be.
const PAGES_MAX: usize = 10_000;

/// What came of a question.
#[derive(Debug)]
pub(crate) enum Told {
    /// All of them, and on how many pages they came.
    Rows(Vec<Value>, usize),
    /// A status other than 200, and what the server said.
    Refused(u16, String),
}

pub(crate) async fn ask(
    client: &mut Client,
    path: &ContainerPath,
    question: &Question,
) -> Result<Told, ClientError> {
    let (mut rows, mut continuation): (Vec<Value>, Option<String>) = (Vec::new(), None);
    for page_number in 1..=PAGES_MAX {
        let reply = client.call(&request(path, question, continuation.as_deref())).await?;
        if reply.status != 200 {
            return Ok(Told::Refused(reply.status, String::from_utf8_lossy(&reply.body).into_owned()));
        }
        let page = reply.json().unwrap_or_default();
        let Some(page) = page.get("Documents").and_then(Value::as_array) else {
            return Ok(Told::Refused(reply.status, "a page without `Documents`".to_owned()));
        };
        rows.extend(page.iter().cloned());
        continuation = reply.header("x-ms-continuation").map(str::to_owned);
        if continuation.is_none() {
            return Ok(Told::Rows(rows, page_number));
        }
    }
    Ok(Told::Refused(200, format!("more than {PAGES_MAX} pages")))
}

fn request(path: &ContainerPath, question: &Question, continuation: Option<&str>) -> Request {
    let request = Request::new(Method::Post, path.items())
        .header("x-ms-documentdb-isquery", "True")
        .header("x-ms-max-item-count", PAGE_ROWS.to_string())
        .header_if("x-ms-continuation", continuation)
        .body(question.body().to_string());
    match &question.partition {
        Some(partition) => request.partition(partition),
        None => request
            .header("x-ms-documentdb-query-enablecrosspartition", "True")
            .header("x-orrery-cross-partition", "direct"),
    }
}
