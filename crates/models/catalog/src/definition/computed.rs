//! Computed properties: a name for `SELECT VALUE <expression> FROM <alias>`.
//!
//! The expression must concern one item; anything beyond that is refused here, and so is a query that does
//! not run.

use super::SYSTEM_PROPERTIES;
use super::members::Members;
use super::members::{Parsed, invalid, wrong_input};
use crate::limits;
use orrery_query::bind::bound::{Expr, SourceOf};
use orrery_query::parse::Select;
use orrery_query::plan::Rules;
use orrery_query::{Prepared, prepare};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputedProperty {
    pub name: String,
    pub query: String,
}

pub(super) fn parse(raw: Value) -> Parsed<Vec<ComputedProperty>> {
    let Value::Array(entries) = raw else {
        return Err(wrong_input("The computedProperties must be an array."));
    };
    let count_max = limits::COMPUTED_PROPERTIES_MAX;
    if entries.len() > count_max {
        return Err(invalid(format!(
            "The container has {} computed properties. The most are {count_max}.",
            entries.len()
        )));
    }
    let parsed = entries.into_iter().map(parse_property).collect::<Result<Vec<_>, _>>()?;
    let (properties, shown): (Vec<ComputedProperty>, Vec<Value>) = parsed.into_iter().unzip();
    let mut seen = HashSet::new();
    if let Some(twice) = properties.iter().find(|property| !seen.insert(&property.name)) {
        return Err(invalid(format!("The computed property '{}' is there twice.", twice.name)));
    }
    Ok((properties, Value::Array(shown)))
}

fn parse_property(raw: Value) -> Parsed<ComputedProperty> {
    let mut members = Members::of("computed property", raw)?;
    let name = members.string("name")?.ok_or_else(|| {
        invalid("One of the specified inputs is invalid: a computed property has no 'name'.")
    })?;
    let query = members.required_string("query")?;
    if name.is_empty() || name == "id" || SYSTEM_PROPERTIES.contains(&name.as_str()) {
        return Err(invalid(format!(
            "The computed property name '{name}' is empty or a system property. Choose another."
        )));
    }
    check_query(&query).map_err(|why| {
        invalid(format!(
            "The query of the computed property '{name}' is invalid: {why}. It must have the form 'SELECT \
             VALUE <expression> FROM <alias>'."
        ))
    })?;
    let shown = Map::from_iter([("name".to_owned(), json!(name)), ("query".to_owned(), json!(query))]);
    Ok((ComputedProperty { name, query }, members.followed_by_rest(shown)))
}

/// The query must run: a container with a broken one would fail every query from then on.
fn check_query(query: &str) -> Result<(), String> {
    let Prepared { ast, plan } = prepare(query, &[], Rules::Off).map_err(|error| error.to_string())?;
    let mut block = plan.query.block;
    if !matches!(ast.select, Select::Value(_)) {
        return Err("it does not start with SELECT VALUE".to_owned());
    }
    let has = [
        (block.distinct, "DISTINCT"),
        (ast.top.is_some(), "TOP"),
        (ast.from.len() > 1, "JOIN"),
        (block.filter.is_some(), "WHERE"),
        (!ast.group_by.is_empty(), "GROUP BY"),
        (block.grouping.is_some(), "an aggregate"),
        (!block.order.is_empty() || block.rank.is_some(), "ORDER BY"),
        (ast.window.is_some(), "OFFSET LIMIT"),
        (block.select.any(&mut is_subquery), "a subquery"),
    ];
    if let Some((_, clause)) = has.iter().find(|(is_there, _)| *is_there) {
        return Err(format!("it has {clause}"));
    }
    match &block.from[..] {
        [] => Err("it does not have exactly one FROM".to_owned()),
        [one] if matches!(one.of, SourceOf::Collection) => Ok(()),
        _ => Err("its FROM is not a single alias".to_owned()),
    }
}

fn is_subquery(expr: &Expr) -> bool {
    matches!(expr, Expr::Subquery(_) | Expr::Exists(_) | Expr::ArrayOf(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(query: &str) {
        assert_eq!(check_query(query), Ok(()), "{query}");
    }

    fn refused(query: &str, why: &str) {
        let error = check_query(query).unwrap_err();
        assert!(error.contains(why), "{query}: {error}");
    }

    #[test]
    fn one_expression_over_one_alias_is_accepted() {
        accepted("SELECT VALUE LOWER(c.name) FROM c");
        accepted("select value c.price * 0.8 from root as c");
        accepted("SELECT VALUE c.top FROM c");
        accepted("SELECT VALUE {order: c.a, 'from': c.b} FROM c");
        accepted("SELECT VALUE 'no FROM, no WHERE \\' here' FROM root c");
        accepted("SELECT VALUE c[\"where\"] FROM c");
    }

    #[test]
    fn anything_more_is_refused_with_the_reason() {
        refused("", "Syntax error");
        refused("SELECT c.a FROM c", "does not start with SELECT VALUE");
        refused("SELECT VALUE FROM c", "Syntax error");
        refused("SELECT VALUE 1", "exactly one FROM");
        refused("SELECT VALUE c.a FROM c WHERE c.b", "has WHERE");
        refused("SELECT VALUE c.a FROM c order by c.a", "has ORDER");
        refused("SELECT TOP 1 VALUE c.a FROM c", "has TOP");
        refused("SELECT DISTINCT VALUE c.a FROM c", "has DISTINCT");
        refused("SELECT VALUE c.a FROM c GROUP BY c.a", "has GROUP");
        refused("SELECT VALUE c.a FROM c OFFSET 1 LIMIT 1", "has OFFSET");
        refused("SELECT VALUE t FROM c JOIN t IN c.tags", "has JOIN");
        refused("SELECT VALUE t FROM t IN c.tags", "not a single alias");
        refused("SELECT VALUE c FROM c.tags AS c", "not a single alias");
        refused("SELECT VALUE c.a FROM c, d", "Syntax error");
        refused("SELECT VALUE (SELECT VALUE 1) FROM c", "subquery");
        refused("SELECT VALUE [1, EXISTS(SELECT VALUE 1)] FROM c", "subquery");
        refused("SELECT VALUE COUNT(1) FROM c", "aggregate");
        refused("SELECT VALUE 'open FROM c", "invalid string");
    }

    #[test]
    fn queries_that_do_not_run_are_refused() {
        refused("SELECT VALUE LOWER(c.name, 1, 2) FROM c", "SC2050");
        refused("SELECT VALUE NOSUCH(c.name) FROM c", "SC2005");
        refused("SELECT VALUE d.name FROM c", "SC2001");
        refused("SELECT VALUE c.name + @p FROM c", "SC2090");
    }
}
