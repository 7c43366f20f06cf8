//! The load of both HTTP subjects: the same bytes, signed ahead, over keep-alive connections.

use crate::cell::{Cell, Operation, Size, Spread};
use crate::drive::{Worker, drive, runtime};
use crate::error::Error;
use crate::item::{self, Place, Random, Template};
use crate::sample::Sample;
use orrery_core::Env;
use orrery_testing_client::{Client, Connection, ContainerPath, Method, OwnedReply, Request, Signer};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::runtime::Runtime;

const DATABASE: &str = "bench";
/// Connections that fill a set.
const FILL_CONNECTIONS: usize = 32;

/// The client side of an HTTP subject.
pub struct HttpLoad {
    address: SocketAddr,
    runtime: Runtime,
    env: Env,
    /// Items created so far, over all runs: each create is of a new one, above all sets.
    created: Arc<AtomicU64>,
}

/// One reply of each kind, as the server gave it; what the bare server answers with.
pub type Replies = Vec<(Operation, Size, OwnedReply)>;

impl HttpLoad {
    pub fn new(address: SocketAddr) -> Result<Self, Error> {
        let created = Arc::new(AtomicU64::new(1_000_000_000));
        Ok(Self { address, runtime: runtime()?, env: Env::system()?, created })
    }

    /// Makes the database and a container for each size, without indexes: PostgreSQL's tables have none either.
    pub fn create_containers(&self) -> Result<(), Error> {
        self.create_containers_with(&json!({"indexingPolicy": {"indexingMode": "none", "automatic": false}}))
    }

    /// The same with these members in their definitions.
    pub fn create_containers_with(&self, members: &serde_json::Value) -> Result<(), Error> {
        let mut client = Client::new(self.address, self.env.clone());
        self.runtime.block_on(async {
            expect(&client.create_database(DATABASE).await?, 201)?;
            for size in Size::ALL {
                expect(&client.create_container(&container(size), members).await?, 201)?;
            }
            Ok(())
        })
    }

    /// Creates the items `0..count` of a size.
    pub fn fill(&self, size: Size, count: u64) -> Result<(), Error> {
        let next = Arc::new(AtomicU64::new(0));
        let requests = Arc::new(Requests::new(Operation::Create, size, Spread::Many, 0, &self.signer()));
        self.runtime.block_on(async {
            let fillers = (0..FILL_CONNECTIONS).map(|_| {
                let (requests, next) = (requests.clone(), next.clone());
                tokio::spawn(fill(self.address, requests, next, count))
            });
            for filler in fillers.collect::<Vec<_>>() {
                filler.await.map_err(|e| Error::Unexpected(e.to_string()))??;
            }
            Ok(())
        })
    }

    pub fn run(&self, cell: Cell, span: Duration) -> Result<Sample, Error> {
        let items = cell.size.set_items();
        let requests = Requests::new(cell.operation, cell.size, cell.spread, items, &self.signer());
        let requests = Arc::new(requests);
        self.runtime.block_on(async {
            let mut workers = Vec::with_capacity(cell.connections);
            for index in 0..cell.connections {
                workers.push(HttpWorker {
                    connection: Connection::connect(self.address).await?,
                    requests: requests.clone(),
                    created: self.created.clone(),
                    random: Random::new(index as u64 + 1),
                    scratch: Vec::new(),
                    cell,
                });
            }
            Ok(drive(workers, span).await)
        })
    }

    /// The time until the account is answered, on a connection of its own.
    pub fn first_answer(&self) -> Result<(), Error> {
        let mut client = Client::new(self.address, self.env.clone());
        self.runtime.block_on(async { expect(&client.read_account().await?, 200) })
    }

    /// Reads one item of the set and checks that it is there.
    pub fn read_one(&self, size: Size, number: u64) -> Result<(), Error> {
        let place = Place::new(number, Spread::Many);
        let request = container(size).read(&place.partition(), &place.id());
        let mut client = Client::new(self.address, self.env.clone());
        self.runtime.block_on(async { expect(&client.call(&request).await?, 200) })
    }

    /// Reads the change feed from a position, or from the beginning, until nothing is new. Gives how many changes there
    /// were, and the position after them.
    pub fn drain_changes(
        &self,
        size: Size,
        mode: &'static str,
        after: Option<&str>,
    ) -> Result<(u64, String), Error> {
        let mut client = Client::new(self.address, self.env.clone());
        self.runtime.block_on(async {
            let (mut found, mut after) = (0, after.map(str::to_owned));
            loop {
                let request = Request::new(Method::Get, container(size).items())
                    .header("a-im", mode)
                    .header_if("if-none-match", after.as_deref());
                let reply = client.call(&request).await?;
                let number = |name: &str| reply.header(name).unwrap_or_default().to_owned();
                after = Some(number("etag"));
                match reply.status {
                    304 => return Ok((found, number("etag"))),
                    _ => expect(&reply, 200)?,
                }
                found += number("x-ms-item-count").parse::<u64>().unwrap_or_default();
            }
        })
    }

    /// Reads all items page by page; gives how many there were.
    pub fn drain_items(&self, size: Size) -> Result<u64, Error> {
        let mut client = Client::new(self.address, self.env.clone());
        self.runtime.block_on(async {
            let (mut found, mut continuation) = (0, None);
            loop {
                let request = Request::new(Method::Get, container(size).items())
                    .header("x-ms-max-item-count", "1000")
                    .header_if("x-ms-continuation", continuation.as_deref());
                let reply = client.call(&request).await?;
                expect(&reply, 200)?;
                let count = reply.header("x-ms-item-count").unwrap_or_default();
                found += count.parse::<u64>().unwrap_or_default();
                continuation = reply.header("x-ms-continuation").map(str::to_owned);
                if continuation.is_none() {
                    return Ok(found);
                }
            }
        })
    }

