//! Executes a query over several partitions that the server leaves to its client: the plan, the ranges, and the merging
//! of rows.
//!
//! An Orrery merges itself, because [`Call::query`] asks for that; Azure does not. An [`Exchange`] sends the calls,
//! with retries.

use crate::answer::{Answer, elements, not_understood};
use crate::call::{Call, ENABLE_CROSS_PARTITION, RANGE};
use crate::ranges::Range;
use bytes::Bytes;
use orrery_query::QueryError;
use orrery_query::plan::distributed::merge::{self, FEATURES, Merge, Next};
use orrery_query::plan::distributed::{Distributed, QueryRange};
use orrery_value::{Value, utf8};

/// Whether the server refuses a query because the client must merge its ranges.
pub fn is_left_to_client(answer: &Answer) -> bool {
    merge::is_left_to_client(answer.status.as_u16(), answer.substatus(), &answer.refusal())
}

/// Sends calls and returns successful responses.
pub trait Exchange: Sync {
    type Error: Send;

    fn exchange(&self, call: Call) -> impl Future<Output = Result<Answer, Self::Error>> + Send;

    /// The unsplit ranges of the container, in order.
    fn ranges(
        &self,
        database: &str,
        container: &str,
    ) -> impl Future<Output = Result<Vec<Range>, Self::Error>> + Send;

    /// The error for a malformed response; the text is a sentence.
    fn not_understood(&self, why: String) -> Self::Error;

    /// The error for a query that cannot be merged.
    fn refused(&self, error: QueryError) -> Self::Error;
}

pub struct Merged<'a, X> {
    by: &'a X,
    database: &'a str,
    container: &'a str,
    /// The query and its parameters; the ranges get a rewritten text.
    body: Value,
    ranges: Vec<Range>,
    merge: Merge,
    pub pages: u64,
    /// Request units.
    pub charge: f64,
}

impl<'a, X: Exchange> Merged<'a, X> {
    pub async fn begin(
        by: &'a X,
        database: &'a str,
        container: &'a str,
        body: &Bytes,
    ) -> Result<Self, X::Error> {
        let answer = by.exchange(Call::query_plan(database, container, body.clone(), FEATURES)).await?;
        let unknown = |error: String| by.not_understood(error);
        let plan = value(&answer.body).map_err(unknown)?;
        let (plan, wanted) = Distributed::read(&plan).map_err(|error| by.refused(error))?;
        let ranges = overlapping(by.ranges(database, container).await?, &wanted);
        let body = value(body).map_err(unknown)?;
        let Value::String(text) = body.member("query") else { return Err(unknown(not_understood())) };
        let merge = Merge::new(&plan, text, ranges.len());
        let charge = answer.charge();
        Ok(Self { by, database, container, ranges, merge, pages: 0, charge, body })
    }

    pub async fn next(&mut self) -> Result<Option<Value>, X::Error> {
        loop {
            match self.merge.next().map_err(|error| self.by.refused(error))? {
                Next::Row(row) => return Ok(Some(row)),
                Next::End => return Ok(None),
                Next::Fetch { range, text, continuation } => {
                    let (rows, next) = self.fetch(range, &text, continuation).await?;
                    self.merge.accept(rows, next);
                }
            }
        }
    }

    async fn fetch(
        &mut self,
        range: usize,
        text: &str,
        continuation: Option<String>,
    ) -> Result<(Vec<Value>, Option<String>), X::Error> {
        let parameters = self.body.member("parameters").clone();
        let body =
            Value::Object(vec![("query".to_owned(), text.into()), ("parameters".to_owned(), parameters)]);
        let call = Call::page_of_query(self.database, self.container, body.to_json())
            .header(ENABLE_CROSS_PARTITION, "True")
            .header(RANGE, self.ranges[range].id.as_str())
            .after(continuation);
        let answer = self.by.exchange(call).await?;
        self.pages += 1;
        self.charge += answer.charge();
        let rows = rows(&answer).map_err(|error| self.by.not_understood(error))?;
        Ok((rows, answer.continuation()))
    }
}

/// Those that overlap the wanted keys; at least one, to get a response from.
fn overlapping(all: Vec<Range>, wanted: &[QueryRange]) -> Vec<Range> {
    let first = all.first().cloned();
    let is_wanted = |range: &Range| wanted.iter().any(|wanted| wanted.overlaps(&range.min, &range.max));
    let found: Vec<Range> = all.into_iter().filter(is_wanted).collect();
    if found.is_empty() { first.into_iter().collect() } else { found }
}

fn rows(answer: &Answer) -> Result<Vec<Value>, String> {
    elements(answer)?.into_iter().map(|row| Value::parse(row).map_err(|_| not_understood())).collect()
}

fn value(body: &Bytes) -> Result<Value, String> {
    let text = utf8(body).map_err(|_| not_understood())?;
    Value::parse(text).map_err(|_| not_understood())
}
