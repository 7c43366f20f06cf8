//! What a page may cost: time, after which it pauses and another page goes on, and memory, beyond which it is
//! made shorter or refused.
//!
//! The clock is the test's: it goes on by so much each time the executor looks at it, which is once in about
//! a thousand rows.

use orrery_query::execute::{Collection, Host, Limits, Page, ScannedDocument, Start, page};
use orrery_query::limits;
use orrery_query::plan::{Plan, Rules};
use orrery_query::{Datum, QueryError, prepare};
use orrery_value::{Value, raw};
use std::cell::Cell;
use std::ops::ControlFlow;

/// A second for a thousand rows: a page gets about three thousand.
const SLOW: u64 = 1_000;
/// A page gets about seven thousand, and a refusal comes after about 150,000.
const BRISK: u64 = 300;
const FROZEN: u64 = 0;
const PAGES_MAX: usize = 500;

struct Clock {
    ms: Cell<u64>,
    ms_per_check: u64,
    /// The most memory that was asked for, and the most there is.
    reserved: Cell<usize>,
    memory: usize,
}

impl Clock {
    fn new(ms_per_check: u64) -> Self {
        Self { ms: Cell::new(0), ms_per_check, reserved: Cell::new(0), memory: usize::MAX }
    }
}

impl Host for Clock {
    fn now_ms(&self) -> u64 {
        1_714_979_289_123
    }

    fn random(&self) -> f64 {
        0.5
    }

    fn elapsed_ms(&self) -> u64 {
        self.ms.set(self.ms.get() + self.ms_per_check);
        self.ms.get()
    }

    fn reserve(&self, bytes: usize) -> Result<(), QueryError> {
        self.reserved.set(self.reserved.get().max(bytes));
        if bytes > self.memory { Err(QueryError::Busy("no memory".to_owned())) } else { Ok(()) }
    }

    fn udf(&self, name: &str, _args: &[Value]) -> Result<Value, QueryError> {
        Err(QueryError::Refused(format!("no function {name}")))
    }
}

/// Documents as they are written, spaces and all.
struct Documents(Vec<String>);

