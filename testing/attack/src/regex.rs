//! Regular expressions that take long: queries that use an index are answered meanwhile, and none of the slow ones ends without
//! saying why.

use crate::memory::query_of;
use orrery_attack::Arena;
use orrery_core::Env;
use orrery_testing_client::{Client, ContainerPath, ServerProcess};
use serde_json::json;
use std::time::{Duration, Instant};

/// More than run at once.
const SLOW: usize = 40;
const ITEMS: usize = 400;
/// Each takes millions of steps, yet fewer than are refused.
const TEXT_BYTES: usize = 700;
/// A slow query may take 45 seconds; a short one must not wait for it.
const SHORT_SECONDS_MAX: u64 = 15;

pub fn attack(arena: &Arena) -> Result<(), String> {
    let mut server = arena.start(&[])?;
    let container = items(arena, &server)?;
    refused(arena, &server, &container)?;
    let slow = r#"SELECT c.id FROM c WHERE NOT RegexMatch(c.text, "(a|b)+\\1c") ORDER BY c.text"#;
    let request = query_of(&container, &json!({"query": slow}).to_string());
    let env = Env::system().map_err(|error| error.to_string())?;
    let short = json!({"query": "SELECT c.id FROM c WHERE c.n = 7"}).to_string();
    let outcome = arena.block_on(async {
        let running: Vec<_> = (0..SLOW)
            .map(|_| {
                let (mut client, request) = (Client::new(server.cosmos(), env.clone()), request.clone());
                tokio::spawn(async move { client.call(&request).await.map(|reply| reply.status) })
            })
            .collect();
        let outcome = short_ones(&server, &env, &container, &short, arena.rounds(5, 100)).await;
        // They need not come to their end: a client that leaves ends its query.
        running.iter().for_each(|one| one.abort());
        outcome
    });
    outcome?;
    arena.check_well(&mut server)
}

async fn short_ones(
    server: &ServerProcess,
    env: &Env,
    container: &ContainerPath,
    query: &str,
    count: usize,
) -> Result<(), String> {
    for round in 0..count {
        let mut client = Client::new(server.cosmos(), env.clone());
        let begun = Instant::now();
        let limit = Duration::from_secs(SHORT_SECONDS_MAX);
        // Another text each time: nothing is known of how long it takes.
        let text = query.replace("c.id", &format!("c.id, {round} AS round"));
        match tokio::time::timeout(limit, client.call(&query_of(container, &text))).await {
            Err(_) => return Err(format!("an indexed query waited longer than {SHORT_SECONDS_MAX} s")),
            Ok(Err(error)) => return Err(error.to_string()),
            Ok(Ok(reply)) if reply.status != 200 => {
                return Err(format!("an indexed query was answered with {}", reply.status));
            }
            Ok(Ok(_)) => println!("        an indexed query took {} ms", begun.elapsed().as_millis()),
        }
    }
    Ok(())
}

/// Patterns that cannot be run are refused with a reason, not answered with no rows.
fn refused(arena: &Arena, server: &ServerProcess, container: &ContainerPath) -> Result<(), String> {
    let mut caller = arena.caller(server);
    for (pattern, reason) in
        [(r"\\w{20000}", "too large"), (r"(?=\\w{20000})a", "too large"), (r"((((a|b)+)+)+)+\\1c", "steps")]
    {
        let query = format!(r#"SELECT c.id FROM c WHERE RegexMatch(c.text, "{pattern}")"#);
        let reply = caller.expect(400, &query_of(container, &json!({ "query": query }).to_string()))?;
        let body = String::from_utf8_lossy(&reply.body).into_owned();
        if !body.contains(reason) {
            return Err(format!("{pattern} is refused without '{reason}': {body}"));
        }
    }
    Ok(())
}

fn items(arena: &Arena, server: &ServerProcess) -> Result<ContainerPath, String> {
    let mut caller = arena.caller(server);
    let container = caller.make_container(&json!({}))?;
    let text = "ab".repeat(TEXT_BYTES / 2);
    for n in 0..ITEMS {
        let item = json!({"id": n.to_string(), "pk": "p", "n": n, "text": format!("{n:04}{text}")});
        caller.expect(201, &container.create("p", item.to_string()))?;
    }
    Ok(container)
}
