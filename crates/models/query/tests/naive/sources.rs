//! FROM and JOIN as nested loops: the rows with their names bound, before WHERE.

use super::expressions::{Input, Row, bound, element};
use super::run::rows_of;
use orrery_query::parse::{Collection, Name, Source, Step};
use orrery_value::Value;

/// The rows of all sources together. Without FROM there is one row, with the outer names alone.
pub fn rows(sources: &[Source], input: &Input<'_>, outer: &Row) -> Result<Vec<Row>, String> {
    let mut rows = vec![outer.clone()];
    for (i, source) in sources.iter().enumerate() {
        let mut longer = Vec::new();
        for row in rows {
            for value in values(source, i == 0, input, &row)? {
                let mut row = row.clone();
                row.push((alias(source), value));
                longer.push(row);
            }
        }
        rows = longer;
    }
    Ok(rows)
}

/// The name a source goes by; one that has none is bound to a name nobody can write.
pub fn alias(source: &Source) -> String {
    match (&source.alias, &source.of) {
        (Some(alias), _) => alias.text.clone(),
        (None, Collection::Path(name, steps)) => match steps.last() {
            None => name.text.clone(),
            Some(Step::Member(last)) => last.clone(),
            Some(Step::Index(_)) => String::new(),
        },
        (None, Collection::Query(_)) => String::new(),
    }
}

fn values(source: &Source, first: bool, input: &Input<'_>, row: &Row) -> Result<Vec<Value>, String> {
    let wholes = match &source.of {
        Collection::Path(name, steps) => path(name, steps, first, input, row)?,
        Collection::Query(query) => rows_of(query, input, row)?,
    };
    Ok(if source.each { wholes.into_iter().flat_map(elements).collect() } else { wholes })
}

fn path(
    name: &Name,
    steps: &[Step],
    first: bool,
    input: &Input<'_>,
    row: &Row,
) -> Result<Vec<Value>, String> {
    let roots = match bound(row, &name.text) {
        Some(value) => std::slice::from_ref(value),
        // A name that nothing has is the whole collection, once.
        None if first => input.documents,
        None => return Err(format!("{} is not bound", name.text)),
    };
    let reached = roots.iter().map(|root| steps.iter().fold(root.clone(), step));
    Ok(reached.filter(|value| !value.is_undefined()).collect())
}

fn step(value: Value, step: &Step) -> Value {
    match step {
        Step::Member(name) => value.member(name).clone(),
        Step::Index(at) => element(&value, &Value::from(*at as i64)),
    }
}

fn elements(value: Value) -> Vec<Value> {
    if let Value::Array(items) = value { items } else { Vec::new() }
}
