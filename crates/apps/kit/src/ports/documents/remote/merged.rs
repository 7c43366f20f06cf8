//! Queries over several partitions whose rows need merging: ORDER BY, aggregates, GROUP BY, DISTINCT, TOP and OFFSET.
//!
//! The store is asked as a whole first. Another Orrery answers in full, because it is asked to; any store answers where
//! the filter names one partition key. What it leaves to its client is merged here, by the plan that it gives.
//!
//! A page of a merged answer goes on by counting the rows before it: the ranges are read from the beginning again. That
//! survives splits, and costs what it says; whoever pages through many rows in order asks one partition at a time.

use super::Remote;
use super::call::{Ask, Patience, RANGE, Sees, send};
use super::errors::{self, Answer};
use super::query::{Feed, body};
use super::ranges::{self, Range};
use crate::ports::documents::{Page, Query, StoreError};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::Method;
use http::header::CONTENT_TYPE;
use orrery_core::limits;
use orrery_query::plan::distributed::merge::{FEATURES, Merge, Next, is_left_to_client};
use orrery_query::plan::distributed::{Distributed, needs_merging};
use orrery_query::{QueryError, parse};
use orrery_value::Value as Datum;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

const VERSION: u8 = 1;
/// Of our own server; others ignore it.
const CROSS_PARTITION: &str = "x-orrery-cross-partition";

/// Whether the ranges' rows one after the other are not the answer. What cannot be read is for the store to refuse.
pub fn is_needed(query: &Query) -> bool {
    parse::parse(&query.text).is_ok_and(|query| needs_merging(&query))
}

/// Where an answer goes on.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum At {
    /// At a token of the store, which answers as a whole.
    Store(String),
    /// After so many rows of the merged answer.
    Behind(u64),
}

#[derive(Serialize, Deserialize)]
struct Written {
    v: u8,
    of: String,
    at: At,
}

pub async fn page(remote: &Remote, container: &str, of: &str, query: &Query) -> Result<Page, StoreError> {
    let asked = Asked { remote, container, query };
    let begun = query.continuation.as_deref().map(|text| read(of, text)).transpose()?;
    let (page, at) = match begun {
        Some(At::Behind(behind)) => asked.merged(behind).await?,
        Some(At::Store(token)) => match asked.whole(Some(&token)).await? {
            Whole::Answered(page, at) => (page, at),
            Whole::LeftToClient => return Err(not_this_question()),
        },
        None => match asked.whole(None).await? {
            Whole::Answered(page, at) => (page, at),
            Whole::LeftToClient => asked.merged(0).await?,
        },
    };
    let continuation = at.map(|at| write(of, at)).transpose()?;
    Ok(Page { continuation, ..page })
}

fn read(of: &str, text: &str) -> Result<At, StoreError> {
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| not_this_question())?;
    let written: Written = serde_json::from_slice(&bytes).map_err(|_| not_this_question())?;
    let is_ours = written.v == VERSION && written.of == of;
    if is_ours { Ok(written.at) } else { Err(not_this_question()) }
}

fn write(of: &str, at: At) -> Result<String, StoreError> {
    let text = serde_json::to_vec(&Written { v: VERSION, of: of.to_owned(), at });
    Ok(URL_SAFE_NO_PAD.encode(text.map_err(|error| errors::refused(500, error.to_string()))?))
}

fn not_this_question() -> StoreError {
    errors::refused(400, "the continuation is not one of this question; start from the beginning")
}

enum Whole {
    Answered(Page, Option<At>),
    LeftToClient,
}

struct Asked<'a> {
    remote: &'a Remote,
    container: &'a str,
    query: &'a Query,
}

