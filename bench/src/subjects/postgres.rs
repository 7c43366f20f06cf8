//! PostgreSQL: a cluster of its own on a unix socket, durable, one `jsonb` table per size.
//!
//! It gets what a careful user would give it: prepared statements, one connection per worker, shared buffers
//! that hold the sets, no index but the primary key. A write is answered without the document, which the
//! server's protocol sends back; so the comparison leans to PostgreSQL's side.

use super::Subject;
use crate::cell::{Cell, Operation, Size, Spread};
use crate::drive::{Worker, drive, runtime};
use crate::error::Error;
use crate::item::{self, Place, Random, Template};
use crate::machine::output;
use crate::sample::Sample;
use std::ffi::OsString;
use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, Config, NoTls, Statement};

/// What the cluster runs with besides its defaults.
const SETTINGS: [&str; 6] = [
    "fsync=on",
    "synchronous_commit=on",
    "shared_buffers=1GB",
    "max_wal_size=4GB",
    "max_connections=100",
    "jit=off",
];
const START_MAX: Duration = Duration::from_secs(30);
const STOP_MAX: Duration = Duration::from_secs(30);

pub struct Postgres {
    runtime: Runtime,
    config: Config,
    created: Arc<AtomicU64>,
    child: Child,
    _folder: TempDir,
}

/// The settings, for the results.
pub fn postgres_settings() -> String {
    SETTINGS.join(", ")
}

impl Postgres {
    pub fn start(base: &Path) -> Result<Self, Error> {
        let postgres = Self::start_on(base, None)?;
        postgres.create_tables()?;
        Ok(postgres)
    }

    /// A cluster without tables that answers; it and its workers run on these cores, as `taskset` names them.
    pub fn start_on(base: &Path, cores: Option<&str>) -> Result<Self, Error> {
        let folder =
            TempDir::with_prefix_in("orrery-bench-pg-", base).map_err(|e| Error::Io("no folder", e))?;
        let cluster = folder.path().join("cluster");
        Self::on(folder, &cluster, cores)
    }

