//! One who follows the change feed through every round: all versions and deletes, from the first commit on.
//!
//! It keeps the position of its last page and the items that the changes so far come to. A page that the kill took away
//! is read again after the restart. Every change must fit on what came before it: what it replaced is what was there.
//! So a change that is missing, told twice or out of order shows at once, and in the end the changes make the items.

use crate::content;
use crate::history::{Effect, Items, Key, Operation, Outcome, Seq};
use crate::observe::PROBE;
use crate::writer::Shared;
use orrery_testing_client::{Client, ClientError, Method, OwnedReply, Request};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

const PAGE_ITEMS: &str = "50";
/// Between two questions when nothing is new.
const PAUSE: Duration = Duration::from_millis(2);

#[derive(Debug, Default)]
pub struct Follower {
    /// The etag of the last page; none before the first.
    position: Option<String>,
    items: BTreeMap<Key, Seq>,
    /// Attempts that the feed told of.
    told: BTreeSet<Seq>,
    last_lsn: u64,
    pub changes: usize,
    wrong: Vec<String>,
}

enum Page {
    Changes,
    NothingNew,
    /// The server is ending, or told to come back.
    NoAnswer,
}

impl Follower {
    /// Follows until the server stops answering.
    pub(crate) async fn run(mut self, address: SocketAddr, shared: Shared) -> Self {
        let mut client = Client::new(address, shared.env.clone());
        loop {
            match self.page(&mut client, &shared).await {
                Ok(Page::Changes) => {}
                Ok(Page::NothingNew) => tokio::time::sleep(PAUSE).await,
                Ok(Page::NoAnswer) | Err(_) => return self,
            }
        }
    }

    /// Reads all that is there, from the position of before the restart.
    pub(crate) async fn catch_up(&mut self, client: &mut Client, shared: &Shared) -> Result<(), ClientError> {
        loop {
            match self.page(client, shared).await? {
                Page::Changes => {}
                Page::NothingNew => return Ok(()),
                Page::NoAnswer => {
                    self.wrong.push("the change feed has no answer after the restart".to_owned());
                    return Ok(());
                }
            }
        }
    }

    async fn page(&mut self, client: &mut Client, shared: &Shared) -> Result<Page, ClientError> {
        let request = Request::new(Method::Get, shared.path.items())
            .header("a-im", "Full-Fidelity Feed")
            .header("x-orrery-pre-images", "true")
            .header("x-ms-cosmos-changefeed-wire-format-version", "2021-09-15")
            .header("x-ms-max-item-count", PAGE_ITEMS)
            .header("if-none-match", self.position.as_deref().unwrap_or("*"));
        let reply = client.call(&request).await?;
        let page = match reply.status {
            200 => Page::Changes,
            304 => Page::NothingNew,
            429 | 503 => return Ok(Page::NoAnswer),
            status => {
                self.wrong.push(format!("the change feed got {status}"));
                return Ok(Page::NoAnswer);
            }
        };
        self.take(&reply);
        self.position = reply.header("etag").map(str::to_owned);
        Ok(page)
    }

    fn take(&mut self, reply: &OwnedReply) {
        let body = reply.json().unwrap_or_default();
        for change in body["Documents"].as_array().into_iter().flatten() {
            self.changes += 1;
            if let Err(wrong) = self.follow(change) {
                self.wrong.push(format!("the change feed: {wrong}"));
            }
        }
    }

    /// Does to the items what the change says was done.
    pub fn follow(&mut self, change: &Value) -> Result<(), String> {
        let lsn = change["metadata"]["lsn"].as_u64().ok_or(format!("no LSN in {change}"))?;
        // One commit may have several changes.
        if lsn < self.last_lsn {
            return Err(format!("{lsn} comes after {}", self.last_lsn));
        }
        self.last_lsn = lsn;
        if [&change["current"], &change["previous"]].iter().any(|item| item["id"] == PROBE) {
            return Ok(());
        }
        let version = |member: &str| match change.get(member).filter(|item| item.get("id").is_some()) {
            None => Ok(None),
            Some(item) => content::read(item).map(|(key, found)| Some((key, found.seq))),
        };
        let (current, previous) = (version("current")?, version("previous")?);
        let operation = match (&previous, &current) {
            (None, Some(_)) => "create",
            (Some(_), Some(_)) => "replace",
            (Some(_), None) => "delete",
            (None, None) => return Err(format!("{lsn} changes nothing: {change}")),
        };
        if change["metadata"]["operationType"] != operation {
            return Err(format!("{lsn} is no {operation}: {change}"));
        }
        let Some((key, _)) = current.as_ref().or(previous.as_ref()) else { return Ok(()) };
        let before = match &current {
            Some((key, seq)) => {
                if !self.told.insert(*seq) {
                    return Err(format!("{key}: attempt {seq} is told twice"));
                }
                self.items.insert(key.clone(), *seq)
            }
            None => self.items.remove(key),
        };
        let expected = previous.as_ref().map(|(_, seq)| *seq);
        if before != expected {
            return Err(format!("{key}: commit {lsn} replaced {expected:?}, and {before:?} was told before"));
        }
        Ok(())
    }

