//! One who sends entity group transactions, in a table of their own, and what is there of them afterwards.
//!
//! Each inserts entities that carry its number and how many they are, and counts itself in an entity of the partition, by a
//! merge on the tag that was read before. Some have an operation that must fail.

use super::BATCHES;
use super::request::{self, at, text};
use crate::batches::{BatchAttempt, BatchOutcome, Kept};
use crate::history::{Key, Record};
use crate::writer::Shared;
use orrery_core::{Env, Timestamp};
use orrery_testing_client::{Client, ClientError, Method, OwnedReply, STORAGE_ACCOUNT, StorageRequest};
use serde_json::{Value, json};
use std::net::SocketAddr;

const PARTITIONS: u64 = 8;
/// A transaction has at most 100 operations, and two of them may be others.
const ITEMS_MAX: u64 = 98;
/// The entity of a partition that counts its batches.
const COUNT: &str = "count";

/// What makes a batch fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doom {
    /// A delete of what is not there.
    Absent,
    /// A row that the batch has already.
    Twice,
    OtherPartition,
    /// A tag that the entity never had.
    Tag,
}

const DOOMS: [Doom; 4] = [Doom::Absent, Doom::Twice, Doom::OtherPartition, Doom::Tag];

/// The count of a partition as it was read.
struct Count {
    partition: String,
    batches: u64,
    etag: String,
}

fn partition(number: u64) -> String {
    format!("b{}", number % PARTITIONS)
}

fn count_key(partition: &str) -> Key {
    Key { partition: partition.to_owned(), id: COUNT.to_owned() }
}

/// Makes the counts; the inner error is an answer that it should not get.
pub(crate) async fn set_up(client: &mut Client) -> Result<Result<(), String>, ClientError> {
    for number in 0..PARTITIONS {
        let count = json!({"PartitionKey": partition(number), "RowKey": COUNT, "Batches": 0});
        let made = client.call_storage(&request::insert(BATCHES, &count, "return-no-content")).await?;
        if made.status != 204 {
            return Ok(Err(format!("a count of batches got {}: {}", made.status, text(&made))));
        }
    }
    Ok(Ok(()))
}

/// Sends batches until the server stops answering.
pub(crate) async fn run(address: SocketAddr, shared: Shared, seed: u64) -> Record {
    let random = Env::seeded(Timestamp::default(), seed);
    let mut client = Client::new(address, shared.env.clone());
    let mut record = Record::default();
    while step(&mut client, &shared, &random, &mut record).await.is_some() {}
    record
}

async fn step(client: &mut Client, shared: &Shared, random: &Env, record: &mut Record) -> Option<()> {
    let count = read_count(client, partition(random.random_u64()), record).await?;
    let (number, items) = (shared.next_seq(), 1 + random.random_u64() % ITEMS_MAX);
    let is_doomed = random.random_u64().is_multiple_of(4);
    let doom = is_doomed.then(|| DOOMS[(random.random_u64() % 4) as usize]);
    let reply = client.call_storage(&batch(number, &count, items, doom)).await;
    let outcome = match &reply {
        Err(_) => BatchOutcome::Unknown,
        Ok(reply) => judge(reply, items, doom, record),
    };
    record.batches.push(BatchAttempt { number, partition: count.partition, items, outcome });
    (outcome != BatchOutcome::Unknown).then_some(())
}

async fn read_count(client: &mut Client, partition: String, record: &mut Record) -> Option<Count> {
    let reply = client.call_storage(&request::read(BATCHES, &count_key(&partition))).await.ok()?;
    let batches = reply.json().and_then(|count| count["Batches"].as_u64());
    let (Some(batches), Some(etag)) = (batches, reply.header("etag")) else {
        if reply.status != 503 {
            record.trouble.push(format!("the count of {partition} got {}: {}", reply.status, text(&reply)));
        }
        return None;
    };
    Some(Count { partition, batches, etag: etag.to_owned() })
}

