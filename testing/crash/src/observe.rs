//! What is there after a restart: the feed, point reads, whether unique keys match the items, and what queries find.

use crate::ask::{Told, ask};
use crate::audit::{self, Violation};
use crate::history::{Found, Items, Key, Lsns, Seq};
use crate::question::questions;
use crate::writer::{HOT, Shared};
use crate::{content, policy};
use orrery_testing_client::{Client, ClientError, OwnedReply};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Items on a page of the feed; small enough that a round reads several.
const FEED_PAGE_ITEMS: usize = 500;
/// Connections that do the point reads.
const READERS: usize = 16;
/// How long the items may take to be indexed as the last policy says, and how often that is looked at.
const INDEXED_SECONDS_MAX: u64 = 60;
const INDEXED_POLL: Duration = Duration::from_millis(10);

/// The id of items that are written and removed again to learn whether a unique key is free.
pub(crate) const PROBE: &str = "probe";

/// What was seen, and everything that was wrong about how it was shown.
#[derive(Debug, Default)]
pub(crate) struct Observation {
    pub feed: Items,
    pub points: BTreeMap<Key, Option<Found>>,
    pub probes: usize,
    /// Questions that were asked.
    pub asked: usize,
    /// The attempt that made the indexing policy.
    pub policy: Option<Seq>,
    pub violations: Vec<Violation>,
    pub trouble: Vec<String>,
}

/// What to look at, besides the feed and what queries find.
pub(crate) struct Wanted<'a> {
    /// Items to read one by one.
    pub read: BTreeSet<Key>,
    /// Items whose unique keys are probed.
    pub probed: &'a [Key],
    /// Chooses what queries ask for.
    pub random: u64,
    /// Whether to wait until every item is indexed as the policy says, and ask again.
    pub until_indexed: bool,
}

pub(crate) struct Observer {
    pub address: SocketAddr,
    pub shared: Shared,
    /// The highest LSNs seen before the restart.
    pub before: Lsns,
}

impl Observer {
    pub(crate) async fn observe(&self, wanted: Wanted<'_>) -> Result<Observation, ClientError> {
        let mut seen = Observation::default();
        let mut client = self.client();
        self.read_feed(&mut seen).await?;
        self.ask_all(&mut client, wanted.random, &mut seen).await?;
        self.read_points(wanted.read, &mut seen).await?;
        for key in wanted.probed {
            self.probe_unique(&mut client, key, &mut seen).await?;
        }
        if wanted.until_indexed {
            self.wait_until_indexed(&mut client, &mut seen).await?;
            self.ask_all(&mut client, wanted.random, &mut seen).await?;
        }
        seen.policy = self.read_policy(&mut client).await?.0;
        seen.violations.extend(audit::audit_views(&seen.feed, &seen.points));
        Ok(seen)
    }

    fn client(&self) -> Client {
        Client::new(self.address, self.shared.env.clone())
    }

    async fn read_feed(&self, seen: &mut Observation) -> Result<(), ClientError> {
        let mut client = self.client();
        let mut continuation: Option<String> = None;
        loop {
            let request = self.shared.path.feed(FEED_PAGE_ITEMS, continuation.as_deref());
            let reply = client.call(&request).await?;
            self.check_lsn(&reply, seen);
            if reply.status != 200 {
                seen.trouble.push(format!("the feed got {}: {}", reply.status, text(&reply)));
                return Ok(());
            }
            take_page(&reply, seen);
            let next = reply.header("x-ms-continuation").map(str::to_owned);
            if next.is_none() {
                return Ok(());
            }
            if next == continuation {
                seen.trouble.push("the feed's continuation did not move".to_owned());
                return Ok(());
            }
            continuation = next;
        }
    }

    async fn read_points(&self, read: BTreeSet<Key>, seen: &mut Observation) -> Result<(), ClientError> {
        let waiting = Arc::new(Mutex::new(read.into_iter()));
        let next = move || waiting.lock().ok().and_then(|mut keys| keys.next());
        let readers: Vec<_> = (0..READERS)
            .map(|_| {
                let (mut client, path, next) = (self.client(), self.shared.path.clone(), next.clone());
                tokio::spawn(async move {
                    let mut replies = Vec::new();
                    while let Some(key) = next() {
                        let reply = client.call(&path.read(&key.partition, &key.id)).await?;
                        replies.push((key, reply));
                    }
                    Ok::<_, ClientError>(replies)
                })
            })
            .collect();
        for reader in readers {
            for (key, reply) in reader.await.map_err(std::io::Error::other)?? {
                self.check_lsn(&reply, seen);
                take_point(key, &reply, seen);
            }
        }
        Ok(())
    }

