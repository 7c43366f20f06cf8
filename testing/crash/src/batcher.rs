//! One who writes transactional batches, in a container of its own, and what is there of them afterwards.
//!
//! Each batch makes items that carry its number and how many they are, and counts itself in an item that all batches
//! of the partition share. Some end with an operation that must fail.

use crate::batches::{BatchAttempt, BatchOutcome, Kept};
use crate::history::Record;
use crate::writer::Shared;
use orrery_core::{Env, Timestamp};
use orrery_testing_client::{Client, ClientError, ContainerPath, Method, OwnedReply, Request};
use serde_json::{Value, json};
use std::net::SocketAddr;

const PARTITIONS: u64 = 12;
const ITEMS_MAX: u64 = 24;
const PAGE_ITEMS: usize = 1000;
/// The item of a partition that counts its batches.
const COUNT: &str = "count";

fn path() -> ContainerPath {
    ContainerPath::new("crash", "batches")
}

fn partition(number: u64) -> String {
    format!("b{}", number % PARTITIONS)
}

/// Makes the container and the counts; the inner error is an answer that it should not get.
pub(crate) async fn set_up(client: &mut Client) -> Result<Result<(), String>, ClientError> {
    let made = client.create_container(&path(), &json!({})).await?;
    if made.status != 201 {
        return Ok(Err(format!("the container of batches got {}", made.status)));
    }
    for number in 0..PARTITIONS {
        let partition = partition(number);
        let body = json!({"id": COUNT, "pk": partition, "batches": 0}).to_string();
        let made = client.call(&path().create(&partition, body)).await?;
        if made.status != 201 {
            return Ok(Err(format!("the count of {partition} got {}", made.status)));
        }
    }
    Ok(Ok(()))
}

/// Sends batches until the server stops answering.
pub(crate) async fn run(address: SocketAddr, shared: Shared, seed: u64) -> Record {
    let random = Env::seeded(Timestamp::default(), seed);
    let mut client = Client::new(address, shared.env.clone());
    let mut record = Record::default();
    loop {
        let number = shared.next_seq();
        let (partition, items) = (partition(random.random_u64()), 1 + random.random_u64() % ITEMS_MAX);
        let is_doomed = random.random_u64().is_multiple_of(4);
        let reply = client.call(&request(number, &partition, items, is_doomed)).await;
        let outcome = match &reply {
            Err(_) => BatchOutcome::Unknown,
            Ok(reply) => judge(reply, is_doomed, &mut record),
        };
        record.batches.push(BatchAttempt { number, partition, items, outcome });
        if outcome == BatchOutcome::Unknown {
            return record;
        }
    }
}

fn request(number: u64, partition: &str, items: u64, is_doomed: bool) -> Request {
    let count = json!({"operationType": "Patch", "id": COUNT, "resourceBody": {"operations": [{"op": "incr", "path": "/batches", "value": 1}]}});
    let item = |at: u64| {
        let filler = "x".repeat((number.wrapping_mul(31) % 600) as usize);
        let body = json!({"id": format!("{number}-{at}"), "pk": partition, "batch": number, "of": items, "filler": filler});
        json!({"operationType": "Create", "resourceBody": body})
    };
    let taken = json!({"operationType": "Create", "resourceBody": {"id": COUNT, "pk": partition}});
    let operations: Vec<Value> =
        std::iter::once(count).chain((0..items).map(item)).chain(is_doomed.then_some(taken)).collect();
    Request::new(Method::Post, path().items())
        .header("x-ms-cosmos-is-batch-request", "True")
        .header("x-ms-cosmos-batch-atomic", "True")
        .partition(partition)
        .body(json!(operations).to_string())
}

fn judge(reply: &OwnedReply, is_doomed: bool, record: &mut Record) -> BatchOutcome {
    for (range, lsn) in reply.session_lsns() {
        record.lsns.raise(range, lsn);
    }
    match (reply.status, is_doomed) {
        (200, false) => BatchOutcome::Acknowledged,
        (207, true) | (429, _) => BatchOutcome::Refused,
        (408 | 503, _) => BatchOutcome::Unknown,
        (status, _) => {
            let body = String::from_utf8_lossy(&reply.body).into_owned();
            record.trouble.push(format!("a batch (doomed: {is_doomed}) got {status}: {body}"));
            BatchOutcome::Unknown
        }
    }
}

/// Reads all that is there of batches.
pub(crate) async fn observe(address: SocketAddr, shared: &Shared) -> Result<Kept, ClientError> {
    let mut client = Client::new(address, shared.env.clone());
    let (mut kept, mut continuation): (Kept, Option<String>) = (Kept::default(), None);
    loop {
        let reply = client.call(&path().feed(PAGE_ITEMS, continuation.as_deref())).await?;
        let page = reply.json().unwrap_or_default();
        match page.get("Documents").and_then(Value::as_array) {
            Some(items) => items.iter().for_each(|item| take(item, &mut kept)),
            None => kept.trouble.push(format!("the feed of batches got {}", reply.status)),
        }
        continuation = reply.header("x-ms-continuation").map(str::to_owned);
        if continuation.is_none() {
            return Ok(kept);
        }
    }
}

fn take(item: &Value, kept: &mut Kept) {
    let partition = item["pk"].as_str().unwrap_or_default().to_owned();
    if item["id"] == COUNT {
        kept.counts.insert(partition, item["batches"].as_u64().unwrap_or(u64::MAX));
        return;
    }
    match item["batch"].as_u64() {
        Some(number) => *kept.items.entry((partition, number)).or_default() += 1,
        None => kept.trouble.push(format!("an item of no batch: {item}")),
    }
}
