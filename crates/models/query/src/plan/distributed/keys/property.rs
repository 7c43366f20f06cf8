//! Property: every document that matches a filter is among the keys derived from it.
//!
//! Filters are trees over two key levels, the id and one more member; the documents are all those of a small
//! domain. The evaluator is independent and written from the rules of the language.

use super::{id_and_key_lookups, partition_keys};
use crate::parse::{BinaryOp, Collection, Expr, ExprKind, Query, Select, Source, UnaryOp};
use crate::plan::distributed::ast_builder::{binary, call, expr, literal, member, name, named, select};
use orrery_value::{Number, Value};
use proptest::prelude::*;
use proptest::sample::select as any_of;
use proptest::strategy::ValueTree;
use std::sync::LazyLock;

/// A boolean, or undefined.
type Truth = Option<bool>;

fn values() -> Vec<Value> {
    ["null", "true", "false", "0", "1", "\"a\"", "\"b\"", "[1]", "{\"x\":1}"]
        .iter()
        .map(|text| Value::parse(text).unwrap())
        .chain([Value::Undefined, Value::Number(Number::Float(-0.0))])
        .collect()
}

fn constants() -> impl Strategy<Value = Expr> {
    let parameter =
        any_of(vec!["@a", "@none", "@one"]).prop_map(|it| expr(ExprKind::Parameter(it.to_owned())));
    prop_oneof![4 => any_of(values()).prop_map(|value| literal(&value)), 1 => parameter]
}

fn parameters() -> Vec<(String, Value)> {
    let all = [("@a", Value::from("a")), ("@none", Value::Undefined), ("@one", Value::from(1i64))];
    all.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

fn paths() -> impl Strategy<Value = Expr> {
    any_of(vec!["id", "pk", "pk", "pk", "sub", "x"]).prop_map(|it| member(named("c"), it))
}

fn atoms() -> impl Strategy<Value = Expr> {
    let ops =
        any_of(vec![BinaryOp::Equal, BinaryOp::Equal, BinaryOp::Equal, BinaryOp::NotEqual, BinaryOp::Less]);
    let list = || prop::collection::vec(constants(), 1..4);
    prop_oneof![
        5 => (ops.clone(), paths(), constants()).prop_map(|(op, path, value)| binary(op, path, value)),
        2 => (ops, constants(), paths()).prop_map(|(op, value, path)| binary(op, value, path)),
        1 => (paths(), paths()).prop_map(|(a, b)| binary(BinaryOp::Equal, a, b)),
        2 => (paths(), list(), any::<bool>())
            .prop_map(|(value, list, negated)| expr(ExprKind::In { value: Box::new(value), list, negated })),
        2 => paths().prop_map(|path| call("IS_DEFINED", vec![path])),
        1 => paths().prop_map(|path| call("is_null", vec![path])),
        1 => (list(), paths())
            .prop_map(|(list, path)| call("ARRAY_CONTAINS", vec![expr(ExprKind::Array(list)), path])),
        1 => paths().prop_map(|path| call("IS_BOOL", vec![path])),
        1 => (paths(), constants()).prop_map(|(path, value)| {
            binary(BinaryOp::Equal, call("ABS", vec![path]), value)
        }),
        1 => paths(),
        1 => constants(),
    ]
}

fn filters() -> impl Strategy<Value = Expr> {
    atoms().prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            3 => (inner.clone(), inner.clone()).prop_map(|(a, b)| binary(BinaryOp::And, a, b)),
            3 => (inner.clone(), inner.clone()).prop_map(|(a, b)| binary(BinaryOp::Or, a, b)),
            1 => inner.clone().prop_map(|a| expr(ExprKind::Unary(UnaryOp::Not, Box::new(a)))),
            1 => (inner, any::<bool>(), any::<bool>()).prop_map(|(a, it, equal)| {
                binary(if equal { BinaryOp::Equal } else { BinaryOp::NotEqual }, a, literal(&Value::from(it)))
            }),
        ]
    })
}

