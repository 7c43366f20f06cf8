//! Runs arbitrary queries over arbitrary documents.

use super::choices::Choices;
use crate::datum::Datum;
use crate::error::QueryError;
use crate::execute::{Collection, Host, Limits, ScannedDocument, Start, page};
use crate::plan::{Plan, Rules};
use crate::prepare::prepare;
use orrery_value::{Value, raw};
use std::cell::Cell;
use std::ops::ControlFlow;

/// A query with a thousand rows need not be read to its end.
const PAGES_MAX: usize = 200;
/// The clock's advance at each check: a page pauses after a few thousand rows.
const MS_PER_CLOCK_CHECK: u64 = 1_000;
const BYTES_PER_PAGE: usize = 1024 * 1024;

/// A query over a few documents either succeeds or is refused, page by page to an end. Pages of one row give
/// the rows of a single page, and so does the plan without its rules. Bytes that begin with `#` are query
/// text; others are choices. Returns whether there was a result.
pub fn query_execute(data: &[u8]) -> bool {
    let (documents, text) = match data.strip_prefix(b"#") {
        Some(text) => (samples(), String::from_utf8_lossy(text).into_owned()),
        None => {
            let mut choices = Choices(data);
            (choices.documents(), choices.query())
        }
    };
    let documents = Documents(documents);
    let Ok(whole) = answer(&text, &documents, Rules::On, usize::MAX) else { return false };
    match answer(&text, &documents, Rules::On, 1) {
        Ok(singly) => assert_same_start(&singly, &whole, |a, b| a == b, &text, &documents),
        Err(QueryError::TooLong(_)) => {}
        Err(QueryError::Refused(message)) if message.contains("continuation token") => {}
        Err(error) => panic!("{error} only when read row by row: {text}"),
    }
    match answer(&text, &documents, Rules::Off, usize::MAX) {
        Ok(plain) => assert_same_start(&plain, &whole, equal, &text, &documents),
        Err(error) => panic!("{error} only without rules: {text}"),
    }
    true
}

fn samples() -> Vec<String> {
    let documents = [
        r#"{"id":"a","n":1,"s":"abc","l":[1,2,{"n":1.0,"s":"x"}],"o":{"n":null,"l":[3,3]}}"#,
        r#"{"id":"b","n":2.5,"s":"","l":[],"m":true}"#,
        r#"{"id":"c","n":"1","s":"a%_","l":[[1,2],[2,1]],"o":{"n":-1}}"#,
        r#"{"id":"d","l":[1,1.0,"1",null]}"#,
    ];
    documents.map(str::to_owned).to_vec()
}

fn equal(a: &str, b: &str) -> bool {
    Value::read(a) == Value::read(b)
}

/// Compares the results as far as both were read.
fn assert_same_start(
    found: &Answer,
    expected: &Answer,
    equal: fn(&str, &str) -> bool,
    text: &str,
    documents: &Documents,
) {
    let is_same = found.rows.iter().zip(&expected.rows).all(|(a, b)| equal(a, b));
    let is_whole = !found.is_cut && !expected.is_cut;
    assert!(
        is_same && (!is_whole || found.rows.len() == expected.rows.len()),
        "{text}\nover {:?}\ngave     {:?}\nexpected {:?}",
        documents.0,
        found.rows,
        expected.rows
    );
}

#[derive(Default)]
struct Answer {
    rows: Vec<String>,
    /// Whether more rows were left unread.
    is_cut: bool,
}

fn answer(text: &str, documents: &Documents, rules: Rules, items: usize) -> Result<Answer, QueryError> {
    let plan = prepare(text, &[], rules)?.plan;
    let (mut answer, mut next) = (Answer::default(), None::<Vec<u8>>);
    for _ in 0..PAGES_MAX {
        let (rows, then) = one(&plan, documents, next.as_deref(), items, text)?;
        answer.rows.extend(rows);
        let Some(then) = then else { return Ok(answer) };
        assert_ne!(Some(&then), next.as_ref(), "a page goes on from where it began: {text}");
        next = Some(then);
    }
    Ok(Answer { is_cut: true, ..answer })
}

type Rows = (Vec<String>, Option<Vec<u8>>);

fn one(
    plan: &Plan,
    documents: &Documents,
    next: Option<&[u8]>,
    items: usize,
    text: &str,
) -> Result<Rows, QueryError> {
    let clock = Clock(Cell::new(0));
    let page = page(plan, documents, &clock, next, None, Limits { items, bytes: BYTES_PER_PAGE })?;
    let list = [b"[", &page.rows[..], b"]"].concat();
    orrery_value::scan_value(&list).unwrap_or_else(|error| panic!("{text} gave no JSON: {error}"));
    let list = std::str::from_utf8(&list).expect("JSON is UTF-8");
    let rows: Vec<String> = raw::elements(list).map(str::to_owned).collect();
    assert_eq!(rows.len(), page.count, "{text}");
    assert!(rows.len() <= items, "{text}");
    Ok((rows, page.next))
}

struct Clock(Cell<u64>);

impl Host for Clock {
    fn now_ms(&self) -> u64 {
        1_714_979_289_123
    }

    fn random(&self) -> f64 {
        0.5
    }

    fn elapsed_ms(&self) -> u64 {
        self.0.set(self.0.get() + MS_PER_CLOCK_CHECK);
        self.0.get()
    }

    fn udf(&self, name: &str, _args: &[Value]) -> Result<Value, QueryError> {
        Err(QueryError::Refused(format!("There is no user-defined function '{name}'.")))
    }
}

#[derive(Debug)]
struct Documents(Vec<String>);

impl Collection for Documents {
    fn scan(
        &self,
        start: &Start,
        visit: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> Result<(), QueryError> {
        let number = |position: &[u8]| position.first().map_or(0, |byte| usize::from(*byte));
        let first = match start {
            Start::Beginning => 0,
            Start::At(position) => number(position),
            Start::After(position) => number(position) + 1,
        };
        for (i, text) in self.0.iter().enumerate().skip(first) {
            let (position, root) = ([i as u8], Datum::read(text));
            let found =
                ScannedDocument { position: &position, ordinal: i as u64, part: 0, bytes: text.len(), root };
            if visit(found).is_break() {
                break;
            }
        }
        Ok(())
    }
}
