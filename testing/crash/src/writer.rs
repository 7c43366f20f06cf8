//! One writer: an endless row of creates, upserts, replaces and deletes, each recorded, until the server goes.
//!
//! Most items belong to one writer, which then knows exactly what each answer must be. A few are contested by
//! all; there any refusal that a race can cause is fine, and the auditor judges by time.

use crate::content;
use crate::history::{Effect, Found, Items, Key, Operation, Outcome, Record, Seq, Tick};
use orrery_core::{Env, Timestamp};
use orrery_testing_client::{Client, ContainerPath, OwnedReply, Request};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Partitions besides the hot one, and items that all writers contend for.
const PARTITIONS: u64 = 500;
const CONTESTED_ITEMS: u64 = 16;
/// The partition that a quarter of all items is in.
pub(crate) const HOT: &str = "hot";

/// What all that load the server share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub path: ContainerPath,
    pub env: Env,
    seqs: Arc<AtomicU64>,
    ticks: Arc<AtomicU64>,
}

impl Shared {
    pub(crate) fn new(path: ContainerPath, env: Env) -> Self {
        Self { path, env, seqs: Arc::new(AtomicU64::new(1)), ticks: Arc::new(AtomicU64::new(1)) }
    }

    pub(crate) fn next_seq(&self) -> Seq {
        self.seqs.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn tick(&self) -> Tick {
        self.ticks.fetch_add(1, Ordering::SeqCst)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    Create,
    Upsert,
    Replace { if_match: Option<String> },
    Delete { if_match: Option<String> },
}

/// What the writer knows of an item before it acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Present,
    Absent,
    /// Others write it too.
    Contested,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Done,
    Refused,
    /// The server does not say whether it was done.
    Open,
    Wrong,
}

pub(crate) struct Writer {
    index: usize,
    random: Env,
    /// Every item this writer ever made, and what it is now.
    owned: Vec<(Key, Option<Found>)>,
    record: Record,
}

impl Writer {
    pub(crate) fn new(index: usize, seed: u64) -> Self {
        let random = Env::seeded(Timestamp::default(), seed.wrapping_add(index as u64));
        Self { index, random, owned: Vec::new(), record: Record::default() }
    }

    /// Takes what is really there as the start of the next round.
    pub(crate) fn refresh(&mut self, items: &Items) {
        for (key, found) in &mut self.owned {
            *found = items.get(key).cloned();
        }
    }

    /// Writes until the server stops answering; gives back what happened.
    pub(crate) async fn run(mut self, address: SocketAddr, shared: Shared) -> (Self, Record) {
        let mut client = Client::new(address, shared.env.clone());
        while self.step(&mut client, &shared).await.is_some() {}
        let record = std::mem::take(&mut self.record);
        (self, record)
    }

    /// `None` when there is no answer, or one after which nothing is known.
    async fn step(&mut self, client: &mut Client, shared: &Shared) -> Option<()> {
        match self.random.random_u64() % 100 {
            0..10 => self.contend(client, shared).await,
            10..50 => self.create_new(client, shared).await,
            _ => self.change_owned(client, shared).await,
        }
    }

    async fn create_new(&mut self, client: &mut Client, shared: &Shared) -> Option<()> {
        let id = format!("w{}-{}", self.index, self.owned.len());
        let partition = match self.random.random_u64() % 4 {
            0 => HOT.to_owned(),
            _ => format!("p{}", self.random.random_u64() % PARTITIONS),
        };
        self.owned.push((Key { partition, id }, None));
        self.change(self.owned.len() - 1, Action::Create, client, shared).await
    }

    async fn change_owned(&mut self, client: &mut Client, shared: &Shared) -> Option<()> {
        if self.owned.is_empty() {
            return Some(());
        }
        let at = (self.random.random_u64() % self.owned.len() as u64) as usize;
        let etag = self.owned[at].1.as_ref().map(|found| found.etag.clone());
        let action = match (etag, self.random.random_u64() % 8) {
            (None, 0..4) => Action::Create,
            (_, 0..3) | (None, _) => Action::Upsert,
            (Some(etag), 3 | 4) => Action::Replace { if_match: Some(etag) },
            (Some(_), 5) => Action::Replace { if_match: None },
            (Some(etag), 6) => Action::Delete { if_match: Some(etag) },
            (Some(_), _) => Action::Delete { if_match: None },
        };
        self.change(at, action, client, shared).await
    }

