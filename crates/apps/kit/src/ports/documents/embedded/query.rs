//! Pages of rows.

use super::items::units;
use super::token::Question;
use super::{Inner, errors, place};
use crate::ports::documents::{Page, Query, StoreError};
use orrery_core::limits;
use orrery_document_store::QueryHost;
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::item::{FeedScope, Items, prune, settings};
use orrery_keys::Epk;
use orrery_query::execute::{self, Limits, page as next_page};
use orrery_query::plan::Rules;
use orrery_value::Value as Datum;
use serde_json::Value;

pub async fn page(
    inner: &Inner,
    container: &str,
    partition: Option<&str>,
    query: &Query,
) -> Result<Page, StoreError> {
    let container = inner.container(container)?;
    let scope = scope(&container, partition)?;
    let question = Question::new(partition, query);
    let token = query.continuation.as_deref();
    let resume = token.map(|token| inner.tokens.read(container.number(), question, token)).transpose()?;
    let track = inner.store.track(container.number(), &query.text);
    let (text, parameters, limits) = (query.text.clone(), parameters(query)?, limits_of(query.items_max));
    let (store, number) = (inner.store.clone(), container.number());
    let work = move |host: &QueryHost| {
        let snapshot = store.snapshot();
        let prepared = store.texts().prepare_for(&text, &parameters, Rules::On, &settings(&container))?;
        let items = Items::new(&*snapshot, &container, &scope, host)?;
        let (items, _) = prune(items, &prepared, &parameters, &container);
        let items = items.with_statistics(store.counts().at(snapshot.lsn())).indexed()?;
        next_page(&prepared.plan, &items, host, resume.as_deref(), None, limits)
    };
    let found = inner.store.run_tracked(track, work).await.map_err(errors::not_run)?;
    let found = found.map_err(errors::query)?;
    let continuation = found.next.as_deref().map(|state| inner.tokens.write(number, question, state));
    Ok(Page { charge: units(Charge::page(&found)), rows: rows(&found)?, continuation })
}

pub fn scope(container: &Container, partition: Option<&str>) -> Result<FeedScope, StoreError> {
    Ok(match partition {
        Some(partition) => FeedScope::Partition(place(container, partition)?),
        None => FeedScope::Between(Epk::start(), Epk::end()),
    })
}

/// The default of the protocol where nothing is asked for.
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
