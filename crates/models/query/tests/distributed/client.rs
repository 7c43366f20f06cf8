//! A client as plain as they come: it sends a plan's text to every range and does with the rows what the plan
//! says, in the order in which the official clients do it. Rows of ranges must already be as it expects.

use crate::memory::{Memory, answer};
use orrery_query::bind::Settings;
use orrery_query::plan::Rules;
use orrery_query::plan::distributed::{
    Aggregate, Direction, DistinctType, Distributed, HybridSearchInfo, QueryInfo,
};
use orrery_query::prepare_for;
use orrery_value::Value;
use std::cmp::Ordering;

const FILTER: &str = "{documentdb-formattableorderbyquery-filter}";
const HYBRID: &str = "{documentdb-formattablehybridsearchquery-";

pub struct Client<'a> {
    pub ranges: &'a [Memory],
    pub parameters: &'a [(String, Value)],
    pub settings: &'a Settings,
}

impl Client<'_> {
    pub fn run(&self, sql: &str, plan: &Distributed) -> Result<Vec<Value>, String> {
        match &plan.hybrid {
            Some(hybrid) => self.hybrid(hybrid),
            None => self.pipeline(sql, &plan.info, Emit::Payload),
        }
    }

    fn send(&self, sql: &str) -> Result<Vec<Vec<Value>>, String> {
        let plan = prepare_for(sql, self.parameters, Rules::On, self.settings)
            .map_err(|error| format!("{error} in {sql}"))?
            .plan;
        let one = |range: &Memory| answer(&plan, range, 7).map_err(|error| format!("{error} in {sql}"));
        self.ranges.iter().map(one).collect()
    }

    fn pipeline(&self, sql: &str, info: &QueryInfo, emit: Emit) -> Result<Vec<Value>, String> {
        let text = info.rewritten_query.replace(FILTER, "true");
        let ranges = self.send(if text.is_empty() { sql } else { &text })?;
        let mut rows = if info.order_by.is_empty() { ranges.concat() } else { merge(ranges, info, emit)? };
        if !info.group_by_expressions.is_empty()
            || !info.aggregates.is_empty()
            || !info.group_by_aliases.is_empty()
        {
            rows = grouped(rows, info)?;
        }
        if info.distinct_type != DistinctType::None {
            rows = distinct(rows, info.distinct_type);
        }
        if let Some(alias) = &info.distinct_count_alias {
            let count = Value::from(rows.len() as i64);
            rows = vec![if alias.is_empty() { count } else { Value::Object(vec![(alias.clone(), count)]) }];
        }
        let skip = info.offset.unwrap_or(0) as usize;
        let take = info.limit.or(info.top).unwrap_or(u64::MAX) as usize;
        Ok(rows.into_iter().skip(skip).take(take).collect())
    }

    fn hybrid(&self, plan: &HybridSearchInfo) -> Result<Vec<Value>, String> {
        let statistics = match plan.requires_global_statistics {
            true => self.send(&plan.global_statistics_query)?.concat(),
            false => Vec::new(),
        };
        let mut rows: Vec<Value> = Vec::new();
        for component in &plan.component_query_infos {
            let rewritten_query = fill(&component.rewritten_query, &statistics);
            let found =
                self.pipeline("", &QueryInfo { rewritten_query, ..component.clone() }, Emit::Whole)?;
            for row in found {
                if !rows.iter().any(|known| known.member("_rid") == row.member("_rid")) {
                    rows.push(row);
                }
            }
        }
        if plan.component_query_infos.len() > 1 {
            rows.sort_by(|a, b| a.member("_rid").cmp(b.member("_rid")));
        }
        let mut rows: Vec<(Value, Vec<f64>)> = rows.iter().map(split).collect::<Result<_, _>>()?;
        if plan.component_query_infos.len() > 1 {
            fuse(&mut rows, plan);
        }
        let (skip, take) = (plan.skip.unwrap_or(0) as usize, plan.take.unwrap_or(u64::MAX) as usize);
        Ok(rows.into_iter().map(|(payload, _)| payload).skip(skip).take(take).collect())
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Emit {
    Payload,
    Whole,
}

/// Every range's rows must be in order, and then so are all.
fn merge(ranges: Vec<Vec<Value>>, info: &QueryInfo, emit: Emit) -> Result<Vec<Value>, String> {
    let order = |a: &Value, b: &Value| {
        let keys = |row: &Value| elements(row.member("orderByItems"));
        let each = keys(a).into_iter().zip(keys(b)).zip(&info.order_by);
        each.fold(Ordering::Equal, |order, ((a, b), direction)| {
            let own = a.member("item").cmp(b.member("item"));
            order.then(if *direction == Direction::Descending { own.reverse() } else { own })
        })
    };
    for rows in &ranges {
        if !rows.is_sorted_by(|a, b| order(a, b).is_le()) {
            return Err(format!("a range's rows are not in order: {}", Value::Array(rows.clone()).to_json()));
        }
    }
    let mut rows = ranges.concat();
    for row in &rows {
        let keys = elements(row.member("orderByItems")).len();
        let is_whole = !row.member("_rid").is_undefined() && !row.member("payload").is_undefined();
        if keys != info.order_by.len() || !is_whole {
            return Err(format!("a row to merge is {}", row.to_json()));
        }
    }
    // Among equal rows by resource id, in the direction of the first key: as the engine does over one range.
    // A rank has no such direction.
    let descends = emit == Emit::Payload && info.order_by.first() == Some(&Direction::Descending);
    rows.sort_by(|a, b| {
        let by_rid = a.member("_rid").cmp(b.member("_rid"));
        order(a, b).then(if descends { by_rid.reverse() } else { by_rid })
    });
    let payload = |row: Value| if emit == Emit::Whole { row } else { row.member("payload").clone() };
    Ok(rows.into_iter().map(payload).collect())
}

fn grouped(rows: Vec<Value>, info: &QueryInfo) -> Result<Vec<Value>, String> {
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    for row in rows {
        let key = row.member("groupByItems").clone();
        let is_bare = key.is_undefined() && info.has_select_value;
        let payload = if is_bare { row } else { row.member("payload").clone() };
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, parts)) => parts.push(payload),
            None => groups.push((key, vec![payload])),
        }
    }
    let whole = |(_, parts): (Value, Vec<Value>)| match info.aggregates.first() {
        Some(aggregate) => {
            let parts: Vec<Value> = parts.iter().flat_map(elements).collect();
            add_up(*aggregate, &parts)
        }
        None if info.has_select_value => Ok(parts[0].clone()),
        None => {
            let member = |(name, aggregate): &(String, Option<Aggregate>)| {
                let parts: Vec<Value> = parts.iter().map(|part| part.member(name).clone()).collect();
                let value = aggregate.map_or(Ok(parts[0].clone()), |aggregate| add_up(aggregate, &parts))?;
                Ok((name.clone(), value))
            };
            let members = info.group_by_aliases.iter().map(member).collect::<Result<Vec<_>, String>>()?;
            Ok(Value::Object(members.into_iter().filter(|(_, value)| !value.is_undefined()).collect()))
        }
    };
    let rows = groups.into_iter().map(whole).collect::<Result<Vec<_>, String>>()?;
    Ok(rows.into_iter().filter(|row| !row.is_undefined()).collect())
}