impl Collection for Documents {
    fn scan(
        &self,
        start: &Start,
        visit: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> Result<(), QueryError> {
        let number = |position: &[u8]| usize::from_be_bytes(position.try_into().expect("eight bytes"));
        let first = match start {
            Start::Beginning => 0,
            Start::At(position) => number(position),
            Start::After(position) => number(position) + 1,
        };
        for (i, text) in self.0.iter().enumerate().skip(first) {
            let (position, root) = (i.to_be_bytes(), Datum::read(text));
            let found =
                ScannedDocument { position: &position, ordinal: i as u64, part: 0, bytes: text.len(), root };
            if visit(found).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// `{"n":0}`, `{"n":1}` and so on.
fn numbered(count: usize) -> Documents {
    Documents((0..count).map(|n| format!(r#"{{"n":{n}}}"#)).collect())
}

/// One document with the numbers below `count` in `l`.
fn with_list(count: usize) -> Documents {
    let numbers: Vec<String> = (0..count).map(|n| n.to_string()).collect();
    Documents(vec![format!(r#"{{"l":[{}]}}"#, numbers.join(","))])
}

/// So many documents `{"n":…,"t":"nn…"}` with texts of so many bytes.
fn with_texts(count: usize, bytes: usize) -> Documents {
    let text = |n: usize| format!("{n:04}").repeat(bytes / 4);
    Documents((0..count).map(|n| format!(r#"{{"n":{n},"t":"{}"}}"#, text(n))).collect())
}

fn plan(query: &str) -> Plan {
    prepare(query, &[], Rules::On).unwrap_or_else(|error| panic!("{query}: {error}")).plan
}

fn one(
    plan: &Plan,
    documents: &Documents,
    ms: u64,
    next: Option<&[u8]>,
    items: usize,
) -> Result<Page, QueryError> {
    let clock = Clock::new(ms);
    page(plan, documents, &clock, next, None, Limits { items, bytes: usize::MAX })
}

fn rows(page: &Page) -> Vec<Value> {
    let text = format!("[{}]", std::str::from_utf8(&page.rows).expect("rows are text"));
    let rows: Vec<Value> = raw::elements(&text).map(Value::read).collect();
    assert_eq!(rows.len(), page.count);
    rows
}

/// The rows of each page until the last; every page must go on from another place.
fn pages_of(
    query: &str,
    documents: &Documents,
    ms: u64,
    items: usize,
) -> Result<Vec<Vec<Value>>, QueryError> {
    let (plan, mut pages, mut next) = (plan(query), Vec::new(), None::<Vec<u8>>);
    loop {
        let page = one(&plan, documents, ms, next.as_deref(), items)?;
        pages.push(rows(&page));
        assert!(
            page.next != next || next.is_none(),
            "{query}: page {} goes on from where it began",
            pages.len()
        );
        assert!(pages.len() < PAGES_MAX, "{query} does not end");
        next = page.next;
        if next.is_none() {
            return Ok(pages);
        }
    }
}

/// All rows by a slow clock and by one that stands still are the same; how many pages it took.
fn check_paused(query: &str, documents: &Documents, ms: u64) -> usize {
    let expected =
        pages_of(query, documents, FROZEN, usize::MAX).unwrap_or_else(|error| panic!("{query}: {error}"));
    assert_eq!(expected.len(), 1, "{query}: without a clock it is one page");
    let pages = pages_of(query, documents, ms, usize::MAX).unwrap_or_else(|error| panic!("{query}: {error}"));
    assert_eq!(pages.concat(), expected[0], "{query}");
    pages.len()
}

fn refusal(query: &str, documents: &Documents, ms: u64) -> QueryError {
    match pages_of(query, documents, ms, usize::MAX) {
        Ok(pages) => panic!("{query} was not refused but gave {} rows", pages.concat().len()),
        Err(error) => error,
    }
}

#[test]
fn a_streamed_page_pauses_and_the_next_has_the_rest() {
    let documents = numbered(10_000);
    assert_eq!(check_paused("SELECT VALUE c.n FROM c", &documents, SLOW), 4);
    assert_eq!(check_paused("SELECT VALUE c.n FROM c WHERE c.n % 1000 = 7", &documents, SLOW), 4);
    assert_eq!(check_paused("SELECT VALUE c.n FROM c OFFSET 5000 LIMIT 4000", &documents, SLOW), 3);
    assert_eq!(check_paused("SELECT TOP 3500 VALUE c.n FROM c", &documents, SLOW), 2);
    let none =
        pages_of("SELECT VALUE c.n FROM c WHERE c.n < 0", &documents, SLOW, usize::MAX).expect("pages");
    assert_eq!(none.len(), 4, "pages may be empty");
}

#[test]
fn a_join_within_one_document_pauses_and_finishes() {
    let joined = "FROM c JOIN x IN c.l JOIN y IN c.l JOIN z IN c.l";
    let documents = with_list(40);
    for select in ["SELECT VALUE [x, y, z]", "SELECT VALUE COUNT(1)", "SELECT VALUE SUM(x * y - z)"] {
        let pages = check_paused(&format!("{select} {joined}"), &documents, BRISK);
        assert!(pages > 5, "{select} was {pages} pages");
    }
    let few =
        check_paused(&format!("SELECT VALUE [x, y, z] {joined} WHERE x = 39 AND y = 39"), &documents, BRISK);
    assert!(few > 5, "{few} pages");
}

#[test]
fn a_document_too_slow_to_resume_in_is_refused() {
    let query = "SELECT VALUE 1 FROM c JOIN x IN c.l JOIN y IN c.l JOIN z IN c.l WHERE x < 0";
    assert!(matches!(refusal(query, &with_list(60), BRISK), QueryError::TooLong(_)));
}

#[test]
fn a_page_has_a_row_before_it_pauses() {
    let documents = with_list(100);
    // The subquery is seen whole before its first row comes, which takes longer than a page has.
    let slow_start = "SELECT VALUE s FROM c JOIN (SELECT DISTINCT VALUE x FROM x IN c.l JOIN y IN c.l) AS s";
    check_paused(slow_start, &documents, SLOW);
    let twice = Documents([&documents.0[..], &documents.0[..]].concat());
    assert_eq!(check_paused(slow_start, &twice, SLOW), 2);
    let slow_filter =
        "SELECT VALUE c.l[0] FROM c WHERE EXISTS(SELECT 1 FROM x IN c.l JOIN y IN c.l WHERE x + y > 197)";
    assert_eq!(check_paused(slow_filter, &twice, SLOW), 2);
}

#[test]
fn a_blocking_derived_table_is_not_charged_to_the_page() {
    let documents = numbered(10_000);
    check_paused("SELECT VALUE s.many FROM (SELECT COUNT(1) AS many FROM c) AS s", &documents, SLOW);
    check_paused("SELECT VALUE s + 1 FROM (SELECT DISTINCT VALUE c.n % 7 FROM c) AS s", &documents, SLOW);
    let grouped =
        "SELECT VALUE s.k FROM (SELECT c.n % 10 AS k, COUNT(1) AS many FROM c GROUP BY c.n % 10) AS s";
    check_paused(grouped, &documents, SLOW);
    let streamed = "SELECT VALUE s FROM (SELECT VALUE c.n FROM c WHERE c.n % 2 = 0) AS s WHERE s % 3 = 0";
    assert!(check_paused(streamed, &documents, SLOW) > 1);
    let large = with_texts(100, 2_000_000);
    let error = refusal("SELECT VALUE s.n FROM (SELECT DISTINCT * FROM c) AS s", &large, FROZEN);
    assert!(matches!(error, QueryError::Refused(_)), "{error}");
}

#[test]
fn an_aggregate_pauses_and_resumes_correctly() {
    let documents = numbered(10_000);
    let query = "SELECT COUNT(1) AS a, SUM(c.n) AS b, AVG(c.n) AS c, MIN(c.n) AS d, MAX(c.n) AS e, COUNTIF(c.n < 10) AS f, MAX(c.x) AS g FROM c";
    let pages = pages_of(query, &documents, SLOW, usize::MAX).expect("pages");
    assert_eq!(pages.len(), 4);
    assert!(pages[..3].iter().all(Vec::is_empty), "the row comes last");
    let row = r#"{"a":10000,"b":49995000,"c":4999.5,"d":0,"e":9999,"f":10}"#;
    assert_eq!(pages[3], [Value::parse(row).expect("a row")]);
    check_paused("SELECT VALUE SUM(c.n / 3) FROM c", &documents, SLOW);
    check_paused("SELECT VALUE AVG(c.n < 9999 ? c.n : 'x') FROM c", &documents, SLOW);
    assert_eq!(check_paused("SELECT VALUE {\"s\": SUM(c.n * 1e305)} FROM c", &documents, SLOW), 4);
}

#[test]
fn an_aggregate_too_large_for_a_token_does_not_pause() {
    let documents =
        Documents((0..5_000).map(|n| format!(r#"{{"t":"{n:04}{}"}}"#, "x".repeat(12_000))).collect());
    for query in ["SELECT VALUE LEFT(MAX(c.t), 4) FROM c", "SELECT VALUE MIN(c.t) FROM c"] {
        assert_eq!(check_paused(query, &documents, SLOW), 1, "{query}");
    }
    let many: Vec<String> = (0..20).map(|i| format!("MAX(c.t || '{i}') AS m{i}")).collect();
    let short = Documents((0..5_000).map(|n| format!(r#"{{"t":"{n:04}{}"}}"#, "x".repeat(900))).collect());
    assert_eq!(check_paused(&format!("SELECT {} FROM c", many.join(", ")), &short, SLOW), 1);
    let documents = numbered(5_000);
    assert_eq!(check_paused("SELECT VALUE ARRAY_LENGTH(MAKELIST(c.n)) FROM c", &documents, SLOW), 1);
}

#[test]
fn blocking_queries_are_refused_after_the_time_limit() {
    let documents = numbered(60_000);
    let seen_whole = [
        "SELECT VALUE c.n FROM c ORDER BY c.n DESC",
        "SELECT DISTINCT VALUE c.n FROM c",
        "SELECT c.n FROM c GROUP BY c.n",
        "SELECT VALUE s.a FROM (SELECT COUNT(1) AS a FROM c) AS s",
        "SELECT VALUE MAKESET(c.n % 7) FROM c",
    ];
    for query in seen_whole {
        let error = refusal(query, &documents, SLOW);
        assert!(matches!(error, QueryError::TooLong(_)), "{query}: {error}");
        assert!(error.to_string().contains("45 seconds"), "{error}");
    }
    check_paused("SELECT VALUE COUNT(1) FROM c", &documents, SLOW);
}

#[test]
fn subquery_results_have_a_memory_limit() {
    let text = "x".repeat(20_000);
    let numbers: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
    let documents = Documents(vec![format!(r#"{{"t":"{text}","l":[{}]}}"#, numbers.join(","))]);
    let collecting = [
        "SELECT ARRAY(SELECT VALUE c.t FROM x IN c.l JOIN y IN c.l) AS all FROM c",
        "SELECT VALUE ARRAY_LENGTH(ARRAY(SELECT VALUE c.t FROM x IN c.l JOIN y IN c.l)) FROM c",
        "SELECT VALUE 1 FROM c WHERE EXISTS(SELECT DISTINCT VALUE [x, y, c.t] FROM x IN c.l JOIN y IN c.l)",
        "SELECT VALUE s FROM c JOIN (SELECT x, y, MAKELIST(c.t) AS l FROM x IN c.l JOIN y IN c.l GROUP BY x, y) AS s",
        "SELECT VALUE MAKELIST(c.t) FROM c JOIN x IN c.l JOIN y IN c.l",
        "SELECT VALUE MAKESET([x, y, c.t]) FROM c JOIN x IN c.l JOIN y IN c.l",
    ];
    for query in collecting {
        let error = refusal(query, &documents, FROZEN);
        assert!(
            matches!(&error, QueryError::Refused(message) if message.contains(" MB")),
            "{query}: {error}"
        );
    }
}

#[test]
fn repeatedly_doubled_values_are_refused() {
    let documents = with_texts(1, 400_000);
    let doubled = |build: &str| {
        let steps = (1..9)
            .map(|i| format!("JOIN (SELECT VALUE {}) AS v{i}", build.replace('v', &format!("v{}", i - 1))));
        let steps: Vec<String> = steps.collect();
        format!("SELECT VALUE ARRAY_LENGTH(v8) FROM c JOIN (SELECT VALUE [c.t]) AS v0 {}", steps.join(" "))
    };
    for build in ["[v, v]", "ARRAY_CONCAT(v, v)", "[{\"a\": v, \"b\": v}]", "ARRAY_CONCAT(v, [v])"] {
        let error = refusal(&doubled(build), &documents, FROZEN);
        assert!(
            matches!(&error, QueryError::Refused(message) if message.contains("16 MB")),
            "{build}: {error}"
        );
    }
    let wide = format!("SELECT VALUE ARRAY_LENGTH(ARRAY_CONCAT([c.t]{})) FROM c", ", [c.t]".repeat(300));
    assert!(matches!(refusal(&wide, &documents, FROZEN), QueryError::Refused(_)));
    let pages =
        pages_of("SELECT VALUE ARRAY_LENGTH(ARRAY_CONCAT([c.t], [c.t])) FROM c", &documents, FROZEN, 1);
    assert_eq!(pages.expect("pages"), [[Value::from(2i64)]]);
}

/// Rows of a megabyte, more of them than may be held: the pages are shorter than asked for, and each row is on
/// one of them.
#[test]
fn oversized_rows_shorten_pages_and_none_is_lost() {
    const COUNT: usize = 80;
    let documents = with_texts(COUNT, 1_000_000);
    let forwards: Vec<Value> = (0..COUNT as i64).map(Value::from).collect();
    let check = |query: &str, expected: &[Value]| {
        let pages = pages_of(query, &documents, FROZEN, usize::MAX)
            .unwrap_or_else(|error| panic!("{query}: {error}"));
        assert!(pages.len() > 1, "{query} held everything");
        let found: Vec<Value> = pages.concat().iter().map(|row| row.member("n").clone()).collect();
        assert_eq!(found, expected, "{query}");
    };
    check("SELECT c.n, MAX(c.t) AS t FROM c GROUP BY c.n", &forwards);
    check("SELECT c.n, MAKELIST(c.t) AS t FROM c GROUP BY c.n", &forwards);
    check("SELECT * FROM c ORDER BY RANK FullTextScore(c.t, 'absent')", &forwards);
}

#[test]
fn equal_rows_of_different_lengths_are_duplicates() {
    // Each pair is equal and the second is longer; they come so that a later pair always displaces them.
    let pairs = (0..300)
        .rev()
        .flat_map(|n| [format!(r#"{{"v":[{n},{n}]}}"#), format!(r#"{{"v":[{n},{}{n}]}}"#, " ".repeat(200))]);
    let documents = Documents(pairs.collect());
    for (query, items) in
        [("SELECT DISTINCT VALUE c.v[0] FROM c", 1), ("SELECT DISTINCT VALUE c.v FROM c", 1)]
    {
        let pages = pages_of(query, &documents, FROZEN, items).expect("pages");
        assert_eq!(pages.len(), 300);
        assert_eq!(pages.concat(), pages_of(query, &documents, FROZEN, usize::MAX).expect("a page").concat());
    }
}

/// What dedupes the rows of a JOIN is often the whole item.
#[test]
fn a_distinct_row_may_exceed_the_token_size() {
    let twice = |documents: Documents| Documents([&documents.0[..], &documents.0[..]].concat());
    let documents = twice(with_texts(20, 20_000));
    for query in ["SELECT DISTINCT * FROM c", "SELECT DISTINCT VALUE c FROM c JOIN x IN [1, 2] ORDER BY c.n"]
    {
        let query = query.replace("[1, 2]", "(SELECT VALUE [1, 2])");
        for items in [1, 7, 100] {
            let rows = pages_of(&query, &documents, FROZEN, items)
                .unwrap_or_else(|error| panic!("{error}"))
                .concat();
            let mut numbers: Vec<i64> =
                rows.iter().filter_map(|row| Datum::of(row.member("n")).as_i64()).collect();
            numbers.sort_unstable();
            assert_eq!(numbers, (0..20).collect::<Vec<_>>(), "{query} by {items}");
        }
    }
}

#[test]
fn a_sort_key_too_long_for_a_token_is_refused_when_a_token_is_needed() {
    let documents = with_texts(3, 20_000);
    let query = "SELECT VALUE c.n FROM c ORDER BY c.t";
    assert_eq!(pages_of(query, &documents, FROZEN, 3).expect("one page").len(), 1);
    let error = pages_of(query, &documents, FROZEN, 1).expect_err("two pages");
    assert!(error.to_string().contains("too long for a continuation token"), "{error}");
    const { assert!(20_000 > limits::CONTINUATION_STATE_BYTES_MAX) }
}

/// 200 documents of 256 KB: a sort of all of them holds keys and positions, and reads the rows of its page again.
#[test]
fn a_sort_of_long_rows_holds_their_keys_and_positions() {
    let documents = with_texts(200, 256 * 1024);
    let limits = Limits { items: 1000, bytes: 4 << 20 };
    for query in [
        "SELECT * FROM c ORDER BY c.n DESC",
        "SELECT VALUE c FROM c JOIN x IN (SELECT VALUE [1, 2]) ORDER BY c.n DESC",
    ] {
        let (plan, clock) = (plan(query), Clock::new(FROZEN));
        let page = page(&plan, &documents, &clock, None, None, limits).expect(query);
        assert!(clock.reserved.get() < 2 << 20, "{query} held {} bytes", clock.reserved.get());
        let numbers: Vec<i64> = rows(&page).iter().map(number_of).collect();
        let expected: Vec<i64> = match query.contains("JOIN") {
            false => (0..200).rev().collect(),
            true => (0..200).rev().flat_map(|n| [n, n]).collect(),
        };
        assert_eq!(numbers, expected[..numbers.len()], "{query}");
        assert!((10..20).contains(&numbers.len()), "{query} gave {} rows", numbers.len());
        assert_eq!(page.metrics.documents_read, 200, "what is read again is not counted again");
    }
}

fn number_of(row: &Value) -> i64 {
    let Value::Object(members) = row else { panic!("{row:?}") };
    match members.iter().find(|(name, _)| *name == "n") {
        Some((_, Value::Number(number))) => number.as_i64().expect("an integer"),
        other => panic!("{other:?}"),
    }
}

/// Pages of any size give the same rows, long and short ones among each other.
#[test]
fn long_rows_and_short_ones_are_sorted_together() {
    let text = |n: usize| "x".repeat(if n.is_multiple_of(3) { 20_000 } else { 3 });
    let documents =
        Documents((0..50).map(|n| format!(r#"{{"n":{},"t":"{}"}}"#, n * 7 % 50, text(n))).collect());
    let query = "SELECT c.n, c.t FROM c ORDER BY c.n OFFSET 3 LIMIT 40";
    let whole = pages_of(query, &documents, FROZEN, usize::MAX).expect(query).concat();
    assert_eq!(whole.iter().map(number_of).collect::<Vec<_>>(), (3..43).collect::<Vec<_>>());
    for items in [1, 4, 7] {
        assert_eq!(
            pages_of(query, &documents, FROZEN, items).expect(query).concat(),
            whole,
            "pages of {items}"
        );
    }
}

#[test]
fn a_query_denied_memory_fails() {
    for query in [
        "SELECT * FROM c ORDER BY c.n",
        "SELECT * FROM c",
        "SELECT c.t, COUNT(1) AS k FROM c GROUP BY c.t",
        "SELECT VALUE ARRAY(SELECT VALUE c.t FROM x IN (SELECT VALUE [1, 2, 3, 4, 5])) FROM c",
    ] {
        let clock = Clock { memory: 300 * 1024, ..Clock::new(FROZEN) };
        let limits = Limits { items: 1000, bytes: 4 << 20 };
        let bytes = if query.contains("ORDER") { 4_000 } else { 100_000 };
        let outcome = page(&plan(query), &with_texts(500, bytes), &clock, None, None, limits);
        assert_eq!(outcome.err(), Some(QueryError::Busy("no memory".to_owned())), "{query}");
    }
}

#[test]
fn the_clock_is_read_inside_a_slow_pattern() {
    let text = "ab".repeat(1_000);
    let documents = Documents((0..200).map(|n| format!(r#"{{"n":{n},"t":"{text}"}}"#)).collect());
    let query = r#"SELECT VALUE c.n FROM c WHERE NOT RegexMatch(c.t, "(a|b)+\\1c")"#;
    let (plan, clock) = (plan(query), Clock::new(5_000));
    let outcome = page(&plan, &documents, &clock, None, None, Limits { items: 1000, bytes: 4 << 20 });
    assert!(matches!(outcome, Err(QueryError::TooLong(_))), "the clock is read inside a row: {outcome:?}");
}
