//! Queries over databases, containers and offers: the same language over a list that is in memory.

use super::body::QueryBody;
use super::host::QueryHost;
use crate::failure::Failure;
use crate::header;
use crate::reply::Reply;
use crate::request::Request;
use crate::service::Cosmos;
use http::StatusCode;
use orrery_documents::charge::Charge;
use orrery_query::execute::{Collection, Found, Limits, Start, page};
use orrery_query::plan::Rules;
use orrery_query::{Datum, QueryError, prepare};
use serde_json::Value;
use std::ops::ControlFlow;

/// What a feed of resources answers to a query: rows under the feed's own name.
pub async fn query(
    cosmos: &Cosmos,
    request: &mut Request,
    owner_rid: &str,
    name: &str,
    resources: Vec<Value>,
) -> Result<Reply, Failure> {
    let body = QueryBody::parse(&request.body().await?)?;
    let plan = prepare(&body.text, &body.parameters, Rules::On)?.plan;
    let resume = match request.header_or_refuse(&header::CONTINUATION)?.filter(|token| !token.is_empty()) {
        None => None,
        Some(token) => Some(cosmos.tokens().read_query(0, body.fingerprint(), token)?),
    };
    let limits = request.page_limits()?;
    let limits = Limits { items: limits.items, bytes: limits.bytes };
    let host = QueryHost::new(cosmos.store().env());
    let list = List(resources.iter().map(Value::to_string).collect());
    let page = page(&plan, &list, &host, resume.as_deref(), None, limits)?;
    let mut text = format!("{{\"_rid\":{},\"{name}\":[", Value::from(owner_rid)).into_bytes();
    text.extend_from_slice(&page.rows);
    text.extend_from_slice(format!("],\"_count\":{}}}", page.count).as_bytes());
    let reply = Reply::new(StatusCode::OK, Charge::metadata())
        .header(header::ITEM_COUNT, page.count.to_string())
        .json(text);
    Ok(match &page.next {
        None => reply,
        Some(state) => {
            reply.header(header::CONTINUATION, cosmos.tokens().write_query(0, body.fingerprint(), state))
        }
    })
}

/// Resources as JSON text; a position is a number.
struct List(Vec<String>);

impl Collection for List {
    fn scan(
        &self,
        start: &Start,
        visit: &mut dyn FnMut(Found<'_>) -> ControlFlow<()>,
    ) -> Result<(), QueryError> {
        let number =
            |position: &[u8]| position.iter().fold(0, |number, byte| (number << 8) | usize::from(*byte));
        let first = match start {
            Start::Beginning => 0,
            Start::At(position) => number(position),
            Start::After(position) => number(position).saturating_add(1),
        };
        for (i, text) in self.0.iter().enumerate().skip(first) {
            let position = (i as u32).to_be_bytes();
            let (ordinal, bytes) = (i as u64, text.len());
            if visit(Found { position: &position, ordinal, part: 0, bytes, root: Datum::read(text) })
                .is_break()
            {
                break;
            }
        }
        Ok(())
    }
}