    /// What is wrong so far: with the changes, with what they come to, and with what they leave out.
    pub fn findings(&mut self, now: &Items, operations: &[Operation]) -> Vec<String> {
        let mut findings = std::mem::take(&mut self.wrong);
        let is_same = self.items.len() == now.len()
            && now.iter().all(|(key, found)| self.items.get(key) == Some(&found.seq));
        if !is_same {
            let (told, there) = (self.items.len(), now.len());
            findings.push(format!("the changes come to {told} items that are not the {there} there are"));
        }
        for operation in operations {
            let is_done = matches!(operation.outcome, Outcome::Acknowledged { .. });
            if is_done && operation.effect == Effect::Write && !self.told.contains(&operation.seq) {
                findings.push(format!("{}: the feed never told of attempt {}", operation.key, operation.seq));
            }
            if operation.outcome == Outcome::Refused && self.told.contains(&operation.seq) {
                findings.push(format!("{}: the feed told of a refused attempt", operation.key));
            }
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn key() -> Key {
        Key { partition: "p".to_owned(), id: "i".to_owned() }
    }

    fn change(lsn: u64, operation: &str, current: Option<Seq>, previous: Option<Seq>) -> Value {
        let item = |seq: Seq| {
            let mut item = content::item(&key(), seq, 7);
            item["_etag"] = json!("\"e\"");
            item
        };
        let mut change = json!({"current": current.map_or(json!({}), item), "metadata": {"lsn": lsn, "operationType": operation}});
        if let Some(seq) = previous {
            change["previous"] = item(seq);
        }
        change
    }

    fn check(changes: &[Value], fragment: Option<&str>) {
        let mut follower = Follower::default();
        let said = changes.iter().try_for_each(|change| follower.follow(change));
        match (said, fragment) {
            (Ok(()), None) => {}
            (Err(said), Some(fragment)) => assert!(said.contains(fragment), "{said}"),
            (said, fragment) => panic!("{said:?} and not {fragment:?}"),
        }
    }

    #[test]
    fn changes_that_fit_are_followed_and_others_are_noticed() {
        let create = || change(1, "create", Some(1), None);
        check(&[create(), change(2, "replace", Some(2), Some(1)), change(3, "delete", None, Some(2))], None);
        check(&[create(), create()], Some("told twice"));
        check(&[change(2, "create", Some(1), None), change(1, "delete", None, Some(1))], Some("comes after"));
        check(&[create(), change(2, "replace", Some(1), Some(1))], Some("told twice"));
        check(&[create(), change(3, "replace", Some(3), Some(2))], Some("was told before"));
        check(&[create(), change(2, "create", Some(2), None)], Some("was told before"));
        check(&[create(), change(2, "create", Some(2), Some(1))], Some("is no replace"));
        check(&[change(1, "delete", None, None)], Some("changes nothing"));
    }

    #[test]
    fn what_is_left_out_or_made_up_is_found() {
        let mut follower = Follower::default();
        follower.follow(&change(1, "create", Some(1), None)).expect("it fits");
        let operation = |seq, outcome| Operation {
            key: key(),
            seq,
            effect: Effect::Write,
            if_match: None,
            began: 1,
            outcome,
        };
        let done = Outcome::Acknowledged { etag: "e".to_owned(), ended: 2 };
        let found = crate::history::Found { seq: 1, etag: "e".to_owned() };
        let there = Items::from([(key(), found)]);
        assert!(follower.findings(&there, &[operation(1, done.clone())]).is_empty());
        assert_eq!(follower.findings(&there, &[operation(2, done)]).len(), 1);
        assert_eq!(follower.findings(&there, &[operation(1, Outcome::Refused)]).len(), 1);
        assert_eq!(follower.findings(&Items::new(), &[]).len(), 1);
    }
}
