//! A collection in memory, and all pages of a plan's answer over it.

use orrery_query::execute::{Collection, Host, Limits, ScannedDocument, Start, page};
use orrery_query::plan::Plan;
use orrery_query::{Datum, QueryError};
use orrery_value::{Value, raw};
use std::ops::ControlFlow;

pub struct Memory {
    documents: Vec<String>,
}

impl Memory {
    pub fn new(documents: &[Value]) -> Self {
        Self { documents: documents.iter().map(Value::to_json).collect() }
    }
}

impl Collection for Memory {
    fn scan(
        &self,
        start: &Start,
        visit: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> Result<(), QueryError> {
        let number =
            |position: &[u8]| position.iter().fold(0usize, |all, byte| all << 8 | usize::from(*byte));
        let first = match start {
            Start::Beginning => 0,
            Start::At(position) => number(position),
            Start::After(position) => number(position) + 1,
        };
        for (i, text) in self.documents.iter().enumerate().skip(first) {
            let position = (i as u32).to_be_bytes();
            let (ordinal, bytes, root) = (i as u64, text.len(), Datum::read(text));
            let found = ScannedDocument { position: &position, ordinal, part: 0, bytes, root };
            if visit(found).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// A world that stands still at 2024-05-06T07:08:09.123Z.
pub struct Still;

impl Host for Still {
    fn now_ms(&self) -> u64 {
        1_714_979_289_123
    }

    fn random(&self) -> f64 {
        0.5
    }

    fn elapsed_ms(&self) -> u64 {
        0
    }

    fn udf(&self, name: &str, _args: &[Value]) -> Result<Value, QueryError> {
        Err(QueryError::Refused(format!("There is no user-defined function '{name}'.")))
    }
}

/// Every row of the answer, fetched in pages of `items`.
pub fn answer(plan: &Plan, collection: &dyn Collection, items: usize) -> Result<Vec<Value>, QueryError> {
    let mut rows = Vec::new();
    let mut next: Option<Vec<u8>> = None;
    loop {
        let limits = Limits { items, bytes: 4 * 1024 * 1024 };
        let page = page(plan, collection, &Still, next.as_deref(), None, limits)?;
        let text = format!("[{}]", String::from_utf8(page.rows).expect("rows are text"));
        let found: Vec<Value> = raw::elements(&text).map(Value::read).collect();
        assert_eq!(found.len(), page.count, "the page counts its rows");
        assert!(found.len() <= items, "the page keeps to its size");
        rows.extend(found);
        if page.next.is_none() {
            return Ok(rows);
        }
        assert_ne!(page.next, next, "a page that goes on from where it began");
        next = page.next;
    }
}
