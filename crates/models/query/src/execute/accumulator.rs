//! Accumulators of the aggregate functions.

use super::eval::{Row, eval};
use super::exec_context::ExecContext;
use super::subquery::size_of_value;
use crate::bind::bound::{AggregateFunction, Grouping};
use crate::datum::{Datum, Kind};
use orrery_value::{Number, Value};
use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Accumulator {
    Count(u64),
    CountIf(u64),
    /// `None` once a value is not a number.
    Sum(Option<f64>),
    Avg {
        sum: Option<f64>,
        count: u64,
    },
    /// `None` before the first value.
    Extreme {
        is_max: bool,
        best: Option<Value>,
        comparable: bool,
    },
    List(Vec<Value>),
    Set(BTreeSet<Value>),
}

impl Accumulator {
    pub fn new(function: AggregateFunction) -> Self {
        match function {
            AggregateFunction::Count => Self::Count(0),
            AggregateFunction::CountIf => Self::CountIf(0),
            AggregateFunction::Sum => Self::Sum(Some(0.0)),
            AggregateFunction::Avg => Self::Avg { sum: Some(0.0), count: 0 },
            AggregateFunction::Min => Self::Extreme { is_max: false, best: None, comparable: true },
            AggregateFunction::Max => Self::Extreme { is_max: true, best: None, comparable: true },
            AggregateFunction::MakeList => Self::List(Vec::new()),
            AggregateFunction::MakeSet => Self::Set(BTreeSet::new()),
        }
    }

    pub fn for_all(grouping: &Grouping) -> Vec<Self> {
        grouping.aggregates.iter().map(|aggregate| Self::new(aggregate.function)).collect()
    }

    pub fn add_row<'d>(all: &mut [Self], grouping: &'d Grouping, row: &mut Row<'d>, ctx: &ExecContext<'_>) {
        for (accumulator, aggregate) in all.iter_mut().zip(&grouping.aggregates) {
            let value = eval(&aggregate.arg, row, ctx);
            if !value.is_undefined() {
                accumulator.add(value, ctx);
            }
        }
    }

    fn add(&mut self, value: Datum<'_>, ctx: &ExecContext<'_>) {
        match self {
            Self::Count(count) => *count += 1,
            Self::CountIf(count) => *count += u64::from(value.is_true()),
            Self::Sum(sum) => *sum = plus(*sum, &value),
            Self::Avg { sum, count } => {
                *sum = plus(*sum, &value);
                *count += 1;
            }
            Self::Extreme { is_max, best, comparable } => extreme(*is_max, best, comparable, value, ctx),
            Self::List(items) => {
                let value = value.into_value();
                ctx.hold(size_of_value(&value));
                items.push(value);
            }
            Self::Set(items) => {
                let value = value.into_value();
                let size = size_of_value(&value);
                if items.insert(value) {
                    ctx.hold(size);
                }
            }
        }
    }

    /// The maximum length in a continuation token, where a character may take six bytes.
    pub fn token_bytes(&self) -> usize {
        match self {
            Self::List(_) | Self::Set(_) => usize::MAX,
            Self::Extreme { best: Some(Value::String(text)), .. } => 64 + text.len() * 6,
            _ => 64,
        }
    }

    /// The state as a value: its letter and its content.
    pub fn to_value(&self) -> Value {
        let count = |it: u64| Value::from(i64::try_from(it).unwrap_or(i64::MAX));
        let number = |it: &Option<f64>| it.map_or(Value::Null, Value::from);
        let state = match self {
            Self::Count(it) => vec!["C".into(), count(*it)],
            Self::CountIf(it) => vec!["I".into(), count(*it)],
            Self::Sum(sum) => vec!["S".into(), number(sum)],
            Self::Avg { sum, count: it } => vec!["A".into(), number(sum), count(*it)],
            Self::Extreme { is_max, best, comparable } => {
                let mut state = vec!["X".into(), (*is_max).into(), (*comparable).into()];
                state.extend(best.clone());
                state
            }
            Self::List(items) => vec!["L".into(), Value::Array(items.clone())],
            Self::Set(items) => vec!["T".into(), Value::Array(items.iter().cloned().collect())],
        };
        Value::Array(state)
    }

    pub fn from_value(value: &Value) -> Option<Self> {
        let Value::Array(state) = value else { return None };
        let (Value::String(letter), state) = state.split_first()? else { return None };
        let count = |value: &Value| Datum::of(value).as_i64().and_then(|it| u64::try_from(it).ok());
        Some(match (letter.as_str(), state) {
            ("C", [it]) => Self::Count(count(it)?),
            ("I", [it]) => Self::CountIf(count(it)?),
            ("S", [sum]) => Self::Sum(Datum::of(sum).as_f64()),
            ("A", [sum, it]) => Self::Avg { sum: Datum::of(sum).as_f64(), count: count(it)? },
            ("X", [Value::Bool(is_max), Value::Bool(comparable), best @ ..]) => {
                Self::Extreme { is_max: *is_max, best: best.first().cloned(), comparable: *comparable }
            }
            ("L", [Value::Array(items)]) => Self::List(items.clone()),
            ("T", [Value::Array(items)]) => Self::Set(items.iter().cloned().collect()),
            _ => return None,
        })
    }

    pub fn finish(self) -> Value {
        let number = |it: Option<f64>| match it.filter(|it| it.is_finite()) {
            Some(it) => Value::Number(Number::Float(it)),
            None => Value::Undefined,
        };
        match self {
            Self::Count(count) | Self::CountIf(count) => {
                Value::from(i64::try_from(count).unwrap_or(i64::MAX))
            }
            Self::Sum(sum) => number(sum),
            Self::Avg { count: 0, .. } => Value::Undefined,
            Self::Avg { sum, count } => number(sum.map(|sum| sum / count as f64)),
            Self::Extreme { best, comparable: true, .. } => best.unwrap_or_default(),
            Self::Extreme { .. } => Value::Undefined,
            Self::List(items) => Value::Array(items),
            Self::Set(items) => Value::Array(items.into_iter().collect()),
        }
    }
}

fn plus(sum: Option<f64>, value: &Datum<'_>) -> Option<f64> {
    Some(sum? + value.as_f64()?)
}

/// An array or object makes the minimum and maximum undefined.
fn extreme(
    is_max: bool,
    best: &mut Option<Value>,
    comparable: &mut bool,
    value: Datum<'_>,
    ctx: &ExecContext<'_>,
) {
    if value.kind() >= Kind::Array {
        *comparable = false;
        return;
    }
    let better = best.as_ref().is_none_or(|best| {
        let order = value.cmp_total(&Datum::of(best));
        if is_max { order.is_gt() } else { order.is_lt() }
    });
    if better {
        let value = value.into_value();
        let size = |value: &Value| size_of_value(value);
        ctx.release(ctx.held().saturating_sub(best.as_ref().map_or(0, size)));
        ctx.hold(size(&value));
        *best = Some(value);
    }
}