fn eval(expr: &Expr, doc: &Value) -> Value {
    let of = |expr: &Expr| eval(expr, doc);
    let truth = |it: Truth| it.map_or(Value::Undefined, Value::Bool);
    match &expr.kind {
        ExprKind::Name(_) => doc.clone(),
        ExprKind::Member(inner, member) => of(inner).member(member).clone(),
        ExprKind::Parameter(wanted) => parameters().into_iter().find(|(name, _)| name == wanted).unwrap().1,
        ExprKind::Unary(UnaryOp::Not, inner) => truth(boolean(&of(inner)).map(|it| !it)),
        ExprKind::Unary(UnaryOp::Minus, inner) => match of(inner) {
            Value::Number(number) => Value::from(-number.as_f64()),
            _ => Value::Undefined,
        },
        ExprKind::Binary(BinaryOp::And, a, b) => truth(and(boolean(&of(a)), boolean(&of(b)))),
        ExprKind::Binary(BinaryOp::Or, a, b) => truth(or(boolean(&of(a)), boolean(&of(b)))),
        ExprKind::Binary(BinaryOp::Equal, a, b) => truth(of(a).equals(&of(b))),
        ExprKind::Binary(BinaryOp::NotEqual, a, b) => truth(of(a).equals(&of(b)).map(|it| !it)),
        ExprKind::Binary(BinaryOp::Less, a, b) => truth(less(&of(a), &of(b))),
        ExprKind::In { value, list, negated } => {
            let found = list.iter().map(|item| of(value).equals(&of(item))).reduce(or).unwrap_or(Some(false));
            truth(found.map(|it| it != *negated))
        }
        ExprKind::Call { name, args, .. } => match &*name.text {
            "IS_DEFINED" => Value::Bool(!of(&args[0]).is_undefined()),
            "is_null" => Value::Bool(matches!(of(&args[0]), Value::Null)),
            "IS_BOOL" => Value::Bool(matches!(of(&args[0]), Value::Bool(_))),
            "ABS" => match of(&args[0]) {
                Value::Number(number) => Value::from(number.as_f64().abs()),
                _ => Value::Undefined,
            },
            _ => {
                let (Value::Array(items), wanted) = (of(&args[0]), of(&args[1])) else {
                    return Value::Undefined;
                };
                if wanted.is_undefined() { Value::Undefined } else { Value::Bool(items.contains(&wanted)) }
            }
        },
        ExprKind::Array(items) => {
            Value::Array(items.iter().map(of).filter(|it| !it.is_undefined()).collect())
        }
        ExprKind::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (name.clone(), of(value))).collect())
        }
        ExprKind::Null => Value::Null,
        ExprKind::Bool(it) => Value::Bool(*it),
        ExprKind::Number(it) => Value::Number(*it),
        ExprKind::String(it) => Value::String(it.clone()),
        _ => Value::Undefined,
    }
}

fn boolean(value: &Value) -> Truth {
    if let Value::Bool(it) = value { Some(*it) } else { None }
}

fn and(a: Truth, b: Truth) -> Truth {
    if a == Some(false) || b == Some(false) { Some(false) } else { a.zip(b).map(|_| true) }
}

fn or(a: Truth, b: Truth) -> Truth {
    if a == Some(true) || b == Some(true) { Some(true) } else { a.zip(b).map(|_| false) }
}

fn less(a: &Value, b: &Value) -> Truth {
    use Value::{Bool, Null, Number, String};
    match (a, b) {
        (Number(_), Number(_)) | (String(_), String(_)) | (Bool(_), Bool(_)) | (Null, Null) => Some(a < b),
        _ => None,
    }
}

/// Every document of the small domain.
static DOCUMENTS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for id in ["a", "b"] {
        for pk in values() {
            for sub in values() {
                for x in [Value::Undefined, Value::from("a")] {
                    let id = Value::from(id);
                    let members = [("id", id), ("pk", pk.clone()), ("sub", sub.clone()), ("x", x)];
                    all.push(Value::Object(members.map(|(name, value)| (name.to_owned(), value)).to_vec()));
                }
            }
        }
    }
    all
});

fn query_of(filter: Expr) -> Query {
    let of = Collection::Path(name("c"), Vec::new());
    let source = Source { each: false, of, alias: None, at: Default::default() };
    Query { filter: Some(filter), ..select(Select::All, vec![source]) }
}

/// The stored key of a document: values that cannot be keys count as missing.
fn key_of(doc: &Value, path: &[String]) -> Value {
    match doc.member(&path[0]) {
        Value::Array(_) | Value::Object(_) => Value::Undefined,
        scalar => scalar.clone(),
    }
}

fn holds(filter: Expr, paths: &[&str]) -> Result<(), TestCaseError> {
    let paths: Vec<Vec<String>> = paths.iter().map(|path| vec![(*path).to_owned()]).collect();
    let query = query_of(filter.clone());
    let keys = partition_keys(&query, &parameters(), &paths);
    let lookups = id_and_key_lookups(&query, &parameters(), &paths);
    for doc in DOCUMENTS.iter() {
        if boolean(&eval(&filter, doc)) != Some(true) {
            continue;
        }
        let key: Vec<Value> = paths.iter().map(|path| key_of(doc, path)).collect();
        if let Some(keys) = &keys {
            prop_assert!(
                keys.iter().any(|named| key.starts_with(named)),
                "{} not in {keys:?}",
                doc.to_json()
            );
        }
        if let Some(lookups) = &lookups {
            let found =
                lookups.iter().any(|(id, named)| Value::from(&**id) == *doc.member("id") && *named == key);
            prop_assert!(found, "{} not in {lookups:?}", doc.to_json());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn matches_are_among_the_keys(filter in filters()) {
        holds(filter, &["pk"])?;
    }

    #[test]
    fn matches_are_among_the_keys_of_two_levels(filter in filters()) {
        holds(filter, &["pk", "sub"])?;
    }

    #[test]
    fn matches_are_among_the_keys_if_the_id_is_the_key(filter in filters()) {
        holds(filter, &["id"])?;
    }
}

/// Most filters of the property restrict nothing; these restrict a known set.
#[test]
fn generated_filters_do_restrict_keys() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut named = 0;
    for _ in 0..500 {
        let filter = filters().new_tree(&mut runner).unwrap().current();
        let keys = partition_keys(&query_of(filter), &parameters(), &[vec!["pk".to_owned()]]);
        named += usize::from(keys.is_some_and(|keys| !keys.is_empty()));
    }
    assert!(named >= 50, "only {named} of 500 filters name keys");
}
