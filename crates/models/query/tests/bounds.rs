//! Queries made to be expensive: each is refused, or ends in time, whatever it was made of.

#[path = "support/memory.rs"]
mod memory;

use memory::{Memory, answer};
use orrery_query::execute::{Collection, Host, Limits, page};
use orrery_query::plan::Rules;
use orrery_query::{QueryError, prepare};
use orrery_value::Value;
use std::cell::Cell;

/// A clock that goes on by a second at each look.
#[derive(Default)]
struct Fast(Cell<u64>);

impl Host for Fast {
    fn now_ms(&self) -> u64 {
        0
    }

    fn random(&self) -> f64 {
        0.5
    }

    fn elapsed_ms(&self) -> u64 {
        self.0.set(self.0.get() + 1000);
        self.0.get()
    }

    fn udf(&self, name: &str, _args: &[Value]) -> Result<Value, QueryError> {
        Err(QueryError::Refused(name.to_owned()))
    }
}

fn documents(texts: &[&str]) -> Memory {
    let values: Vec<Value> = texts.iter().map(|text| Value::parse(text).expect(text)).collect();
    Memory::new(&values)
}

/// What comes of the first page when time flies.
fn outcome(query: &str, documents: &dyn Collection) -> Result<usize, QueryError> {
    let plan = prepare(query, &[], Rules::On)?.plan;
    let limits = Limits { items: 1000, bytes: 4 << 20 };
    page(&plan, documents, &Fast::default(), None, None, limits).map(|page| page.count)
}

fn refused(query: &str, documents: &dyn Collection, why: &str) {
    match outcome(query, documents) {
        Err(QueryError::Refused(message) | QueryError::TooLong(message)) => {
            assert!(message.contains(why), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

/// Runs on a thread as small as the server's, so that recursion shows.
fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(test).expect("a thread");
    thread.join().expect("the test passes");
}

#[test]
fn building_a_value_beyond_the_depth_limit_is_refused() {
    on_a_small_stack(|| {
        let wrapped = |inner: &str| format!("{}{inner}{}", "[".repeat(60), "]".repeat(60));
        let joins: String = (1..10)
            .map(|i| format!(" JOIN (SELECT VALUE {}) AS j{i}", wrapped(&format!("j{}", i - 1))))
            .collect();
        let query = format!("SELECT VALUE j9 FROM c JOIN (SELECT VALUE [c.id]) AS j0{joins}");
        refused(&query, &documents(&[r#"{"id":"a"}"#]), "levels");
    });
}

#[test]
fn the_deepest_item_can_be_nested_in_a_row() {
    on_a_small_stack(|| {
        let deep = |n: usize| format!(r#"{{"n":{n},"d":{}{}}}"#, "[".repeat(127), "]".repeat(127));
        let texts = [deep(1), deep(2), deep(3)];
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for query in [
            "SELECT VALUE s.c.n FROM (SELECT DISTINCT c FROM c) AS s",
            "SELECT DISTINCT VALUE {k: c} FROM c GROUP BY c",
            "SELECT VALUE {k: c, l: [c]} FROM c GROUP BY c",
        ] {
            for items in [1, 1000] {
                let plan = prepare(query, &[], Rules::On).expect(query).plan;
                let rows = answer(&plan, &documents(&texts), items).expect(query);
                assert_eq!(rows.len(), 3, "{query} in pages of {items}");
            }
        }
    });
}

#[test]
fn copies_of_a_large_parameter_are_bounded() {
    let large = Value::from("x".repeat(1_000_000));
    let uses = vec!["@p"; 2000].join(", ");
    let query = format!("SELECT VALUE [{uses}]");
    let error = prepare(&query, &[("@p".to_owned(), large.clone())], Rules::On).expect_err("too much");
    assert!(error.to_string().contains("as often as they are used"), "{error}");
    assert!(prepare("SELECT VALUE [@p, @p, @p]", &[("@p".to_owned(), large)], Rules::On).is_ok());
}

#[test]
fn a_list_is_measured_while_it_is_built() {
    let text = format!(r#"{{"s":"{}","l":[1,2,3,4,5,6,7,8,9,10]}}"#, "x".repeat(300_000));
    let each = vec!["ARRAY(SELECT VALUE c.s FROM x IN c.l)"; 20].join(", ");
    let documents = documents(&[&text]);
    refused(&format!("SELECT VALUE ARRAY_LENGTH([{each}]) FROM c"), &documents, "MB");
    refused(&format!("SELECT VALUE ARRAY_LENGTH(ARRAY_CONCAT({each})) FROM c"), &documents, "MB");
}

#[test]
fn joins_without_a_row_still_cost_time() {
    let numbers: Vec<String> = (0..400).map(|n| n.to_string()).collect();
    let text = format!(r#"{{"l":[{}]}}"#, numbers.join(","));
    let query =
        "SELECT VALUE 1 FROM c JOIN a IN c.l JOIN b IN c.l JOIN d IN c.l JOIN e IN c.l JOIN z IN c.none";
    refused(query, &documents(&[&text]), "longer than");
}

#[test]
fn backtracking_in_like_costs_time() {
    let text = format!(r#"{{"s":"{}"}}"#, "a".repeat(200_000));
    let query = format!("SELECT VALUE c.s LIKE '%{}b' FROM c", "a".repeat(20_000));
    refused(&query, &documents(&[&text]), "longer than");
}

#[test]
fn long_lists_are_bound_in_linear_time() {
    let names = vec!["1"; 100_000].join(",");
    assert_eq!(outcome(&format!("SELECT {names}"), &documents(&[])), Ok(1));
    let parameters: Vec<(String, Value)> =
        (0..20_000).map(|n| (format!("@p{n}"), Value::from(1i64))).collect();
    let uses: Vec<&str> = parameters.iter().map(|(name, _)| name.as_str()).collect();
    let query = format!("SELECT VALUE [{}]", uses.join(","));
    assert!(prepare(&query, &parameters, Rules::On).is_ok());
}

#[test]
fn a_selective_subquery_pauses_too() {
    let texts: Vec<String> = (0..20_000).map(|n| format!(r#"{{"n":{n}}}"#)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let documents = documents(&texts);
    let plan =
        prepare("SELECT VALUE s FROM (SELECT VALUE c.n FROM c WHERE c.n = 19999) AS s", &[], Rules::On)
            .expect("a plan")
            .plan;
    let (mut rows, mut pages, mut next) = (0, 0, None::<Vec<u8>>);
    loop {
        let limits = Limits { items: 10, bytes: 4 << 20 };
        let page = page(&plan, &documents, &Fast::default(), next.as_deref(), None, limits).expect("a page");
        (rows, pages) = (rows + page.count, pages + 1);
        next = page.next;
        if next.is_none() {
            break;
        }
    }
    assert_eq!(rows, 1);
    assert!(pages > 2, "{pages} pages");
}

#[test]
fn ordered_distinct_rows_need_few_pages() {
    let texts: Vec<String> = (0..300).map(|n| format!(r#"{{"n":{n},"g":{}}}"#, n % 3)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let documents = documents(&texts);
    let plan = prepare("SELECT DISTINCT c.g FROM c ORDER BY c.n", &[], Rules::On).expect("a plan").plan;
    let (mut pages, mut next) = (0, None::<Vec<u8>>);
    loop {
        let limits = Limits { items: 1, bytes: 4 << 20 };
        let page = page(&plan, &documents, &memory::Still, next.as_deref(), None, limits).expect("a page");
        pages += 1;
        next = page.next;
        if next.is_none() {
            break;
        }
    }
    assert!(pages <= 4, "{pages} pages for three rows");
}
