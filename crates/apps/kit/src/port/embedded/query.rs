//! Pages of rows.

use super::host::World;
use super::items::units;
use super::token::Question;
use super::{Inner, errors, place};
use crate::port::{Page, Query, StoreError};
use orrery_core::limits;
use orrery_documents::catalog::Container;
use orrery_documents::charge::{Charge, ReadWork};
use orrery_documents::definition::DistanceFunction;
use orrery_documents::item::{FeedScope, Items};
use orrery_documents::partition;
use orrery_keys::{Epk, epk};
use orrery_query::bind::Settings;
use orrery_query::execute::{self, Limits, page as next_page};
use orrery_query::functions::vector::Distance;
use orrery_query::plan::Rules;
use orrery_query::plan::distributed::{id_and_key_lookups, partition_keys};
use orrery_query::{Prepared, prepare_for};
use orrery_store::Read;
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
    let (text, parameters, limits) = (query.text.clone(), parameters(query)?, limits_of(query.items_max));
    let world = World::new(inner.store.env());
    // Dropped with this future: nobody waits for the answer then.
    let _waiting = world.waiting();
    let (work, number) = (inner.clone(), container.number());
    let snapshot = inner.store.snapshot();
    let is_small = is_small(&*snapshot, &container, &scope)?;
    let work = move || {
        let prepared = prepare_for(&text, &parameters, Rules::On, &settings(&container))?;
        let items = Items::new(&*snapshot, &container, &scope, &world)?;
        let items =
            narrowed(items, &prepared, &parameters, &container).remembering(&work.places).indexed()?;
        next_page(&prepared.plan, &items, &world, resume.as_deref(), None, limits)
    };
    // To wake a thread and be woken by it takes longer than to look into a small partition.
    let found = if is_small {
        work()
    } else {
        let permit = inner.queries.clone().acquire_owned().await;
        let permit =
            permit.map_err(|_| StoreError::Unavailable("queries are not taken any more".to_owned()))?;
        let work = move || {
            let _permit = permit;
            work()
        };
        on_a_thread(work).await?
    };
    let found = found.map_err(errors::query)?;
    let continuation = found.next.as_deref().map(|state| inner.tokens.write(number, question, state));
    Ok(Page { charge: units(charge(&found)), rows: rows(&found)?, continuation })
}

fn is_small(state: &dyn Read, container: &Container, scope: &FeedScope) -> Result<bool, StoreError> {
    let FeedScope::Partition(epk) = scope else { return Ok(false) };
    let size = partition::size(state, container.number(), epk.as_bytes()).map_err(errors::engine)?;
    Ok(size.items <= limits::SERVICE_QUERY_SMALL_ITEMS && size.bytes <= limits::SERVICE_QUERY_SMALL_BYTES)
}

/// Runs what may read many rows where it keeps nobody waiting.
pub async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StoreError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| StoreError::Unavailable("the work broke off; look into the server's log".to_owned()))
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

fn settings(container: &Container) -> Settings {
    let vectors = container.definition().vectors().iter().map(|vector| {
        let distance = match vector.distance {
            DistanceFunction::Euclidean => Distance::Euclidean,
            DistanceFunction::Cosine => Distance::Cosine,
            DistanceFunction::DotProduct => Distance::DotProduct,
        };
        (vector.path.segments().to_vec(), distance)
    });
    Settings { vectors: vectors.collect() }
}

/// Only the items, or else the partitions, that the filter names.
fn narrowed<'a>(
    items: Items<'a>,
    prepared: &Prepared,
    parameters: &[(String, Datum)],
    container: &Container,
) -> Items<'a> {
    let paths = container.definition().partition_key().paths().iter();
    let paths: Vec<Vec<String>> = paths.map(|path| path.segments().to_vec()).collect();
    if paths.len() != 1 {
        return items;
    }
    if let Some(lookups) = id_and_key_lookups(&prepared.ast, parameters, &paths) {
        let keys = lookups.into_iter().map(|(id, key)| (epk(container.hashing(), &key), id));
        return items.among(&keys.collect::<Vec<_>>());
    }
    let Some(keys) = partition_keys(&prepared.ast, parameters, &paths) else { return items };
    let hashes = keys.iter().map(|key| epk(container.hashing(), key));
    items.within(&hashes.map(|hash| (hash.clone(), hash)).collect::<Vec<_>>())
}

fn charge(page: &execute::Page) -> Charge {
    Charge::query(&ReadWork {
        documents_read: page.metrics.documents_read,
        bytes_read: page.metrics.bytes_read,
        entries_read: page.metrics.entries_read,
        seeks: page.metrics.seeks,
        rows: page.count as u64,
        bytes_out: page.rows.len() as u64,
    })
}

fn rows(page: &execute::Page) -> Result<Vec<Value>, StoreError> {
    let text = [b"[", &page.rows[..], b"]"].concat();
    let rows = serde_json::from_slice(&text);
    rows.map_err(|error| errors::refused(500, format!("the rows of a query could not be read: {error}")))
}
