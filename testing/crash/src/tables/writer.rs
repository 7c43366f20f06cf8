//! One writer of entities: an endless row of inserts, replaces, merges and deletes, with tags and without, each recorded,
//! until the server goes.
//!
//! As with items, most entities belong to one writer, and a few are contested by all.

use super::entity::{self, Kind};
use super::request::{self, text};
use super::{ENTITIES, contested_key};
use crate::history::{Effect, Found, Items, Key, Operation, Outcome, Record, Seq, Tick};
use crate::writer::{HOT, Shared};
use orrery_core::{Env, Timestamp};
use orrery_testing_client::{Client, Method, OwnedReply, StorageRequest};
use std::net::SocketAddr;

/// Partitions besides the hot one.
const PARTITIONS: u64 = 60;

/// Without a tag, a replace or a merge inserts where nothing is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    Insert,
    Replace { if_match: Option<String> },
    Merge { if_match: Option<String> },
    Delete { if_match: String },
}

/// What the writer knows of an entity before it acts.
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
    /// Every entity this writer ever made, and what it is now.
    owned: Vec<(Key, Option<Found>)>,
    record: Record,
}

impl Writer {
    pub(crate) fn new(index: usize, seed: u64) -> Self {
        let random = Env::seeded(Timestamp::default(), seed.wrapping_add(1000 + index as u64));
        Self { index, random, owned: Vec::new(), record: Record::default() }
    }

    /// Takes what is really there as the start of the next round.
    pub(crate) fn refresh(&mut self, entities: &Items) {
        for (key, found) in &mut self.owned {
            *found = entities.get(key).cloned();
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
            10..40 => self.create_new(client, shared).await,
            _ => self.change_owned(client, shared).await,
        }
    }

    async fn create_new(&mut self, client: &mut Client, shared: &Shared) -> Option<()> {
        let partition = match self.random.random_u64() % 4 {
            0 => HOT.to_owned(),
            _ => format!("p{}", self.random.random_u64() % PARTITIONS),
        };
        self.owned.push((Key { partition, id: format!("w{}-{}", self.index, self.owned.len()) }, None));
        let action = match self.random.random_u64() % 4 {
            0 => Action::Replace { if_match: None },
            1 => Action::Merge { if_match: None },
            _ => Action::Insert,
        };
        self.change(self.owned.len() - 1, action, client, shared).await
    }

