//! Consistency levels: the account's, and those that a request may ask for.
//!
//! Every response comes from durable state shared by all connections, so each level is served as the strongest one.
//! This module is as strict as the service: a request may ask for the account's level or a weaker one, and a read whose
//! session token covers commits that are missing here waits a moment and is then refused, because its client has seen
//! state that this server does not have (`docs/consistency.md`).

use crate::failure::Failure;
use crate::handlers::item_feed;
use crate::header;
use crate::limits;
use crate::reply::ToValue as _;
use crate::request::{Post, Request};
use crate::service::Cosmos;
use crate::session::Token;
use http::Method;
use orrery_api_common::percent;
use orrery_core::Lsn;
use orrery_document_store::covered;
use orrery_documents::catalog::Container;
use orrery_documents::ranges::Range;
use serde_json::{Value, json};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Weakest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Consistency {
    Eventual,
    ConsistentPrefix,
    #[default]
    Session,
    BoundedStaleness,
    Strong,
}

const ALL: [Consistency; 5] = [
    Consistency::Eventual,
    Consistency::ConsistentPrefix,
    Consistency::Session,
    Consistency::BoundedStaleness,
    Consistency::Strong,
];

impl fmt::Display for Consistency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Eventual => "Eventual",
            Self::ConsistentPrefix => "ConsistentPrefix",
            Self::Session => "Session",
            Self::BoundedStaleness => "BoundedStaleness",
            Self::Strong => "Strong",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a consistency level; choose Strong, BoundedStaleness, Session, ConsistentPrefix or Eventual"
)]
pub struct UnknownLevel(String);

impl FromStr for Consistency {
    type Err = UnknownLevel;

    /// Case-insensitive.
    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        let is_named = |level: &Self| level.to_string().eq_ignore_ascii_case(text);
        ALL.into_iter().find(is_named).ok_or_else(|| UnknownLevel(text.chars().take(64).collect()))
    }
}

impl Consistency {
    /// As in the account document.
    pub(crate) fn policy(self) -> Value {
        match self {
            Self::BoundedStaleness => json!({
                "defaultConsistencyLevel": self.to_string(),
                "maxStalenessPrefix": limits::STALENESS_COMMITS_SHOWN,
                "maxIntervalInSeconds": limits::STALENESS_SECONDS_SHOWN,
            }),
            _ => json!({ "defaultConsistencyLevel": self.to_string() }),
        }
    }
}

/// Checks every request for items: its level, and the session token of a read.
pub(crate) async fn check(cosmos: &Cosmos, request: &Request, container: &Container) -> Result<(), Failure> {
    check_level(cosmos.consistency(), request)?;
    if !is_read(request) {
        return Ok(());
    }
    match request.header_or_refuse(&header::SESSION_TOKEN)? {
        None => Ok(()),
        Some(text) => check_token(cosmos, request, container, &Token::parse(text)?).await,
    }
}

fn check_level(account: Consistency, request: &Request) -> Result<(), Failure> {
    let Some(text) = request.header(&header::CONSISTENCY_LEVEL).filter(|text| !text.is_empty()) else {
        return Ok(());
    };
    match text.parse::<Consistency>() {
        Ok(asked) if asked <= account => Ok(()),
        _ => Err(Failure::bad_request(format!(
            "ConsistencyLevel '{text}' is not valid here: the account's level is {account}, and a request may ask for that or a weaker one."
        ))),
    }
}

/// A batch may contain reads, so its client sends a token.
fn is_read(request: &Request) -> bool {
    match *request.method() {
        Method::GET => true,
        Method::POST => matches!(request.post(), Post::Query | Post::Batch),
        _ => false,
    }
}

async fn check_token(
    cosmos: &Cosmos,
    request: &Request,
    container: &Container,
    token: &Token,
) -> Result<(), Failure> {
    let scope = item_feed::scope(request, container)?;
    let ranges = covered(&scope, container);
    let Err(missing) = seen(cosmos, container, ranges, token) else { return Ok(()) };
    // A pending commit may become durable in a moment; an LSN that was never assigned here will not.
    cosmos
        .store()
        .wait_until_durable(missing.wanted, Duration::from_millis(limits::SESSION_WAIT_MILLIS))
        .await;
    seen(cosmos, container, ranges, token).map_err(|Missing { range, wanted, current }| {
        // Python drops the token of the container named here; a token would be taken as the new one.
        Failure::session_not_available(wanted, current).at([
            (header::PARTITION_KEY_RANGE_ID, range.to_value()),
            (header::ALT_CONTENT_PATH, percent::encode_uri(container.path()).to_value()),
            (header::CONTENT_PATH, container.rid_text().to_value()),
        ])
    })
}

/// A commit that a token covers and the server lacks.
struct Missing {
    range: u32,
    wanted: Lsn,
    current: Lsn,
}

/// Whether every range has the commits that the token covers.
fn seen(cosmos: &Cosmos, container: &Container, ranges: &[Range], token: &Token) -> Result<(), Missing> {
    let durable = cosmos.store().durable_lsn();
    for range in ranges {
        let wanted = token.wants(range);
        let current = cosmos.store().range_lsn(container.number(), range.id, durable);
        if wanted > current {
            return Err(Missing { range: range.id, wanted, current });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read_as_they_are_written_and_ordered_by_strength() {
        for level in ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
            assert_eq!(level.to_string().to_uppercase().parse(), Ok(level));
        }
        assert!(ALL.is_sorted() && Consistency::default() == Consistency::Session);
        assert!("".parse::<Consistency>().is_err() && "Bounded".parse::<Consistency>().is_err());
    }

    #[test]
    fn only_bounded_staleness_shows_bounds() {
        assert_eq!(Consistency::Strong.policy(), json!({"defaultConsistencyLevel": "Strong"}));
        assert_eq!(Consistency::BoundedStaleness.policy()["maxIntervalInSeconds"], 300);
    }
}
