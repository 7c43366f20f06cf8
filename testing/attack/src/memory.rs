//! Memory: many sorts over large items at once, and many bodies that stop halfway. The process stays within what it was given,
//! and others are served meanwhile.

use orrery_attack::Arena;
use orrery_core::Env;
use orrery_testing_client::{Client, ContainerPath, Method, Request, ServerProcess};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::TcpStream;

/// What the server is given for queries and bodies; it needs as much again for everything else.
pub const MEMORY_MEGABYTES: &str = "128";
/// What the whole process may have used at its peak. Without budgets, either attack took more than a gigabyte.
const RESIDENT_MEGABYTES_MAX: u64 = 700;

const ITEMS: usize = 100;
const ITEM_BYTES: usize = 512 * 1024;
const SORTS: usize = 60;

const BODIES: usize = 500;
const BODY_BYTES: usize = 2 * 1024 * 1024;
const SENT_BYTES: usize = BODY_BYTES * 3 / 4;

pub fn sorts(arena: &Arena) -> Result<(), String> {
    let mut server = arena.start(&["--memory-mb", MEMORY_MEGABYTES])?;
    let container = large_items(arena, &server)?;
    let query = json!({"query": "SELECT * FROM c ORDER BY c.n DESC"}).to_string();
    let request = query_of(&container, &query);
    for _ in 0..arena.rounds(1, 5) {
        let statuses = arena.block_on(all_at_once(&server, &request, SORTS))?;
        let are_expected = statuses.keys().all(|status| [200, 429].contains(status));
        if !are_expected || !statuses.contains_key(&200) {
            return Err(format!("{SORTS} sorts at once were answered {statuses:?} (status: times)"));
        }
    }
    check_resident(&server)?;
    arena.check_well(&mut server)
}

pub fn half_sent_bodies(arena: &Arena) -> Result<(), String> {
    let mut server = arena.start(&["--memory-mb", MEMORY_MEGABYTES])?;
    let mut caller = arena.caller(&server);
    let container = caller.make_container(&json!({}))?;
    let head = container.create("p", "").encode_head(&arena.signer(), BODY_BYTES);
    let mut piece = vec![b' '; SENT_BYTES];
    piece[0] = b'{';
    let mut open = Vec::new();
    for _ in 0..BODIES {
        let mut stream = TcpStream::connect(server.cosmos()).map_err(|error| error.to_string())?;
        // The server may have closed it already, which is fine.
        let _ = stream.write_all(&head).and_then(|()| stream.write_all(&piece));
        open.push(stream);
    }
    let small = json!({"id": "small", "pk": "p"}).to_string();
    caller.expect(201, &container.create("p", small))?;
    drop(open);
    check_resident(&server)?;
    let large = json!({"id": "large", "pk": "p", "text": "x".repeat(ITEM_BYTES)}).to_string();
    // What the others held is given back as soon as the server has seen that they are gone.
    for _ in 0..50 {
        if caller.call(&container.create("p", large.clone()))?.status == 201 {
            return arena.check_well(&mut server);
        }
    }
    Err("no large item is taken after the half-sent bodies are gone".to_owned())
}

fn large_items(arena: &Arena, server: &ServerProcess) -> Result<ContainerPath, String> {
    let mut caller = arena.caller(server);
    let container = caller.make_container(&json!({}))?;
    let text = "x".repeat(ITEM_BYTES);
    for n in 0..ITEMS {
        let item = json!({"id": n.to_string(), "pk": "p", "n": n * 37 % ITEMS, "text": text});
        caller.expect(201, &container.create("p", item.to_string()))?;
    }
    Ok(container)
}

pub fn query_of(container: &ContainerPath, body: &str) -> Request {
    Request::new(Method::Post, container.items())
        .partition("p")
        .header("x-ms-documentdb-isquery", "true")
        .header("content-type", "application/query+json")
        .body(body)
}

/// How often each status came.
async fn all_at_once(
    server: &ServerProcess,
    request: &Request,
    count: usize,
) -> Result<BTreeMap<u16, usize>, String> {
    let env = Env::system().map_err(|error| error.to_string())?;
    let running: Vec<_> = (0..count)
        .map(|_| {
            let (mut client, request) = (Client::new(server.cosmos(), env.clone()), request.clone());
            tokio::spawn(async move { client.call(&request).await.map(|reply| reply.status) })
        })
        .collect();
    let mut statuses = BTreeMap::new();
    for one in running {
        let status = one.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        *statuses.entry(status).or_default() += 1;
    }
    Ok(statuses)
}

/// The most memory that the process has had, where the system tells.
pub fn check_resident(server: &ServerProcess) -> Result<(), String> {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", server.process_id())) else {
        return Ok(());
    };
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: Option<u64> = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.trim().parse().ok());
    match kilobytes.map(|kilobytes| kilobytes / 1024) {
        Some(megabytes) if megabytes > RESIDENT_MEGABYTES_MAX => {
            Err(format!("the process took {megabytes} MB; at most {RESIDENT_MEGABYTES_MAX} were expected"))
        }
        Some(_) => Ok(()),
        None => Err("the system did not tell how much memory the process took".to_owned()),
    }
}
