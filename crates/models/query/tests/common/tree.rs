//! A tree as an S-expression, without places: `(and (= (. c a) 1) (. c b))`.
//!
//! Chains of AND, OR and `||` are shown flat, since how they are grouped means nothing.

use orrery_query::parse::*;

pub fn show(query: &Query) -> String {
    let mut parts = vec!["query".to_owned()];
    if query.distinct {
        parts.push("distinct".to_owned());
    }
    parts.extend(query.top.as_ref().map(|top| list("top", [expr(top)])));
    parts.push(match &query.select {
        Select::All => "*".to_owned(),
        Select::Value(value) => list("value", [expr(value)]),
        Select::List(items) => list("list", items.iter().map(item)),
    });
    parts.extend(
        query.from.iter().enumerate().map(|(n, it)| list(if n == 0 { "from" } else { "join" }, source(it))),
    );
    parts.extend(query.filter.as_ref().map(|filter| list("where", [expr(filter)])));
    if !query.group_by.is_empty() {
        parts.push(list("group", query.group_by.iter().map(expr)));
    }
    match &query.order_by {
        OrderBy::Keys(keys) if keys.is_empty() => {}
        OrderBy::Keys(keys) => parts.push(list("order", keys.iter().map(key))),
        OrderBy::Rank(score) => parts.push(list("rank", [expr(score)])),
    }
    parts.extend(query.window.as_ref().map(|it| list("window", [expr(&it.offset), expr(&it.limit)])));
    format!("({})", parts.join(" "))
}

pub fn expr(it: &Expr) -> String {
    match &it.kind {
        ExprKind::Undefined | ExprKind::Null | ExprKind::Bool(_) => print_expr(it),
        ExprKind::Number(_) | ExprKind::String(_) => print_expr(it),
        ExprKind::Parameter(name) | ExprKind::Name(name) => name.clone(),
        ExprKind::Member(of, name) => list(".", [expr(of), word(name)]),
        ExprKind::Index(of, index) => list("[]", [expr(of), expr(index)]),
        ExprKind::Unary(op, operand) => list(&format!("{op:?}").to_lowercase(), [expr(operand)]),
        ExprKind::Binary(op, ..) => list(&op.to_string().to_lowercase(), chain(*op, it)),
        ExprKind::Conditional(a, b, c) => list("?:", [expr(a), expr(b), expr(c)]),
        ExprKind::In { value, list: items, negated } => {
            list(&not("in", *negated), [expr(value)].into_iter().chain(items.iter().map(expr)))
        }
        ExprKind::Between { value, low, high, negated } => {
            list(&not("between", *negated), [expr(value), expr(low), expr(high)])
        }
        ExprKind::Like { value, pattern, escape, negated } => {
            let escape = escape.as_ref().map(|it| list("escape", [expr(it)]));
            list(&not("like", *negated), [expr(value), expr(pattern)].into_iter().chain(escape))
        }
        ExprKind::Array(items) => list("array", items.iter().map(expr)),
        ExprKind::Object(members) => {
            list("object", members.iter().map(|(name, it)| list(&word(name), [expr(it)])))
        }
        ExprKind::Call { name, udf, args } => {
            let name = format!("{}{}", if *udf { "udf:" } else { "" }, name.text);
            list("call", [name].into_iter().chain(args.iter().map(expr)))
        }
        ExprKind::Subquery(query) => list("subquery", [show(query)]),
        ExprKind::Exists(query) => list("exists", [show(query)]),
        ExprKind::ArrayOf(query) => list("array-of", [show(query)]),
    }
}

fn chain(op: BinaryOp, it: &Expr) -> Vec<String> {
    let flat = matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Concat);
    let side = |it: &Expr| match &it.kind {
        ExprKind::Binary(own, ..) if flat && *own == op => chain(op, it),
        _ => vec![expr(it)],
    };
    match &it.kind {
        ExprKind::Binary(_, left, right) => [side(left), side(right)].concat(),
        _ => vec![expr(it)],
    }
}

fn item(it: &SelectItem) -> String {
    match &it.alias {
        Some(alias) => list("as", [expr(&it.expr), word(&alias.text)]),
        None => expr(&it.expr),
    }
}

fn source(it: &Source) -> Vec<String> {
    let of = match &it.of {
        Collection::Query(query) => show(query),
        Collection::Path(root, steps) if steps.is_empty() => root.text.clone(),
        Collection::Path(root, steps) => {
            list("path", [root.text.clone()].into_iter().chain(steps.iter().map(step)))
        }
    };
    let of = if it.each { list("each", [of]) } else { of };
    [of].into_iter().chain(it.alias.iter().map(|alias| alias.text.clone())).collect()
}

fn step(it: &Step) -> String {
    match it {
        Step::Member(name) => word(name),
        Step::Index(index) => index.to_string(),
    }
}

fn key(it: &OrderKey) -> String {
    if it.descends() { list("desc", [expr(&it.expr)]) } else { expr(&it.expr) }
}

/// A name as it is, or quoted if it could be taken for something else.
fn word(name: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    if plain && !name.starts_with(|c: char| c.is_ascii_digit()) {
        name.to_owned()
    } else {
        format!("{name:?}")
    }
}

fn not(name: &str, negated: bool) -> String {
    format!("{}{name}", if negated { "not-" } else { "" })
}

fn list(head: &str, items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<String> = [head.to_owned()].into_iter().chain(items).collect();
    format!("({})", items.join(" "))
}