    async fn change_owned(&mut self, client: &mut Client, shared: &Shared) -> Option<()> {
        if self.owned.is_empty() {
            return Some(());
        }
        let at = (self.random.random_u64() % self.owned.len() as u64) as usize;
        let etag = self.owned[at].1.as_ref().map(|found| found.etag.clone());
        let action = match (etag, self.random.random_u64() % 8) {
            (None, 0..4) => Action::Insert,
            (_, 0) | (None, 4 | 5) => Action::Replace { if_match: None },
            (_, 1) | (None, _) => Action::Merge { if_match: None },
            (if_match, 2 | 3) => Action::Replace { if_match },
            (if_match, 4 | 5) => Action::Merge { if_match },
            (Some(if_match), 6) => Action::Delete { if_match },
            (Some(_), _) => Action::Delete { if_match: "*".to_owned() },
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
        let etag = read_etag(&key, client).await?;
        let action = match (etag, self.random.random_u64() % 6) {
            (None, _) => Action::Insert,
            (_, 0) => Action::Merge { if_match: None },
            (if_match, 1 | 2) => Action::Replace { if_match },
            (if_match, 3 | 4) => Action::Merge { if_match },
            (Some(if_match), _) => Action::Delete { if_match },
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
        let request = self.request(key, seq, &action);
        let began = shared.tick();
        let reply = client.call_storage(&request).await;
        let ended = shared.tick();
        let outcome = match reply {
            Err(_) => Outcome::Unknown,
            Ok(reply) => self.judge(key, seq, &action, known, &reply, ended),
        };
        let etag = match &outcome {
            Outcome::Acknowledged { etag, .. } => Some(etag.clone()),
            _ => None,
        };
        let is_open = outcome == Outcome::Unknown;
        let (effect, if_match) = match action {
            Action::Insert => (Effect::Write, None),
            Action::Replace { if_match } | Action::Merge { if_match } => (Effect::Write, if_match),
            Action::Delete { if_match } => (Effect::Delete, Some(if_match).filter(|etag| etag != "*")),
        };
        self.record.operations.push(Operation { key: key.clone(), seq, effect, if_match, began, outcome });
        if is_open { None } else { Some((seq, etag)) }
    }

    fn request(&self, key: &Key, seq: Seq, action: &Action) -> StorageRequest {
        let random = self.random.random_u64();
        let written = |kind| entity::entity(key, seq, kind, random);
        let update = |method, kind, if_match: &Option<String>| {
            request::on_one(method, ENTITIES, key, Some(&written(kind)), if_match.as_deref())
        };
        match action {
            Action::Insert => {
                // JavaScript asks for no body back, others for the whole entity.
                let prefer = if self.index % 2 == 1 { "return-no-content" } else { "return-content" };
                request::insert(ENTITIES, &written(Kind::Full), prefer)
            }
            Action::Replace { if_match } => update(Method::Put, Kind::Full, if_match),
            Action::Merge { if_match } => update(Method::Patch, Kind::Merge, if_match),
            Action::Delete { if_match } => {
                request::on_one(Method::Delete, ENTITIES, key, None, Some(if_match))
            }
        }
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
        let answer = judge_status(action, known, reply.status);
        if answer == Answer::Wrong {
            let what = format!("{action:?} of a {known:?} entity got {}: {}", reply.status, text(reply));
            self.trouble(key, seq, &what);
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
        if reply.status == 201 {
            match entity::read_reply(reply) {
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
        self.record.trouble.push(format!("entity {key}: attempt {seq}: {what}"));
    }
}

/// The tag an entity has now, for a conditional write; the outer `None` is a broken connection.
async fn read_etag(key: &Key, client: &mut Client) -> Option<Option<String>> {
    let reply = client.call_storage(&request::read(ENTITIES, key)).await.ok()?;
    Some(reply.header("etag").filter(|_| reply.status == 200).map(str::to_owned))
}

fn judge_status(action: &Action, known: Known, status: u16) -> Answer {
    use Known::{Absent, Contested, Present};
    let has_tag = |if_match: &Option<String>| if_match.is_some();
    match (action, known, status) {
        (_, _, 408 | 503) => Answer::Open,
        (Action::Insert, Absent | Contested, 201 | 204) => Answer::Done,
        (Action::Insert, Contested, 409) => Answer::Refused,
        (Action::Replace { if_match } | Action::Merge { if_match }, Present | Contested, 204)
            if has_tag(if_match) =>
        {
            Answer::Done
        }
        (Action::Replace { if_match } | Action::Merge { if_match }, _, 204) if !has_tag(if_match) => {
            Answer::Done
        }
        (Action::Replace { if_match } | Action::Merge { if_match }, Contested, 404 | 412)
            if has_tag(if_match) =>
        {
            Answer::Refused
        }
        (Action::Delete { .. }, Present | Contested, 204) => Answer::Done,
        (Action::Delete { .. }, Contested, 404 | 412) => Answer::Refused,
        _ => Answer::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_of_an_entity_accepts_only_the_answer_that_fits_what_it_knows() {
        let tagged = Action::Merge { if_match: Some("t".to_owned()) };
        let any = Action::Replace { if_match: None };
        assert_eq!(judge_status(&Action::Insert, Known::Absent, 201), Answer::Done);
        assert_eq!(judge_status(&Action::Insert, Known::Absent, 409), Answer::Wrong);
        assert_eq!(judge_status(&tagged, Known::Present, 412), Answer::Wrong);
        assert_eq!(judge_status(&tagged, Known::Contested, 412), Answer::Refused);
        assert_eq!(judge_status(&tagged, Known::Absent, 204), Answer::Wrong);
        assert_eq!(judge_status(&any, Known::Absent, 204), Answer::Done);
        assert_eq!(judge_status(&any, Known::Contested, 404), Answer::Wrong);
        assert_eq!(judge_status(&Action::Insert, Known::Absent, 500), Answer::Wrong);
        assert_eq!(judge_status(&Action::Insert, Known::Absent, 503), Answer::Open);
    }
}
