//! Merging: follows a plan over several ranges, as the official SDKs do.
//!
//! A [`Merge`] is a state machine without I/O. It asks for the next page of a text in a range, takes the page's rows,
//! and gives the rows of the answer:
//!
//! ```text
//! next() ─> Fetch { range, text, continuation } ─ the caller sends it ─> give(rows, continuation)
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
//! Ordered rows and rows without any step are streamed. Groups, distinct rows and ranked rows are held, up to
//! [`QUERY_MEMORY_BYTES_MAX`](crate::limits::QUERY_MEMORY_BYTES_MAX). Rows with equal sort keys come in the order
//! of their `_rid`, which may be another order than a single range would give them.
//!
//! Absent: HTTP, and what to do when a range is split on the way; the caller starts again.

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

/// What [`Merge`] can do with a plan, for `x-ms-cosmos-supported-query-features`.
pub const FEATURES: &str = "Aggregate,CompositeAggregate,Distinct,GroupBy,MultipleAggregates,MultipleOrderBy,\
                            OffsetAndLimit,OrderBy,Top,NonValueAggregate,DCount,NonStreamingOrderBy,\
                            ListAndSetAggregate,CountIf,HybridSearch,WeightedRankFusion";
const CROSS_PARTITION_NOT_SERVABLE: u32 = 1004;
const AGGREGATES_ONLY_AS_VALUE: &str = "Cross partition query only supports";

/// Whether a store refuses a query because its client has to merge the ranges.
pub fn is_left_to_client(status: u16, substatus: u32, message: &str) -> bool {
    status == 400 && (substatus == CROSS_PARTITION_NOT_SERVABLE || message.contains(AGGREGATES_ONLY_AS_VALUE))
}

/// The rows of several ranges becoming one answer.
pub struct Merge {
    work: Work,
    /// The range whose page was asked for.
    asked: usize,
}

enum Work {
    Plain(Box<Pipeline>),
    Hybrid(Box<Hybrid>),
}

/// What a [`Merge`] needs or has.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// The page of `text` in this range that begins at `continuation`; to be answered by [`Merge::give`].
    Fetch {
        range: usize,
        text: String,
        continuation: Option<String>,
    },
    Row(Value),
    End,
}

impl Merge {
    /// Follows the plan of `text` over so many ranges.
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

    /// The page that was asked for, and where the range goes on.
    pub fn give(&mut self, rows: Vec<Value>, continuation: Option<String>) {
        match &mut self.work {
            Work::Plain(pipeline) => pipeline.give(self.asked, rows, continuation),
            Work::Hybrid(hybrid) => hybrid.give(self.asked, rows, continuation),
        }
    }
}

/// The elements of an array; of anything else, none.
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
    fn only_refusals_that_mean_merging_are_taken_for_them() {
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

    /// Rows of ranges that have pages of two; each range's continuation is where its next page begins.
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
                    merge.give(page.iter().map(|row| Value::read(row)).collect(), next);
                }
            }
        }
    }

    fn ordered(key: u32) -> String {
        format!(r#"{{"_rid":"r{key}","orderByItems":[{{"item":{key}}}],"payload":{key}}}"#)
    }

    #[test]
    fn ordered_rows_are_fetched_only_as_far_as_they_are_wanted() {
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
    fn rows_without_a_step_are_of_one_range_after_the_other() {
        let (rows, pages) = run("SELECT TOP 4 VALUE c.n FROM c", &[&["1", "2", "3"], &[], &["4", "5"]]);
        assert_eq!((rows.join(","), pages), ("1,2,3,4".to_owned(), 4));
        assert_eq!(run("SELECT TOP 0 * FROM c", &[&["1"]]).1, 0, "nothing is asked for");
    }

    #[test]
    fn a_row_that_the_plan_does_not_fit_is_an_error() {
        for (text, row) in [
            ("SELECT * FROM c ORDER BY c.n", r#"{"id":"1"}"#),
            ("SELECT * FROM c ORDER BY c.n", r#"{"_rid":"r","orderByItems":[],"payload":1}"#),
            ("SELECT VALUE COUNT(1) FROM c", r#"[{}]"#),
        ] {
            let mut merge = Merge::new(&plan(text), text, 1);
            assert!(matches!(merge.next(), Ok(Next::Fetch { .. })));
            merge.give(vec![Value::read(row)], None);
            assert!(matches!(merge.next(), Err(QueryError::Refused(_))), "{text} {row}");
        }
    }
}
