//! Whether a document passes a filter, asked of the executor, and whether it has what a need says, by looking.

use orrery_query::access::{IndexPredicate, Interval, Rectangle, Step, rectangle_of};
use orrery_query::bind::BoundQuery;
use orrery_query::bind::bound::{Block, Expr};
use orrery_query::execute::{Host, value_of};
use orrery_query::plan::Plan;
use orrery_query::{Datum, QueryError};
use orrery_value::Value;
use std::ops::Bound;

struct Still;

impl Host for Still {
    fn now_ms(&self) -> u64 {
        0
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

/// A block's filter alone, to be asked of documents.
pub struct Filter(Plan);

impl Filter {
    pub fn of(block: &Block, slots: usize) -> Self {
        let block = Block {
            select: Expr::TRUE,
            grouping: None,
            distinct: false,
            order: Vec::new(),
            rank: None,
            offset: 0,
            limit: None,
            ..block.clone()
        };
        Self(Plan { query: BoundQuery { block, slots, names: Vec::new() }, prefer: Default::default() })
    }

    /// Whether a document gives a row that passes, whatever becomes of the row then.
    pub fn passes(&self, document: &Value) -> bool {
        value_of(&self.0, Datum::of(document), &Still) == Value::Bool(true)
    }
}

pub fn satisfies(need: &IndexPredicate, document: &Value) -> bool {
    match need {
        IndexPredicate::True => true,
        IndexPredicate::False => false,
        IndexPredicate::Term { path, interval } => {
            values_at(document, path).any(|value| is_within(value, interval))
        }
        IndexPredicate::Shape { path, rectangle } => {
            values_at(document, path).any(|shape| touches(shape, rectangle))
        }
        IndexPredicate::And(parts) => parts.iter().all(|part| satisfies(part, document)),
        IndexPredicate::Or(parts) => parts.iter().any(|part| satisfies(part, document)),
    }
}

fn values_at<'a>(document: &'a Value, path: &[Step]) -> impl Iterator<Item = &'a Value> {
    let mut values = vec![document];
    for step in path {
        values = match step {
            Step::Member(name) => values.into_iter().map(|value| value.member(name)).collect(),
            Step::Each => values.into_iter().flat_map(elements).collect(),
        };
    }
    values.into_iter().filter(|value| !value.is_undefined())
}

fn elements(value: &Value) -> &[Value] {
    if let Value::Array(items) = value { items } else { &[] }
}

fn is_within(value: &Value, interval: &Interval) -> bool {
    match interval {
        Interval::All => true,
        Interval::StartsWith(prefix) => matches!(value, Value::String(text) if text.starts_with(prefix)),
        Interval::Between(low, high) => {
            let above = match low {
                Bound::Included(low) => value >= low && is_of_type(value, low),
                Bound::Excluded(low) => value > low && is_of_type(value, low),
                Bound::Unbounded => true,
            };
            let below = match high {
                Bound::Included(high) => value <= high && is_of_type(value, high),
                Bound::Excluded(high) => value < high && is_of_type(value, high),
                Bound::Unbounded => true,
            };
            above && below
        }
    }
}

fn is_of_type(a: &Value, b: &Value) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

/// A point is in the rectangle; of another shape, some rectangle around it overlaps.
fn touches(shape: &Value, rectangle: &Rectangle) -> bool {
    let point = match (shape.member("type"), elements(shape.member("coordinates"))) {
        (Value::String(kind), [Value::Number(longitude), Value::Number(latitude), ..]) if kind == "Point" => {
            let (longitude, latitude) = (longitude.as_f64(), latitude.as_f64());
            Some(Rectangle { west: longitude, south: latitude, east: longitude, north: latitude })
        }
        _ => rectangle_of(shape),
    };
    point.is_some_and(|other| overlap(&other, rectangle))
}

fn overlap(a: &Rectangle, b: &Rectangle) -> bool {
    let has = |of: &Rectangle, longitude: f64| {
        let from_west = (longitude - of.west).rem_euclid(360.0);
        of.east - of.west >= 360.0 || from_west <= (of.east - of.west).rem_euclid(360.0)
    };
    a.south <= b.north && b.south <= a.north && (has(a, b.west) || has(b, a.west))
}
