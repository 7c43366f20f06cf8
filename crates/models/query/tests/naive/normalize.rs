//! Trees made comparable: without places, functions in one case, chains leaning one way.
//!
//! Where the text was broken into lines does not matter, nor how `a OR b OR c` is nested, nor whether `-1` is
//! a number or a sign and a number: they mean the same.

use orrery_query::parse::*;
use orrery_value::Number;

/// Operators whose chains mean the same however they are nested.
const CHAINS: [BinaryOp; 7] = [
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Concat,
    BinaryOp::Coalesce,
    BinaryOp::BitAnd,
    BinaryOp::BitOr,
    BinaryOp::BitXor,
];

pub fn query(it: &Query) -> Query {
    Query {
        distinct: it.distinct,
        top: it.top.as_ref().map(expr),
        select: select(&it.select),
        from: it.from.iter().map(source).collect(),
        filter: it.filter.as_ref().map(expr),
        group_by: exprs(&it.group_by),
        order_by: order_by(&it.order_by),
        window: it.window.as_ref().map(|it| Window { offset: expr(&it.offset), limit: expr(&it.limit) }),
        at: TextSpan::default(),
    }
}

fn select(it: &Select) -> Select {
    let item = |it: &SelectItem| SelectItem { expr: expr(&it.expr), alias: it.alias.as_ref().map(name) };
    match it {
        Select::All => Select::All,
        Select::Value(it) => Select::Value(expr(it)),
        Select::List(items) => Select::List(items.iter().map(item).collect()),
    }
}

fn source(it: &Source) -> Source {
    let of = match &it.of {
        Collection::Path(root, steps) => Collection::Path(name(root), steps.clone()),
        Collection::Query(it) => Collection::Query(Box::new(query(it))),
    };
    Source { each: it.each, of, alias: it.alias.as_ref().map(name), at: TextSpan::default() }
}

fn order_by(it: &OrderBy) -> OrderBy {
    let key = |it: &OrderKey| OrderKey {
        expr: expr(&it.expr),
        direction: it.descends().then_some(Direction::Descending),
    };
    match it {
        OrderBy::Keys(keys) => OrderBy::Keys(keys.iter().map(key).collect()),
        OrderBy::Rank(score) => OrderBy::Rank(expr(score)),
    }
}

fn name(it: &Name) -> Name {
    Name { text: it.text.clone(), at: TextSpan::default() }
}

/// Functions are found whatever their case.
fn any_case(it: &Name) -> Name {
    Name { text: it.text.to_ascii_uppercase(), at: TextSpan::default() }
}

fn exprs(list: &[Expr]) -> Vec<Expr> {
    list.iter().map(expr).collect()
}

fn boxed(it: &Expr) -> Box<Expr> {
    Box::new(expr(it))
}

pub fn expr(it: &Expr) -> Expr {
    use ExprKind::*;
    let kind = match &it.kind {
        Binary(op, ..) if CHAINS.contains(op) => return chain(*op, it),
        Member(of, name) => Member(boxed(of), name.clone()),
        Index(of, at) => Index(boxed(of), boxed(at)),
        Unary(op, of) => sign(*op, expr(of)),
        Binary(op, a, b) => Binary(*op, boxed(a), boxed(b)),
        Conditional(a, b, c) => Conditional(boxed(a), boxed(b), boxed(c)),
        In { value, list, negated } => In { value: boxed(value), list: exprs(list), negated: *negated },
        Between { value, low, high, negated } => {
            Between { value: boxed(value), low: boxed(low), high: boxed(high), negated: *negated }
        }
        Like { value, pattern, escape, negated } => Like {
            value: boxed(value),
            pattern: boxed(pattern),
            escape: escape.as_ref().map(|it| boxed(it)),
            negated: *negated,
        },
        Array(items) => Array(exprs(items)),
        Object(members) => Object(members.iter().map(|(name, value)| (name.clone(), expr(value))).collect()),
        Call { name, udf, args } => Call { name: any_case(name), udf: *udf, args: exprs(args) },
        Subquery(it) => Subquery(Box::new(query(it))),
        Exists(it) => Exists(Box::new(query(it))),
        ArrayOf(it) => ArrayOf(Box::new(query(it))),
        simple => simple.clone(),
    };
    Expr { kind, at: TextSpan::default() }
}

/// A number with a sign is a number.
fn sign(op: UnaryOp, of: Expr) -> ExprKind {
    match (op, &of.kind) {
        (UnaryOp::Minus, ExprKind::Number(it)) => ExprKind::Number(Number::Float(-it.as_f64())),
        _ => ExprKind::Unary(op, Box::new(of)),
    }
}

fn chain(op: BinaryOp, it: &Expr) -> Expr {
    let mut links = Vec::new();
    collect(op, it, &mut links);
    let join = |a, b| Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), at: TextSpan::default() };
    links.into_iter().reduce(join).expect("a chain has links")
}

fn collect(op: BinaryOp, it: &Expr, links: &mut Vec<Expr>) {
    match &it.kind {
        ExprKind::Binary(this, a, b) if *this == op => {
            collect(op, a, links);
            collect(op, b, links);
        }
        _ => links.push(expr(it)),
    }
}
