//! The server and Azurite: both speak the protocols of storage, so the load on them is the same.

use super::azurite::Azurite;
use super::courier::{Courier, Emptying, HIDDEN_SECONDS, Putting};
use super::entities::{self, Entities};
use super::payload::{self, Places};
use super::request::{Ask, Signer};
use super::scene::{Act, Scene};
use super::stock::Stock;
use super::{Spent, Subject};
use crate::drive::{Worker, drive, runtime};
use crate::error::Error;
use crate::item::Random;
use crate::machine::{cpu_seconds, written_bytes};
use crate::sample::Sample;
use orrery_core::Env;
use orrery_protocol::storage::Service;
use orrery_testing_client::{Connection, Durability, Options, Reply, ServerProcess};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::Runtime;

const PUT_QUEUE: &str = "put";
const WORK_QUEUE: &str = "work";
/// Connections that fill a queue.
const FILL_CONNECTIONS: usize = 32;
/// Messages completed a second at most, until it is known.
const ORRERY_RATE: f64 = 15_000.0;
const AZURITE_RATE: f64 = 300.0;

pub struct OnHttp {
    name: &'static str,
    ports: StoragePorts,
    runtime: Runtime,
    env: Env,
    places: Arc<Places>,
    stock: Stock,
    pub server: Server,
}

pub enum Server {
    Orrery { process: ServerProcess, binary: PathBuf, folder: TempDir },
    Azurite(Azurite),
}

/// Where tables and queues are answered.
#[derive(Clone, Copy, Debug)]
pub struct StoragePorts {
    pub queue: u16,
    pub table: u16,
}

impl StoragePorts {
    /// Two that nobody has at the moment.
    pub fn free() -> Result<Self, Error> {
        let bind = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|e| Error::Io("no port", e));
        let (queue, table) = (bind()?, bind()?);
        let port =
            |of: &TcpListener| of.local_addr().map(|at| at.port()).map_err(|e| Error::Io("no port", e));
        Ok(Self { queue: port(&queue)?, table: port(&table)? })
    }
}

impl OnHttp {
    /// A server on an empty folder below `base`.
    pub fn orrery(name: &'static str, base: &Path, binary: &Path) -> Result<Self, Error> {
        Self::orrery_on(name, new_folder(base)?, binary.to_owned(), Durability::Synced)
    }

    /// One that is filled without syncing; see [`Self::synced`].
    pub fn relaxed_orrery(name: &'static str, base: &Path, binary: &Path) -> Result<Self, Error> {
        Self::orrery_on(name, new_folder(base)?, binary.to_owned(), Durability::Relaxed)
    }

    fn orrery_on(
        name: &'static str,
        folder: TempDir,
        binary: PathBuf,
        durability: Durability,
    ) -> Result<Self, Error> {
        let ports = StoragePorts::free()?;
        let arguments = ["--queue-port", &ports.queue.to_string(), "--table-port", &ports.table.to_string()];
        let arguments = arguments.map(Into::into).to_vec();
        let options = Options { durability, arguments, ..Options::new(binary.clone()) };
        let process = ServerProcess::start(folder.path(), &options)?;
        Self::new(name, ports, ORRERY_RATE, Server::Orrery { process, binary, folder })
    }

    pub fn azurite(azurite: Azurite) -> Result<Self, Error> {
        Self::new("Azurite", azurite.ports, AZURITE_RATE, Server::Azurite(azurite))
    }

    fn new(name: &'static str, ports: StoragePorts, rate: f64, server: Server) -> Result<Self, Error> {
        let (places, stock) = (Arc::default(), Stock::new(rate));
        Ok(Self { name, ports, runtime: runtime()?, env: Env::system()?, places, stock, server })
    }

    /// The same data under a server that syncs, after the one that did not has ended.
    pub fn synced(self) -> Result<Self, Error> {
        match self.server {
            Server::Orrery { process, binary, folder } => {
                process.stop()?;
                Self::orrery_on(self.name, folder, binary, Durability::Synced)
            }
            Server::Azurite(azurite) => Self::azurite(azurite),
        }
    }

    /// Makes the table with its set, and the queues.
    pub fn fill(&self) -> Result<(), Error> {
        let signer = self.signer();
        let batch = Entities::new(Act::Batch, &signer);
        let batch = batch.ok_or_else(|| Error::Unexpected("a group is of entities".to_owned()))?;
        self.runtime.block_on(async {
            let mut connection = Connection::connect(self.table()).await?;
            let created = connection.exchange(&entities::create_table(&signer)).await?;
            expect(created, 204)?;
            let mut bytes = Vec::new();
            for page in payload::set() {
                bytes.clear();
                batch.write_group(page.into_iter(), &mut bytes);
                batch.check(connection.exchange(&bytes).await?).map_err(Error::Unexpected)?;
            }
            Ok::<_, Error>(())
        })?;
        self.create_queue(PUT_QUEUE)?;
        self.create_queue(WORK_QUEUE)
    }

