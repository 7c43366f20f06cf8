//! Any tree prints as text that reads back as the same tree.

#[path = "common/tree.rs"]
mod tree;

use orrery_query::parse::*;
use orrery_value::Number;
use proptest::prelude::*;

const AT: TextSpan = TextSpan { start: 0, end: 0 };

fn node(kind: ExprKind) -> Expr {
    Expr { kind, at: AT }
}

fn boxed(expr: Expr) -> Box<Expr> {
    Box::new(expr)
}

fn name_text() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec!["c", "root", "_rid", "rank", "let", "größe", "$v", "a1"]);
    prop_oneof![
        fixed.prop_map(str::to_owned),
        "[a-z_][a-zA-Z0-9_]{3,8}".prop_filter("keyword", |text| { orrery_query::lex::is_name(text) })
    ]
}

fn name() -> impl Strategy<Value = Name> {
    name_text().prop_map(|text| Name { text, at: AT })
}

/// Any text at all, keywords and quotes among it.
fn any_text() -> impl Strategy<Value = String> {
    let fixed =
        prop::sample::select(vec!["value", "a b", "", "it's", "\"", "\\", "--", "é🚀", "0", "\n\u{1}"]);
    prop_oneof![fixed.prop_map(str::to_owned), any::<String>(), name_text()]
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::Int),
        (-3i64..4).prop_map(Number::Int),
        any::<f64>().prop_filter("finite", |float| float.is_finite()).prop_map(Number::Float),
    ]
}

fn literal() -> impl Strategy<Value = Expr> {
    prop_oneof![
        Just(ExprKind::Undefined),
        Just(ExprKind::Null),
        any::<bool>().prop_map(ExprKind::Bool),
        number().prop_map(ExprKind::Number),
        any_text().prop_map(ExprKind::String),
        "@[a-z0-9_]{1,4}".prop_map(ExprKind::Parameter),
        name_text().prop_map(ExprKind::Name),
    ]
    .prop_map(node)
}

fn expr() -> impl Strategy<Value = Expr> {
    literal().prop_recursive(5, 40, 4, |inner| {
        let list = || prop::collection::vec(inner.clone(), 0..4);
        let some = || prop::collection::vec(inner.clone(), 1..4);
        let one = || inner.clone().prop_map(boxed);
        let escape = prop::option::of(any_text().prop_map(|text| boxed(node(ExprKind::String(text)))));
        prop_oneof![
            (one(), any_text()).prop_map(|(of, name)| ExprKind::Member(of, name)),
            (one(), one().prop_filter("a member", |it| !matches!(it.kind, ExprKind::String(_))))
                .prop_map(|(of, index)| ExprKind::Index(of, index)),
            (unary(), one()).prop_map(|(op, operand)| ExprKind::Unary(op, operand)),
            (binary(), one(), one()).prop_map(|(op, left, right)| ExprKind::Binary(op, left, right)),
            (one(), one(), one()).prop_map(|(a, b, c)| ExprKind::Conditional(a, b, c)),
            (one(), some(), any::<bool>()).prop_map(|(value, list, negated)| ExprKind::In {
                value,
                list,
                negated
            }),
            (one(), one(), one(), any::<bool>()).prop_map(|(value, low, high, negated)| ExprKind::Between {
                value,
                low,
                high,
                negated
            }),
            (one(), one(), escape, any::<bool>()).prop_map(|(value, pattern, escape, negated)| {
                ExprKind::Like { value, pattern, escape, negated }
            }),
            list().prop_map(ExprKind::Array),
            prop::collection::vec((any_text(), inner.clone()), 0..3).prop_map(ExprKind::Object),
            (name(), any::<bool>(), list()).prop_map(|(name, udf, args)| ExprKind::Call { name, udf, args }),
            query(inner.clone()).prop_map(|it| ExprKind::Subquery(Box::new(it))),
            query(inner.clone()).prop_map(|it| ExprKind::Exists(Box::new(it))),
            query(inner.clone()).prop_map(|it| ExprKind::ArrayOf(Box::new(it))),
        ]
        .prop_map(node)
    })
}

