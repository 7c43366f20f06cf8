//! The sets in the server: loaded by one that does not sync, then measured on one that does.

use super::fill::{CreateHead, fill, refused};
use super::holder::{Answer, Holder, row};
use super::home::Home;
use super::set::{Item, Set};
use super::workload::{Act, Case, Pages, Question, Scope, Workload};
use crate::drive::{Worker, drive, runtime};
use crate::error::Error;
use crate::item::Random;
use crate::machine;
use crate::sample::Sample;
use crate::subjects::CACHE_AS_POSTGRES;
use orrery_core::Env;
use orrery_testing_client::{
    Client, Connection, ContainerPath, Durability, Method, Options, OwnedReply, Request, ServerProcess,
    Signer, dist_binary,
};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::runtime::Runtime;

const DATABASE: &str = "bench";
const FILL_CONNECTIONS: usize = 8;
/// What an answer of all pages is asked for in: more than any has, so that where a page ends is the server's choice.
const PAGE_ITEMS: u32 = 10_000;

pub struct OnOrrery {
    runtime: Runtime,
    env: Env,
    server: ServerProcess,
    /// Counts creates and updates over all runs, so that each is of something new.
    changes: Arc<AtomicU64>,
}

impl OnOrrery {
    pub fn open(home: &Home, sets: &[Set]) -> Result<Self, Error> {
        let arguments = CACHE_AS_POSTGRES.map(Into::into).to_vec();
        let options = Options { arguments, ..Options::new(dist_binary()?) };
        let folder = home.loaded("orrery", |folder| load(folder, &options, sets))?;
        let orrery = Self::start(&folder, &options)?;
        machine::settle(orrery.server.process_id())?;
        Ok(orrery)
    }

    pub fn start(folder: &Path, options: &Options) -> Result<Self, Error> {
        let server = ServerProcess::start(folder, options)?;
        let changes = Arc::new(AtomicU64::new(1));
        Ok(Self { runtime: runtime()?, env: Env::system()?, server, changes })
    }

    pub fn process_id(&self) -> u32 {
        self.server.process_id()
    }

    /// Makes the container of a set and creates its items.
    pub fn fill(&self, set: &Set, connections: usize) -> Result<(), Error> {
        let path = container(set);
        self.runtime.block_on(async {
            let mut client = Client::new(self.server.cosmos(), self.env.clone());
            expect(&client.create_container(&path, &set.definition).await?)?;
            fill(self.server.cosmos(), &self.env, &path, set, connections).await
        })
    }

    pub fn create_database(&self) -> Result<(), Error> {
        let mut client = Client::new(self.server.cosmos(), self.env.clone());
        self.runtime.block_on(async { expect(&client.create_database(DATABASE).await?) })
    }

    fn signer(&self) -> Signer {
        Signer::emulator(self.env.now())
    }

    async fn connect(&self) -> Result<Connection, Error> {
        Ok(Connection::connect(self.server.cosmos()).await?)
    }

    async fn items_by_id(&self, set: &Set, workload: &Workload, span: Duration) -> Result<Sample, Error> {
        let (path, signer) = (container(set), self.signer());
        let head = |number| {
            let Item { id, partition, text } = set.item(number);
            match workload.act {
                Act::Update(_) => path.replace(&partition, &id, "", None).encode_head(&signer, text.len()),
                _ => path.read(&partition, &id).encode_head(&signer, 0),
            }
        };
        let heads: Arc<Vec<Vec<u8>>> = Arc::new((0..set.items).map(head).collect());
        let mut workers = Vec::with_capacity(workload.connections);
        for index in 0..workload.connections {
            workers.push(ById {
                connection: self.connect().await?,
                heads: heads.clone(),
                body: match workload.act {
                    Act::Update(revised) => Some(revised),
                    _ => None,
                },
                revisions: self.changes.clone(),
                random: Random::new(index as u64 + 1),
                bytes: Vec::new(),
            });
        }
        Ok(drive(workers, span).await)
    }

