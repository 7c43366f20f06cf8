//! Merging: executes a plan over several ranges, as the official SDKs do.
//!
//! A [`Merge`] is a state machine without I/O. It requests the next page of a query in a range, accepts the
//! page's rows, and emits the rows of the result:
//!
//! ```text
//! next() ─> Fetch { range, text, continuation } ─ the caller sends it ─> accept(rows, continuation)
//!        ─> Row(value)
//!        ─> End
//! ```
//!
//! ```text
//! read       the plan's JSON
//! sources    the pages of every range, in the order of ORDER BY or one range after the other
//! groups     aggregates and GROUP BY
//! pipeline   sources ─> groups ─> DISTINCT ─> OFFSET, LIMIT and TOP
//! hybrid     ORDER BY RANK: statistics, one pipeline for each score, ranks fused
//! ```
//!
//! Ordered rows and rows that need no further step are streamed. Groups, distinct rows and ranked rows are
//! buffered, up to [`QUERY_MEMORY_BYTES_MAX`](crate::limits::QUERY_MEMORY_BYTES_MAX). Rows with equal sort
//! keys come in the order of their `_rid`, which may differ from the order a single range would give them.
//!
//! Absent: HTTP, and recovery when a range splits meanwhile; the caller starts again.

mod groups;
mod hybrid;
mod pipeline;
mod read;
mod sources;

use super::info::Distributed;
use crate::error::QueryError;
use hybrid::Hybrid;
use orrery_value::Value;
use pipeline::{Output, Pipeline};

/// The features that [`Merge`] supports, for `x-ms-cosmos-supported-query-features`.
pub const FEATURES: &str = "Aggregate,CompositeAggregate,Distinct,GroupBy,MultipleAggregates,MultipleOrderBy,\
                            OffsetAndLimit,OrderBy,Top,NonValueAggregate,DCount,NonStreamingOrderBy,\
                            ListAndSetAggregate,CountIf,HybridSearch,WeightedRankFusion";
const CROSS_PARTITION_NOT_SERVABLE: u32 = 1004;
const AGGREGATES_ONLY_AS_VALUE: &str = "Cross partition query only supports";

/// Whether a store refused a query because its client has to merge the ranges.
pub fn is_left_to_client(status: u16, substatus: u32, message: &str) -> bool {
    status == 400 && (substatus == CROSS_PARTITION_NOT_SERVABLE || message.contains(AGGREGATES_ONLY_AS_VALUE))
}

/// Merges the rows of several ranges into one result.
pub struct Merge {
    work: Work,
    /// The range whose page was requested.
    asked: usize,
}

enum Work {
    Plain(Box<Pipeline>),
    Hybrid(Box<Hybrid>),
}

/// The next request or result of a [`Merge`].
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Requests the page of `text` in this range that begins at `continuation`; answer with
    /// [`Merge::accept`].
    Fetch {
        range: usize,
        text: String,
        continuation: Option<String>,
    },
    Row(Value),
    End,
}

impl Merge {
    /// Executes the plan of `text` over this many ranges.
    pub fn new(plan: &Distributed, text: &str, ranges: usize) -> Self {
        let work = match &plan.hybrid {
            Some(hybrid) => Work::Hybrid(Box::new(Hybrid::new(hybrid, ranges))),
            None => Work::Plain(Box::new(Pipeline::new(&plan.info, text, ranges, Output::Payload))),
        };
        Self { work, asked: 0 }
    }

    #[expect(clippy::should_implement_trait, reason = "it also asks, and it fails")]
    pub fn next(&mut self) -> Result<Next, QueryError> {
        let next = match &mut self.work {
            Work::Plain(pipeline) => pipeline.next()?,
            Work::Hybrid(hybrid) => hybrid.next()?,
        };
        if let Next::Fetch { range, .. } = &next {
            self.asked = *range;
        }
        Ok(next)
    }

    /// Accepts the requested page and the range's continuation.
    pub fn accept(&mut self, rows: Vec<Value>, continuation: Option<String>) {
        match &mut self.work {
            Work::Plain(pipeline) => pipeline.accept(self.asked, rows, continuation),
            Work::Hybrid(hybrid) => hybrid.accept(self.asked, rows, continuation),
        }
    }
}

/// The elements of an array; empty for anything else.
fn elements(value: &Value) -> &[Value] {
    if let Value::Array(items) = value { items } else { &[] }
}