fn unary() -> impl Strategy<Value = UnaryOp> {
    prop::sample::select(vec![UnaryOp::Plus, UnaryOp::Minus, UnaryOp::BitNot, UnaryOp::Not])
}

fn binary() -> impl Strategy<Value = BinaryOp> {
    use BinaryOp::*;
    prop::sample::select(vec![
        Or,
        And,
        Coalesce,
        Equal,
        NotEqual,
        Less,
        LessOrEqual,
        Greater,
        GreaterOrEqual,
        BitOr,
        BitXor,
        BitAnd,
        ShiftLeft,
        ShiftRight,
        ShiftRightZero,
        Add,
        Subtract,
        Multiply,
        Divide,
        Modulo,
        Concat,
    ])
}

fn count() -> impl Strategy<Value = Expr> {
    let number = (0..i64::MAX).prop_map(|int| ExprKind::Number(Number::Int(int)));
    prop_oneof![number, Just(ExprKind::Parameter("@n".to_owned()))].prop_map(node)
}

fn source(query: impl Strategy<Value = Query> + 'static) -> impl Strategy<Value = Source> {
    let step = prop_oneof![any_text().prop_map(Step::Member), (0..=i64::MAX as u64).prop_map(Step::Index)];
    let path =
        (name(), prop::collection::vec(step, 0..3)).prop_map(|(root, steps)| Collection::Path(root, steps));
    let of = prop_oneof![3 => path, 1 => query.prop_map(|it| Collection::Query(Box::new(it)))];
    (any::<bool>(), of, prop::option::of(name())).prop_map(|(each, of, alias)| Source {
        each: each && alias.is_some(),
        of,
        alias,
        at: AT,
    })
}

fn plain_query() -> Query {
    parse("SELECT VALUE 1").expect("it is a query")
}

fn query(expr: BoxedStrategy<Expr>) -> BoxedStrategy<Query> {
    let alias = prop::option::of(any_text().prop_map(|text| Name { text, at: AT }));
    let item = (expr.clone(), alias).prop_map(|(expr, alias)| SelectItem { expr, alias });
    let select = prop_oneof![
        Just(Select::All),
        expr.clone().prop_map(Select::Value),
        prop::collection::vec(item, 1..3).prop_map(Select::List),
    ];
    let directions = vec![None, Some(Direction::Ascending), Some(Direction::Descending)];
    let key = (expr.clone(), prop::sample::select(directions))
        .prop_map(|(expr, direction)| OrderKey { expr, direction });
    let score = (name(), prop::collection::vec(expr.clone(), 0..2))
        .prop_map(|(name, args)| OrderBy::Rank(node(ExprKind::Call { name, udf: false, args })));
    let order_by = prop_oneof![3 => prop::collection::vec(key, 0..3).prop_map(OrderBy::Keys), 1 => score];
    let subquery = expr.clone().prop_map(|it| Query { select: Select::Value(it), ..plain_query() });
    let from = prop::collection::vec(source(subquery), 0..3);
    let window = prop::option::of((count(), count()).prop_map(|(offset, limit)| Window { offset, limit }));
    let group_by = prop::collection::vec(expr.clone(), 0..2);
    let head = (any::<bool>(), prop::option::of(count()), select, from);
    let tail = (prop::option::of(expr), group_by, order_by, window);
    (head, tail)
        .prop_map(|((distinct, top, select, from), (filter, group_by, order_by, window))| Query {
            distinct,
            top,
            select,
            from,
            filter,
            group_by,
            order_by,
            window,
            at: AT,
        })
        .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_printed_reads_back_as_the_same_tree(query in query(expr().boxed())) {
        let printed = print(&query);
        let again = match parse(&printed) {
            Ok(again) => again,
            Err(complaint) => return Err(TestCaseError::fail(format!("{complaint} in {printed}"))),
        };
        prop_assert_eq!(tree::show(&again), tree::show(&query), "{}", printed);
        let third = parse(&print(&again)).map_err(|it| TestCaseError::fail(it.to_string()))?;
        prop_assert_eq!(print(&third), print(&again));
    }
}
