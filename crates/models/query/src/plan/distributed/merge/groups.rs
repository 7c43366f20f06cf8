//! Aggregates and GROUP BY: combines the partial results that ranges return for each group.

use super::super::aggregate::Aggregate;
use super::super::info::QueryInfo;
use super::{elements, not_understood, number};
use crate::error::QueryError;
use orrery_value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The partial results of every group so far. Groups are emitted in key order.
#[derive(Default)]
pub(super) struct Groups(BTreeMap<Value, Vec<Value>>);

impl Groups {
    pub(super) fn are_in(info: &QueryInfo) -> bool {
        !info.group_by_expressions.is_empty()
            || !info.aggregates.is_empty()
            || !info.group_by_aliases.is_empty()
    }

    pub(super) fn add(&mut self, row: Value, info: &QueryInfo) {
        let key = row.member("groupByItems").clone();
        let is_bare = key.is_undefined() && info.has_select_value;
        let part = if is_bare { row } else { row.member("payload").clone() };
        self.0.entry(key).or_default().push(part);
    }

    /// The row of the next group; groups whose row is undefined are skipped.
    pub(super) fn next(&mut self, info: &QueryInfo) -> Result<Option<Value>, QueryError> {
        while let Some((_, parts)) = self.0.pop_first() {
            let row = whole(&parts, info)?;
            if !row.is_undefined() {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }
}

fn whole(parts: &[Value], info: &QueryInfo) -> Result<Value, QueryError> {
    let first = || parts.first().cloned().unwrap_or_default();
    match info.aggregates.first() {
        Some(aggregate) => {
            let parts: Vec<&Value> = parts.iter().flat_map(elements).collect();
            add_up(*aggregate, &parts)
        }
        None if info.has_select_value => Ok(first()),
        None => {
            let member = |(name, aggregate): &(String, Option<Aggregate>)| {
                let of_name: Vec<&Value> = parts.iter().map(|part| part.member(name)).collect();
                let value = match aggregate {
                    None => of_name.first().map(|value| (*value).clone()).unwrap_or_default(),
                    Some(aggregate) => add_up(*aggregate, &of_name)?,
                };
                Ok((name.clone(), value))
            };
            let members = info.group_by_aliases.iter().map(member).collect::<Result<Vec<_>, QueryError>>()?;
            Ok(Value::Object(members.into_iter().filter(|(_, value)| !value.is_undefined()).collect()))
        }
    }
}

/// The final value of one aggregate.
fn add_up(aggregate: Aggregate, parts: &[&Value]) -> Result<Value, QueryError> {
    let items = || parts.iter().map(|part| part.member("item"));
    let counted = |mut counts: Box<dyn Iterator<Item = &Value> + '_>| {
        let sum: Option<f64> = counts.by_ref().map(number).sum();
        sum.ok_or_else(|| not_understood(parts.first().map_or(&Value::Undefined, |part| *part)))
    };
    Ok(match aggregate {
        Aggregate::Count | Aggregate::CountIf => Value::from(counted(Box::new(items()))?),
        Aggregate::Sum => items().map(number).sum::<Option<f64>>().map_or(Value::Undefined, Value::from),
        Aggregate::Average => {
            let count = counted(Box::new(items().map(|item| item.member("count"))))?;
            let sum: Option<f64> = items().map(|item| number(item.member("sum"))).sum();
            sum.filter(|_| count > 0.0).map_or(Value::Undefined, |sum| Value::from(sum / count))
        }
        Aggregate::Max => extreme(parts, "max", Iterator::max),
        Aggregate::Min => extreme(parts, "min", Iterator::min),
        Aggregate::MakeList => Value::Array(items().flat_map(elements).cloned().collect()),
        Aggregate::MakeSet => {
            let set: BTreeSet<&Value> = items().flat_map(elements).collect();
            Value::Array(set.into_iter().cloned().collect())
        }
    })
}

/// A range without values counts none. A range whose values cannot be compared has a count but no value; then
/// the result is undefined.
fn extreme<'a>(
    parts: &[&'a Value],
    name: &str,
    best: fn(std::vec::IntoIter<&'a Value>) -> Option<&'a Value>,
) -> Value {
    let is_filled = |part: &&&Value| match part.member("item2") {
        Value::Undefined => !part.member("item").is_undefined(),
        both => number(both.member("count")).is_some_and(|count| count > 0.0),
    };
    let value = |part: &&'a Value| match part.member("item2") {
        Value::Undefined => part.member("item"),
        both => both.member(name),
    };
    let values: Vec<&Value> = parts.iter().filter(is_filled).map(value).collect();
    match values.iter().any(|value| value.is_undefined()) {
        true => Value::Undefined,
        false => best(values.into_iter()).cloned().unwrap_or_default(),
    }
}
