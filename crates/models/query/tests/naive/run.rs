//! A query, clause by clause: FROM, WHERE, GROUP BY, SELECT, ORDER BY, DISTINCT, and the window last.

use super::aggregates::is_aggregate;
use super::expressions::{Here, Input, Row, eval};
use super::functions::of_number;
use super::operators::is_true;
use super::sources;
use orrery_query::parse::{Expr, ExprKind, OrderBy, OrderKey, Query, Select, SelectItem};
use orrery_value::Value;
use std::cmp::Ordering;

/// The answer to a query before its window is cut, so that any choice among ties can be judged.
#[derive(Debug)]
pub struct Answer {
    /// Each row with its ORDER BY keys, sorted by them; no keys when there is no ORDER BY.
    pub rows: Vec<(Vec<Value>, Value)>,
    pub skip: usize,
    pub take: usize,
}

/// The rows of a query, ties in the order of the documents.
pub fn run(query: &Query, parameters: &[(String, Value)], documents: &[Value]) -> Result<Vec<Value>, String> {
    rows_of(query, &Input { documents, parameters }, &Row::new())
}

pub fn rows_of(query: &Query, input: &Input<'_>, outer: &Row) -> Result<Vec<Value>, String> {
    let answer = answer(query, input, outer)?;
    Ok(answer.rows.into_iter().map(|(_, row)| row).skip(answer.skip).take(answer.take).collect())
}

pub fn answer(query: &Query, input: &Input<'_>, outer: &Row) -> Result<Answer, String> {
    let mut rows = Vec::new();
    for row in sources::rows(&query.from, input, outer)? {
        if keeps(query.filter.as_ref(), Here { input, row: &row, group: None })? {
            rows.push(row);
        }
    }
    let mut rows = if is_grouped(query) {
        project_groups(query, input, outer, rows)?
    } else {
        project_rows(query, input, &rows)?
    };
    rows.sort_by(|a, b| compare(order_keys(query), &a.0, &b.0));
    if query.distinct {
        rows = distinct(rows);
    }
    let (skip, take) = window(query, input)?;
    Ok(Answer { rows, skip, take })
}

fn keeps(filter: Option<&Expr>, here: Here<'_>) -> Result<bool, String> {
    filter.map_or(Ok(true), |filter| Ok(is_true(&eval(filter, here)?)))
}

type Keyed = (Vec<Value>, Value);