/// The parts of one aggregate as one value.
fn add_up(aggregate: Aggregate, parts: &[Value]) -> Result<Value, String> {
    let items: Vec<&Value> = parts.iter().map(|part| part.member("item")).collect();
    let sum = |numbers: &mut dyn Iterator<Item = &Value>| -> Option<f64> { numbers.map(number).sum() };
    Ok(match aggregate {
        Aggregate::Count | Aggregate::CountIf => {
            Value::from(sum(&mut items.iter().copied()).ok_or("a count is missing")?)
        }
        Aggregate::Sum => sum(&mut items.iter().copied()).map_or(Value::Undefined, Value::from),
        Aggregate::Average => {
            let count =
                sum(&mut items.iter().map(|item| item.member("count"))).ok_or("a count is missing")?;
            let sum = sum(&mut items.iter().map(|item| item.member("sum")));
            sum.filter(|_| count > 0.0).map_or(Value::Undefined, |sum| Value::from(sum / count))
        }
        Aggregate::Max | Aggregate::Min => {
            let name = if aggregate == Aggregate::Max { "max" } else { "min" };
            let both: Vec<&Value> = parts.iter().map(|part| part.member("item2")).collect();
            if both.iter().zip(&items).any(|(both, item)| both.member(name) != *item) {
                return Err("item and item2 disagree".to_owned());
            }
            let filled =
                both.iter().filter(|part| number(part.member("count")).is_some_and(|count| count > 0.0));
            let values: Vec<&Value> = filled.map(|part| part.member(name)).collect();
            match values.iter().any(|value| value.is_undefined()) {
                true => Value::Undefined,
                false if aggregate == Aggregate::Max => values.into_iter().max().cloned().unwrap_or_default(),
                false => values.into_iter().min().cloned().unwrap_or_default(),
            }
        }
        Aggregate::MakeList => Value::Array(items.into_iter().flat_map(elements).collect()),
        Aggregate::MakeSet => {
            Value::Array(distinct(items.into_iter().flat_map(elements).collect(), DistinctType::Unordered))
        }
    })
}

