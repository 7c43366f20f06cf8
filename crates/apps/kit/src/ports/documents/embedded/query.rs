//! Pages of rows.

use super::items::units;
use super::{Embedded, errors, place};
use crate::ports::documents::{Page, Query, StoreError};
use orrery_core::limits;
use orrery_document_store::{PageRequest, Priority, QueryRequest, QuerySpec, QueryTarget, Received};
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::item::FeedScope;
use orrery_keys::Epk;
use orrery_query::execute::{self, Limits};
use orrery_value::Value as Datum;
use serde_json::Value;
use std::sync::Arc;

pub async fn page(
    port: &Embedded,
    container: &str,
    partition: Option<&str>,
    query: &Query,
) -> Result<Page, StoreError> {
    let container = port.container(container)?;
    let spec = QuerySpec { text: query.text.clone(), parameters: parameters(query)?, resume: None };
    let token = query.continuation.as_deref();
    let request = PageRequest {
        query: Arc::new(QueryRequest::new(spec)),
        scope: scope(&container, partition)?,
        target: QueryTarget::direct(),
        continuation: token.map(Received::parse).transpose().map_err(|error| errors::store(error.into()))?,
        may_narrow: false,
        limits: limits_of(query.items_max),
        priority: Priority::High,
    };
    let found = port.store().query(&container, request).await.map_err(errors::store)?;
    let charge = units(Charge::page(&found.page));
    Ok(Page { charge, rows: rows(&found.page)?, continuation: found.continuation })
}

pub fn scope(container: &Container, partition: Option<&str>) -> Result<FeedScope, StoreError> {
    Ok(match partition {
        Some(partition) => FeedScope::Partition(place(container, partition)?),
        None => FeedScope::Between(Epk::start(), Epk::end()),
    })
}

/// The protocol's default page size.
pub fn limits_of(items_max: usize) -> Limits {
    let items = if items_max == 0 { limits::PAGE_ITEMS_DEFAULT } else { items_max };
    Limits { items, bytes: limits::PAGE_BYTES_MAX }
}

fn parameters(query: &Query) -> Result<Vec<(String, Datum)>, StoreError> {
    let one = |(name, value): &(String, Value)| {
        let value = Datum::parse(&value.to_string())
            .map_err(|error| errors::refused(400, format!("the parameter '{name}': {error}")))?;
        Ok((name.clone(), value))
    };
    query.parameters.iter().map(one).collect()
}

fn rows(page: &execute::Page) -> Result<Vec<Value>, StoreError> {
    let text = [b"[", &page.rows[..], b"]"].concat();
    let rows = serde_json::from_slice(&text);
    rows.map_err(|error| errors::refused(500, format!("the rows of a query could not be read: {error}")))
}
