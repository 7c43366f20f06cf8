//! Pages of rows: of one partition, or of every range in turn.

use super::call::{RequestBuilder, RetryBudget, Sees, send};
use super::parts::{Parts, Within};
use super::{Remote, merged, ranges};
use crate::idempotency::hash;
use crate::limits;
use crate::ports::documents::{Page, Query, StoreError};
use orrery_client::{Call, ENABLE_CROSS_PARTITION, RANGE};
use orrery_core::limits::PAGE_ITEMS_DEFAULT;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
pub struct Feed {
    #[serde(rename = "Documents")]
    pub rows: Vec<Value>,
}

pub async fn page(
    remote: &Remote,
    container: &str,
    partition: Option<&str>,
    query: &Query,
) -> Result<Page, StoreError> {
    let of = question(container, partition, query);
    if partition.is_none() && merged::is_needed(query) {
        return merged::page(remote, container, &of, query).await;
    }
    let parts = match &query.continuation {
        None => Parts::all(None),
        Some(text) => Parts::read(&of, text)?,
    };
    let reader = PageReader {
        remote,
        container,
        partition,
        body: body(&query.text, query),
        items_max: query.items_max,
    };
    let (page, parts) = reader.page(parts).await?;
    let continuation = if parts.0.is_empty() { None } else { Some(parts.write(&of)?) };
    Ok(Page { continuation, ..page })
}

struct PageReader<'a> {
    remote: &'a Remote,
    container: &'a str,
    partition: Option<&'a str>,
    body: String,
    items_max: usize,
}

impl PageReader<'_> {
    /// Continues until there are rows, nothing is left, or the page has used up its requests.
    async fn page(&self, mut parts: Parts) -> Result<(Page, Parts), StoreError> {
        let mut page = Page { rows: Vec::new(), continuation: None, charge: 0.0 };
        let (mut patience, mut moves) = (RetryBudget::new(self.remote), 0);
        for _ in 0..limits::SERVICE_STORE_TRIES_MAX {
            let within = within(self.remote, self.container, self.partition, &mut parts).await?;
            let ask = self.ask(within.as_ref(), parts.0.front().and_then(|part| part.token.as_deref()));
            let answer = send(self.remote, &ask, &mut patience).await?;
            if answer.is_gone() && self.partition.is_none() && moves < limits::SERVICE_STORE_MOVES_MAX {
                moves += 1;
                self.remote.inner.ranges.forget(self.container);
                continue;
            }
            if !answer.is_success() {
                return Err(answer.refusal());
            }
            page.charge += answer.charge();
            page.rows = answer.json::<Feed>()?.rows;
            match (answer.continuation(), parts.0.front_mut()) {
                (Some(token), Some(part)) => part.token = Some(token),
                _ => drop(parts.0.pop_front()),
            }
            if !page.rows.is_empty() || parts.0.is_empty() {
                break;
            }
        }
        Ok((page, parts))
    }

    fn ask(&self, within: Option<&Within>, token: Option<&str>) -> RequestBuilder<'_> {
        let items = if self.items_max == 0 { PAGE_ITEMS_DEFAULT } else { self.items_max };
        let call = Call::page_of_query(&self.remote.inner.database, self.container, self.body.clone())
            .header("x-ms-max-item-count", items.to_string())
            .after(token);
        let ask = RequestBuilder::of(call).session(self.container, Sees::Before);
        match (self.partition, within) {
            (Some(partition), _) => ask.partition(partition),
            (None, Some(within)) => scoped(ask.header(ENABLE_CROSS_PARTITION, "True"), within),
            (None, None) => ask,
        }
    }
}

/// The range of the first part; a single partition needs none.
pub async fn within(
    remote: &Remote,
    container: &str,
    partition: Option<&str>,
    parts: &mut Parts,
) -> Result<Option<Within>, StoreError> {
    match partition {
        Some(_) => Ok(None),
        None => parts.narrow_to_range(&ranges::of(remote, container).await?).map(Some),
    }
}

/// Restricts the request to a range, or to a part of one.
pub fn scoped<'a>(ask: RequestBuilder<'a>, within: &Within) -> RequestBuilder<'a> {
    let ask = ask.header(RANGE, within.range.as_str());
    match &within.bounds {
        None => ask,
        Some((min, max)) => ask
            .header("x-ms-read-key-type", "EffectivePartitionKeyRange")
            .header("x-ms-start-epk", min.as_str())
            .header("x-ms-end-epk", max.as_str()),
    }
}

pub fn body(text: &str, query: &Query) -> String {
    let parameters = query.parameters.iter().map(|(name, value)| json!({ "name": name, "value": value }));
    json!({ "query": text, "parameters": parameters.collect::<Vec<_>>() }).to_string()
}

/// A hash of the query, so that a continuation is not used for another one.
fn question(container: &str, partition: Option<&str>, query: &Query) -> String {
    let scope = if partition.is_some() { "partition" } else { "all" };
    let partition = partition.unwrap_or_default();
    let name = hash(&[
        container.as_bytes(),
        scope.as_bytes(),
        partition.as_bytes(),
        body(&query.text, query).as_bytes(),
    ]);
    name.chars().take(32).collect()
}
