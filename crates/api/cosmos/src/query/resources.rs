//! Queries over databases, containers, offers and what they own: the same language over a list, in memory or not.

use crate::failure::Failure;
use crate::header;
use crate::reply::Reply;
use crate::request::Request;
use crate::service::Cosmos;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use orrery_document_store::{QueryHost, QuerySpec};
use orrery_documents::charge::Charge;
use orrery_query::execute::{Collection, Page, ScannedDocument, Start, page};
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
    query_over(cosmos, request, owner_rid, name, List::new(&resources)).await
}

/// The same over any collection whose positions are ids.
pub async fn query_over(
    cosmos: &Cosmos,
    request: &mut Request,
    owner_rid: &str,
    name: &str,
    resources: impl Collection + Send + 'static,
) -> Result<Reply, Failure> {
    let body = QuerySpec::parse(&request.body().await?)?;
    let question = body.fingerprint_of(&format!("{owner_rid}/{name}"));
    let resume = match request.header_or_refuse(&header::CONTINUATION)?.filter(|token| !token.is_empty()) {
        None => None,
        Some(token) => Some(cosmos.store().tokens().read_query(0, question, token)?),
    };
    let limits = request.page_limits()?;
    let work = move |host: &QueryHost| {
        let plan = prepare(&body.text, &body.parameters, Rules::On)?.plan;
        Ok::<_, Failure>(page(&plan, &resources, host, resume.as_deref(), None, limits)?)
    };
    let page = cosmos.store().run_query(work).await??;
    let reply = reply(owner_rid, name, &page);
    Ok(match &page.next {
        None => reply,
        Some(state) => {
            reply.header(header::CONTINUATION, cosmos.store().tokens().write_query(0, question, state))
        }
    })
}

fn reply(owner_rid: &str, name: &str, page: &Page) -> Reply {
    let mut text = format!("{{\"_rid\":{},\"{name}\":[", Value::from(owner_rid)).into_bytes();
    text.extend_from_slice(&page.rows);
    text.extend_from_slice(format!("],\"_count\":{}}}", page.count).as_bytes());
    Reply::new(StatusCode::OK, Charge::metadata())
        .header(header::ITEM_COUNT, page.count.to_string())
        .json(text)
}

/// Resources as JSON text, in the order of their ids: a position is an id, so that pages go on where they
/// were whatever was made or deleted between.
struct List(Vec<Resource>);

struct Resource {
    id: String,
    ordinal: u64,
    text: String,
}

impl List {
    fn new(resources: &[Value]) -> Self {
        let member = |resource: &Value, name: &str| resource[name].as_str().unwrap_or_default().to_owned();
        let resource = |resource: &Value| Resource {
            id: member(resource, "id"),
            ordinal: ordinal(&member(resource, "_rid")),
            text: resource.to_string(),
        };
        let mut list: Vec<Resource> = resources.iter().map(resource).collect();
        list.sort_by(|a, b| a.id.cmp(&b.id));
        Self(list)
    }
}

/// A resource id as a number: it has at most eight bytes, and no other resource of the list has the same.
fn ordinal(rid: &str) -> u64 {
    let bytes = STANDARD.decode(rid.replace('-', "/")).unwrap_or_default();
    bytes.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

impl Collection for List {
    fn scan(
        &self,
        start: &Start,
        visit: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> Result<(), QueryError> {
        let first = match start {
            Start::Beginning => 0,
            Start::At(position) => self.0.partition_point(|it| it.id.as_bytes() < position.as_slice()),
            Start::After(position) => self.0.partition_point(|it| it.id.as_bytes() <= position.as_slice()),
        };
        for Resource { id, ordinal, text } in &self.0[first..] {
            let (position, ordinal, bytes) = (id.as_bytes(), *ordinal, text.len());
            if visit(ScannedDocument { position, ordinal, part: 0, bytes, root: Datum::read(text) })
                .is_break()
            {
                break;
            }
        }
        Ok(())
    }
}
