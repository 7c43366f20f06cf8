//! A disk with less room than its reserve: writes are refused, deletes are accepted, so that room can be made.

use orrery_attack::Arena;
use orrery_testing_client::{Method, Request};
use serde_json::json;
use std::path::Path;
use std::process::Command;

const ITEMS: usize = 20;

pub fn deletes(arena: &Arena) -> Result<(), String> {
    let server = arena.start(&[])?;
    let container = arena.caller(&server).make_items(ITEMS)?;
    server.stop().map_err(|error| error.to_string())?;
    // Half of what is wanted is there, and deletes leave a quarter.
    let reserve = 2 * free_mebibytes(arena.scratch())?;
    let mut server = arena.start(&["--disk-reserve-mb", &reserve.to_string()])?;
    let mut caller = arena.caller(&server);
    for n in 0..ITEMS / 2 {
        let id = n.to_string();
        let refused =
            caller.expect(503, &container.upsert("p", json!({"id": id, "pk": "p", "n": -1}).to_string()))?;
        let message = String::from_utf8_lossy(&refused.body).into_owned();
        if !message.contains("make room") {
            return Err(format!("a write is refused without saying why: {message}"));
        }
        caller.expect(204, &container.delete("p", &id, None))?;
        caller.expect(404, &container.read("p", &id))?;
    }
    caller.expect(503, &Request::new(Method::Post, "dbs").body(json!({"id": "e"}).to_string()))?;
    let last = ITEMS - 1;
    let read = caller.expect(200, &container.read("p", &last.to_string()))?;
    if read.json().is_none_or(|item| item["n"] != last) {
        return Err("an item is not as it was acknowledged".to_owned());
    }
    caller.expect(204, &Request::new(Method::Delete, "dbs/d/colls/c"))?;
    arena.check_well(&mut server)?;
    drop(caller);
    server.stop().map_err(|error| error.to_string())?;
    let server = arena.start(&[])?;
    let mut caller = arena.caller(&server);
    caller.expect(404, &Request::new(Method::Get, "dbs/d/colls/c"))?;
    caller.expect(201, &Request::new(Method::Post, "dbs").body(json!({"id": "e"}).to_string())).map(drop)
}

fn free_mebibytes(folder: &Path) -> Result<u64, String> {
    let output = Command::new("df").args(["--output=avail", "-BM"]).arg(folder).output();
    let output = output.map_err(|error| format!("`df` could not be run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = text.lines().last().map(|line| line.trim().trim_end_matches('M'));
    number.and_then(|number| number.parse().ok()).ok_or(format!("`df` says {text}"))
}