impl Asked<'_> {
    fn items_max(&self) -> usize {
        if self.query.items_max == 0 { limits::PAGE_ITEMS_DEFAULT } else { self.query.items_max }
    }

    fn ask(&self, text: &str) -> Ask<'_> {
        let path = vec!["dbs", &self.remote.inner.database, "colls", self.container, "docs"];
        Ask::new(Method::POST, path)
            .header(CONTENT_TYPE.as_str(), "application/query+json")
            .header("x-ms-documentdb-query-enablecrosspartition", "true")
            .body(body(text, self.query))
            .session(self.container, Sees::Before)
    }

    /// One page of the store's own answer.
    async fn whole(&self, token: Option<&str>) -> Result<Whole, StoreError> {
        let mut ask = self
            .ask(&self.query.text)
            .header("x-ms-documentdb-isquery", "true")
            .header("x-ms-max-item-count", self.items_max().to_string());
        if self.remote.has_shortcut {
            ask = ask.header(CROSS_PARTITION, "direct");
        }
        if let Some(token) = token {
            ask = ask.header("x-ms-continuation", token);
        }
        let answer = send(self.remote, &ask, &mut Patience::new(self.remote)).await?;
        if is_left_to_client(answer.status(), answer.substatus(), &answer.message()) {
            return Ok(Whole::LeftToClient);
        }
        let (rows, token) = rows(&answer)?;
        let page = Page { rows, continuation: None, charge: answer.charge() };
        Ok(Whole::Answered(page, token.map(At::Store)))
    }

    /// One page of the merged answer, after so many rows; begun again when ranges are split meanwhile.
    async fn merged(&self, behind: u64) -> Result<(Page, Option<At>), StoreError> {
        let mut patience = Patience::new(self.remote);
        for _ in 0..limits::SERVICE_STORE_MOVES_MAX {
            match self.merged_once(behind, &mut patience).await? {
                Some(page) => return Ok(page),
                None => self.remote.inner.ranges.forget(self.container),
            }
        }
        Err(StoreError::Unavailable("its partitions are being moved".to_owned()))
    }

    /// Nothing if a range is gone.
    async fn merged_once(
        &self,
        behind: u64,
        patience: &mut Patience,
    ) -> Result<Option<(Page, Option<At>)>, StoreError> {
        let (plan, mut charge) = self.plan(patience).await?;
        let ranges = self.ranges_of(&plan).await?;
        let mut merge = Merge::new(&plan.0, &self.query.text, ranges.len());
        let (mut skip, mut rows) = (behind, Vec::new());
        loop {
            match merge.next().map_err(refused)? {
                Next::Fetch { range, text, continuation } => {
                    let answer = self.fetch(&ranges[range], &text, continuation, patience).await?;
                    if answer.is_gone() {
                        return Ok(None);
                    }
                    charge += answer.charge();
                    let (page, next) = self::rows(&answer)?;
                    merge.give(page.iter().map(|row| Datum::read(&row.to_string())).collect(), next);
                }
                Next::Row(_) if skip > 0 => skip -= 1,
                Next::Row(_) if rows.len() == self.items_max() => {
                    let at = At::Behind(behind + rows.len() as u64);
                    return Ok(Some((Page { rows, continuation: None, charge }, Some(at))));
                }
                Next::Row(row) => rows.push(json_of(&row)?),
                Next::End => return Ok(Some((Page { rows, continuation: None, charge }, None))),
            }
        }
    }

    async fn plan(&self, patience: &mut Patience) -> Result<(Plan, f64), StoreError> {
        let ask = self
            .ask(&self.query.text)
            .header("x-ms-cosmos-is-query-plan-request", "True")
            .header("x-ms-cosmos-query-version", "1.4")
            .header("x-ms-cosmos-supported-query-features", FEATURES);
        let answer = send(self.remote, &ask, patience).await?;
        if !answer.is_good() {
            return Err(answer.refusal());
        }
        let document = std::str::from_utf8(answer.body()).ok().and_then(|text| Datum::parse(text).ok());
        let document = document
            .ok_or_else(|| StoreError::Unavailable("the store's query plan is not understood".to_owned()))?;
        Ok((Distributed::read(&document).map_err(refused)?, answer.charge()))
    }

    /// The ranges that have some of the plan's keys; one at least, for an answer to come from.
    async fn ranges_of(&self, (_, wanted): &Plan) -> Result<Vec<Range>, StoreError> {
        let all: Arc<Vec<Range>> = ranges::of(self.remote, self.container).await?;
        let is_wanted = |range: &&Range| wanted.iter().any(|wanted| wanted.overlaps(&range.min, &range.max));
        let mut found: Vec<Range> = all.iter().filter(is_wanted).cloned().collect();
        if found.is_empty() {
            found.extend(all.first().cloned());
        }
        Ok(found)
    }

    async fn fetch(
        &self,
        range: &Range,
        text: &str,
        token: Option<String>,
        patience: &mut Patience,
    ) -> Result<Answer, StoreError> {
        let mut ask = self
            .ask(text)
            .header("x-ms-documentdb-isquery", "true")
            .header("x-ms-max-item-count", limits::PAGE_ITEMS_DEFAULT.to_string())
            .header(RANGE, range.id.as_str());
        if let Some(token) = token {
            ask = ask.header("x-ms-continuation", token);
        }
        send(self.remote, &ask, patience).await
    }
}

type Plan = (Distributed, Vec<orrery_query::plan::distributed::QueryRange>);

fn rows(answer: &Answer) -> Result<(Vec<Value>, Option<String>), StoreError> {
    if !answer.is_good() {
        return Err(answer.refusal());
    }
    let token = answer.header("x-ms-continuation").map(str::to_owned);
    Ok((answer.json::<Feed>()?.rows, token))
}

fn json_of(row: &Datum) -> Result<Value, StoreError> {
    serde_json::from_str(&row.to_json()).map_err(|error| errors::refused(500, error.to_string()))
}

fn refused(error: QueryError) -> StoreError {
    errors::refused(400, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_ranges_do_not_answer_alone_is_merged() {
        let is_needed = |text: &str| super::is_needed(&Query { text: text.to_owned(), ..Query::default() });
        for text in [
            "SELECT * FROM c ORDER BY c.n",
            "SELECT VALUE COUNT(1) FROM c",
            "SELECT c.n, COUNT(1) AS k FROM c GROUP BY c.n",
            "SELECT DISTINCT c.n FROM c",
            "SELECT TOP 1 * FROM c",
            "SELECT * FROM c OFFSET 1 LIMIT 1",
        ] {
            assert!(is_needed(text), "{text}");
        }
        for text in ["SELECT * FROM c WHERE c.n > 1", "SELECT VALUE x FROM x IN c.l", "SELECT 1", "SELEKT"] {
            assert!(!is_needed(text), "{text}");
        }
    }

    #[test]
    fn a_continuation_is_read_only_for_its_own_question() {
        let text = write("q", At::Behind(7)).unwrap();
        assert!(matches!(read("q", &text), Ok(At::Behind(7))));
        assert!(read("r", &text).is_err() && read("q", "####").is_err() && read("q", "e30").is_err());
    }
}
