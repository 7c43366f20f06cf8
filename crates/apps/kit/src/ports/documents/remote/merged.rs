//! Queries over several partitions whose rows need merging: ORDER BY, aggregates, GROUP BY, DISTINCT, TOP and OFFSET.
//!
//! The whole query is sent to the store first. Another Orrery answers it completely, because it is asked to;
//! any store does if the filter names one partition key. A query that the store leaves to its client is
//! merged here, by the plan that the store returns.
//!
//! A page of a merged result resumes by counting the rows before it: the ranges are read from the beginning
//! again. That survives splits but is expensive; to page through many ordered rows, query one partition at a
//! time.

use super::Remote;
use super::call::{RequestBuilder, RetryBudget, Sees, send};
use super::errors::{self, Answer};
use super::query::{Feed, body};
use super::ranges;
use crate::limits;
use crate::ports::documents::{Page, Query, StoreError};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use orrery_client::{Call, ENABLE_CROSS_PARTITION, Exchange, Merged, Range, is_left_to_client};
use orrery_core::limits::PAGE_ITEMS_DEFAULT;
use orrery_query::plan::distributed::needs_merging;
use orrery_query::{QueryError, parse};
use orrery_value::Value as Datum;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Mutex;

const VERSION: u8 = 1;

/// Whether concatenating the ranges' rows would be wrong. A malformed query is left for the store to refuse.
pub fn is_needed(query: &Query) -> bool {
    parse::parse(&query.text).is_ok_and(|query| needs_merging(&query))
}

/// The position at which a result resumes.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum At {
    /// A continuation of a store that answers the whole query.
    Store(String),
    /// After this many rows of the merged result.
    Behind(u64),
}

#[derive(Serialize, Deserialize)]
struct Written {
    v: u8,
    of: String,
    at: At,
}

pub async fn page(remote: &Remote, container: &str, of: &str, query: &Query) -> Result<Page, StoreError> {
    let merge = MergedQuery { remote, container, query };
    let begun = query.continuation.as_deref().map(|text| read(of, text)).transpose()?;
    let (page, at) = match begun {
        Some(At::Behind(behind)) => merge.merged(behind).await?,
        Some(At::Store(token)) => match merge.whole(Some(&token)).await? {
            Whole::Answered(page, at) => (page, at),
            Whole::LeftToClient => return Err(foreign_continuation()),
        },
        None => match merge.whole(None).await? {
            Whole::Answered(page, at) => (page, at),
            Whole::LeftToClient => merge.merged(0).await?,
        },
    };
    let continuation = at.map(|at| write(of, at)).transpose()?;
    Ok(Page { continuation, ..page })
}

fn read(of: &str, text: &str) -> Result<At, StoreError> {
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| foreign_continuation())?;
    let written: Written = serde_json::from_slice(&bytes).map_err(|_| foreign_continuation())?;
    let is_ours = written.v == VERSION && written.of == of;
    if is_ours { Ok(written.at) } else { Err(foreign_continuation()) }
}

fn write(of: &str, at: At) -> Result<String, StoreError> {
    let text = serde_json::to_vec(&Written { v: VERSION, of: of.to_owned(), at });
    Ok(URL_SAFE_NO_PAD.encode(text.map_err(|error| errors::refused(500, error.to_string()))?))
}

fn foreign_continuation() -> StoreError {
    errors::refused(400, "the continuation is not one of this question; start from the beginning")
}

enum Whole {
    Answered(Page, Option<At>),
    LeftToClient,
}

struct MergedQuery<'a> {
    remote: &'a Remote,
    container: &'a str,
    query: &'a Query,
}

