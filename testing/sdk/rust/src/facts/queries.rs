//! Queries: every one of the matrix, on one range and on four, in pages of several sizes, and by the server's plans.
//!
//! A fact asks a whole group and names each query that failed. What the SDK refuses by itself must be refused with
//! its own code: a server that answers in its place would hide that the query never ran.

use super::{Outcome, facts};
use crate::check::Status;
use crate::cosmos::Cosmos;
use crate::matrix::{Entry, Fate, GROUPS, Ranges, entries, filled};
use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::options::{MaxItemCountHint, QueryOptions, QueryPlanMode};
use azure_data_cosmos::{CosmosError, FeedScope};
use futures::TryStreamExt;
use serde_json::Value;
use std::num::NonZeroU32;

facts! { Running:
    "queries.select" => every_query_of_select_gives_its_rows,
    "queries.where" => every_query_of_where_gives_its_rows,
    "queries.order" => every_query_of_order_gives_its_rows,
    "queries.join" => every_query_of_join_gives_its_rows,
    "queries.aggregates" => every_query_of_aggregates_gives_its_rows,
    "queries.functions" => every_query_of_functions_gives_its_rows,
    "queries.parameters" => every_query_of_parameters_gives_its_rows,
    "queries.search" => every_query_of_search_gives_its_rows,
    "queries.paging" => every_query_of_paging_gives_its_rows,
    "queries.resume" => each_page_is_found_by_its_token_alone,
    "queries.by_range" => the_ranges_together_give_every_row_once,
    "queries.plans" => every_query_gives_its_rows_by_a_plan_of_the_server,
}

macro_rules! groups {
    ($($name:ident => $group:literal,)+) => {
        $(async fn $name(cosmos: Cosmos) -> Outcome {
            ask_group(&cosmos, $group).await
        })+
    };
}

groups! {
    every_query_of_select_gives_its_rows => "select",
    every_query_of_where_gives_its_rows => "where",
    every_query_of_order_gives_its_rows => "order",
    every_query_of_join_gives_its_rows => "join",
    every_query_of_aggregates_gives_its_rows => "aggregates",
    every_query_of_functions_gives_its_rows => "functions",
    every_query_of_parameters_gives_its_rows => "parameters",
    every_query_of_search_gives_its_rows => "search",
    every_query_of_paging_gives_its_rows => "paging",
}

/// Every container and page size over http; once over https, which differs in little.
async fn ask_group(cosmos: &Cosmos, group: &str) -> Outcome {
    let mut failures = Failures::default();
    let both = [(Ranges::One, &[0, 1, 7][..]), (Ranges::Four, &[0, 1, 7][..])];
    let runs = if cosmos.is_secure() { &[(Ranges::Four, &[7][..])][..] } else { &both[..] };
    for (ranges, sizes) in runs {
        let container = filled(cosmos, *ranges).await?;
        for entry in entries(group)? {
            for size in *sizes {
                let asking = format!("{ranges:?} ranges, pages of {size}");
                failures.note(&entry, &asking, ask(&container, &entry, *ranges, by(*size)).await);
            }
        }
    }
    failures.outcome()
}

async fn ask(container: &ContainerClient, entry: &Entry, ranges: Ranges, options: QueryOptions) -> Outcome {
    let code = match entry.fate() {
        Fate::Skipped => return Ok(()),
        Fate::Runs => return entry.check(&rows(container, entry, entry.scope()?, options).await?),
        Fate::Refused(code) => code,
    };
    match rows(container, entry, entry.scope()?, options).await {
        Err(error) => refused_with(code, &error),
        // With one range a plan may leave the whole query to the server, and then nothing is refused.
        Ok(found) if ranges == Ranges::One => entry.check(&found),
        Ok(_) => Err(format!("was not refused with {code}").into()),
    }
}

fn refused_with(code: u16, error: &CosmosError) -> Outcome {
    let found = error.status().sub_status().map(|sub| sub.value());
    if error.code() == 400 && found == Some(code) {
        return Ok(());
    }
    Err(format!("refused with {} {found:?}, not with {code}: {error}", error.code()).into())
}