    async fn creates(&self, set: &Set, workload: &Workload, span: Duration) -> Result<Sample, Error> {
        let head = Arc::new(CreateHead::new(&container(set), &self.signer()));
        let mut workers = Vec::with_capacity(workload.connections);
        for _ in 0..workload.connections {
            workers.push(Creating {
                connection: self.connect().await?,
                head: head.clone(),
                set: set.clone(),
                created: self.changes.clone(),
                bytes: Vec::new(),
            });
        }
        Ok(drive(workers, span).await)
    }

    async fn questions(
        &self,
        set: &Set,
        workload: &Workload,
        question: &Question,
    ) -> Result<Vec<Asker>, Error> {
        let asks =
            Arc::new(question.cases.iter().map(|case| self.ask(set, question, case)).collect::<Vec<_>>());
        let mut askers = Vec::with_capacity(workload.connections);
        for index in 0..workload.connections {
            let random = Random::new(index as u64 + 1);
            askers.push(Asker { connection: self.connect().await?, asks: asks.clone(), random });
        }
        Ok(askers)
    }

    fn ask(&self, set: &Set, question: &Question, case: &Case) -> Ask {
        let signer = self.signer();
        let request = request(set, question, case);
        let first = request.encode(&signer);
        let pages = question.pages;
        Ask { first, request, signer, pages, rows: case.rows }
    }
}

impl Holder for OnOrrery {
    fn name(&self) -> &'static str {
        "orrery"
    }

    fn answer(&self, set: &Set, question: &Question, case: &Case) -> Result<Answer, Error> {
        self.runtime.block_on(async {
            let mut answer = Vec::new();
            let mut connection = self.connect().await?;
            let ask = self.ask(set, question, case);
            let pages = ask.pages(&mut connection, |body| {
                let page: Value = serde_json::from_slice(body).unwrap_or_default();
                answer.extend(page["Documents"].as_array().into_iter().flatten().map(row));
            });
            let rows = pages.await.map_err(Error::Unexpected)?;
            answer.truncate(rows);
            Ok(answer)
        })
    }

    fn run(&self, set: &Set, workload: &Workload, span: Duration) -> Result<Sample, Error> {
        self.runtime.block_on(async {
            match &workload.act {
                Act::Read | Act::Update(_) => self.items_by_id(set, workload, span).await,
                Act::Create => self.creates(set, workload, span).await,
                Act::Ask(question) => Ok(drive(self.questions(set, workload, question).await?, span).await),
            }
        })
    }
}

/// Fills a folder and leaves it as a server does that was asked to stop.
fn load(folder: &Path, options: &Options, sets: &[Set]) -> Result<(), Error> {
    let relaxed = Options { durability: Durability::Relaxed, ..options.clone() };
    let orrery = OnOrrery::start(folder, &relaxed)?;
    orrery.create_database()?;
    for set in sets {
        orrery.fill(set, FILL_CONNECTIONS)?;
    }
    let ended = orrery.server.stop()?;
    match ended.success() {
        true => Ok(()),
        false => Err(Error::Unexpected(format!("the server ended with {ended} after loading"))),
    }
}

pub fn container(set: &Set) -> ContainerPath {
    ContainerPath::new(DATABASE, set.name.as_str())
}

fn expect(reply: &OwnedReply) -> Result<(), Error> {
    match reply.status {
        201 => Ok(()),
        status => Err(Error::Unexpected(refused(status, &reply.body))),
    }
}

fn request(set: &Set, question: &Question, case: &Case) -> Request {
    let parameters = question.parameters.iter().zip(&case.values);
    let parameters: Vec<Value> =
        parameters.map(|(name, value)| json!({"name": name, "value": value})).collect();
    let body = json!({"query": question.cosmos, "parameters": parameters}).to_string();
    let page_items = match question.pages {
        Pages::First(items) => items,
        Pages::All => PAGE_ITEMS,
    };
    let request = Request::new(Method::Post, container(set).items())
        .header("x-ms-documentdb-isquery", "True")
        .header("x-ms-max-item-count", page_items.to_string());
    let request = match (question.scope, case.values.first()) {
        (Scope::Partition, Some(partition)) => request.partition(partition),
        _ => request
            .header("x-ms-documentdb-query-enablecrosspartition", "True")
            .header("x-orrery-cross-partition", "direct"),
    };
    request.body(body)
}

