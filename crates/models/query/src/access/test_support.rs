//! Indexes and a host for tests.

use super::indexes::{
    DeclaredIndexes, Entry, EntryCursor, EntryValue, IndexOf, Indexes, Path, Rectangle, SeekKey, Span,
};
use crate::error::QueryError;
use crate::execute::{Host, ScannedDocument};
use orrery_value::Value;
use std::ops::ControlFlow;

/// An index over the numbers below twenty that are multiples of the value sought.
pub(super) struct Multiples;

struct List(std::vec::IntoIter<u64>, EntryValue);

impl EntryCursor for List {
    fn next(&mut self) -> Result<Option<Entry>, QueryError> {
        Ok(self.0.next().map(|ordinal| Entry { ordinal }))
    }

    fn seek(&mut self, ordinal: u64) -> Result<(), QueryError> {
        let rest: Vec<u64> = self.0.by_ref().filter(|number| *number >= ordinal).collect();
        self.0 = rest.into_iter();
        Ok(())
    }

    fn value(&self, _part: usize) -> EntryValue {
        self.1.clone()
    }

    fn sort_key(&self, _part: usize) -> Vec<u8> {
        Vec::new()
    }
}

pub(super) fn multiples(of: u64) -> Vec<u64> {
    (0..20).filter(|number| number % of == 0).collect()
}

impl DeclaredIndexes for Multiples {
    fn has(&self, _: &Path) -> bool {
        true
    }

    fn composites(&self) -> &[Vec<(Path, bool)>] {
        &[]
    }

    fn has_spatial(&self, _: &Path) -> bool {
        false
    }
}

impl Indexes for Multiples {
    fn documents(&self) -> Result<u64, QueryError> {
        Ok(20)
    }

    fn documents_indexed(&self, _: &IndexOf) -> Result<u64, QueryError> {
        Ok(20)
    }

    fn count(&self, _: &IndexOf, _: &Span, _: u64) -> Result<u64, QueryError> {
        Ok(0)
    }

    fn entries<'a>(
        &'a self,
        _: &IndexOf,
        span: &Span,
        _: bool,
        _: Option<&SeekKey>,
    ) -> Result<Box<dyn EntryCursor + 'a>, QueryError> {
        // A lookup without a value finds all documents, with the value true.
        let (of, known) = match span.prefix.first() {
            Some(value) => (crate::Datum::of(value).as_i64().unwrap_or(1), EntryValue::Partial),
            None => (1, EntryValue::Exact(Value::Bool(true))),
        };
        Ok(Box::new(List(multiples(of as u64).into_iter(), known)))
    }

    fn spatial_candidates(&self, _: &Path, _: &Rectangle, _: u64) -> Result<Option<Vec<u64>>, QueryError> {
        Ok(None)
    }

    fn fetch(
        &self,
        _: u64,
        _: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, QueryError> {
        Ok(ControlFlow::Continue(()))
    }

    fn contains(&self, _: u64) -> Result<bool, QueryError> {
        Ok(true)
    }
}

pub(super) struct FixedHost;

impl Host for FixedHost {
    fn now_ms(&self) -> u64 {
        0
    }

    fn random(&self) -> f64 {
        0.0
    }

    fn elapsed_ms(&self) -> u64 {
        0
    }

    fn udf(&self, _: &str, _: &[Value]) -> Result<Value, QueryError> {
        Ok(Value::Undefined)
    }
}