    async fn change(
        &mut self,
        at: usize,
        action: Action,
        client: &mut Client,
        shared: &Shared,
    ) -> Option<()> {
        let key = self.owned[at].0.clone();
        let known = if self.owned[at].1.is_some() { Known::Present } else { Known::Absent };
        let deletes = matches!(action, Action::Delete { .. });
        let (seq, etag) = self.write(&key, action, known, client, shared).await?;
        if let Some(etag) = etag {
            self.owned[at].1 = (!deletes).then_some(Found { seq, etag });
        }
        Some(())
    }

    async fn contend(&mut self, client: &mut Client, shared: &Shared) -> Option<()> {
        let key = contested_key(self.random.random_u64());
        let action = match self.random.random_u64() % 5 {
            0 => Action::Create,
            1 => Action::Upsert,
            2 | 3 => Action::Replace { if_match: read_etag(&key, client, shared).await? },
            _ => Action::Delete { if_match: None },
        };
        self.write(&key, action, Known::Contested, client, shared).await.map(|_| ())
    }

    /// Sends one write and records how it went. Gives its number and, if it was done, its tag.
    async fn write(
        &mut self,
        key: &Key,
        action: Action,
        known: Known,
        client: &mut Client,
        shared: &Shared,
    ) -> Option<(Seq, Option<String>)> {
        let seq = shared.next_seq();
        let request = self.request(key, seq, &action, shared);
        let began = shared.tick();
        let reply = client.call(&request).await;
        let ended = shared.tick();
        let outcome = match reply {
            Err(_) => Outcome::Unknown,
            Ok(reply) => self.judge(key, seq, &action, known, &reply, ended),
        };
        let etag = match &outcome {
            Outcome::Acknowledged { etag, .. } => Some(etag.clone()),
            _ => None,
        };
        let unknown = outcome == Outcome::Unknown;
        let (effect, if_match) = match action {
            Action::Create | Action::Upsert => (Effect::Write, None),
            Action::Replace { if_match } => (Effect::Write, if_match),
            Action::Delete { if_match } => (Effect::Delete, if_match),
        };
        self.record.operations.push(Operation { key: key.clone(), seq, effect, if_match, began, outcome });
        if unknown { None } else { Some((seq, etag)) }
    }

    fn request(&mut self, key: &Key, seq: Seq, action: &Action, shared: &Shared) -> Request {
        let path = &shared.path;
        let item = || content::item(key, seq, self.random.random_u64()).to_string();
        let request = match action {
            Action::Create => path.create(&key.partition, item()),
            Action::Upsert => path.upsert(&key.partition, item()),
            Action::Replace { if_match } => {
                path.replace(&key.partition, &key.id, item(), if_match.as_deref())
            }
            Action::Delete { if_match } => path.delete(&key.partition, &key.id, if_match.as_deref()),
        };
        // Some SDKs ask for no body back by default, others for the whole item.
        let minimal = (self.index % 2 == 1).then_some("return=minimal");
        request.header_if("prefer", minimal)
    }

    fn judge(
        &mut self,
        key: &Key,
        seq: Seq,
        action: &Action,
        known: Known,
        reply: &OwnedReply,
        ended: Tick,
    ) -> Outcome {
        for (range, lsn) in reply.session_lsns() {
            self.record.lsns.raise(range, lsn);
        }
        let answer = judge_status(action, known, reply.status);
        if answer == Answer::Wrong {
            let body = String::from_utf8_lossy(&reply.body).into_owned();
            self.trouble(key, seq, &format!("{action:?} of a {known:?} item got {}: {body}", reply.status));
        }
        match answer {
            Answer::Done => Outcome::Acknowledged { etag: self.read_done(key, seq, action, reply), ended },
            Answer::Refused => Outcome::Refused,
            Answer::Open | Answer::Wrong => Outcome::Unknown,
        }
    }

