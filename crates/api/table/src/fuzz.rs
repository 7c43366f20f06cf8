//! What the fuzzers run, here so that the ordinary tests run the same: one call per decoder of bytes that clients send.
//! Each takes any bytes and panics only if a promise of this crate is broken.

use crate::errors::Failure;
use crate::json::{self, Answer, Level, Shown};
use crate::multipart::{self, Batch};
use crate::route::{Resource, inner_path, locate};
use crate::{continuation, key_predicate};
use orrery_tables::{EntityKey, Ticks};

/// A batch is read or refused; what is read is inside the body, and not too much of it.
pub fn multipart(data: &[u8]) {
    let Some((content_type, body)) = data.split_at_checked(data.len().min(32)) else { return };
    let boundary = std::str::from_utf8(content_type).ok().and_then(|text| multipart::boundary(text).ok());
    for boundary in [boundary.unwrap_or("b"), "b"] {
        match multipart::read(body, boundary).or_else(|_| multipart::read(data, boundary)) {
            Ok(Batch::Single(inner)) => drop(locate(inner_path(inner.target))),
            Ok(Batch::Changeset(inners)) => {
                assert!((1..=crate::limits::BATCH_PARTS_MAX).contains(&inners.len()));
                assert!(inners.iter().map(|inner| inner.body.len()).sum::<usize>() <= data.len());
                inners.iter().for_each(|inner| drop(locate(inner_path(inner.target))));
            }
            Err(error) => assert_eq!(Failure::from(error).0.status, 400),
        }
    }
}

/// What an entity's body says is written as JSON that says the same.
pub fn entity(data: &[u8]) {
    let Ok(key) = EntityKey::parse("p", "r") else { return };
    let read = |body: &[u8]| {
        let entity = json::read_entity(body).map_err(Failure::from)?;
        entity.properties.finish(key.clone()).map_err(Failure::from)
    };
    let entity = match read(data) {
        Ok(entity) => entity,
        Err(failure) => return assert_eq!(failure.0.status, 400),
    };
    let (partition_key, row_key) = ("p", "r");
    let shown =
        Shown { partition_key, row_key, timestamp: Ticks::default(), properties: entity.properties() };
    for level in [Level::Minimal, Level::Full] {
        let answer = Answer { level, base_url: "http://h/a", account: "a", select: None };
        let written = json::entity(&answer, "t", &shown);
        let again = read(&written).expect("what is written is read");
        let texts = |entity: &orrery_tables::Entity| format!("{:?}", entity.properties().collect::<Vec<_>>());
        assert_eq!(texts(&again), texts(&entity));
    }
}

/// A path names something or is refused; the key of an entity is written as it was read.
pub fn path(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    drop(continuation::read(text));
    match locate(text) {
        Ok(Resource::Entity { partition_key, row_key, .. }) => {
            let written = key_predicate::write(&partition_key, &row_key);
            let inside = &written[1..written.len() - 1];
            assert_eq!(
                key_predicate::parse(inside),
                Ok(key_predicate::Predicate::Key { partition_key, row_key })
            );
        }
        Ok(_) => {}
        Err(error) => assert_eq!(Failure::from(error).0.status, 400),
    }
}