fn batch(number: u64, count: &Count, items: u64, doom: Option<Doom>) -> StorageRequest {
    let partition = &count.partition;
    let etag = if doom == Some(Doom::Tag) {
        "W/\"datetime'2001-01-01T00%3A00%3A00.0000000Z'\""
    } else {
        &count.etag
    };
    let counted = json!({"Batches": count.batches + 1}).to_string();
    let place = at(BATCHES, &count_key(partition));
    let item = |at: u64, partition: &str| {
        let filler = "x".repeat((number.wrapping_mul(31) % 300) as usize);
        let (row, number) = (format!("{number}-{at}"), number.to_string());
        json!({"PartitionKey": partition, "RowKey": row, "Batch@odata.type": "Edm.Int64", "Batch": number, "Of": items, "Filler": filler})
    };
    let insert = |entity: Value| operation("POST", BATCHES, None, &entity.to_string());
    let absent = Key { partition: partition.clone(), id: "absent".to_owned() };
    let last = match doom {
        Some(Doom::Absent) => operation("DELETE", &at(BATCHES, &absent), Some("*"), ""),
        Some(Doom::Twice) => insert(item(0, partition)),
        Some(Doom::OtherPartition) => insert(item(items, "elsewhere")),
        Some(Doom::Tag) | None => String::new(),
    };
    let merge = operation("PATCH", &place, Some(etag), &counted);
    let inserts: String = (0..items).map(|at| insert(item(at, partition))).collect();
    let body = format!(
        "--batch\r\nContent-Type: multipart/mixed; boundary=changeset\r\n\r\n{merge}{inserts}{last}--changeset--\r\n\r\n--batch--\r\n"
    );
    StorageRequest::table(Method::Post, "$batch").body("multipart/mixed; boundary=batch", body)
}

fn operation(verb: &str, path: &str, if_match: Option<&str>, body: &str) -> String {
    let if_match = if_match.map(|etag| format!("If-Match: {etag}\r\n")).unwrap_or_default();
    format!(
        "--changeset\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n\
         {verb} http://127.0.0.1/{STORAGE_ACCOUNT}/{path} HTTP/1.1\r\nContent-Type: application/json\r\n\
         Prefer: return-no-content\r\n{if_match}\r\n{body}\r\n"
    )
}

/// A batch is answered with 202 in any case; what came of it is in the parts.
fn judge(reply: &OwnedReply, items: u64, doom: Option<Doom>, record: &mut Record) -> BatchOutcome {
    if reply.status == 503 || reply.status == 408 {
        return BatchOutcome::Unknown;
    }
    let told = text(reply);
    let statuses: Vec<&str> = told.split("\r\nHTTP/1.1 ").skip(1).filter_map(|part| part.get(..3)).collect();
    let is_done = statuses.len() as u64 == items + 1 && statuses.iter().all(|status| *status == "204");
    let refused: &[&str] = match doom {
        Some(Doom::Absent) => &["404", "412"],
        Some(Doom::Twice | Doom::OtherPartition) => &["400"],
        // Somebody else counted meanwhile.
        Some(Doom::Tag) | None => &["412"],
    };
    match &statuses[..] {
        _ if reply.status == 202 && is_done && doom.is_none() => BatchOutcome::Acknowledged,
        [one] if reply.status == 202 && refused.contains(one) => BatchOutcome::Refused,
        _ => {
            record.trouble.push(format!("a batch of entities (doom: {doom:?}) got {}: {told}", reply.status));
            BatchOutcome::Unknown
        }
    }
}

/// Reads all that is there of batches.
pub(crate) async fn observe(client: &mut Client) -> Result<Kept, ClientError> {
    let mut kept = Kept::default();
    match request::query(client, BATCHES, None).await? {
        Ok(rows) => rows.iter().for_each(|row| take(row, &mut kept)),
        Err(wrong) => kept.trouble.push(wrong),
    }
    Ok(kept)
}

fn take(row: &Value, kept: &mut Kept) {
    let partition = row["PartitionKey"].as_str().unwrap_or_default().to_owned();
    if row["RowKey"] == COUNT {
        kept.counts.insert(partition, row["Batches"].as_u64().unwrap_or(u64::MAX));
        return;
    }
    match row["Batch"].as_str().and_then(|number| number.parse().ok()) {
        Some(number) => *kept.items.entry((partition, number)).or_default() += 1,
        None => kept.trouble.push(format!("an entity of no batch: {row}")),
    }
}
