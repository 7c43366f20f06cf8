//! Limits and spans; `cases/parse` shows which text gives which tree.

use super::*;
use crate::limits::QUERY_SUBQUERY_LEVELS;
use crate::limits::QUERY_TEXT_BYTES_MAX;
use orrery_core::limits::QUERY_TREE_LEVELS_MAX;

/// The default stack of a thread.
const STACK_BYTES: usize = 2 * 1024 * 1024;

/// So many that even a frame of a hundred bytes each would not fit.
const MANY: usize = STACK_BYTES / 100;

/// Parses the text and exercises the tree in ways that use the stack. Returns the code of a complaint.
fn outcome(text: String) -> Result<(), &'static str> {
    let read = move || {
        let query = parse(&text).map_err(|complaint| complaint.code)?;
        let printed = print(&query.clone());
        assert!(query == query.clone());
        if printed.len() <= QUERY_TEXT_BYTES_MAX {
            let again = parse(&printed).expect("what is printed can be read");
            assert!(print(&again) == printed);
        }
        Ok(())
    };
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(read).unwrap().join().unwrap()
}

/// As many repetitions as requested, or as fit the longest text.
fn repeated(before: &str, part: &str, after: &str, count: usize) -> String {
    let room = QUERY_TEXT_BYTES_MAX - before.len() - after.len();
    format!("{before}{}{after}", part.repeat(count.min(room / part.len())))
}

/// Checks many repetitions of these parts, without and with an operand at the end.
fn check_hostile(part: &str, codes: [&str; 2]) {
    let ends = |after: &str| outcome(repeated("SELECT VALUE ", part, after, MANY));
    assert_eq!([ends(""), ends("1")], codes.map(Err), "{part}");
}

fn expression(text: &str) -> Expr {
    match parse(&format!("SELECT VALUE {text}")).unwrap().select {
        Select::Value(expr) => expr,
        other => panic!("{other:?}"),
    }
}

fn height(expr: &Expr) -> usize {
    match &expr.kind {
        ExprKind::Binary(_, left, right) => 1 + height(left).max(height(right)),
        ExprKind::Unary(_, operand) => 1 + height(operand),
        _ => 1,
    }
}

#[test]
fn no_nesting_of_any_kind_overflows_the_stack() {
    // An operator can be applied only after its operand.
    for waits in ["NOT ", "- ", "1 ? 2 : ", "a ?? "] {
        check_hostile(waits, ["SC1002", "SC3021"]);
    }
    for open in ["(", "(1+", "1 ? ", "(a AND ", "-(-("] {
        check_hostile(open, ["SC1002", "SC1002"]);
    }
    for nests in
        ["[", "{a:", "c[", "f(", "udf.f(1,", "a IN (", "(SELECT ", "(SELECT * FROM ", "ARRAY(SELECT VALUE "]
    {
        check_hostile(nests, ["SC3021", "SC3021"]);
    }
}

#[test]
fn no_chain_of_any_kind_overflows_the_stack() {
    let ends = |part: &str| outcome(repeated("SELECT VALUE c", part, "", MANY));
    for deep in ["+1", "*c", ".a", "[0]", "[\"a\"]", " = 1", " ?? 1", " ? 1 : 2", " & 1", " IN (1)"] {
        assert_eq!(ends(deep), Err("SC3021"), "{deep}");
    }
    for flat in [" AND c", "||'a'", " OR 1 AND 2"] {
        assert_eq!(ends(flat), Ok(()), "{flat}");
    }
    let joins = repeated("SELECT * FROM c", " JOIN c", "", MANY);
    assert_eq!(outcome(joins), Err("SC3002"));
    assert_eq!(outcome(repeated("SELECT * FROM c", ".a", "", MANY)), Ok(()));
    assert_eq!(outcome(repeated("SELECT c", ", c", "", MANY)), Ok(()));
    assert_eq!(outcome(repeated("SELECT * FROM c GROUP BY c", ", c", "", MANY)), Ok(()));
    assert_eq!(outcome(repeated("SELECT * FROM c ORDER BY c", ", c", "", MANY)), Ok(()));
}

#[test]
fn the_longest_texts_parse() {
    let all = usize::MAX;
    assert_eq!(outcome(repeated("SELECT VALUE ", "(", "", all)), Err("SC1002"));
    assert_eq!(outcome(repeated("SELECT VALUE ", "NOT ", "1", all)), Err("SC3021"));
    assert_eq!(outcome(repeated("SELECT VALUE 1", "+1", "", all)), Err("SC3021"));
    assert_eq!(outcome(repeated("SELECT VALUE c", " OR c.a = 1", "", all)), Ok(()));
}

#[test]
fn parentheses_are_limited_only_by_the_text_length() {
    let count = 200_000;
    assert_eq!(outcome(format!("SELECT VALUE {}1{}", "(".repeat(count), ")".repeat(count))), Ok(()));
}

