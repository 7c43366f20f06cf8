//! Every fact, by the part of the service it is about.

mod account;
mod consistency;
mod change_feed;
mod change_feed_time;
mod batches;
pub mod bearer;
mod containers;
mod databases;
mod etags;
mod feeds;
mod indexing;
mod item_keys;
mod items;
mod patches;
mod queries;
mod queue_access;
mod queue_messages;
mod queue_time;
mod queues;
mod schemas;
mod serverless;
mod session;
mod throttling;
mod throughput;
mod ttl;

use crate::cosmos::Cosmos;
use std::error::Error;
use std::pin::Pin;

pub type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

pub struct Fact {
    /// A key of `features.toml`.
    pub feature: &'static str,
    pub name: &'static str,
    pub clock: Clock,
    pub run: fn(Cosmos) -> Pin<Box<dyn Future<Output = Outcome> + Send>>,
}

/// The clock of the server a fact runs on.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Clock {
    Running,
    /// Stands still until `Server::advance`.
    Manual,
    /// The same, and what is spent of the throughput stays spent until then.
    Throttled,
    /// The same, where no throughput is provisioned.
    Serverless,
}

/// Lists the facts of a file, each with the feature it shows.
macro_rules! facts {
    ($clock:ident: $($feature:literal => $name:ident,)+) => {
        pub fn facts() -> Vec<$crate::facts::Fact> {
            vec![$($crate::facts::Fact {
                feature: $feature,
                name: stringify!($name),
                clock: $crate::facts::Clock::$clock,
                run: |cosmos| Box::pin($name(cosmos)),
            }),+]
        }
    };
}
pub(crate) use facts;

pub fn all() -> Vec<Fact> {
    let every: Vec<Fact> = [
        account::facts(),
        databases::facts(),
        containers::facts(),
        schemas::facts(),
        throughput::facts(),
        throttling::facts(),
        serverless::facts(),
        items::facts(),
        item_keys::facts(),
        patches::facts(),
        batches::facts(),
        etags::facts(),
        ttl::facts(),
        feeds::facts(),
        change_feed::facts(),
        change_feed_time::facts(),
        session::facts(),
        consistency::facts(),
        queries::facts(),
        indexing::facts(),
        bearer::facts(),
        queues::facts(),
        queue_messages::facts(),
        queue_time::facts(),
        queue_access::facts(),
    ]
    .into_iter()
    .flatten()
    .collect();
    for fact in &every {
        let entry = format!("key = \"{}\"\n", fact.feature);
        assert!(
            include_str!("../../../features.toml").contains(&entry),
            "{} is not in features.toml",
            fact.feature
        );
    }
    every
}