fn number(value: &Value) -> Option<f64> {
    if let Value::Number(number) = value { Some(number.as_f64()) } else { None }
}

fn not_understood(row: &Value) -> QueryError {
    let shown: String = row.to_json().chars().take(200).collect();
    QueryError::Refused(format!("A range gave a row that the plan does not fit: {shown}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_merge_refusals_are_recognized() {
        let aggregates = "Cross partition query only supports 'VALUE <AggregateFunc>' for aggregates.";
        assert!(is_left_to_client(400, 1004, ""));
        assert!(is_left_to_client(400, 0, aggregates));
        assert!(!is_left_to_client(400, 0, "Syntax error"));
        assert!(!is_left_to_client(404, 1004, aggregates));
    }

    fn plan(text: &str) -> Distributed {
        let query = crate::parse::parse(text).expect(text);
        super::super::distribute(&query, &[], &super::super::DistributeOptions::default()).expect(text)
    }

    /// The rows of ranges with pages of two; a range's continuation is the index of its next page's
    /// first row.
    fn run(text: &str, ranges: &[&[&str]]) -> (Vec<String>, usize) {
        let mut merge = Merge::new(&plan(text), text, ranges.len());
        let (mut rows, mut pages) = (Vec::new(), 0);
        loop {
            match merge.next().expect("a plan that fits") {
                Next::End => return (rows, pages),
                Next::Row(row) => rows.push(row.to_json()),
                Next::Fetch { range, continuation, .. } => {
                    pages += 1;
                    let start = continuation.map_or(0, |token| token.parse().expect("a number"));
                    let page: Vec<&&str> = ranges[range].iter().skip(start).take(2).collect();
                    let next = (start + 2 < ranges[range].len()).then(|| (start + 2).to_string());
                    merge.accept(page.iter().map(|row| Value::read(row)).collect(), next);
                }
            }
        }
    }

    fn ordered(key: u32) -> String {
        format!(r#"{{"_rid":"r{key}","orderByItems":[{{"item":{key}}}],"payload":{key}}}"#)
    }

    #[test]
    fn ordered_rows_are_fetched_only_as_needed() {
        let [odd, even] = [[1, 3, 5, 7, 9], [2, 4, 6, 8, 10]].map(|keys| keys.map(ordered));
        let [odd, even]: [Vec<&str>; 2] = [&odd, &even].map(|rows| rows.iter().map(String::as_str).collect());
        let (rows, pages) = run("SELECT VALUE c.n FROM c ORDER BY c.n", &[&odd, &even]);
        assert_eq!(rows, (1..=10).map(|key| key.to_string()).collect::<Vec<_>>());
        assert_eq!(pages, 6);
        let (rows, pages) = run("SELECT TOP 3 VALUE c.n FROM c ORDER BY c.n", &[&odd, &even]);
        assert_eq!((rows.join(","), pages), ("1,2,3".to_owned(), 2));
        let (rows, _) = run("SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 4 LIMIT 2", &[&odd, &even]);
        assert_eq!(rows.join(","), "5,6");
    }

    #[test]
    fn rows_without_a_step_are_concatenated() {
        let (rows, pages) = run("SELECT TOP 4 VALUE c.n FROM c", &[&["1", "2", "3"], &[], &["4", "5"]]);
        assert_eq!((rows.join(","), pages), ("1,2,3,4".to_owned(), 4));
        assert_eq!(run("SELECT TOP 0 * FROM c", &[&["1"]]).1, 0, "nothing is asked for");
    }

    #[test]
    fn a_row_that_does_not_fit_the_plan_is_an_error() {
        for (text, row) in [
            ("SELECT * FROM c ORDER BY c.n", r#"{"id":"1"}"#),
            ("SELECT * FROM c ORDER BY c.n", r#"{"_rid":"r","orderByItems":[],"payload":1}"#),
            ("SELECT VALUE COUNT(1) FROM c", r#"[{}]"#),
        ] {
            let mut merge = Merge::new(&plan(text), text, 1);
            assert!(matches!(merge.next(), Ok(Next::Fetch { .. })));
            merge.accept(vec![Value::read(row)], None);
            assert!(matches!(merge.next(), Err(QueryError::Refused(_))), "{text} {row}");
        }
    }
}
