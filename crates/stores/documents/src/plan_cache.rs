//! The plan cache: a repeated query with the same parameters is parsed once and planned once.
//!
//! A plan depends on the text, the parameters and the container's vector policy alone. The time and the data come
//! in when it runs.

use crate::error::Error;
use crate::limits;
use crate::query_spec::QuerySpec;
use crate::usage::paths_of;
use orrery_query::access::{IndexPredicate, Path, index_predicate};
use orrery_query::bind::Settings;
use orrery_query::limits::PARSE_CACHE_TEXT_BYTES_MAX;
use orrery_query::plan::Rules;
use orrery_query::{ParseCache, Prepared, QueryError, TextCache};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Slots for the hashes of bodies seen once.
const ONCE_PLACES: usize = 4096;

pub struct PlanCache {
    hashing: RandomState,
    /// The hashes of bodies seen once: most bodies with parameters of their own are never repeated.
    seen_once: Box<[AtomicU64]>,
    known: TextCache<QueryRequest>,
}

/// A query as received.
pub struct QueryRequest {
    pub spec: QuerySpec,
    prepared: OnceLock<Arc<PreparedQuery>>,
}

/// A parsed and planned query.
pub struct PreparedQuery {
    pub prepared: Prepared,
    /// Distinguishes its continuation tokens from those of other queries.
    pub question: u32,
    pub need: IndexPredicate,
    /// The paths of its filter, its order and its groups.
    pub paths: Vec<Path>,
}

impl Default for PlanCache {
    fn default() -> Self {
        let seen_once = (0..ONCE_PLACES).map(|_| AtomicU64::new(0)).collect();
        Self { hashing: RandomState::new(), seen_once, known: TextCache::new(limits::PLAN_CACHE_ENTRIES_MAX) }
    }
}

impl PlanCache {
    pub fn read(&self, body: &[u8]) -> Result<Arc<QueryRequest>, Error> {
        orrery_core::tour_step!();
        if body.len() > PARSE_CACHE_TEXT_BYTES_MAX {
            return QueryRequest::read(body).map(Arc::new);
        }
        let text = std::str::from_utf8(body).unwrap_or_default();
        if let Some(known) = self.known.find(text) {
            return Ok(known);
        }
        let request = Arc::new(QueryRequest::read(body)?);
        Ok(if self.came_before(text) { self.known.insert(text, request) } else { request })
    }

    fn came_before(&self, text: &str) -> bool {
        let hash = self.hashing.hash_one(text);
        let place = &self.seen_once[hash as usize % ONCE_PLACES];
        place.swap(hash, Ordering::Relaxed) == hash
    }
}

impl QueryRequest {
    pub fn new(spec: QuerySpec) -> Self {
        Self { spec, prepared: OnceLock::new() }
    }

    fn read(body: &[u8]) -> Result<Self, Error> {
        QuerySpec::parse(body).map(Self::new)
    }

