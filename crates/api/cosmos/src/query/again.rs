//! Queries that come again as they are, with the same parameters: their bodies are read once, and planned once.
//!
//! A plan follows from the text, the parameters and the vectors of the container alone. The time and the data come
//! in when it runs.

use super::body::QueryBody;
use crate::failure::Failure;
use crate::usage::asked;
use orrery_core::limits;
use orrery_query::access::{IndexPredicate, Path, index_predicate};
use orrery_query::bind::Settings;
use orrery_query::plan::Rules;
use orrery_query::{ParseCache, Prepared, QueryError, TextCache};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Bodies that came once are known by so many places at most.
const ONCE_PLACES: usize = 4096;

pub struct Again {
    hashing: RandomState,
    /// The hashes of bodies that came once: most with parameters of their own come no second time.
    once: Box<[AtomicU64]>,
    known: TextCache<Asked>,
}

/// A query as it came.
pub struct Asked {
    pub body: QueryBody,
    understood: OnceLock<Arc<Understood>>,
}

/// What a query asks for.
pub struct Understood {
    pub prepared: Prepared,
    /// Tells its continuation tokens from those of other queries.
    pub question: u32,
    pub need: IndexPredicate,
    /// Where its filter, its order and its groups look.
    pub paths: Vec<Path>,
}

impl Default for Again {
    fn default() -> Self {
        let once = (0..ONCE_PLACES).map(|_| AtomicU64::new(0)).collect();
        Self { hashing: RandomState::new(), once, known: TextCache::new(limits::PLAN_CACHE_ENTRIES_MAX) }
    }
}

impl Again {
    pub fn read(&self, body: &[u8]) -> Result<Arc<Asked>, Failure> {
        if body.len() > limits::PARSE_CACHE_TEXT_BYTES_MAX {
            return Asked::read(body).map(Arc::new);
        }
        let text = std::str::from_utf8(body).unwrap_or_default();
        if let Some(known) = self.known.find(text) {
            return Ok(known);
        }
        let asked = Arc::new(Asked::read(body)?);
        Ok(if self.came_before(text) { self.known.remembered(text, asked) } else { asked })
    }

    fn came_before(&self, text: &str) -> bool {
        let hash = self.hashing.hash_one(text);
        let place = &self.once[hash as usize % ONCE_PLACES];
        place.swap(hash, Ordering::Relaxed) == hash
    }
}

impl Asked {
    fn read(body: &[u8]) -> Result<Self, Failure> {
        Ok(Self { body: QueryBody::parse(body)?, understood: OnceLock::new() })
    }

    pub fn understood(&self, texts: &ParseCache, settings: &Settings) -> Result<Arc<Understood>, QueryError> {
        // With vectors, the same query may mean something else over another container.
        let is_of_any = settings.vectors.is_empty();
        if let Some(known) = self.understood.get().filter(|_| is_of_any) {
            // Which orders an index serves is the container's own.
            settings.check_order(&known.prepared.plan.query.block)?;
            return Ok(known.clone());
        }
        let QueryBody { text, parameters, .. } = &self.body;
        let mut prepared = texts.prepare_for(text, parameters, Rules::On, settings)?;
        let is_small = prepared.plan.constant_bytes() <= limits::QUERY_REMEMBERED_CONSTANTS_BYTES_MAX;
        let (block, question) = (&prepared.plan.query.block, self.body.question(&prepared.ast));
        let understood = Understood { need: index_predicate(block), paths: asked(block), question, prepared };
        let understood = Arc::new(understood);
        if is_of_any && is_small {
            // Another request may have been faster, with the same.
            let _ = self.understood.set(understood.clone());
        }
        Ok(understood)
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
    fn what_came_twice_is_remembered() {
        let again = Again::default();
        let read = |value| again.read(body(value).as_bytes()).unwrap();
        let (first, second) = (read(1), read(1));
        assert!(!Arc::ptr_eq(&first, &second), "it came once");
        assert!(Arc::ptr_eq(&second, &read(1)));
        assert_eq!(first.body.parameters, second.body.parameters);
        assert!(!Arc::ptr_eq(&second, &read(2)), "another parameter is another query");
    }

    #[test]
    fn what_comes_once_pushes_nothing_out() {
        let again = Again::default();
        let read = |value| again.read(body(value).as_bytes()).unwrap();
        read(0);
        let known = read(0);
        (1..5 * limits::PLAN_CACHE_ENTRIES_MAX).for_each(|value| drop(read(value)));
        assert!(Arc::ptr_eq(&known, &read(0)));
    }

    #[test]
    fn what_is_no_query_is_refused_each_time() {
        let again = Again::default();
        for bytes in [&b"{}"[..], b"", b"\xff", b"{}", b"", b"\xff"] {
            assert_eq!(again.read(bytes).err().map(|failure| failure.status.as_u16()), Some(400));
        }
    }

    #[test]
    fn what_becomes_large_is_not_kept() {
        let is_kept = |select: &str| {
            let body = format!(r#"{{"query":"SELECT VALUE {select} FROM c"}}"#);
            let asked = Asked::read(body.as_bytes()).unwrap();
            asked.understood(&ParseCache::default(), &Settings::default()).unwrap();
            asked.understood.get().is_some()
        };
        assert!(is_kept("REPLICATE('a', 3000)"));
        assert!(!is_kept("[REPLICATE('a', 3000), REPLICATE('b', 3000)]"));
        assert!(!is_kept("c.a IN (REPLICATE('a', 3000), REPLICATE('b', 3000))"));
    }

    #[test]
    fn a_query_is_planned_once_unless_its_container_has_vectors() {
        let (texts, plain) = (ParseCache::default(), Settings::default());
        let asked = Asked::read(body(1).as_bytes()).unwrap();
        let first = asked.understood(&texts, &plain).unwrap();
        assert!(Arc::ptr_eq(&first, &asked.understood(&texts, &plain).unwrap()));
        let vectors = vec![(vec!["v".to_owned()], Distance::Cosine)];
        let other = asked.understood(&texts, &Settings { vectors, composites: None }).unwrap();
        assert!(!Arc::ptr_eq(&first, &other));
        assert!(Arc::ptr_eq(&first, &asked.understood(&texts, &plain).unwrap()));
    }

    #[test]
    fn a_remembered_order_still_needs_the_containers_own_index() {
        let texts = ParseCache::default();
        let asked = Asked::read(br#"{"query":"SELECT * FROM c ORDER BY c.a, c.b"}"#).unwrap();
        let path = |name: &str| (vec![name.to_owned()], false);
        let with = |composites| Settings { composites: Some(composites), ..Settings::default() };
        let indexed = with(vec![vec![path("a"), path("b")]]);
        let first = asked.understood(&texts, &indexed).unwrap();
        assert!(asked.understood(&texts, &with(Vec::new())).is_err());
        assert!(Arc::ptr_eq(&first, &asked.understood(&texts, &indexed).unwrap()));
    }
}
