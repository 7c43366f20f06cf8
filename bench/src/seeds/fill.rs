//! Loading a set over HTTP, by bulk requests: a hundred creates each, or as many as fit into a megabyte.

use super::progress::Progress;
use super::set::{Item, Set};
use crate::error::Error;
use orrery_core::Env;
use orrery_testing_client::{Connection, ContainerPath, Method, Request, Signer};
use serde_json::Value;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Creates of a request, as the SDKs send them.
pub const CREATES_A_REQUEST: u64 = 100;
const REQUEST_BYTES_MAX: usize = 1_000_000;

/// Creates all items of a set.
pub async fn fill(
    address: SocketAddr,
    env: &Env,
    path: &ContainerPath,
    set: &Set,
    connections: usize,
) -> Result<(), Error> {
    let next = Arc::new(AtomicU64::new(0));
    let (done, mut finished) = tokio::sync::mpsc::unbounded_channel();
    let fillers: Vec<_> = (0..connections)
        .map(|_| {
            let filler = Filler {
                address,
                env: env.clone(),
                path: path.clone(),
                set: set.clone(),
                next: next.clone(),
                done: done.clone(),
            };
            tokio::spawn(filler.run())
        })
        .collect();
    drop(done);
    let mut progress = Progress::new(format!("orrery, {}", set.name), set.items);
    while let Some(count) = finished.recv().await {
        progress.add(count);
    }
    for filler in fillers {
        filler.await.map_err(|e| Error::Unexpected(e.to_string()))??;
    }
    Ok(())
}

struct Filler {
    address: SocketAddr,
    env: Env,
    path: ContainerPath,
    set: Set,
    next: Arc<AtomicU64>,
    done: tokio::sync::mpsc::UnboundedSender<u64>,
}

impl Filler {
    async fn run(self) -> Result<(), Error> {
        let mut connection = Connection::connect(self.address).await?;
        let size = (REQUEST_BYTES_MAX / self.set.item(0).text.len().max(1)) as u64;
        let size = size.clamp(1, CREATES_A_REQUEST);
        loop {
            let first = self.next.fetch_add(size, Ordering::Relaxed);
            let numbers = first..self.set.items.min(first + size);
            if numbers.is_empty() {
                return Ok(());
            }
            let count = numbers.end - numbers.start;
            let request = bulk(&self.path, numbers.map(|number| self.set.item(number)));
            let bytes = request.encode(&Signer::emulator(self.env.now()));
            let reply = connection.exchange(&bytes).await?;
            if reply.status != 200 {
                return Err(Error::Unexpected(refused(reply.status, reply.body)));
            }
            self.tell(count);
        }
    }

    /// Whoever does not listen any more does not want to know.
    fn tell(&self, created: u64) {
        let _ = self.done.send(created);
    }
}

/// A request that creates these items, whatever partitions they are of.
fn bulk(path: &ContainerPath, items: impl Iterator<Item = Item>) -> Request {
    let mut body = String::from("[");
    for Item { partition, text, .. } in items {
        let key = Value::from(format!("[{}]", Value::from(partition)));
        body.push_str(if body.len() > 1 { "," } else { "" });
        body.push_str(&format!(r#"{{"operationType":"Create","partitionKey":{key},"resourceBody":{text}}}"#));
    }
    body.push(']');
    Request::new(Method::Post, path.items())
        .header("prefer", "return=minimal")
        .header("x-ms-cosmos-is-batch-request", "true")
        .header("x-ms-cosmos-batch-atomic", "false")
        .header("x-ms-cosmos-batch-continue-on-error", "true")
        .body(body)
}

pub fn refused(status: u16, body: &[u8]) -> String {
    format!("status {status}: {}", String::from_utf8_lossy(body))
}

/// The head of a create, signed; only the partition key and the length of the body differ from item to item.
#[derive(Clone, Debug)]
pub struct CreateHead {
    before_key: Vec<u8>,
    before_length: Vec<u8>,
}

impl CreateHead {
    pub fn new(path: &ContainerPath, signer: &Signer) -> Self {
        const KEY: &str = "[\"";
        const LENGTH: &str = "Content-Length: ";
        let head = path.create("", Vec::new()).encode_head(signer, 0);
        let head = String::from_utf8_lossy(&head);
        let after = |mark: &str| head.rfind(mark).map_or(head.len(), |at| at + mark.len());
        let (key, length) = (after(KEY), after(LENGTH));
        Self {
            before_key: head[..key].as_bytes().to_vec(),
            before_length: head[key.min(length)..length].as_bytes().to_vec(),
        }
    }

    /// Appends the request that creates the item.
    pub fn write(&self, item: &Item, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.before_key);
        to.extend_from_slice(item.partition.as_bytes());
        to.extend_from_slice(&self.before_length);
        // Writing to memory does not fail.
        let _ = write!(to, "{}\r\n\r\n", item.text.len());
        to.extend_from_slice(item.text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_core::Timestamp;

    #[test]
    fn a_create_is_what_the_client_would_send() {
        let path = ContainerPath::new("bench", "items");
        let signer = Signer::emulator(Timestamp::default());
        let item = Item {
            id: "a".to_owned(),
            partition: "user-17".to_owned(),
            text: "{\"id\":\"a\",\"pk\":\"user-17\"}".to_owned(),
        };
        let mut bytes = Vec::new();
        CreateHead::new(&path, &signer).write(&item, &mut bytes);
        let whole = path.create(&item.partition, item.text.clone()).encode(&signer);
        assert_eq!(String::from_utf8(bytes).unwrap(), String::from_utf8(whole).unwrap());
    }
}