/// A question that is ready to be sent.
struct Ask {
    first: Vec<u8>,
    /// What the pages after the first are asked for with.
    request: Request,
    signer: Signer,
    pages: Pages,
    rows: Option<usize>,
}

impl Ask {
    fn rows_max(&self) -> usize {
        match self.pages {
            Pages::First(rows) => rows as usize,
            Pages::All => usize::MAX,
        }
    }

    /// Reads pages until there are as many rows as wanted, and says how many there are.
    async fn pages(&self, connection: &mut Connection, mut see: impl FnMut(&[u8])) -> Result<usize, String> {
        let (mut rows, mut next) = (0, None::<Vec<u8>>);
        loop {
            let bytes = next.as_ref().unwrap_or(&self.first);
            let reply = connection.exchange(bytes).await.map_err(|error| error.to_string())?;
            if reply.status != 200 {
                return Err(refused(reply.status, reply.body));
            }
            see(reply.body);
            let count = reply.header("x-ms-item-count").and_then(|count| count.parse::<usize>().ok());
            rows += count.ok_or("a page does not say how many rows it has")?;
            match reply.header("x-ms-continuation") {
                Some(token) if rows < self.rows_max() => {
                    let request = self.request.clone().header("x-ms-continuation", token);
                    next = Some(request.encode(&self.signer));
                }
                _ => return Ok(rows.min(self.rows_max())),
            }
        }
    }
}

/// One client that asks one question, each time for another case.
struct Asker {
    connection: Connection,
    asks: Arc<Vec<Ask>>,
    random: Random,
}

impl Worker for Asker {
    async fn once(&mut self) -> Result<(), String> {
        let ask = &self.asks[self.random.below(self.asks.len() as u64) as usize];
        let rows = ask.pages(&mut self.connection, |_| ()).await?;
        match ask.rows {
            Some(wanted) if wanted != rows => Err(format!("{rows} rows instead of {wanted}")),
            _ => Ok(()),
        }
    }
}

/// One client that reads or replaces any item of the set.
struct ById {
    connection: Connection,
    heads: Arc<Vec<Vec<u8>>>,
    body: Option<fn(u64, u64) -> Item>,
    revisions: Arc<AtomicU64>,
    random: Random,
    bytes: Vec<u8>,
}

impl Worker for ById {
    async fn once(&mut self) -> Result<(), String> {
        let number = self.random.below(self.heads.len() as u64);
        self.bytes.clear();
        self.bytes.extend_from_slice(&self.heads[number as usize]);
        if let Some(revised) = self.body {
            let revision = self.revisions.fetch_add(1, Ordering::Relaxed);
            self.bytes.extend_from_slice(revised(number, revision).text.as_bytes());
        }
        let reply = self.connection.exchange(&self.bytes).await.map_err(|error| error.to_string())?;
        match reply.status {
            200 => Ok(()),
            status => Err(refused(status, reply.body)),
        }
    }
}

/// One client that creates items that are not in the set.
struct Creating {
    connection: Connection,
    head: Arc<CreateHead>,
    set: Set,
    created: Arc<AtomicU64>,
    bytes: Vec<u8>,
}

impl Worker for Creating {
    async fn once(&mut self) -> Result<(), String> {
        let number = self.created.fetch_add(1, Ordering::Relaxed);
        self.bytes.clear();
        self.head.write(&self.set.new_item(number), &mut self.bytes);
        let reply = self.connection.exchange(&self.bytes).await.map_err(|error| error.to_string())?;
        match reply.status {
            201 => Ok(()),
            status => Err(refused(status, reply.body)),
        }
    }
}
