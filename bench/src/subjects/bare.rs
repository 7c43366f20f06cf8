//! A bare hyper server in a process of its own, answering from memory what the server answered once.

use super::Subject;
use super::http::{HttpLoad, Replies};
use crate::cell::{Cell, Operation, Size};
use crate::error::Error;
use crate::sample::Sample;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long the bare server may take to start.
const START_MAX: Duration = Duration::from_secs(10);

pub struct Bare {
    load: HttpLoad,
    child: Child,
    _folder: TempDir,
}

impl Bare {
    /// Answers with `replies`; without any, with ones of the same shape and size.
    pub fn start(replies: Option<&Replies>) -> Result<Self, Error> {
        let folder = TempDir::with_prefix("orrery-bare-").map_err(|e| Error::Io("no folder", e))?;
        let (file, port_file) = (folder.path().join("replies.json"), folder.path().join("port"));
        let replies = replies.map_or_else(imitated, captured);
        std::fs::write(&file, replies.to_string()).map_err(|e| Error::Io("no replies file", e))?;
        let program = std::env::current_exe().map_err(|e| Error::Io("no program", e))?;
        let child = Command::new(program).arg("bare").arg(&file).arg(&port_file).spawn();
        let mut child = child.map_err(|e| Error::Io("the bare server could not be started", e))?;
        let port = wait_for_port(&port_file, &mut child)?;
        let load = HttpLoad::new(SocketAddr::from(([127, 0, 0, 1], port)))?;
        Ok(Self { load, child, _folder: folder })
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Subject for Bare {
    fn name(&self) -> &'static str {
        "bare hyper"
    }

    fn fill(&mut self, _size: Size) -> Result<(), Error> {
        Ok(())
    }

    fn run(&mut self, cell: Cell, span: Duration) -> Result<Sample, Error> {
        self.load.run(cell, span)
    }
}

fn wait_for_port(file: &std::path::Path, child: &mut Child) -> Result<u16, Error> {
    let until = Instant::now() + START_MAX;
    while Instant::now() < until {
        if let Some(port) = std::fs::read_to_string(file).ok().and_then(|text| text.parse().ok()) {
            return Ok(port);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(Error::Unexpected("the bare server did not start".to_owned()))
}

/// Headers that hyper writes itself.
const WRITTEN_BY_HYPER: [&str; 4] = ["content-length", "date", "connection", "transfer-encoding"];

fn captured(replies: &Replies) -> Value {
    let one = |(operation, size, reply): &(Operation, Size, orrery_testing_client::OwnedReply)| {
        let headers = reply.headers();
        let kept =
            headers.iter().filter(|(name, _)| !WRITTEN_BY_HYPER.contains(&name.to_lowercase().as_str()));
        let headers: Vec<Value> = kept.map(|(name, value)| json!([name, value])).collect();
        let body = String::from_utf8_lossy(&reply.body);
        json!({"operation": operation.name(), "container": size.container(), "status": reply.status,
               "headers": headers, "body": body})
    };
    Value::from(replies.iter().map(one).collect::<Vec<_>>())
}

/// Replies of the shape the protocol asks for, for when there is no server to take them from.
fn imitated() -> Value {
    let headers = json!([
        ["content-type", "application/json"],
        ["x-ms-activity-id", "00000000-0000-4000-8000-000000000000"],
        ["x-ms-request-charge", "1"],
        ["x-ms-session-token", "0:-1#1000000"],
        ["etag", "\"00000000-0000-0000-0000-000000000000\""],
        ["x-ms-documentdb-partitionkeyrangeid", "0"],
        ["x-ms-alt-content-path", "dbs/bench/colls/kb1"],
        ["x-ms-content-path", "AAAAAYAAAAE="],
        ["x-ms-schemaversion", "1.19"],
        ["lsn", "1000000"],
    ]);
    let reply = |size: Size, operation: Operation| {
        json!({"operation": operation.name(), "container": size.container(), "status": operation.status(),
               "headers": headers, "body": " ".repeat(size.bytes() + 220)})
    };
    let all = Size::ALL.iter().flat_map(|size| Operation::ALL.map(|operation| reply(*size, operation)));
    Value::from(all.collect::<Vec<_>>())
}