#[test]
fn parentheses_do_not_deepen_a_chain() {
    let count = 20_000;
    let from_left = format!("SELECT VALUE {}c{}", "(".repeat(count), " OR c.b)".repeat(count));
    assert_eq!(outcome(from_left), Ok(()));
    let from_right = format!("SELECT VALUE {}c{}", "(c.b OR ".repeat(count), ")".repeat(count));
    assert_eq!(outcome(from_right), Ok(()));
}

#[test]
fn a_chain_of_a_thousand_terms_is_low_and_keeps_its_order() {
    let terms: Vec<String> = (0..1000).map(|n| format!("n{n}")).collect();
    for op in ["AND", "OR", "||"] {
        let expr = expression(&terms.join(&format!(" {op} ")));
        assert_eq!(height(&expr), 11, "{op}");
        let names = print_expr(&expr).replace(['(', ')'], "");
        assert_eq!(names.split(&format!(" {op} ")).collect::<Vec<_>>(), terms, "{op}");
    }
}

#[test]
fn a_read_many_query_parses() {
    let term = |n: usize| format!("(c.id = @id{n} AND c[\"pk\"] = @pk{n})");
    let terms: Vec<String> = (0..1000).map(term).collect();
    assert_eq!(outcome(format!("SELECT * FROM c WHERE ( {} )", terms.join(" OR "))), Ok(()));
}

#[test]
fn a_tree_at_the_height_limit_parses_and_one_higher_does_not() {
    // The query itself counts, and so does the innermost node.
    let deepest = QUERY_TREE_LEVELS_MAX - QUERY_SUBQUERY_LEVELS - 1;
    check_deepest(deepest, |levels| format!("c{}", ".a".repeat(levels)));
    check_deepest(deepest, |levels| format!("c{}", " + 1".repeat(levels)));
    check_deepest(deepest, |levels| format!("{}[]{}", "[".repeat(levels), "]".repeat(levels)));
    check_deepest(deepest, |levels| format!("{}1{}", "f(".repeat(levels), ")".repeat(levels)));
    check_deepest(deepest, |levels| format!("{}1{}", "c[".repeat(levels), "]".repeat(levels)));
    check_deepest(deepest, |levels| format!("{}c", "NOT ".repeat(levels)));
    let nested = |count: usize| format!("{}c{}", "(SELECT * FROM ".repeat(count), ")".repeat(count));
    check_deepest(QUERY_TREE_LEVELS_MAX / QUERY_SUBQUERY_LEVELS - 2, |count| {
        format!("1 FROM {}", nested(count + 1))
    });
}

fn check_deepest(deepest: usize, text: impl Fn(usize) -> String) {
    let query = |levels| format!("SELECT VALUE {}", text(levels));
    assert_eq!(outcome(query(deepest)), Ok(()), "{}", text(3));
    assert_eq!(outcome(query(deepest + 1)), Err("SC3021"), "{}", text(3));
}

#[test]
fn levels_of_every_kind_add_up() {
    let queries = 10;
    let mixed = |dots: usize| {
        let inside = format!("c{}", ".a".repeat(dots));
        format!("{}{inside}{}", "(SELECT VALUE ".repeat(queries), ")".repeat(queries))
    };
    // A query as an operand is a level above the query.
    let taken = QUERY_SUBQUERY_LEVELS + queries * (QUERY_SUBQUERY_LEVELS + 1) + 1;
    check_deepest(QUERY_TREE_LEVELS_MAX - taken, mixed);
}

#[test]
fn counts_at_their_limits_pass() {
    let joins = |count: usize| format!("SELECT * FROM c{}", " JOIN x IN c.a".repeat(count));
    assert_eq!(parse(&joins(10)).map(|query| query.from.len()), Ok(11));
    let complaint = parse(&joins(11)).unwrap_err();
    assert_eq!(complaint.code, "SC3002");
    assert_eq!(complaint.at, TextSpan { start: 0, end: joins(11).len() as u32 });
    assert_eq!(
        complaint.message,
        "The SQL query exceeded the maximum number of joins. The allowed limit is 10."
    );

    let items = |count: usize| format!("SELECT VALUE c IN (1{})", ",1".repeat(count - 1));
    assert!(parse(&items(16_000)).is_ok());
    assert_eq!(parse(&items(16_001)).unwrap_err().code, "SC3022");
}

#[test]
fn the_joins_of_a_subquery_are_its_own() {
    let inner = format!("(SELECT * FROM c{})", " JOIN x IN c.a".repeat(10));
    assert!(parse(&format!("SELECT {inner}, {inner} FROM c{}", " JOIN c".repeat(10))).is_ok());
}

#[test]
fn a_syntax_error_before_a_wrong_token_is_the_one_reported() {
    assert_eq!(parse("SELECT SELECT 'x").unwrap_err().code, "SC1001");
    assert_eq!(parse("SELECT 1 'x").unwrap_err().code, "SC1012");
    assert_eq!(parse("SELECT 1 FROM c 'x").unwrap_err().code, "SC1012");
}