    pub fn create_queue(&self, queue: &str) -> Result<(), Error> {
        let head = self.signer().head(&ask("PUT", queue));
        self.runtime
            .block_on(async { expect(Connection::connect(self.queue()).await?.exchange(&head).await?, 201) })
    }

    /// Puts so many messages, of which every second is visible after that time alone.
    pub fn put_all(&self, queue: &'static str, count: u64, hidden: Option<Duration>) -> Result<(), Error> {
        let next = Arc::new(AtomicU64::new(0));
        self.runtime.block_on(async {
            let mut fillers = Vec::with_capacity(FILL_CONNECTIONS);
            for _ in 0..FILL_CONNECTIONS {
                let mut visible = self.courier(queue).await?;
                let hidden = hidden.map(|after| visible.put_after(after));
                let next = next.clone();
                fillers.push(tokio::spawn(async move {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        match &hidden {
                            _ if number >= count => return Ok(()),
                            Some(put) if number % 2 == 1 => visible.send(put, 201).await?,
                            _ => visible.put().await?,
                        }
                    }
                }));
            }
            for filler in fillers {
                let filled: Result<(), String> =
                    filler.await.map_err(|e| Error::Unexpected(e.to_string()))?;
                filled.map_err(Error::Unexpected)?;
            }
            Ok(())
        })
    }

    /// Someone who works on a queue, over a connection of its own. Its requests hold for a quarter of an hour.
    pub async fn courier(&self, queue: &'static str) -> Result<HttpCourier, Error> {
        let signer = self.signer();
        let (body, messages) = (message_body(), format!("{queue}/messages"));
        let put = put(&signer, &messages, "", &body);
        let query = format!("visibilitytimeout={HIDDEN_SECONDS}");
        let get = signer.head(&Ask { query: &query, ..ask("GET", &messages) });
        let connection = Connection::connect(self.queue()).await?;
        Ok(HttpCourier { connection, signer, messages, put, get })
    }

    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    fn signer(&self) -> Signer {
        Signer::new(self.env.now())
    }

    fn queue(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.ports.queue).into()
    }

    fn table(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.ports.table).into()
    }

    pub fn processes(&self) -> Vec<u32> {
        match &self.server {
            Server::Orrery { process, .. } => vec![process.process_id()],
            Server::Azurite(azurite) => azurite.processes(),
        }
    }

    async fn on_entities(&self, requests: Entities, scene: Scene, span: Duration) -> Result<Sample, Error> {
        let requests = Arc::new(requests);
        let mut workers = Vec::with_capacity(scene.connections);
        for index in 0..scene.connections {
            workers.push(EntityWorker {
                connection: Connection::connect(self.table()).await?,
                requests: requests.clone(),
                places: self.places.clone(),
                random: Random::new(index as u64 + 1),
                scratch: Vec::new(),
            });
        }
        Ok(drive(workers, span).await)
    }

    async fn on_messages(&self, scene: Scene, span: Duration) -> Result<Sample, Error> {
        let queue = if scene.act == Act::Put { PUT_QUEUE } else { WORK_QUEUE };
        let mut couriers = Vec::with_capacity(scene.connections);
        for _ in 0..scene.connections {
            couriers.push(self.courier(queue).await?);
        }
        Ok(match scene.act {
            Act::Put => drive(couriers.into_iter().map(Putting).collect(), span).await,
            _ => drive(couriers.into_iter().map(Emptying).collect(), span).await,
        })
    }
}

impl Subject for OnHttp {
    fn name(&self) -> &'static str {
        self.name
    }

    fn spent(&self) -> Result<Spent, Error> {
        let mut spent = Spent { bytes: 0, seconds: Some(0.0) };
        for process in self.processes() {
            spent.bytes += written_bytes(process)?;
            spent.seconds = spent.seconds.zip(Some(cpu_seconds(process)?)).map(|(one, other)| one + other);
        }
        Ok(spent)
    }

    fn prepare(&mut self, scene: Scene, span: Duration) -> Result<(), Error> {
        if scene.act != Act::GetAndDelete {
            return Ok(());
        }
        let count = self.stock.fill(span);
        self.put_all(WORK_QUEUE, count, None)
    }

    fn run(&mut self, scene: Scene, span: Duration) -> Result<Sample, Error> {
        let sample = match Entities::new(scene.act, &self.signer()) {
            Some(requests) => self.runtime.block_on(self.on_entities(requests, scene, span)),
            None => self.runtime.block_on(self.on_messages(scene, span)),
        }?;
        if scene.act == Act::GetAndDelete {
            self.stock.took(sample.done, sample.elapsed);
        }
        Ok(sample)
    }
}