impl MergedQuery<'_> {
    fn items_max(&self) -> usize {
        if self.query.items_max == 0 { PAGE_ITEMS_DEFAULT } else { self.query.items_max }
    }

    /// One page of the store's own result.
    async fn whole(&self, token: Option<&str>) -> Result<Whole, StoreError> {
        let (database, container) = (&self.remote.inner.database, self.container);
        let body = body(&self.query.text, self.query);
        let call = match self.remote.has_shortcut {
            true => Call::query(database, container, body),
            false => Call::page_of_query(database, container, body).header(ENABLE_CROSS_PARTITION, "True"),
        };
        let ask =
            RequestBuilder::of(call.header("x-ms-max-item-count", self.items_max().to_string()).after(token));
        let ask = ask.session(container, Sees::Before);
        let answer = send(self.remote, &ask, &mut RetryBudget::new(self.remote)).await?;
        if is_left_to_client(&answer) {
            return Ok(Whole::LeftToClient);
        }
        let (rows, token) = rows(&answer)?;
        let page = Page { rows, continuation: None, charge: answer.charge() };
        Ok(Whole::Answered(page, token.map(At::Store)))
    }

    /// One page of the merged result, after this many rows; restarted if ranges split meanwhile.
    async fn merged(&self, behind: u64) -> Result<(Page, Option<At>), StoreError> {
        let ranges = Ranges {
            remote: self.remote,
            container: self.container,
            patience: Mutex::new(RetryBudget::new(self.remote)),
        };
        for _ in 0..limits::SERVICE_STORE_MOVES_MAX {
            match self.merged_once(&ranges, behind).await {
                Ok(page) => return Ok(page),
                Err(Stopped::Gone) => self.remote.inner.ranges.forget(self.container),
                Err(Stopped::Failed(error)) => return Err(error),
            }
        }
        Err(ranges::are_moving())
    }

    async fn merged_once(&self, by: &Ranges<'_>, behind: u64) -> Result<(Page, Option<At>), Stopped> {
        let body = body(&self.query.text, self.query).into();
        let database = &self.remote.inner.database;
        let mut merged = Merged::begin(by, database, self.container, &body).await?;
        let (mut skip, mut rows) = (behind, Vec::new());
        while let Some(row) = merged.next().await? {
            if skip > 0 {
                skip -= 1;
            } else if rows.len() == self.items_max() {
                let at = At::Behind(behind + rows.len() as u64);
                return Ok((Page { rows, continuation: None, charge: merged.charge }, Some(at)));
            } else {
                rows.push(json_of(&row).map_err(Stopped::Failed)?);
            }
        }
        Ok((Page { rows, continuation: None, charge: merged.charge }, None))
    }
}

/// The ranges of a container as used by a merge: each read sees earlier writes, and all retries share one
/// time limit.
struct Ranges<'a> {
    remote: &'a Remote,
    container: &'a str,
    patience: Mutex<RetryBudget>,
}

enum Stopped {
    /// A range is gone; the merge must restart.
    Gone,
    Failed(StoreError),
}

impl Exchange for Ranges<'_> {
    type Error = Stopped;

    async fn exchange(&self, call: Call) -> Result<orrery_client::Answer, Stopped> {
        let ask = RequestBuilder::of(call).session(self.container, Sees::Before);
        let answer = send(self.remote, &ask, &mut *self.patience.lock().await).await;
        match answer.map_err(Stopped::Failed)? {
            gone if gone.is_gone() => Err(Stopped::Gone),
            good if good.is_success() => Ok(good.0),
            bad => Err(Stopped::Failed(bad.refusal())),
        }
    }

    async fn ranges(&self, _: &str, container: &str) -> Result<Vec<Range>, Stopped> {
        let ranges = ranges::of(self.remote, container).await.map_err(Stopped::Failed)?;
        Ok(ranges.to_vec())
    }

    fn not_understood(&self, why: String) -> Stopped {
        Stopped::Failed(errors::not_understood(&why))
    }

    fn refused(&self, error: QueryError) -> Stopped {
        Stopped::Failed(errors::refused(400, error.to_string()))
    }
}

fn rows(answer: &Answer) -> Result<(Vec<Value>, Option<String>), StoreError> {
    if !answer.is_success() {
        return Err(answer.refusal());
    }
    Ok((answer.json::<Feed>()?.rows, answer.continuation()))
}

fn json_of(row: &Datum) -> Result<Value, StoreError> {
    serde_json::from_str(&row.to_json()).map_err(|error| errors::refused(500, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_queries_that_need_merging_are_merged() {
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
    fn a_continuation_is_valid_only_for_its_own_query() {
        let text = write("q", At::Behind(7)).unwrap();
        assert!(matches!(read("q", &text), Ok(At::Behind(7))));
        assert!(read("r", &text).is_err() && read("q", "####").is_err() && read("q", "e30").is_err());
    }
}