    /// One reply of each kind. Creates one item of each size outside the set.
    pub fn capture(&self) -> Result<Replies, Error> {
        let signer = self.signer();
        let mut replies = Replies::new();
        self.runtime.block_on(async {
            for size in Size::ALL {
                for operation in Operation::ALL {
                    let requests = Requests::new(operation, size, Spread::Many, 1, &signer);
                    let number = match operation {
                        Operation::Create => self.created.fetch_add(1, Ordering::Relaxed),
                        _ => 0,
                    };
                    let mut bytes = Vec::new();
                    requests.write(number, &mut bytes);
                    let mut connection = Connection::connect(self.address).await?;
                    let reply = connection.exchange(&bytes).await?.to_owned();
                    expect(&reply, operation.status())?;
                    replies.push((operation, size, reply));
                }
            }
            Ok(replies)
        })
    }

    fn signer(&self) -> Signer {
        Signer::emulator(self.env.now())
    }
}

pub fn container(size: Size) -> ContainerPath {
    ContainerPath::new(DATABASE, size.container())
}

fn expect(reply: &OwnedReply, status: u16) -> Result<(), Error> {
    if reply.status == status {
        return Ok(());
    }
    let body = String::from_utf8_lossy(&reply.body);
    Err(Error::Unexpected(format!("status {} instead of {status}: {body}", reply.status)))
}

/// The bytes of a workload's requests. What is signed with an item's link is signed ahead, for each item.
struct Requests {
    heads: Heads,
    body: Option<Template>,
    spread: Spread,
}

enum Heads {
    Each(Vec<Vec<u8>>),
    Same(Template),
}

impl Requests {
    fn new(operation: Operation, size: Size, spread: Spread, items: u64, signer: &Signer) -> Self {
        let path = container(size);
        let body = item::template(size);
        let each = |request: &dyn Fn(Place) -> Request, body_bytes: usize| {
            let places = (0..items).map(|number| Place::new(number, spread));
            Heads::Each(places.map(|place| request(place).encode_head(signer, body_bytes)).collect())
        };
        let same = |request: Request| {
            Heads::Same(Template::new(request.encode_head(signer, body.len()), item::model()))
        };
        let model = item::model().partition();
        let heads = match operation {
            Operation::Read => each(&|place| path.read(&place.partition(), &place.id()), 0),
            Operation::Replace => {
                let replace = |place: Place| path.replace(&place.partition(), &place.id(), Vec::new(), None);
                each(&replace, body.len())
            }
            Operation::Create => same(path.create(&model, Vec::new())),
            Operation::Upsert => same(path.upsert(&model, Vec::new())),
        };
        Self { heads, body: (operation != Operation::Read).then_some(body), spread }
    }

    /// Writes the request for one item into an empty buffer.
    fn write(&self, number: u64, to: &mut Vec<u8>) {
        let place = Place::new(number, self.spread);
        match &self.heads {
            Heads::Each(heads) => to.extend_from_slice(&heads[number as usize]),
            Heads::Same(head) => head.append(place, to),
        }
        if let Some(body) = &self.body {
            body.append(place, to);
        }
    }
}

async fn fill(
    address: SocketAddr,
    requests: Arc<Requests>,
    next: Arc<AtomicU64>,
    count: u64,
) -> Result<(), Error> {
    let mut connection = Connection::connect(address).await?;
    let mut bytes = Vec::new();
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= count {
            return Ok(());
        }
        bytes.clear();
        requests.write(number, &mut bytes);
        let reply = connection.exchange(&bytes).await?;
        if reply.status != 201 {
            return expect(&reply.to_owned(), 201);
        }
    }
}

struct HttpWorker {
    connection: Connection,
    requests: Arc<Requests>,
    created: Arc<AtomicU64>,
    random: Random,
    scratch: Vec<u8>,
    cell: Cell,
}

impl Worker for HttpWorker {
    async fn once(&mut self) -> Result<(), String> {
        let number = match self.cell.operation {
            Operation::Create => self.created.fetch_add(1, Ordering::Relaxed),
            _ => self.random.below(self.cell.size.set_items()),
        };
        self.scratch.clear();
        self.requests.write(number, &mut self.scratch);
        let reply = self.connection.exchange(&self.scratch).await.map_err(|error| error.to_string())?;
        if reply.status == self.cell.operation.status() {
            return Ok(());
        }
        Err(format!("status {}: {}", reply.status, String::from_utf8_lossy(reply.body)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_core::Timestamp;

    fn written(operation: Operation, number: u64) -> String {
        let signer = Signer::emulator(Timestamp::default());
        let mut bytes = Vec::new();
        Requests::new(operation, Size::Kb1, Spread::Many, 10, &signer).write(number, &mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_create_names_its_partition_in_header_and_body() {
        let request = written(Operation::Create, 4099);
        assert!(request.starts_with("POST /dbs/bench/colls/kb1/docs HTTP/1.1\r\n"), "{request}");
        assert!(request.contains("x-ms-documentdb-partitionkey: [\"p000003\"]\r\n"), "{request}");
        assert!(request.contains("\"id\":\"000000004099\",\"pk\":\"p000003\""), "{request}");
        assert_eq!(request.split("\r\n\r\n").nth(1).unwrap().len(), 1024);
    }

    #[test]
    fn a_read_is_signed_for_its_own_item() {
        let request = written(Operation::Read, 7);
        assert!(request.starts_with("GET /dbs/bench/colls/kb1/docs/000000000007 HTTP/1.1\r\n"), "{request}");
        let signature = |text: &str| text.lines().find(|l| l.starts_with("authorization")).map(str::to_owned);
        assert_ne!(signature(&request), signature(&written(Operation::Read, 8)));
    }
}
