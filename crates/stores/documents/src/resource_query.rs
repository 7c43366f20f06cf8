//! Queries over databases, containers, offers and subresources: the same language over a list, in memory or not.

use crate::error::Error;
use crate::query_spec::QuerySpec;
use crate::scheduler::QueryHost;
use crate::store::Store;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use orrery_query::execute::{Collection, Limits, Page, ScannedDocument, Start, page};
use orrery_query::plan::Rules;
use orrery_query::{Datum, QueryError, prepare};
use serde_json::Value;
use std::ops::ControlFlow;

/// Tokens are of no container.
const NO_CONTAINER: u32 = 0;

/// One page of a query over a list of resources.
pub struct ResourceRequest {
    pub spec: QuerySpec,
    /// Identifies the list; the token of one list is invalid for another.
    pub list: String,
    pub continuation: Option<String>,
    pub limits: Limits,
}

#[derive(Debug)]
pub struct ResourcePage {
    pub page: Page,
    pub continuation: Option<String>,
}

impl Store {
    /// The positions of the resources are their ids.
    pub async fn query_resources(
        &self,
        request: ResourceRequest,
        resources: impl Collection + Send + 'static,
    ) -> Result<ResourcePage, Error> {
        let ResourceRequest { spec, list, continuation, limits } = request;
        let seal = self.tokens().of_query(NO_CONTAINER, spec.fingerprint_of(&list));
        let resume = continuation.map(|token| seal.unseal(&token)).transpose()?;
        let work = move |host: &QueryHost| {
            let plan = prepare(&spec.text, &spec.parameters, Rules::On)?.plan;
            page(&plan, &resources, host, resume.as_deref(), None, limits)
        };
        let page = self.run_query(work).await??;
        let continuation = page.next.as_deref().map(|state| seal.seal(state));
        Ok(ResourcePage { page, continuation })
    }
}

/// Resources as JSON text, in the order of their ids: a position is an id, so that paging is unaffected by
/// creations and deletions in between.
pub struct ResourceList(Vec<Resource>);

struct Resource {
    id: String,
    ordinal: u64,
    text: String,
}

impl ResourceList {
    /// Each has its `id` and its `_rid`.
    pub fn new(resources: &[Value]) -> Self {
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

/// A resource id as a number: it has at most eight bytes and is unique in its list.
fn ordinal(rid: &str) -> u64 {
    let bytes = STANDARD.decode(rid.replace('-', "/")).unwrap_or_default();
    bytes.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

impl Collection for ResourceList {
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