    /// The tag of a write that was done; what came back must be what was sent.
    fn read_done(&mut self, key: &Key, seq: Seq, action: &Action, reply: &OwnedReply) -> String {
        if matches!(action, Action::Delete { .. }) {
            return String::new();
        }
        let Some(etag) = reply.header("etag") else {
            self.trouble(key, seq, "a write was answered without an etag");
            return String::new();
        };
        if !reply.body.is_empty() {
            match content::read_reply(reply) {
                Ok((there, found)) if there == *key && found.seq == seq => {}
                Ok((there, found)) => {
                    self.trouble(key, seq, &format!("the answer holds {there} {}", found.seq))
                }
                Err(wrong) => self.trouble(key, seq, &wrong),
            }
        }
        etag.to_owned()
    }

    fn trouble(&mut self, key: &Key, seq: Seq, what: &str) {
        self.record.trouble.push(format!("{key}: attempt {seq}: {what}"));
    }
}

/// One of the items that everybody writes; half of them in the hot partition.
pub(crate) fn contested_key(random: u64) -> Key {
    let n = random % CONTESTED_ITEMS;
    let partition = if n.is_multiple_of(2) { HOT.to_owned() } else { format!("p{n}") };
    Key { partition, id: format!("c{n}") }
}

/// The tag an item has now, for a conditional write; the outer `None` is a broken connection.
async fn read_etag(key: &Key, client: &mut Client, shared: &Shared) -> Option<Option<String>> {
    let reply = client.call(&shared.path.read(&key.partition, &key.id)).await.ok()?;
    Some(reply.header("etag").filter(|_| reply.status == 200).map(str::to_owned))
}

fn judge_status(action: &Action, known: Known, status: u16) -> Answer {
    use Known::{Absent, Contested, Present};
    match (action, known, status) {
        (_, _, 429 | 449) => Answer::Refused,
        (_, _, 408 | 503) => Answer::Open,
        (Action::Create, Absent | Contested, 201) => Answer::Done,
        (Action::Create, Contested, 409) => Answer::Refused,
        (Action::Upsert, Present | Contested, 200) => Answer::Done,
        (Action::Upsert, Absent | Contested, 201) => Answer::Done,
        (Action::Replace { .. }, Present | Contested, 200) => Answer::Done,
        (Action::Delete { .. }, Present | Contested, 204) => Answer::Done,
        (Action::Replace { .. } | Action::Delete { .. }, Contested, 404) => Answer::Refused,
        (Action::Replace { if_match: Some(_) }, Contested, 412) => Answer::Refused,
        _ => Answer::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_of_an_item_accepts_only_the_answer_that_fits_what_it_knows() {
        let replace = Action::Replace { if_match: Some("t".to_owned()) };
        assert_eq!(judge_status(&Action::Create, Known::Absent, 201), Answer::Done);
        assert_eq!(judge_status(&Action::Create, Known::Absent, 409), Answer::Wrong);
        assert_eq!(judge_status(&Action::Upsert, Known::Present, 201), Answer::Wrong);
        assert_eq!(judge_status(&Action::Upsert, Known::Absent, 200), Answer::Wrong);
        assert_eq!(judge_status(&replace, Known::Present, 412), Answer::Wrong);
        assert_eq!(judge_status(&replace, Known::Contested, 412), Answer::Refused);
        assert_eq!(judge_status(&Action::Create, Known::Absent, 500), Answer::Wrong);
        assert_eq!(judge_status(&Action::Create, Known::Absent, 503), Answer::Open);
    }

    #[test]
    fn contested_items_are_in_the_hot_partition_and_elsewhere() {
        let partitions: Vec<String> = (0..CONTESTED_ITEMS).map(|n| contested_key(n).partition).collect();
        assert_eq!(partitions.iter().filter(|p| *p == HOT).count(), 8);
    }
}
