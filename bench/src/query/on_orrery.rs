//! The questions asked of the server: one connection, page after page.

use super::answer::{Answer, cells};
use super::set::{self, Item};
use super::{Asked, Question};
use crate::drive::{Worker, drive, runtime};
use crate::error::Error;
use crate::machine;
use crate::sample::Sample;
use orrery_core::Env;
use orrery_testing_client::{
    Client, Connection, ContainerPath, Method, Options, Request, ServerProcess, Signer,
};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::Runtime;

const FILL_CONNECTIONS: usize = 64;
/// Larger than any answer: where a page ends is the server's choice.
const PAGE_ITEMS: &str = "1000000";

pub struct OnOrrery {
    name: &'static str,
    runtime: Runtime,
    env: Env,
    path: ContainerPath,
    server: ServerProcess,
    /// Last, so that the folder goes after the process.
    _folder: TempDir,
}

impl OnOrrery {
    /// A server with the first `count` items in a container.
    pub fn start(base: &Path, name: &'static str, options: &Options, count: u64) -> Result<Self, Error> {
        let folder = TempDir::with_prefix_in("orrery-bench-", base).map_err(|e| Error::Io("no folder", e))?;
        let server = ServerProcess::start(folder.path(), options)?;
        let path = ContainerPath::new("bench", "items");
        let orrery = Self { name, runtime: runtime()?, env: Env::system()?, path, server, _folder: folder };
        orrery.runtime.block_on(orrery.fill(count))?;
        machine::settle(orrery.server.process_id())?;
        Ok(orrery)
    }

    async fn fill(&self, count: u64) -> Result<(), Error> {
        let mut client = Client::new(self.server.cosmos(), self.env.clone());
        check(client.create_database(&self.path.database).await?.status, 201)?;
        let unindexed = json!({"indexingPolicy": {"indexingMode": "none", "automatic": false}});
        check(client.create_container(&self.path, &unindexed).await?.status, 201)?;
        let next = Arc::new(AtomicU64::new(0));
        let fillers: Vec<_> = (0..FILL_CONNECTIONS)
            .map(|_| {
                tokio::spawn(fill(
                    self.server.cosmos(),
                    self.path.clone(),
                    self.signer(),
                    next.clone(),
                    count,
                ))
            })
            .collect();
        for filler in fillers {
            filler.await.map_err(|e| Error::Unexpected(e.to_string()))??;
        }
        Ok(())
    }

    fn signer(&self) -> Signer {
        Signer::emulator(self.env.now())
    }

    async fn asker(&self, question: Question, rows: usize) -> Result<Asker, Error> {
        let connection = Connection::connect(self.server.cosmos()).await?;
        let body = json!({"query": question.cosmos(), "parameters": []}).to_string();
        Ok(Asker { connection, path: self.path.items(), signer: self.signer(), body, rows })
    }
}

impl Asked for OnOrrery {
    fn name(&self) -> &'static str {
        self.name
    }

    fn answer(&self, question: Question) -> Result<Answer, Error> {
        self.runtime.block_on(async {
            let mut answer = Vec::new();
            let mut asker = self.asker(question, 0).await?;
            let pages = asker.pages(|body| {
                let page: Value = serde_json::from_slice(body).unwrap_or_default();
                answer.extend(page["Documents"].as_array().into_iter().flatten().map(cells));
            });
            pages.await.map_err(Error::Unexpected)?;
            Ok(answer)
        })
    }

    fn run(&self, question: Question, rows: usize, span: Duration) -> Result<Sample, Error> {
        self.runtime.block_on(async { Ok(drive(vec![self.asker(question, rows).await?], span).await) })
    }
}

/// One client that asks one question.
struct Asker {
    connection: Connection,
    path: String,
    signer: Signer,
    body: String,
    rows: usize,
}

impl Asker {
    /// Reads all pages and says how many rows they had.
    async fn pages(&mut self, mut see: impl FnMut(&[u8])) -> Result<usize, String> {
        let (mut rows, mut continuation) = (0, None);
        loop {
            let request = self.request(continuation.as_deref());
            let reply = self.connection.exchange(&request).await.map_err(|error| error.to_string())?;
            if reply.status != 200 {
                return Err(format!("status {}: {}", reply.status, String::from_utf8_lossy(reply.body)));
            }
            see(reply.body);
            let count = reply.header("x-ms-item-count").and_then(|count| count.parse::<usize>().ok());
            rows += count.ok_or("a page does not say how many rows it has")?;
            continuation = reply.header("x-ms-continuation").map(str::to_owned);
            if continuation.is_none() {
                return Ok(rows);
            }
        }
    }

    fn request(&self, continuation: Option<&str>) -> Vec<u8> {
        let request = Request::new(Method::Post, self.path.clone())
            .header("x-ms-documentdb-isquery", "True")
            .header("x-ms-documentdb-query-enablecrosspartition", "True")
            .header("x-orrery-cross-partition", "direct")
            .header("x-ms-max-item-count", PAGE_ITEMS)
            .header_if("x-ms-continuation", continuation);
        request.body(self.body.as_bytes()).encode(&self.signer)
    }
}

impl Worker for Asker {
    async fn once(&mut self) -> Result<(), String> {
        match self.pages(|_| ()).await? {
            rows if rows == self.rows => Ok(()),
            rows => Err(format!("{rows} rows instead of {}", self.rows)),
        }
    }
}

async fn fill(
    address: SocketAddr,
    path: ContainerPath,
    signer: Signer,
    next: Arc<AtomicU64>,
    count: u64,
) -> Result<(), Error> {
    let mut connection = Connection::connect(address).await?;
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= count {
            return Ok(());
        }
        let Item { partition, text, .. } = set::item(number, count);
        let reply = connection.exchange(&path.create(&partition, text).encode(&signer)).await?;
        check(reply.status, 201)?;
    }
}

fn check(status: u16, wanted: u16) -> Result<(), Error> {
    if status == wanted {
        return Ok(());
    }
    Err(Error::Unexpected(format!("status {status} instead of {wanted}")))
}