    pub fn prepare(&self, texts: &ParseCache, settings: &Settings) -> Result<Arc<PreparedQuery>, QueryError> {
        orrery_core::tour_step!();
        // With vectors, the meaning of a query depends on the container.
        let is_of_any = settings.vectors.is_empty();
        if let Some(known) = self.prepared.get().filter(|_| is_of_any) {
            // The orders that an index serves depend on the container.
            settings.check_order(&known.prepared.plan.query.block)?;
            return Ok(known.clone());
        }
        let QuerySpec { text, parameters, .. } = &self.spec;
        let mut prepared = texts.prepare_for(text, parameters, Rules::On, settings)?;
        let is_small = prepared.plan.constant_bytes() <= limits::QUERY_REMEMBERED_CONSTANTS_BYTES_MAX;
        let (block, question) = (&prepared.plan.query.block, self.spec.fingerprint(&prepared.ast));
        let (need, paths) = (index_predicate(block), paths_of(block));
        let prepared_query = Arc::new(PreparedQuery { prepared, question, need, paths });
        if is_of_any && is_small {
            // A concurrent request may have inserted the same plan.
            let _ = self.prepared.set(prepared_query.clone());
        }
        Ok(prepared_query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_query::functions::vector::Distance;

    fn body(value: usize) -> String {
        let text = "SELECT * FROM c WHERE c.a = @a";
        format!(r#"{{"query":"{text}","parameters":[{{"name":"@a","value":{value}}}]}}"#)
    }

    #[test]
    fn a_query_is_cached_when_it_is_repeated() {
        let cache = PlanCache::default();
        let read = |value| cache.read(body(value).as_bytes()).unwrap();
        let (first, second) = (read(1), read(1));
        assert!(!Arc::ptr_eq(&first, &second), "it came once");
        assert!(Arc::ptr_eq(&second, &read(1)));
        assert_eq!(first.spec.parameters, second.spec.parameters);
        assert!(!Arc::ptr_eq(&second, &read(2)), "another parameter is another query");
    }

    #[test]
    fn a_query_that_comes_once_evicts_nothing() {
        let cache = PlanCache::default();
        let read = |value| cache.read(body(value).as_bytes()).unwrap();
        read(0);
        let known = read(0);
        (1..5 * limits::PLAN_CACHE_ENTRIES_MAX).for_each(|value| drop(read(value)));
        assert!(Arc::ptr_eq(&known, &read(0)));
    }

    #[test]
    fn what_is_no_query_is_refused_each_time() {
        let cache = PlanCache::default();
        for bytes in [&b"{}"[..], b"", b"\xff", b"{}", b"", b"\xff"] {
            assert!(matches!(cache.read(bytes), Err(Error::Invalid(_))));
        }
    }

    #[test]
    fn what_becomes_large_is_not_kept() {
        let is_kept = |select: &str| {
            let body = format!(r#"{{"query":"SELECT VALUE {select} FROM c"}}"#);
            let request = QueryRequest::read(body.as_bytes()).unwrap();
            request.prepare(&ParseCache::default(), &Settings::default()).unwrap();
            request.prepared.get().is_some()
        };
        assert!(is_kept("REPLICATE('a', 3000)"));
        assert!(!is_kept("[REPLICATE('a', 3000), REPLICATE('b', 3000)]"));
        assert!(!is_kept("c.a IN (REPLICATE('a', 3000), REPLICATE('b', 3000))"));
    }

    #[test]
    fn a_query_is_planned_once_unless_its_container_has_vectors() {
        let (texts, plain) = (ParseCache::default(), Settings::default());
        let request = QueryRequest::read(body(1).as_bytes()).unwrap();
        let first = request.prepare(&texts, &plain).unwrap();
        assert!(Arc::ptr_eq(&first, &request.prepare(&texts, &plain).unwrap()));
        let vectors = vec![(vec!["v".to_owned()], Distance::Cosine)];
        let other = request.prepare(&texts, &Settings { vectors, composites: None }).unwrap();
        assert!(!Arc::ptr_eq(&first, &other));
        assert!(Arc::ptr_eq(&first, &request.prepare(&texts, &plain).unwrap()));
    }

    #[test]
    fn a_remembered_order_still_needs_the_containers_own_index() {
        let texts = ParseCache::default();
        let request = QueryRequest::read(br#"{"query":"SELECT * FROM c ORDER BY c.a, c.b"}"#).unwrap();
        let path = |name: &str| (vec![name.to_owned()], false);
        let with = |composites| Settings { composites: Some(composites), ..Settings::default() };
        let indexed = with(vec![vec![path("a"), path("b")]]);
        let first = request.prepare(&texts, &indexed).unwrap();
        assert!(request.prepare(&texts, &with(Vec::new())).is_err());
        assert!(Arc::ptr_eq(&first, &request.prepare(&texts, &indexed).unwrap()));
    }
}