    /// Tries to create another item with each unique value this one can have: the one it has now must be
    /// taken, the others free.
    async fn probe_unique(
        &self,
        client: &mut Client,
        key: &Key,
        seen: &mut Observation,
    ) -> Result<(), ClientError> {
        let taken = seen.feed.get(key).map(|found| content::unique_index(found.seq));
        for (index, value) in content::unique_values(key).into_iter().enumerate() {
            let expected = if taken == Some(index) { 409 } else { 201 };
            let probe = json!({"id": PROBE, "pk": key.partition, "unique": value});
            let reply = client.create_item(&self.shared.path, &key.partition, &probe).await?;
            seen.probes += 1;
            if reply.status != expected {
                let wanted = if expected == 409 { "is not guarded" } else { "dangles" };
                seen.trouble.push(format!("{key}: unique value {value} {wanted}: {}", reply.status));
            }
            if reply.status == 201 {
                let gone = client.delete_item(&self.shared.path, &key.partition, PROBE, None).await?;
                if gone.status != 204 {
                    seen.trouble.push(format!("{key}: deleting the probe got {}", gone.status));
                }
            }
        }
        Ok(())
    }

    /// Asks every kind of question; each must be answered as the items of the feed answer it.
    async fn ask_all(
        &self,
        client: &mut Client,
        random: u64,
        seen: &mut Observation,
    ) -> Result<(), ClientError> {
        for question in questions(random, HOT) {
            let wrong = match ask(client, &self.shared.path, &question).await? {
                Told::Refused(status, said) => Some(format!("got {status}: {said}")),
                Told::Rows(rows, _) => match question.read(&rows) {
                    Ok(answer) => question.audit(&seen.feed, &answer).map(|wrong| wrong.to_string()),
                    Err(wrong) => Some(wrong),
                },
            };
            seen.asked += 1;
            let place = question.partition.as_deref().unwrap_or("all partitions");
            seen.trouble.extend(wrong.map(|wrong| format!("{} in {place}: {wrong}", question.text())));
        }
        Ok(())
    }

    async fn wait_until_indexed(
        &self,
        client: &mut Client,
        seen: &mut Observation,
    ) -> Result<(), ClientError> {
        let until = Instant::now() + Duration::from_secs(INDEXED_SECONDS_MAX);
        loop {
            let (_, progress) = self.read_policy(client).await?;
            if progress == Some(100) {
                return Ok(());
            }
            if Instant::now() > until {
                let late = format!("after {INDEXED_SECONDS_MAX} s the items are indexed to {progress:?} %");
                seen.trouble.push(late);
                return Ok(());
            }
            tokio::time::sleep(INDEXED_POLL).await;
        }
    }

    /// The attempt that made the policy, and how far the items are indexed as it says.
    async fn read_policy(&self, client: &mut Client) -> Result<(Option<Seq>, Option<u64>), ClientError> {
        let reply = client.call(&policy::read(&self.shared.path)).await?;
        let progress = reply.header("x-ms-documentdb-collection-index-transformation-progress");
        let progress = progress.and_then(|percent| percent.parse().ok());
        let policy = reply.json().and_then(|container| policy::attempt(container.get("indexingPolicy")?));
        Ok((policy, progress))
    }

    fn check_lsn(&self, reply: &OwnedReply, seen: &mut Observation) {
        let parts = reply.session_lsns();
        if parts.is_empty() && reply.status < 300 {
            seen.trouble.push("a reply has no session token".to_owned());
        }
        let backwards = parts.iter().filter_map(|(range, lsn)| audit::audit_lsn(&self.before, range, *lsn));
        seen.violations.extend(backwards);
    }
}

fn take_page(reply: &OwnedReply, seen: &mut Observation) {
    let page = reply.json().unwrap_or_default();
    let Some(items) = page.get("Documents").and_then(Value::as_array) else {
        seen.trouble.push("a page of the feed has no `Documents`".to_owned());
        return;
    };
    for item in items {
        match content::read(item) {
            Ok((key, found)) => {
                if seen.feed.insert(key.clone(), found).is_some() {
                    seen.trouble.push(format!("{key}: the feed lists it twice"));
                }
            }
            Err(wrong) => seen.trouble.push(format!("in the feed: {wrong}")),
        }
    }
}

fn take_point(key: Key, reply: &OwnedReply, seen: &mut Observation) {
    let found = match reply.status {
        404 => None,
        200 => match content::read_reply(reply) {
            Ok((there, found)) if there == key => Some(found),
            Ok((there, _)) => return seen.trouble.push(format!("{key}: a point read gave {there}")),
            Err(wrong) => return seen.trouble.push(format!("{key}: a point read gave {wrong}")),
        },
        status => return seen.trouble.push(format!("{key}: a point read got {status}: {}", text(reply))),
    };
    seen.points.insert(key, found);
}

fn text(reply: &OwnedReply) -> String {
    String::from_utf8_lossy(&reply.body).into_owned()
}
