//! Parts of trees, without places.

use orrery_query::parse::*;
use orrery_value::{Number, Value};

pub fn expr(kind: ExprKind) -> Expr {
    Expr { kind, at: TextSpan::default() }
}

pub fn name(text: &str) -> Name {
    Name { text: text.to_owned(), at: TextSpan::default() }
}

pub fn undefined() -> Expr {
    expr(ExprKind::Undefined)
}

pub fn null() -> Expr {
    expr(ExprKind::Null)
}

pub fn number(it: i64) -> Expr {
    literal(&Value::from(it))
}

pub fn string(it: &str) -> Expr {
    expr(ExprKind::String(it.to_owned()))
}

pub fn boolean(it: bool) -> Expr {
    expr(ExprKind::Bool(it))
}

pub fn parameter(name: &str) -> Expr {
    expr(ExprKind::Parameter(name.to_owned()))
}

pub fn variable(name: &str) -> Expr {
    expr(ExprKind::Name(name.to_owned()))
}

pub fn member(of: Expr, name: &str) -> Expr {
    expr(ExprKind::Member(Box::new(of), name.to_owned()))
}

pub fn index(of: Expr, at: Expr) -> Expr {
    expr(ExprKind::Index(Box::new(of), Box::new(at)))
}

pub fn unary(op: UnaryOp, of: Expr) -> Expr {
    expr(ExprKind::Unary(op, Box::new(of)))
}

pub fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    expr(ExprKind::Binary(op, Box::new(a), Box::new(b)))
}

pub fn coalesce(a: Expr, b: Expr) -> Expr {
    binary(BinaryOp::Coalesce, a, b)
}

pub fn conditional(test: Expr, yes: Expr, no: Expr) -> Expr {
    expr(ExprKind::Conditional(Box::new(test), Box::new(yes), Box::new(no)))
}

pub fn call(function: &str, args: Vec<Expr>) -> Expr {
    expr(ExprKind::Call { name: name(function), udf: false, args })
}

pub fn array(items: Vec<Expr>) -> Expr {
    expr(ExprKind::Array(items))
}

/// A value as it is written: numbers have no sign of their own.
pub fn literal(value: &Value) -> Expr {
    match value {
        Value::Undefined => undefined(),
        Value::Null => null(),
        Value::Bool(it) => boolean(*it),
        Value::Number(it) if it.as_f64() < 0.0 => {
            unary(UnaryOp::Minus, expr(ExprKind::Number(Number::Float(-it.as_f64()))))
        }
        Value::Number(it) => expr(ExprKind::Number(*it)),
        Value::String(it) => string(it),
        Value::Array(items) => array(items.iter().map(literal).collect()),
        Value::Object(members) => expr(ExprKind::Object(
            members.iter().map(|(name, value)| (name.clone(), literal(value))).collect(),
        )),
    }
}

/// `SELECT VALUE select`, with nothing else yet.
pub fn select_value(select: Expr) -> Query {
    query(Select::Value(select))
}

pub fn query(select: Select) -> Query {
    Query {
        distinct: false,
        top: None,
        select,
        from: Vec::new(),
        filter: None,
        group_by: Vec::new(),
        order_by: OrderBy::Keys(Vec::new()),
        window: None,
        at: TextSpan::default(),
    }
}

pub fn item(expr: Expr, alias: Option<&str>) -> SelectItem {
    SelectItem { expr, alias: alias.map(name) }
}

/// `alias IN path`
pub fn each(alias: &str, root: &str, steps: &[&str]) -> Source {
    Source { each: true, ..whole(root, steps, Some(alias)) }
}

/// `path AS alias`
pub fn whole(root: &str, steps: &[&str], alias: Option<&str>) -> Source {
    let steps = steps.iter().map(|step| Step::Member((*step).to_owned())).collect();
    source(Collection::Path(name(root), steps), alias)
}

/// `(query) AS alias`
pub fn nested(query: Query, alias: &str) -> Source {
    source(Collection::Query(Box::new(query)), Some(alias))
}

fn source(of: Collection, alias: Option<&str>) -> Source {
    Source { each: false, of, alias: alias.map(name), at: TextSpan::default() }
}
