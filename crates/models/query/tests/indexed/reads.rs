//! How much is read: as many documents as there are rows, or none at all.

use super::collection::{Indexed, Policy, composite, path};
use super::memory::Still;
use orrery_core::limits::INDEX_STRING_BYTES_MAX;
use orrery_query::access::{Access, AccessPreference};
use orrery_query::execute::{Host, Limits, Metrics, Page, page};
use orrery_query::limits;
use orrery_query::plan::{Plan, Rules};
use orrery_query::{QueryError, prepare};
use orrery_value::{Value, raw};
use std::cell::Cell;

const COUNT: i64 = 10_000;

/// `n` is different everywhere, `m`, `k` and `p` are one of a hundred, of ten and of three, `half` is there half the
/// time.
fn documents(count: i64) -> impl Iterator<Item = Value> {
    (0..count).map(move |at| {
        let half = if at % 2 == 0 { format!(r#","half":{at}"#) } else { String::new() };
        // Not in the order of their numbers.
        let n = at * 7_919 % count;
        let (m, k, p) = (at % 100, at / 100 % 10, at % 3);
        let text = format!(
            r#"{{"id":"d{at}","n":{n},"m":{m},"k":{k},"p":{p},"s":"s{k}","tags":["t{m}","u{k}"]{half},"o":{{"x":{m}}}}}"#
        );
        Value::parse(&text).expect("a document")
    })
}

fn policy() -> Policy {
    let paths = ["/id", "/n", "/m", "/k", "/s", "/half", "/tags/[]", "/o/x"];
    let composites = ["/k ASC, /n DESC", "/k ASC, /m DESC", "/k ASC, /p DESC", "/m ASC, /k ASC, /n ASC"];
    Policy {
        paths: paths.iter().map(|text| path(text)).collect(),
        composites: composites.iter().map(|text| composite(text)).collect(),
        ..Policy::default()
    }
}

fn plan(query: &str) -> Plan {
    prepare(query, &[], Rules::On).unwrap_or_else(|error| panic!("{query}: {error}")).plan
}

fn one(collection: &Indexed, plan: &Plan, next: Option<&[u8]>, items: usize) -> Page {
    page(plan, collection, &Still, next, None, Limits { items, bytes: usize::MAX }).expect("a page")
}

fn rows(page: &Page) -> Vec<Value> {
    let text = format!("[{}]", std::str::from_utf8(&page.rows).expect("rows are text"));
    raw::elements(&text).map(Value::read).collect()
}

/// The first page by the cheapest way: its rows are those of a scan, and it read so many documents.
fn check(collection: &Indexed, query: &str, items: usize, documents: u64) -> Metrics {
    let plan = plan(query);
    let found = one(collection, &plan, None, items);
    let scanned = one(collection, &Plan { prefer: AccessPreference::Scan, ..plan.clone() }, None, items);
    assert_eq!(found.count, scanned.count, "{query}");
    if !plan.query.block.is_streaming() {
        assert_eq!(rows(&found), rows(&scanned), "{query}");
    }
    assert_eq!(found.metrics.documents_read, documents, "{query} by {}", found.index_usage.access);
    assert_eq!(scanned.metrics.entries_read, 0, "{query}");
    found.metrics
}

#[test]
fn a_sorted_page_reads_the_documents_it_shows() {
    let collection = Indexed::new(documents(COUNT), Some(policy()));
    check(&collection, "SELECT TOP 20 * FROM c ORDER BY c.n", 100, 20);
    check(&collection, "SELECT TOP 20 * FROM c ORDER BY c.n DESC", 100, 20);
    check(&collection, "SELECT * FROM c WHERE c.n > 5000 ORDER BY c.n", 20, 20);
    check(&collection, "SELECT * FROM c WHERE c.k = 3 ORDER BY c.n DESC", 20, 20);
    check(&collection, "SELECT * FROM c WHERE c.k = 3 ORDER BY c.n", 20, 20);
    check(&collection, "SELECT * FROM c WHERE c.k = 3 AND c.m = 5 ORDER BY c.n", 20, 10);
    check(&collection, "SELECT * FROM c ORDER BY c.half DESC", 20, 20);
    check(&collection, "SELECT * FROM c WHERE c.m IN (5, 7, 9) ORDER BY c.m DESC", 20, 20);
    // Hundreds of documents have the same place; those that come first are told by their numbers.
    check(&collection, "SELECT * FROM c ORDER BY c.m", 20, 20);
    check(&collection, "SELECT * FROM c WHERE c.k = 3 ORDER BY c.p DESC", 20, 20);
    check(&collection, "SELECT * FROM c WHERE c.k = 3 ORDER BY c.p", 20, 20);
    check(&collection, "SELECT * FROM c WHERE c.k = 3 ORDER BY c.k DESC, c.m ASC", 20, 20);
}

/// A run of ties is put right before the first of it is shown; the one after it is not begun.
#[test]
fn a_sorted_page_reads_the_entries_it_needs() {
    let collection = Indexed::new(documents(COUNT), Some(policy()));
    let entries = |query: &str| check(&collection, query, 20, 20).entries_read;
    assert_eq!(entries("SELECT * FROM c ORDER BY c.n"), 21);
    assert_eq!(entries("SELECT * FROM c ORDER BY c.m DESC"), 21);
    assert_eq!(entries("SELECT * FROM c WHERE c.k = 3 ORDER BY c.p"), 335);
    assert_eq!(entries("SELECT * FROM c WHERE c.k = 3 ORDER BY c.p DESC"), 334);
}

#[test]
fn every_page_of_a_sorted_answer_reads_the_documents_it_shows() {
    let collection = Indexed::new(documents(COUNT), Some(policy()));
    for query in [
        "SELECT VALUE c.id FROM c ORDER BY c.n",
        "SELECT VALUE c.id FROM c ORDER BY c.m DESC",
        "SELECT VALUE c.id FROM c WHERE c.k = 3 ORDER BY c.p DESC",
        "SELECT VALUE c.id FROM c WHERE c.k = 3 ORDER BY c.n DESC",
    ] {
        let plan = plan(query);
        let scan = Plan { prefer: AccessPreference::Scan, ..plan.clone() };
        let expected = rows(&one(&collection, &scan, None, 1_000));
        let (mut found, mut next) = (Vec::new(), None);
        while found.len() < 1_000 {
            let page = one(&collection, &plan, next.as_deref(), 100);
            // The last document of the page before may have more rows.
            let expected = 100 + u64::from(next.is_some());
            assert_eq!(page.metrics.documents_read, expected, "{query} by {}", page.index_usage.access);
            found.extend(rows(&page));
            next = page.next;
        }
        assert_eq!(found, expected, "{query}");
    }
}

#[test]
fn an_equality_reads_the_documents_that_match() {
    let collection = Indexed::new(documents(COUNT), Some(policy()));
    check(&collection, "SELECT * FROM c WHERE c.m = 7", 1_000, 100);
    check(&collection, "SELECT * FROM c WHERE c.n = 77", 1_000, 1);
    check(&collection, "SELECT * FROM c WHERE c.n = -1", 1_000, 0);
    check(&collection, "SELECT * FROM c WHERE c.n IN (1, 2, 3, 99999)", 1_000, 3);
    check(&collection, "SELECT * FROM c WHERE c.m = 7 AND c.k = 3", 1_000, 10);
    check(&collection, "SELECT * FROM c WHERE c.n BETWEEN 10 AND 19", 1_000, 10);
    check(&collection, "SELECT * FROM c WHERE c.n = 1 OR c.o.x = 7 AND c.k = 3", 1_000, 11);
    check(&collection, "SELECT * FROM c WHERE ARRAY_CONTAINS(c.tags, 't7')", 1_000, 100);
    check(&collection, "SELECT VALUE t FROM c JOIN t IN c.tags WHERE t = 't7'", 1_000, 100);
    check(&collection, "SELECT VALUE SUM(c.n) FROM c WHERE c.o.x = 7", 1_000, 100);
    check(&collection, "SELECT c.k, MAX(c.n) FROM c WHERE c.o.x = 7 GROUP BY c.k", 1_000, 100);
    // Nothing can be both.
    check(&collection, "SELECT * FROM c WHERE c.m = 7 AND c.m = 8", 1_000, 0);
    check(&collection, "SELECT VALUE COUNT(1) FROM c WHERE c.m = 7 AND c.m = 8", 1_000, 0);
}

#[test]
fn a_covering_index_reads_no_documents() {
    let collection = Indexed::new(documents(COUNT), Some(policy()));
    let counted = check(&collection, "SELECT VALUE COUNT(1) FROM c WHERE c.k = 3", 1_000, 0);
    assert_eq!(counted.documents_found, 1_000);
    check(&collection, "SELECT VALUE COUNT(1) FROM c WHERE c.k IN (3, 4, 77)", 1_000, 0);
    check(&collection, "SELECT VALUE COUNT(1) FROM c", 1_000, 0);
    check(&collection, "SELECT VALUE SUM(c.n) FROM c", 1_000, 0);
    check(&collection, "SELECT VALUE MAX(c.n) FROM c WHERE c.n < 500", 1_000, 0);
    check(&collection, "SELECT DISTINCT VALUE c.s FROM c", 1_000, 0);
    check(&collection, "SELECT c.k, COUNT(1) AS many FROM c GROUP BY c.k", 1_000, 0);
    check(&collection, "SELECT c.k, MAX(c.n) AS most FROM c GROUP BY c.k", 1_000, 0);
    check(&collection, "SELECT TOP 10 VALUE c.n FROM c ORDER BY c.n DESC", 1_000, 0);
    check(&collection, "SELECT c.k, c.n FROM c WHERE c.k = 3 ORDER BY c.n", 10, 0);
    // Half of the documents are not in the index. They count as rows, and not as values.
    check(&collection, "SELECT VALUE COUNT(c.half) FROM c", 1_000, 0);
    check(&collection, "SELECT VALUE [COUNT(1), SUM(c.half)] FROM c", 1_000, COUNT as u64);
}

#[test]
fn min_and_max_are_at_the_ends_of_an_index() {
    let collection = Indexed::new(documents(COUNT), Some(policy()));
    let entries = |query: &str, entries: u64| {
        let metrics = check(&collection, query, 1_000, 0);
        assert_eq!(metrics.entries_read, entries, "{query}");
    };
    entries("SELECT VALUE MAX(c.n) FROM c", 1);
    // With an array or an object there would be no least value, and it would be the last.
    entries("SELECT VALUE MIN(c.n) FROM c", 2);
    entries("SELECT MIN(c.n) AS least, MAX(c.n) AS most FROM c", 2);
    entries("SELECT VALUE MIN(c.half) FROM c", 2);
    entries("SELECT VALUE MIN(c.n) FROM c WHERE c.n > 500", 1);
    entries("SELECT VALUE MAX(c.n) FROM c WHERE c.n < 500 AND c.n > 100", 1);
    entries("SELECT VALUE MAX(c.n) FROM c WHERE c.k = 3", 1);
    entries("SELECT VALUE MAX(c.n) FROM c WHERE c.k IN (3, 4, 77)", 2);
    entries("SELECT VALUE MIN(c.n) FROM c WHERE c.n % 10 = 7 AND c.n > 500", 7);
    // As plans have it for each range.
    entries("SELECT VALUE [{'item': MAX(c.n), 'item2': {'max': MAX(c.n), 'count': COUNT(c.n)}}] FROM c", 1);
}

/// The first of each list, and as many more as the page has.
#[test]
fn merged_lists_are_read_only_for_the_page() {
    let collection = Indexed::new(documents(COUNT), Some(policy()));
    let query = "SELECT TOP 10 VALUE c.n FROM c WHERE c.k IN (1, 3, 5, 7) ORDER BY c.n DESC";
    let metrics = check(&collection, query, 1_000, 0);
    assert_eq!((metrics.seeks, metrics.entries_read), (4, 14));
    let all = "SELECT c.id, c.n FROM c WHERE c.k IN (1, 3, 5, 7) ORDER BY c.n DESC";
    let metrics = check(&collection, all, 10, 10);
    assert_eq!((metrics.seeks, metrics.entries_read), (4, 14));
}

#[test]
fn an_ordered_distinct_page_stops_when_full() {
    let collection = Indexed::new(documents(COUNT), Some(policy()));
    let distinct = plan("SELECT DISTINCT VALUE c.n FROM c ORDER BY c.n");
    let first = one(&collection, &distinct, None, 10);
    assert_eq!(rows(&first), (0..10).map(Value::from).collect::<Vec<_>>());
    assert_eq!((first.metrics.entries_read, first.metrics.documents_read), (11, 0));
    let next = one(&collection, &distinct, first.next.as_deref(), 10);
    assert_eq!(rows(&next), (10..20).map(Value::from).collect::<Vec<_>>());
    assert!(next.metrics.entries_read <= 13, "{}", next.metrics.entries_read);
}

#[test]
fn an_array_or_object_makes_min_and_max_undefined() {
    let mut collection = Indexed::new(documents(COUNT), Some(policy()));
    for (at, odd) in [(1, "[]"), (2, r#"{"a":1}"#)] {
        collection.insert(at, &Value::parse(&format!(r#"{{"n":{odd},"k":3}}"#)).expect("a document"));
        for query in ["SELECT VALUE MIN(c.n) FROM c", "SELECT VALUE MAX(c.n) FROM c WHERE c.k = 3"] {
            assert!(rows(&one(&collection, &plan(query), None, 10)).is_empty(), "{query}");
        }
        let metrics = check(&collection, "SELECT VALUE MIN(c.n) FROM c WHERE c.n >= 0", 10, 0);
        assert_eq!(metrics.entries_read, 1);
        collection.remove(at);
    }
    check(&collection, "SELECT VALUE MIN(c.n) FROM c", 10, 0);
}

/// Of texts that an index keeps alike, the documents tell which is the least; of others, none is read.
#[test]
fn documents_decide_min_among_truncated_strings() {
    let long = |at: usize| format!("{}{}{at:03}", "x".repeat(INDEX_STRING_BYTES_MAX - 1), at / 100);
    let document = |at: usize| Value::parse(&format!(r#"{{"s":"{}"}}"#, long(999 - at))).expect("a document");
    let policy = Policy { paths: vec![path("/s")], ..Policy::default() };
    let collection = Indexed::new((0..1000).map(document), Some(policy));
    for (query, least) in [("SELECT VALUE MIN(c.s) FROM c", 0), ("SELECT VALUE MAX(c.s) FROM c", 999)] {
        let found = one(&collection, &plan(query), None, 10);
        assert_eq!(rows(&found), [Value::from(long(least).as_str())], "{query}");
        assert!(found.metrics.documents_read <= 103, "{}", found.metrics.documents_read);
    }
}

#[test]
fn a_scan_is_taken_where_it_is_cheaper() {
    let collection = Indexed::new(documents(COUNT), Some(policy()));
    let way = |query: &str, items| one(&collection, &plan(query), None, items).index_usage.access;
    assert_eq!(way("SELECT * FROM c WHERE c.n >= 0", 10), Access::Scan);
    assert_eq!(way("SELECT * FROM c WHERE c.k != 3", 10), Access::Scan);
    assert_eq!(way("SELECT * FROM c ORDER BY c.half", 10), Access::Scan);
    assert_eq!(way("SELECT * FROM c ORDER BY c.n", 100_000), Access::Scan);
    let few = Indexed::new(documents(5), Some(policy()));
    let page = one(&few, &plan("SELECT * FROM c WHERE c.n = 1"), None, 10);
    assert_eq!((page.index_usage.access, page.metrics.seeks), (Access::Scan, 0));
}

#[test]
fn sets_too_large_to_materialise_are_scanned_instead() {
    let count = limits::POSTINGS_MATERIALIZED_MAX as i64 + 1;
    let documents = (0..count).map(|n| Value::parse(&format!(r#"{{"n":{n}}}"#)).expect("a document"));
    let policy = Policy { paths: vec![path("/n")], ..Policy::default() };
    let collection = Indexed::new(documents, Some(policy));
    let plan = Plan { prefer: AccessPreference::Nth(1), ..plan("SELECT * FROM c WHERE c.n >= 0") };
    let found = one(&collection, &plan, None, 10);
    assert_eq!((found.count, found.metrics.documents_read), (10, 11));
    assert!(found.metrics.entries_read <= count as u64 + limits::PROBE_ENTRIES_MAX);
    let fits = Plan { prefer: AccessPreference::Nth(1), ..self::plan("SELECT * FROM c WHERE c.n > 0") };
    assert_eq!(one(&collection, &fits, None, 10).metrics.documents_read, 11);
}

/// Of a text that is too long, the index keeps a part; what it says of it must not be taken for the whole.
#[test]
fn strings_truncated_alike_are_distinguished() {
    let long = |end: &str| format!("{}{end}", "x".repeat(INDEX_STRING_BYTES_MAX));
    let document = |at: usize| {
        let text = format!(r#"{{"s":"{}","n":{at}}}"#, long(["a", "b", "c"][at % 3]));
        Value::parse(&text).expect("a document")
    };
    let policy = Policy { paths: vec![path("/s"), path("/n")], ..Policy::default() };
    let collection = Indexed::new((0..300).map(document), Some(policy));
    let (a, b) = (long("a"), long("b"));
    for query in [
        format!("SELECT VALUE COUNT(1) FROM c WHERE c.s = '{a}'"),
        format!("SELECT VALUE COUNT(1) FROM c WHERE c.s IN ('{a}', '{b}')"),
        format!("SELECT VALUE COUNT(1) FROM c WHERE c.s > '{a}'"),
        format!("SELECT DISTINCT VALUE c.s FROM c WHERE c.s IN ('{a}', '{b}')"),
        "SELECT VALUE c.n FROM c ORDER BY c.s DESC".to_owned(),
    ] {
        let query = plan(&query);
        let page = |prefer| one(&collection, &Plan { prefer, ..query.clone() }, None, 50);
        let scanned = rows(&page(AccessPreference::Scan));
        for number in 1..5 {
            let found = page(AccessPreference::Nth(number));
            assert_eq!(rows(&found), scanned, "{}", found.index_usage.access);
        }
    }
}

#[test]
fn spatial_candidates_are_filtered_again() {
    let document = |at: i64| {
        let place = format!(r#"{{"type":"Point","coordinates":[{},{}]}}"#, at % 20, at / 20);
        Value::parse(&format!(r#"{{"n":{at},"place":{place}}}"#)).expect("a document")
    };
    let policy = Policy { paths: vec![path("/n")], spatial: vec![path("/place")], ..Policy::default() };
    let none = (200..400).map(|n| Value::parse(&format!(r#"{{"n":{n}}}"#)).expect("a document"));
    let collection = Indexed::new((0..200).map(document).chain(none), Some(policy));
    let square =
        "{'type': 'Polygon', 'coordinates': [[[0.5, 0.5], [5.5, 0.5], [5.5, 3.5], [0.5, 3.5], [0.5, 0.5]]]}";
    let query = plan(&format!("SELECT VALUE c.n FROM c WHERE ST_WITHIN(c.place, {square})"));
    let page = |prefer| one(&collection, &Plan { prefer, ..query.clone() }, None, 1_000);
    let (found, scanned) = (page(AccessPreference::Nth(1)), page(AccessPreference::Scan));
    assert_eq!((found.count, found.metrics.documents_read), (15, 200), "{}", found.index_usage.access);
    assert_eq!((scanned.count, scanned.metrics.documents_read), (15, 400));
}

/// More documents with the same keys than can be put right: they are all looked at.
#[test]
fn long_runs_of_ties_keep_their_order() {
    let count = limits::POSTINGS_MATERIALIZED_MAX + 2;
    let same = std::iter::repeat_n(Value::parse(r#"{"k":1,"p":1}"#).expect("a document"), count);
    let policy = Policy { composites: vec![composite("/k ASC, /p DESC")], ..Policy::default() };
    let collection = Indexed::new(same, Some(policy));
    let query = plan("SELECT * FROM c WHERE c.k = 1 ORDER BY c.p DESC");
    let page = |prefer| one(&collection, &Plan { prefer, ..query.clone() }, None, 3);
    let (found, scanned) = (page(AccessPreference::Nth(1)), page(AccessPreference::Scan));
    assert!(matches!(found.index_usage.access, Access::IndexScan(_)), "{}", found.index_usage.access);
    // The token names the last row, and so which they were.
    assert_eq!(found.next, scanned.next);
}

/// Its hand goes on by so much each time it is looked at, which is once in about a thousand entries or rows.
struct Slow(Cell<u64>, u64);

impl Host for Slow {
    fn now_ms(&self) -> u64 {
        0
    }

    fn random(&self) -> f64 {
        0.5
    }

    fn elapsed_ms(&self) -> u64 {
        self.0.set(self.0.get() + self.1);
        self.0.get()
    }

    fn udf(&self, name: &str, _args: &[Value]) -> Result<Value, QueryError> {
        Err(QueryError::Refused(format!("no function {name}")))
    }
}

fn slowly(collection: &Indexed, plan: &Plan, next: Option<&[u8]>, ms: u64) -> Result<Page, QueryError> {
    let limits = Limits { items: usize::MAX, bytes: usize::MAX };
    page(plan, collection, &Slow(Cell::new(0), ms), next, None, limits)
}

#[test]
fn an_index_page_pauses_and_the_next_has_the_rest() {
    let collection = Indexed::new(documents(COUNT), Some(policy()));
    let plan = Plan {
        prefer: AccessPreference::Nth(1),
        ..plan("SELECT VALUE c.n FROM c WHERE c.k IN (1, 2, 3, 4)")
    };
    let (mut found, mut next, mut pages) = (Vec::new(), None, 0);
    loop {
        let page = slowly(&collection, &plan, next.as_deref(), 1_000).expect("a page");
        found.extend(rows(&page));
        (next, pages) = (page.next, pages + 1);
        if next.is_none() {
            break;
        }
    }
    assert!(pages > 1, "it was all on one page");
    found.sort();
    found.dedup();
    assert_eq!(found.len(), 4_000);
}

#[test]
fn an_index_aggregate_completes_in_one_page_or_is_refused() {
    let collection = Indexed::new(documents(COUNT), Some(policy()));
    let plan = plan("SELECT VALUE COUNT(1) FROM c WHERE c.k IN (1, 2, 3, 4)");
    let whole = slowly(&collection, &plan, None, 1_000).expect("a page");
    assert_eq!((rows(&whole), whole.next), (vec![Value::from(4_000i64)], None));
    let refused = slowly(&collection, &plan, None, 20_000);
    assert!(matches!(refused, Err(QueryError::TooLong(_))), "{refused:?}");
}
