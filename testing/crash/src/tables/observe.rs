//! What is there of entities after a restart: the whole table, point reads, and queries for single partitions.

use super::request::{self, text};
use super::{ENTITIES, entity};
use crate::history::{Found, Items, Key, Record};
use crate::writer::{HOT, Shared};
use orrery_testing_client::{Client, ClientError, OwnedReply};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// Connections that do the point reads.
const READERS: usize = 8;
/// Entities that a round did not touch but reads one by one all the same; the last round reads all.
const UNTOUCHED_READ_MAX: usize = 300;

#[derive(Debug, Default)]
pub(super) struct Observation {
    pub entities: Items,
    pub points: BTreeMap<Key, Option<Found>>,
    pub trouble: Vec<String>,
}

pub(super) struct Observer<'a> {
    pub address: SocketAddr,
    pub shared: &'a Shared,
}

impl Observer<'_> {
    pub async fn observe(
        &self,
        record: &Record,
        before: &Items,
        reads_all: bool,
    ) -> Result<Observation, ClientError> {
        let mut seen = Observation::default();
        let mut client = self.client();
        match request::query(&mut client, ENTITIES, None).await? {
            Ok(rows) => seen.entities = take_all(&rows, &mut seen.trouble),
            Err(wrong) => seen.trouble.push(wrong),
        }
        self.query_partitions(&mut client, &mut seen).await?;
        let touched = record.operations.iter().map(|operation| operation.key.clone());
        let untouched = before.keys().take(if reads_all { usize::MAX } else { UNTOUCHED_READ_MAX });
        let wanted: BTreeSet<Key> = touched.chain(untouched.cloned()).collect();
        self.read_points(wanted.into_iter().collect(), &mut seen).await?;
        Ok(seen)
    }

    fn client(&self) -> Client {
        Client::new(self.address, self.shared.env.clone())
    }

    /// A range of one partition has what the table has of it.
    async fn query_partitions(&self, client: &mut Client, seen: &mut Observation) -> Result<(), ClientError> {
        for (partition, from) in [(HOT, "w"), (HOT, "w3-"), ("p1", ""), ("p7", "w1")] {
            let filter = format!("PartitionKey eq '{partition}' and RowKey ge '{from}'");
            let rows = match request::query(client, ENTITIES, Some(&filter)).await? {
                Ok(rows) => rows,
                Err(wrong) => {
                    seen.trouble.push(format!("{filter}: {wrong}"));
                    continue;
                }
            };
            let found = take_all(&rows, &mut seen.trouble);
            let is_asked = |key: &Key| key.partition == partition && key.id.as_str() >= from;
            let there = seen.entities.iter().filter(|(key, _)| is_asked(key));
            if !found.iter().eq(there) {
                seen.trouble.push(format!("{filter} does not find what the table has"));
            }
        }
        Ok(())
    }

    async fn read_points(&self, wanted: Vec<Key>, seen: &mut Observation) -> Result<(), ClientError> {
        let part = wanted.len().div_ceil(READERS).max(1);
        let readers: Vec<_> = wanted
            .chunks(part)
            .map(|keys| {
                let (mut client, keys) = (self.client(), keys.to_vec());
                tokio::spawn(async move {
                    let mut replies = Vec::new();
                    for key in keys {
                        let reply = client.call_storage(&request::read(ENTITIES, &key)).await?;
                        replies.push((key, reply));
                    }
                    Ok::<_, ClientError>(replies)
                })
            })
            .collect();
        for reader in readers {
            let replies = reader.await.expect("a reader does not panic")?;
            replies.into_iter().for_each(|(key, reply)| take_point(key, &reply, seen));
        }
        Ok(())
    }
}

/// The rows must be in the order of their keys, and each whole.
fn take_all(rows: &[Value], trouble: &mut Vec<String>) -> Items {
    let mut found = Items::new();
    for row in rows {
        match entity::read(row) {
            Ok((key, version)) => {
                if found.last_key_value().is_some_and(|(last, _)| *last >= key) {
                    trouble.push(format!("entity {key}: a query shows it twice or out of order"));
                }
                found.insert(key, version);
            }
            Err(wrong) => trouble.push(format!("in a query: {wrong}")),
        }
    }
    found
}

fn take_point(key: Key, reply: &OwnedReply, seen: &mut Observation) {
    let found = match reply.status {
        404 => None,
        200 => match entity::read_reply(reply) {
            Ok((there, found)) if there == key => Some(found),
            Ok((there, _)) => return seen.trouble.push(format!("entity {key}: a point read gave {there}")),
            Err(wrong) => return seen.trouble.push(format!("entity {key}: a point read gave {wrong}")),
        },
        status => {
            return seen.trouble.push(format!("entity {key}: a point read got {status}: {}", text(reply)));
        }
    };
    seen.points.insert(key, found);
}