async fn each_page_is_found_by_its_token_alone(cosmos: Cosmos) -> Outcome {
    let mut failures = Failures::default();
    for ranges in [Ranges::One, Ranges::Four] {
        let container = filled(&cosmos, ranges).await?;
        for entry in running("paging")? {
            let outcome = page_by_page(&container, &entry).await;
            failures.note(&entry, &format!("{ranges:?} ranges, page by page"), outcome);
        }
    }
    failures.outcome()
}

async fn page_by_page(container: &ContainerClient, entry: &Entry) -> Outcome {
    let (mut found, mut token) = (Vec::new(), None);
    loop {
        let options = match token.take() {
            None => by(7),
            Some(token) => by(7).with_continuation_token(token),
        };
        let feed = container.query_items::<Value>(entry.query()?, entry.scope()?, Some(options)).await?;
        let mut pages = feed.into_pages();
        let Some(page) = pages.try_next().await? else { break };
        found.extend(page.into_items());
        token = Some(pages.to_continuation_token()?);
    }
    entry.check(&found)
}

/// `ClientQueryPlanProducedEmptyRanges`
const EMPTY_RANGES: u16 = 20302;

async fn the_ranges_together_give_every_row_once(cosmos: Cosmos) -> Outcome {
    let mut failures = Failures::default();
    let container = filled(&cosmos, Ranges::Four).await?;
    let ranges = container.read_feed_ranges(None).await?;
    assert_eq!(ranges.len(), 4);
    for entry in running_all()?.iter().filter(|entry| entry.splits()) {
        let mut found = Vec::new();
        for range in &ranges {
            match rows(&container, entry, FeedScope::range(range.clone()), by(0)).await {
                Ok(part) => found.extend(part),
                // The filter names keys outside this range, and the SDK complains instead of giving no rows.
                Err(error) if error.status().sub_status().map(|sub| sub.value()) == Some(EMPTY_RANGES) => {}
                Err(error) => failures.note(entry, "range by range", Err(error.into())),
            }
        }
        failures.note(entry, "range by range", entry.check(&found));
    }
    failures.outcome()
}

async fn every_query_gives_its_rows_by_a_plan_of_the_server(cosmos: Cosmos) -> Outcome {
    let mut failures = Failures::default();
    let container = filled(&cosmos, Ranges::Four).await?;
    for entry in running_all()?.iter().filter(|entry| entry.is_cross()) {
        let options = by(7).with_query_plan_mode(QueryPlanMode::GatewayOnly);
        failures.note(entry, "by a plan", ask(&container, entry, Ranges::Four, options).await);
    }
    failures.outcome()
}

/// The queries of a group that this SDK runs.
fn running(group: &str) -> Result<Vec<Entry>, Box<dyn std::error::Error + Send + Sync>> {
    Ok(entries(group)?.into_iter().filter(|entry| matches!(entry.fate(), Fate::Runs)).collect())
}

fn running_all() -> Result<Vec<Entry>, Box<dyn std::error::Error + Send + Sync>> {
    let groups: Result<Vec<_>, _> = GROUPS.iter().map(|group| running(group)).collect();
    Ok(groups?.into_iter().flatten().collect())
}

async fn rows(
    container: &ContainerClient,
    entry: &Entry,
    scope: FeedScope,
    options: QueryOptions,
) -> Result<Vec<Value>, CosmosError> {
    // A parameter is always JSON already, so the query itself cannot fail.
    let query = entry.query().expect("parameters are JSON");
    container.query_items(query, scope, Some(options)).await?.try_collect().await
}

/// 0 leaves the size of a page to the server.
fn by(items: u32) -> QueryOptions {
    let limit = NonZeroU32::new(items).map_or(MaxItemCountHint::ServerDecides, MaxItemCountHint::Limit);
    QueryOptions::default().with_max_item_count(limit)
}

/// What went wrong in a group; the others of the group are asked all the same.
#[derive(Default)]
struct Failures(Vec<String>);

impl Failures {
    fn note(&mut self, entry: &Entry, asking: &str, outcome: Outcome) {
        if let Err(reason) = outcome {
            let reason: String = reason.to_string().chars().take(2000).collect();
            self.0.push(format!("{} ({asking}): {}\n    {reason}", entry.name(), entry.text()));
        }
    }

    fn outcome(self) -> Outcome {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(format!("{} answers were wrong\n  {}", self.0.len(), self.0.join("\n  ")).into())
    }
}