    /// The cluster in this folder, which outlives the process; made if it is not there.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        // A socket's path must be short, so it does not lie with the data.
        let socket = TempDir::with_prefix("orrery-bench-pg-").map_err(|e| Error::Io("no folder", e))?;
        give_to_postgres(folder)?;
        Self::on(socket, &folder.join("cluster"), None)
    }

    /// A cluster, made if it is not there, that answers in `folder`.
    fn on(folder: TempDir, cluster: &Path, cores: Option<&str>) -> Result<Self, Error> {
        let binaries = find_binaries()?;
        give_to_postgres(folder.path())?;
        if !cluster.join("PG_VERSION").is_file() {
            init(&binaries, cluster)?;
        }
        let child = spawn(&binaries, cluster, &folder.path().to_string_lossy(), cores)?;
        let mut config = Config::new();
        config.host_path(folder.path()).user("postgres").dbname("postgres");
        let created = Arc::new(AtomicU64::new(1_000_000_000));
        let postgres = Self { runtime: runtime()?, config, created, child, _folder: folder };
        postgres.runtime.block_on(postgres.wait_until_ready())?;
        Ok(postgres)
    }

    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    pub async fn connect(&self) -> Result<Client, Error> {
        connect(&self.config).await
    }

    fn create_tables(&self) -> Result<(), Error> {
        self.runtime.block_on(async {
            let client = self.connect().await?;
            for size in Size::ALL {
                let table = size.container();
                let sql = format!("CREATE TABLE {table} (pk text, id text, doc jsonb, PRIMARY KEY (pk, id))");
                client.batch_execute(&sql).await?;
            }
            Ok(())
        })
    }

    async fn wait_until_ready(&self) -> Result<(), Error> {
        let until = Instant::now() + START_MAX;
        loop {
            match self.connect().await {
                Ok(_) => return Ok(()),
                Err(error) if Instant::now() >= until => return Err(error),
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }
}

impl Drop for Postgres {
    /// SIGINT is PostgreSQL's fast shutdown; its workers go with it.
    fn drop(&mut self) {
        output("kill", &["-INT", &self.child.id().to_string()]);
        let until = Instant::now() + STOP_MAX;
        while Instant::now() < until {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Subject for Postgres {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn fill(&mut self, size: Size) -> Result<(), Error> {
        self.runtime.block_on(async {
            let client = connect(&self.config).await?;
            let statement = client.prepare(&sql(Operation::Create, size)).await?;
            let template = item::template(size);
            client.batch_execute("BEGIN").await?;
            for number in 0..size.set_items() {
                let place = Place::new(number, Spread::Many);
                let document = document(&template, place, Vec::new());
                client.execute(&statement, &[&place.partition(), &place.id(), &document]).await?;
            }
            client.batch_execute("COMMIT").await?;
            client.batch_execute(&format!("VACUUM ANALYZE {}", size.container())).await?;
            Ok(())
        })
    }

    fn run(&mut self, cell: Cell, span: Duration) -> Result<Sample, Error> {
        self.runtime.block_on(async {
            let mut workers = Vec::with_capacity(cell.connections);
            for index in 0..cell.connections {
                let client = connect(&self.config).await?;
                let statement = client.prepare(&sql(cell.operation, cell.size)).await?;
                workers.push(PostgresWorker {
                    client,
                    statement,
                    cell,
                    template: item::template(cell.size),
                    created: self.created.clone(),
                    random: Random::new(index as u64 + 1),
                });
            }
            Ok(drive(workers, span).await)
        })
    }
}

struct PostgresWorker {
    client: Client,
    statement: Statement,
    cell: Cell,
    template: Template,
    created: Arc<AtomicU64>,
    random: Random,
}

impl Worker for PostgresWorker {
    async fn once(&mut self) -> Result<(), String> {
        let number = match self.cell.operation {
            Operation::Create => self.created.fetch_add(1, Ordering::Relaxed),
            _ => self.random.below(self.cell.size.set_items()),
        };
        let place = Place::new(number, self.cell.spread);
        let (partition, id) = (place.partition(), place.id());
        let rows = match self.cell.operation {
            Operation::Read => {
                let found = self.client.query(&self.statement, &[&partition, &id]).await;
                found.map(|rows| rows.iter().filter(|row| row.get::<_, &str>(0).len() > 900).count() as u64)
            }
            _ => {
                let document = document(&self.template, place, Vec::new());
                self.client.execute(&self.statement, &[&partition, &id, &document]).await
            }
        };
        match rows {
            Ok(1) => Ok(()),
            Ok(rows) => Err(format!("{rows} rows instead of one")),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn sql(operation: Operation, size: Size) -> String {
    let table = size.container();
    match operation {
        Operation::Read => format!("SELECT doc::text FROM {table} WHERE pk = $1 AND id = $2"),
        Operation::Create => format!("INSERT INTO {table} VALUES ($1, $2, $3::text::jsonb)"),
        Operation::Upsert => format!(
            "INSERT INTO {table} VALUES ($1, $2, $3::text::jsonb) \
             ON CONFLICT (pk, id) DO UPDATE SET doc = excluded.doc"
        ),
        Operation::Replace => {
            format!("UPDATE {table} SET doc = $3::text::jsonb WHERE pk = $1 AND id = $2")
        }
    }
}

fn document(template: &Template, place: Place, mut bytes: Vec<u8>) -> String {
    template.append(place, &mut bytes);
    String::from_utf8(bytes).unwrap_or_default()
}

/// Executes a statement with each of these, all sent before the first is answered. Gives how many rows were changed.
pub async fn execute_all(
    client: &Client,
    statement: &Statement,
    rows: Vec<[String; 3]>,
) -> Result<u64, tokio_postgres::Error> {
    let mut running: Vec<Pin<Box<_>>> = Vec::with_capacity(rows.len());
    for [first, second, third] in &rows {
        running.push(Box::pin(async move { client.execute(statement, &[first, second, third]).await }));
    }
    let mut done = 0;
    poll_fn(|context| {
        let mut failed = None;
        running.retain_mut(|one| match one.as_mut().poll(context) {
            Poll::Pending => true,
            Poll::Ready(outcome) => {
                match outcome {
                    Ok(count) => done += count,
                    Err(error) => failed = Some(error),
                }
                false
            }
        });
        match failed {
            Some(error) => Poll::Ready(Err(error)),
            None if running.is_empty() => Poll::Ready(Ok(())),
            None => Poll::Pending,
        }
    })
    .await?;
    drop(running);
    Ok(done)
}

/// A connection whose other half runs on the load's own thread.
async fn connect(config: &Config) -> Result<Client, Error> {
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// The newest installed version's folder of binaries.
fn find_binaries() -> Result<PathBuf, Error> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let folders = versions.map(|version| version.path().join("bin"));
    let version = |folder: &PathBuf| {
        let name = folder.parent().and_then(Path::file_name)?;
        name.to_str()?.parse::<u32>().ok()
    };
    let newest = folders.filter(|folder| folder.join("postgres").is_file()).max_by_key(version);
    newest.ok_or_else(|| {
        Error::Missing("PostgreSQL is not installed (apt-get install postgresql); it is left out".to_owned())
    })
}

/// Lets PostgreSQL write in a folder when it runs as a user of its own.
fn give_to_postgres(folder: &Path) -> Result<(), Error> {
    if is_root() && output("chown", &["postgres:", &folder.to_string_lossy()]).is_none() {
        return Err(Error::Missing("there is no user `postgres` to run PostgreSQL as".to_owned()));
    }
    Ok(())
}

fn is_root() -> bool {
    output("id", &["-u"]).as_deref() == Some("0")
}

/// PostgreSQL refuses to run as root; `setpriv` becomes the program it starts, so signals reach it.
/// So does `taskset`.
fn command(program: &Path, cores: Option<&str>) -> Command {
    let mut words: Vec<OsString> = Vec::new();
    if let Some(cores) = cores {
        words.extend(["taskset", "-c", cores].map(OsString::from));
    }
    if is_root() {
        words
            .extend(["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"].map(OsString::from));
    }
    words.push(program.into());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

fn init(binaries: &Path, cluster: &Path) -> Result<(), Error> {
    let mut command = command(&binaries.join("initdb"), None);
    command.args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-D"]).arg(cluster);
    let done = command.current_dir("/").output().map_err(|e| Error::Io("initdb could not be run", e))?;
    if done.status.success() {
        return Ok(());
    }
    Err(Error::Unexpected(format!("initdb: {}", String::from_utf8_lossy(&done.stderr))))
}

fn spawn(binaries: &Path, cluster: &Path, socket: &str, cores: Option<&str>) -> Result<Child, Error> {
    let mut command = command(&binaries.join("postgres"), cores);
    command.arg("-D").arg(cluster).args(["-k", socket, "-c", "listen_addresses="]);
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(|e| Error::Io("postgres could not be started", e))
}