fn project_rows(query: &Query, input: &Input<'_>, rows: &[Row]) -> Result<Vec<Keyed>, String> {
    let projected = rows.iter().map(|row| project(query, Here { input, row, group: None }));
    Ok(projected.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// One row for each group; without GROUP BY there is one group, even of no rows.
fn project_groups(
    query: &Query,
    input: &Input<'_>,
    outer: &Row,
    rows: Vec<Row>,
) -> Result<Vec<Keyed>, String> {
    let mut groups: Vec<(Vec<Value>, Vec<Row>)> = Vec::new();
    if query.group_by.is_empty() {
        groups.push((Vec::new(), Vec::new()));
    }
    for row in rows {
        let here = Here { input, row: &row, group: None };
        let key = query.group_by.iter().map(|key| eval(key, here)).collect::<Result<Vec<_>, _>>()?;
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    // Any order will do, but sums over groups should not depend on it.
    groups.sort_by(|a, b| a.0.cmp(&b.0));
    let mut projected = Vec::new();
    for (_, group) in &groups {
        // What is not aggregated is a key, and has one value in all rows of the group.
        let row = group.first().unwrap_or(outer);
        projected.extend(project(query, Here { input, row, group: Some(group) })?);
    }
    Ok(projected)
}

/// The keys and the value of a row; none when SELECT VALUE gives undefined.
fn project(query: &Query, here: Here<'_>) -> Result<Option<Keyed>, String> {
    let value = match &query.select {
        Select::All => whole(query, here.row)?,
        Select::Value(expr) => eval(expr, here)?,
        Select::List(items) => list(items, here)?,
    };
    let keys = order_keys(query).iter().map(|key| eval(&key.expr, here)).collect::<Result<Vec<_>, _>>()?;
    Ok(if value.is_undefined() { None } else { Some((keys, value)) })
}

fn whole(query: &Query, row: &Row) -> Result<Value, String> {
    match (query.from.as_slice(), row.last()) {
        ([_], Some((_, value))) => Ok(value.clone()),
        _ => Err("SELECT * needs one source".to_owned()),
    }
}

fn list(items: &[SelectItem], here: Here<'_>) -> Result<Value, String> {
    let mut unnamed = 0;
    let mut members = Vec::new();
    for item in items {
        let name = name_of(item).unwrap_or_else(|| {
            unnamed += 1;
            format!("${unnamed}")
        });
        let value = eval(&item.expr, here)?;
        if !value.is_undefined() {
            members.push((name, value));
        }
    }
    Ok(Value::Object(members))
}

fn name_of(item: &SelectItem) -> Option<String> {
    match (&item.alias, &item.expr.kind) {
        (Some(alias), _) => Some(alias.text.clone()),
        (None, ExprKind::Name(name) | ExprKind::Member(_, name)) => Some(name.clone()),
        _ => None,
    }
}

fn order_keys(query: &Query) -> &[OrderKey] {
    if let OrderBy::Keys(keys) = &query.order_by { keys } else { &[] }
}

fn compare(keys: &[OrderKey], a: &[Value], b: &[Value]) -> Ordering {
    let orders = keys.iter().zip(a.iter().zip(b)).map(|(key, (a, b))| {
        let order = a.cmp_total(b);
        if key.descends() { order.reverse() } else { order }
    });
    orders.fold(Ordering::Equal, Ordering::then)
}

/// Keeps the first of equal rows.
fn distinct(rows: Vec<Keyed>) -> Vec<Keyed> {
    let mut kept: Vec<Keyed> = Vec::new();
    for row in rows {
        if !kept.iter().any(|(_, known)| *known == row.1) {
            kept.push(row);
        }
    }
    kept
}

fn window(query: &Query, input: &Input<'_>) -> Result<(usize, usize), String> {
    let count = |expr: &Expr| {
        let value = eval(expr, Here { input, row: &Row::new(), group: None })?;
        of_number(&value)
            .filter(|it| *it >= 0.0)
            .map(|it| it as usize)
            .ok_or("a count that is none".to_owned())
    };
    Ok(match (&query.top, &query.window) {
        (Some(top), _) => (0, count(top)?),
        (None, Some(window)) => (count(&window.offset)?, count(&window.limit)?),
        (None, None) => (0, usize::MAX),
    })
}

fn is_grouped(query: &Query) -> bool {
    !query.group_by.is_empty()
        || match &query.select {
            Select::All => false,
            Select::Value(expr) => aggregates(expr),
            Select::List(items) => items.iter().any(|item| aggregates(&item.expr)),
        }
}

/// Whether an aggregate of this query, not of a subquery, is in the expression.
fn aggregates(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call { name, udf: false, .. } if is_aggregate(&name.text) => true,
        ExprKind::Call { args: list, .. } | ExprKind::Array(list) => list.iter().any(aggregates),
        ExprKind::Object(members) => members.iter().any(|(_, value)| aggregates(value)),
        ExprKind::Member(a, _) | ExprKind::Unary(_, a) => aggregates(a),
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => aggregates(a) || aggregates(b),
        ExprKind::Conditional(a, b, c) | ExprKind::Between { value: a, low: b, high: c, .. } => {
            [a, b, c].into_iter().any(|it| aggregates(it))
        }
        ExprKind::Like { value, pattern, .. } => aggregates(value) || aggregates(pattern),
        ExprKind::In { value, list, .. } => aggregates(value) || list.iter().any(aggregates),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_query::parse::parse;

    const DOCUMENTS: &str = r#"[
        {"id":"1","n":1,"team":"red","tags":["x","y"],"kids":[{"a":1,"tags":[1,2]},{"a":5}]},
        {"id":"2","n":3,"team":"blue","tags":[]},
        {"id":"3","n":null,"tags":["y"],"kids":[{"a":5}]},
        {"id":"4","team":"red","tags":"y"}]"#;

    fn answer_to(text: &str) -> Result<Vec<Value>, String> {
        let Ok(Value::Array(documents)) = Value::parse(DOCUMENTS) else { panic!("bad documents") };
        let parameters = [("@two".to_owned(), Value::from(2i64)), ("@none".to_owned(), Value::Undefined)];
        run(&parse(text).map_err(|complaint| complaint.to_string())?, &parameters, &documents)
    }

    fn check(text: &str, expected: &str) {
        let rows = answer_to(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(Value::Array(rows).to_json(), expected, "{text}");
    }

    #[test]
    fn undefined_is_neither_null_nor_false() {
        check("SELECT VALUE c.id FROM c WHERE c.n = null", r#"["3"]"#);
        check("SELECT VALUE c.id FROM c WHERE c.n != null", r#"["1","2"]"#);
        check("SELECT VALUE c.id FROM c WHERE NOT (c.n = null)", r#"["1","2"]"#);
        check("SELECT VALUE c.id FROM c WHERE c.n > 0 OR c.n <= 0", r#"["1","2"]"#);
        check("SELECT VALUE c.id FROM c WHERE c.n > 1 OR true", r#"["1","2","3","4"]"#);
        check("SELECT VALUE c.n ?? 'none' FROM c", r#"[1,3,null,"none"]"#);
        check("SELECT VALUE [1, undefined, c.n] FROM c WHERE c.id IN ('1', '4')", "[[1,1],[1]]");
        check("SELECT VALUE {a: c.n, b: @none} FROM c", r#"[{"a":1},{"a":3},{"a":null},{}]"#);
        check("SELECT VALUE 1 < 'a'", "[]");
        check("SELECT VALUE 1 / 0", "[]");
        check("SELECT VALUE 1 NOT IN (2, undefined)", "[]");
        check("SELECT VALUE null >= null", "[true]");
    }

    #[test]
    fn a_row_has_the_names_of_its_select_list() {
        check(
            "SELECT c.id, c.kids[0].a, 1 + 1, c.none, @two AS two FROM c WHERE c.n = 1",
            r#"[{"id":"1","a":1,"$1":2,"two":2}]"#,
        );
        check("SELECT 1, c.kids[0], 3 FROM c WHERE c.n = 3", r#"[{"$1":1,"$3":3}]"#);
        check("SELECT c.none FROM c WHERE c.n = 3", "[{}]");
        check("SELECT * FROM c.kids[0]", r#"[{"a":1,"tags":[1,2]},{"a":5}]"#);
    }

    #[test]
    fn sources_are_nested_loops() {
        check(
            "SELECT c.id, t FROM c JOIN t IN c.tags",
            r#"[{"id":"1","t":"x"},{"id":"1","t":"y"},{"id":"3","t":"y"}]"#,
        );
        check("SELECT VALUE t FROM k IN c.kids JOIN t IN k.tags", "[1,2]");
        check("SELECT VALUE tags FROM c.tags", r#"[["x","y"],[],["y"],"y"]"#);
        check("SELECT VALUE k.a FROM c JOIN (SELECT VALUE k FROM k IN c.kids WHERE k.a > 1) AS k", "[5,5]");
        check("SELECT VALUE m FROM c JOIN m IN (SELECT VALUE [c.n, 7]) WHERE c.id = '2'", "[3,7]");
        check("SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.team FROM c)", "[2]");
        assert!(answer_to("SELECT VALUE c FROM c JOIN d").is_err());
        assert!(answer_to("SELECT * FROM c JOIN t IN c.tags").is_err());
        assert!(answer_to("SELECT VALUE d.x FROM c").is_err());
    }

    #[test]
    fn groups_have_undefined_as_a_key_too() {
        check(
            "SELECT c.team, COUNT(1) AS n FROM c GROUP BY c.team",
            r#"[{"n":1},{"team":"blue","n":1},{"team":"red","n":2}]"#,
        );
        check("SELECT VALUE COUNT(c.n) FROM c", "[3]");
        check("SELECT VALUE SUM(c.n) FROM c", "[]");
        check("SELECT SUM(c.n), MAX(c.n) FROM c", r#"[{"$2":3}]"#);
        check("SELECT VALUE SUM(c.n) FROM c WHERE c.n > 0", "[4]");
        check("SELECT VALUE SUM(c.n) FROM c WHERE false", "[0]");
        check("SELECT VALUE AVG(c.n) FROM c WHERE false", "[]");
        check("SELECT COUNT(1) FROM c WHERE false GROUP BY c.team", "[]");
    }

    #[test]
    fn rows_are_sorted_then_made_distinct_then_cut() {
        check("SELECT VALUE c.id FROM c ORDER BY c.n", r#"["4","3","1","2"]"#);
        check("SELECT VALUE c.id FROM c ORDER BY c.team DESC, c.id DESC", r#"["4","1","2","3"]"#);
        check("SELECT DISTINCT VALUE c.team FROM c ORDER BY c.id DESC", r#"["red","blue"]"#);
        check("SELECT TOP @two VALUE c.n FROM c", "[1,3]");
        check("SELECT VALUE c.id FROM c OFFSET 1 LIMIT @two", r#"["2","3"]"#);
        check("SELECT DISTINCT c.team FROM c", r#"[{"team":"red"},{"team":"blue"},{}]"#);
    }

    #[test]
    fn subqueries_see_the_row_around_them() {
        check("SELECT VALUE (SELECT VALUE COUNT(1) FROM t IN c.tags) FROM c", "[2,0,1,0]");
        check("SELECT VALUE ARRAY(SELECT VALUE k.a FROM k IN c.kids) FROM c", "[[1,5],[],[5],[]]");
        check(
            "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 'y')",
            r#"["1","3"]"#,
        );
        check("SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE k.tags FROM k IN c.kids)", r#"["1"]"#);
        assert!(answer_to("SELECT VALUE (SELECT VALUE t FROM t IN c.tags) FROM c").is_err());
    }
}