#[test]
fn every_node_knows_its_span() {
    fn check(text: &str, part: &str, of: impl Fn(&Expr) -> TextSpan) {
        let expr = expression(text);
        let whole = format!("SELECT VALUE {text}");
        let TextSpan { start, end } = of(&expr);
        assert_eq!(&whole[start as usize..end as usize], part, "{text}");
    }
    let whole = |expr: &Expr| expr.at;
    fn left(expr: &Expr) -> TextSpan {
        match &expr.kind {
            ExprKind::Binary(_, left, _) => left.at,
            other => panic!("{other:?}"),
        }
    }
    for text in [
        "c.a[0]['b']",
        "-c.a",
        "-1",
        "f(1, 2)",
        "udf.f()",
        "LEFT('a', 1)",
        "[1, 2]",
        "{a: 1}",
        "(SELECT 1)",
        "EXISTS(SELECT 1)",
        "ARRAY (SELECT 1)",
        "a ? b : c",
        "a IN (1)",
        "a NOT LIKE 'x' ESCAPE '!'",
        "a BETWEEN 1 AND 2",
        "(a) + (b)",
        "a AND b AND c",
        "@p",
        "'é'",
    ] {
        check(text, text, whole);
    }
    check("(c)", "c", whole);
    check("(c.a).b", "(c.a).b", whole);
    check("(a + b) * c", "a + b", left);
    check("(-(a))", "-(a)", whole);
}

#[test]
fn a_query_and_its_sources_know_their_spans() {
    let text = " SELECT * FROM x IN c.a JOIN (SELECT 1) AS s WHERE true OFFSET 0 LIMIT 1 -- end";
    let query = parse(text).unwrap();
    let part = |at: TextSpan| &text[at.start as usize..at.end as usize];
    assert_eq!(part(query.at), "SELECT * FROM x IN c.a JOIN (SELECT 1) AS s WHERE true OFFSET 0 LIMIT 1");
    assert_eq!(part(query.from[0].at), "x IN c.a");
    assert_eq!(part(query.from[1].at), "(SELECT 1) AS s");
    assert_eq!(query.from[1].alias.as_ref().map(|name| part(name.at)), Some("s"));
}

#[test]
fn the_smallest_integer_keeps_its_digits() {
    assert_eq!(print_expr(&expression("-9223372036854775808")), "-9223372036854775808");
    assert_eq!(print_expr(&expression("-9007199254740993")), "-9007199254740993");
}

#[test]
fn printing_is_canonical() {
    fn check(text: &str, expected: &str) {
        assert_eq!(print(&parse(text).unwrap()), expected);
        assert_eq!(print(&parse(expected).unwrap()), expected);
    }
    check(
        "select c.a, {x: c.b} y from c -- all\n where c.a=1 and c['order'] = 'it\\'s' order by c.n desc, c.m asc",
        "SELECT c.a, {\"x\": c.b} AS y FROM c WHERE ((c.a = 1) AND (c[\"order\"] = \"it's\")) ORDER BY c.n DESC, c.m ASC",
    );
    check(
        "SELECT DISTINCT TOP @n VALUE t FROM c x JOIN t IN x.tags[0]['a b'] GROUP BY t OFFSET 1 LIMIT @l",
        "SELECT DISTINCT TOP @n VALUE t FROM c AS x JOIN t IN x.tags[0][\"a b\"] GROUP BY t OFFSET 1 LIMIT @l",
    );
    check("SELECT * FROM (SELECT 1 'a b') s", "SELECT * FROM (SELECT 1 AS \"a b\") AS s");
    check("SELECT 1 FROM c ORDER BY rank f(1)", "SELECT 1 FROM c ORDER BY RANK f(1)");
    check("SELECT a OR (b OR c) AND d", "SELECT (a OR ((b OR c) AND d))");
    check("SELECT a+b+c, a||(b||c)", "SELECT ((a + b) + c), (a || b || c)");
    check(
        "SELECT a NOT IN(1), NOT a LIKE 'x' ESCAPE '!'",
        "SELECT (a NOT IN (1)), (NOT a LIKE \"x\" ESCAPE \"!\")",
    );
    check(
        "SELECT a NOT BETWEEN 1 AND 2, a?b:c, a??b",
        "SELECT (a NOT BETWEEN 1 AND 2), (a ? b : c), (a ?? b)",
    );
    check("SELECT - -a, -(1), ~-1, (-a).b, (1).b", "SELECT -(-a), -(1), ~-1, (-a).b, (1).b");
    check(
        "SELECT exists(SELECT 1), Array(SELECT 1), UDF.f(NULL)",
        "SELECT EXISTS(SELECT 1), ARRAY(SELECT 1), udf.f(null)",
    );
}