fn distinct(rows: Vec<Value>, of: DistinctType) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::new();
    for row in rows {
        let known = if of == DistinctType::Ordered { kept.last() == Some(&row) } else { kept.contains(&row) };
        if !known {
            kept.push(row);
        }
    }
    kept
}

/// The text with the statistics of all ranges in it.
fn fill(text: &str, ranges: &[Value]) -> String {
    let add = |values: Vec<&Value>| values.into_iter().filter_map(number).sum::<f64>().to_string();
    let documents = add(ranges.iter().map(|range| range.member("documentCount")).collect());
    let mut text = text.replace(&format!("{HYBRID}totaldocumentcount}}"), &documents);
    let texts = ranges.first().map_or(0, |range| elements(range.member("fullTextStatistics")).len());
    for index in 0..texts {
        let of: Vec<Value> =
            ranges.iter().map(|range| elements(range.member("fullTextStatistics"))[index].clone()).collect();
        let words = add(of.iter().map(|it| it.member("totalWordCount")).collect());
        let hits: Vec<Vec<Value>> = of.iter().map(|it| elements(it.member("hitCounts"))).collect();
        let hit = |term: usize| add(hits.iter().map(|range| &range[term]).collect());
        let hits: Vec<String> = (0..hits[0].len()).map(hit).collect();
        text = text.replace(&format!("{HYBRID}totalwordcount-{index}}}"), &words);
        text = text.replace(&format!("{HYBRID}hitcountsarray-{index}}}"), &format!("[{}]", hits.join(",")));
    }
    text
}

/// A row's payload and its scores, in either form.
fn split(row: &Value) -> Result<(Value, Vec<f64>), String> {
    let inner = row.member("payload").member("payload");
    let (payload, scores) = match inner {
        Value::Undefined => (row.member("payload"), row.member("componentScores")),
        inner => (inner, row.member("payload").member("componentScores")),
    };
    match scores {
        Value::Array(scores) if !payload.is_undefined() => {
            Ok((payload.clone(), scores.iter().filter_map(number).collect()))
        }
        _ => Err(format!("a row to fuse is {}", row.to_json())),
    }
}

/// Orders rows by the sum of their reciprocal ranks; equal scores share a rank.
fn fuse(rows: &mut Vec<(Value, Vec<f64>)>, plan: &HybridSearchInfo) {
    let mut fused = vec![0.0; rows.len()];
    for (index, component) in plan.component_query_infos.iter().enumerate() {
        let score = |row: &usize| rows[*row].1[index];
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|a, b| score(a).total_cmp(&score(b)));
        if component.order_by.first() != Some(&Direction::Ascending) {
            order.reverse();
        }
        let weight = plan.component_weights.get(index).copied().unwrap_or(1.0);
        let mut rank = 1.0;
        for (place, row) in order.iter().enumerate() {
            if place > 0 && score(row) != score(&order[place - 1]) {
                rank += 1.0;
            }
            fused[*row] += weight / (60.0 + rank);
        }
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| fused[*b].total_cmp(&fused[*a]));
    *rows = order.into_iter().map(|row| rows[row].clone()).collect();
}

fn elements(value: &Value) -> Vec<Value> {
    if let Value::Array(items) = value { items.clone() } else { Vec::new() }
}

fn number(value: &Value) -> Option<f64> {
    if let Value::Number(number) = value { Some(number.as_f64()) } else { None }
}
