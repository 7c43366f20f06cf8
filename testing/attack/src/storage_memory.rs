//! Memory of the storage ports: many transactions of 4 MiB at once, many bodies that stop halfway, many pages of large entities
//! that nobody reads. The process stays within what it was given, and others are served meanwhile.

use crate::memory::{MEMORY_MEGABYTES, check_resident};
use crate::storage_input::batch;
use orrery_attack::{Arena, QUEUE, TABLE};
use orrery_testing_client::{Client, Method, ServerProcess, StorageRequest, message_body};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};

/// Transactions at once, each of nearly 4 MiB: every character is written as a reference of six bytes.
const BATCHES: usize = 40;
const INSERTS: usize = 99;
const CHARS: usize = 6_900;

const BODIES: usize = 200;
const BODY_BYTES: usize = 4 << 20;
/// What the system keeps of it while nobody reads.
const SENT_BYTES: usize = 3 << 19;

/// Entities of a full page of the largest, and pages that are asked for at once.
const LARGE_ENTITIES: usize = 64;
const LARGE_CHARS: usize = 480_000;
const PAGES: usize = 60;

pub fn batches(arena: &Arena) -> Result<(), String> {
    let mut server = arena.start(&["--memory-mb", MEMORY_MEGABYTES])?;
    arena.make_queue_and_table(&server)?;
    let request = large_batch();
    for _ in 0..arena.rounds(1, 5) {
        let statuses = all_at_once(arena, server.table(), &request, BATCHES)?;
        let are_expected = statuses.keys().all(|status| [202, 503].contains(status));
        if !are_expected || !statuses.contains_key(&202) {
            return Err(format!("{BATCHES} transactions at once were answered {statuses:?} (status: times)"));
        }
    }
    check_resident(&server)?;
    // All of them insert the same rows, so one was done, whole.
    let rows = count_rows(arena, &server)?;
    if rows != INSERTS {
        return Err(format!("of {INSERTS} inserts in each transaction, {rows} are there"));
    }
    arena.check_well(&mut server)
}

fn count_rows(arena: &Arena, server: &ServerProcess) -> Result<usize, String> {
    let (mut rows, mut from): (usize, Option<String>) = (0, None);
    loop {
        let mut all = StorageRequest::table(Method::Get, format!("{TABLE}()")).parameter("$select", "RowKey");
        if let Some(from) = &from {
            let (partition, row) = from.split_once(' ').unwrap_or((from, ""));
            all = all.parameter("NextPartitionKey", partition).parameter("NextRowKey", row);
        }
        let page = arena.expect_storage(200, "", server.table(), &all)?;
        rows += page.json().and_then(|page| page["value"].as_array().map(Vec::len)).unwrap_or_default();
        let next = |name: &str| page.header(name).map(str::to_owned);
        let partition = next("x-ms-continuation-NextPartitionKey");
        let row = next("x-ms-continuation-NextRowKey").unwrap_or_default();
        match partition {
            Some(partition) => from = Some(format!("{partition} {row}")),
            None => return Ok(rows),
        }
    }
}

/// How often each status came.
fn all_at_once(
    arena: &Arena,
    port: SocketAddr,
    request: &StorageRequest,
    count: usize,
) -> Result<BTreeMap<u16, usize>, String> {
    let env = orrery_core::Env::system().map_err(|error| error.to_string())?;
    let mut statuses = BTreeMap::new();
    arena.block_on(async {
        let running: Vec<_> = (0..count)
            .map(|_| {
                let (mut client, request) = (Client::new(port, env.clone()), request.clone());
                tokio::spawn(async move { client.call_storage(&request).await.map(|reply| reply.status) })
            })
            .collect();
        for one in running {
            let status = one.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
            *statuses.entry(status).or_default() += 1;
        }
        Ok(statuses)
    })
}

pub fn half_sent_bodies(arena: &Arena) -> Result<(), String> {
    let mut server = arena.start(&["--memory-mb", MEMORY_MEGABYTES])?;
    arena.make_queue_and_table(&server)?;
    let head = batch(1, "").encode_head(arena.now(), BODY_BYTES);
    let piece = vec![b' '; SENT_BYTES];
    let mut open = Vec::new();
    for _ in 0..BODIES {
        let mut stream = TcpStream::connect(server.table()).map_err(|error| error.to_string())?;
        // The server may have closed it already, which is fine.
        let _ = stream.write_all(&head).and_then(|()| stream.write_all(&piece));
        open.push(stream);
    }
    let put = StorageRequest::queue(Method::Post, format!("{QUEUE}/messages"))
        .body("application/xml", message_body("hello"));
    arena.expect_storage(201, "", server.queue(), &put)?;
    drop(open);
    check_resident(&server)?;
    // What the others held is given back as soon as the server has seen that they are gone.
    for _ in 0..50 {
        if arena.call_storage(server.table(), &large_batch())?.status == 202 {
            return arena.check_well(&mut server);
        }
    }
    Err("no large transaction is taken after the half-sent bodies are gone".to_owned())
}

/// Clients that ask for full pages of the largest entities and do not read them.
pub fn pages(arena: &Arena) -> Result<(), String> {
    let mut server = arena.start(&["--memory-mb", MEMORY_MEGABYTES])?;
    arena.make_queue_and_table(&server)?;
    for row in 0..LARGE_ENTITIES {
        arena.expect_storage(201, "", server.table(), &large_entity(row))?;
    }
    let all = StorageRequest::table(Method::Get, format!("{TABLE}()")).encode(arena.now());
    let mut open = Vec::new();
    for _ in 0..PAGES {
        let mut stream = TcpStream::connect(server.table()).map_err(|error| error.to_string())?;
        stream.write_all(&all).map_err(|error| error.to_string())?;
        open.push(stream);
    }
    let point = StorageRequest::table(Method::Get, format!("{TABLE}(PartitionKey='p',RowKey='0')"));
    arena.expect_storage(200, "", server.table(), &point.parameter("$select", "RowKey"))?;
    // Every page was begun once another one is answered that was asked for after them all.
    count_rows(arena, &server)?;
    check_resident(&server)?;
    drop(open);
    arena.check_well(&mut server)
}

fn large_batch() -> StorageRequest {
    batch(INSERTS, &"\\u0078".repeat(CHARS))
}

fn large_entity(row: usize) -> StorageRequest {
    let texts = LARGE_CHARS.div_ceil(30_000);
    let texts: String = (0..texts).map(|at| format!(",\"Text{at}\":\"{}\"", "x".repeat(30_000))).collect();
    let entity = format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\"{texts}}}");
    StorageRequest::table(Method::Post, TABLE).body("application/json", entity)
}