struct EntityWorker {
    connection: Connection,
    requests: Arc<Entities>,
    places: Arc<Places>,
    random: Random,
    scratch: Vec<u8>,
}

impl Worker for EntityWorker {
    async fn once(&mut self) -> Result<(), String> {
        self.scratch.clear();
        self.requests.write(&self.places, &mut self.random, &mut self.scratch);
        let reply = self.connection.exchange(&self.scratch).await.map_err(|error| error.to_string())?;
        self.requests.check(reply)
    }
}

pub struct HttpCourier {
    connection: Connection,
    signer: Signer,
    /// `work/messages`
    messages: String,
    put: Vec<u8>,
    get: Vec<u8>,
}

/// As an answer shows it.
pub struct Held {
    id: String,
    receipt: String,
}

impl HttpCourier {
    /// A put of a message that is visible after a while.
    fn put_after(&self, hidden: Duration) -> Vec<u8> {
        let query = format!("visibilitytimeout={}", hidden.as_secs());
        put(&self.signer, &self.messages, &query, &message_body())
    }

    async fn send(&mut self, request: &[u8], status: u16) -> Result<(), String> {
        let reply = self.connection.exchange(request).await.map_err(|error| error.to_string())?;
        expect(reply, status).map_err(|error| error.to_string())
    }
}

impl Courier for HttpCourier {
    type Held = Held;

    async fn put(&mut self) -> Result<(), String> {
        let reply = self.connection.exchange(&self.put).await.map_err(|error| error.to_string())?;
        expect(reply, 201).map_err(|error| error.to_string())
    }

    async fn get(&mut self) -> Result<Option<Held>, String> {
        let reply = self.connection.exchange(&self.get).await.map_err(|error| error.to_string())?;
        expect(reply, 200).map_err(|error| error.to_string())?;
        let text = std::str::from_utf8(reply.body).map_err(|error| error.to_string())?;
        held(text)
    }

    async fn delete(&mut self, held: Held) -> Result<(), String> {
        let path = format!("{}/{}", self.messages, held.id);
        let query = format!("popreceipt={}", escaped(&held.receipt));
        let request = self.signer.head(&Ask { query: &query, ..ask("DELETE", &path) });
        self.send(&request, 204).await
    }
}

/// The message of an answer, if there is one.
fn held(answer: &str) -> Result<Option<Held>, String> {
    let text = |name: &str| {
        let (_, rest) = answer.split_once(&format!("<{name}>"))?;
        rest.split_once('<').map(|(text, _)| text.to_owned())
    };
    match (text("MessageId"), text("PopReceipt"), text("MessageText")) {
        (Some(id), Some(receipt), Some(text)) if text.len() == payload::MESSAGE_BYTES => {
            Ok(Some(Held { id, receipt }))
        }
        (None, None, None) => Ok(None),
        _ => Err(format!("a message that is not whole: {answer}")),
    }
}

/// What base64 has and a query may not.
fn escaped(receipt: &str) -> String {
    receipt.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D")
}

fn put(signer: &Signer, messages: &str, query: &str, body: &str) -> Vec<u8> {
    let headers = &[("content-type", "application/xml")];
    let ask = Ask { query, headers, body_bytes: body.len(), ..ask("POST", messages) };
    let mut bytes = signer.head(&ask);
    bytes.extend_from_slice(body.as_bytes());
    bytes
}

fn message_body() -> String {
    format!("<QueueMessage><MessageText>{}</MessageText></QueueMessage>", payload::message())
}

/// A request on the queue service without a query and a body.
fn ask<'a>(verb: &'a str, path: &'a str) -> Ask<'a> {
    Ask { service: Service::Queue, verb, path, query: "", headers: &[], body_bytes: 0 }
}

fn expect(reply: Reply<'_>, status: u16) -> Result<(), Error> {
    if reply.status == status {
        return Ok(());
    }
    let body = String::from_utf8_lossy(reply.body);
    Err(Error::Unexpected(format!("status {} instead of {status}: {body}", reply.status)))
}

fn new_folder(base: &Path) -> Result<TempDir, Error> {
    TempDir::with_prefix_in("orrery-bench-", base).map_err(|e| Error::Io("no folder", e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_whole_message_or_none() {
        let answer = |text: &str| {
            format!(
                "<QueueMessagesList><QueueMessage><MessageId>i</MessageId><PopReceipt>a+/=</PopReceipt>\
                 <MessageText>{text}</MessageText></QueueMessage></QueueMessagesList>"
            )
        };
        let found = held(&answer(&payload::message())).unwrap().unwrap();
        assert_eq!((found.id.as_str(), escaped(&found.receipt).as_str()), ("i", "a%2B%2F%3D"));
        assert!(held(&answer("short")).is_err());
        assert!(held("<QueueMessagesList/>").unwrap().is_none());
    }
}
