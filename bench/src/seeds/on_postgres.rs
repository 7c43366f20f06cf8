//! The sets in PostgreSQL: loaded with COPY, indexed, vacuumed and analysed; one prepared statement a workload.

use super::fill::CREATES_A_REQUEST;
use super::holder::{Answer, Holder, row};
use super::home::Home;
use super::progress::Progress;
use super::set::{Item, Set};
use super::workload::{Act, Case, Question, Workload};
use crate::drive::{Worker, drive};
use crate::error::Error;
use crate::item::Random;
use crate::sample::Sample;
use crate::subjects::Postgres;
use bytes::{BufMut as _, BytesMut};
use std::error::Error as StdError;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Statement};

/// The version that the binary form of `jsonb` begins with.
const JSONB_VERSION: u8 = 1;
/// Items between two looks at the progress.
const PROGRESS_ITEMS: u64 = 1000;
/// How a session sorts while it makes an index.
const INDEXING_SESSION: &str = "SET maintenance_work_mem = '1GB'";

pub struct OnPostgres {
    postgres: Postgres,
    /// Counts creates and updates over all runs, so that each is of something new.
    changes: Arc<AtomicU64>,
}

impl OnPostgres {
    pub fn open(home: &Home, sets: &[Set]) -> Result<Self, Error> {
        let folder = home.loaded("postgres", |folder| {
            let holder = Self::start(folder)?;
            sets.iter().try_for_each(|set| holder.load(set))
        })?;
        Self::start(&folder)
    }

    pub fn start(folder: &Path) -> Result<Self, Error> {
        Ok(Self { postgres: Postgres::open(folder)?, changes: Arc::new(AtomicU64::new(1)) })
    }

    pub fn process_id(&self) -> u32 {
        self.postgres.process_id()
    }

    /// The table of a set, with its items and all indexes.
    pub fn load(&self, set: &Set) -> Result<(), Error> {
        self.postgres.runtime().block_on(async {
            let client = self.postgres.connect().await?;
            client.batch_execute(&table(set)).await?;
            copy(&client, set).await?;
            index(&client, set).await?;
            settle(&client, set).await
        })
    }

    /// The table of a set and its indexes, without items.
    pub fn create_table(&self, set: &Set) -> Result<(), Error> {
        self.postgres.runtime().block_on(async {
            let client = self.postgres.connect().await?;
            client.batch_execute(&table(set)).await?;
            index(&client, set).await
        })
    }

    /// Writes the items of a set into its table in one go.
    pub fn copy(&self, set: &Set) -> Result<(), Error> {
        self.postgres.runtime().block_on(async { copy(&self.postgres.connect().await?, set).await })
    }

    /// Inserts the items of a set over so many connections, a hundred a transaction.
    pub fn insert(&self, set: &Set, connections: usize) -> Result<(), Error> {
        self.postgres.runtime().block_on(async {
            let next = Arc::new(AtomicU64::new(0));
            let mut inserters = Vec::with_capacity(connections);
            for _ in 0..connections {
                let client = self.postgres.connect().await?;
                inserters.push(tokio::spawn(insert(client, set.clone(), next.clone())));
            }
            for inserter in inserters {
                inserter.await.map_err(|e| Error::Unexpected(e.to_string()))??;
            }
            Ok(())
        })
    }

    async fn workers(&self, set: &Set, workload: &Workload) -> Result<Vec<PostgresWorker>, Error> {
        let mut workers = Vec::with_capacity(workload.connections);
        let shared = Arc::new(Shared::new(set, workload));
        for index in 0..workload.connections {
            let client = self.postgres.connect().await?;
            let statement = client.prepare(&sql(set, &workload.act)).await?;
            workers.push(PostgresWorker {
                client,
                statement,
                shared: shared.clone(),
                changes: self.changes.clone(),
                random: Random::new(index as u64 + 1),
            });
        }
        Ok(workers)
    }
}

impl Holder for OnPostgres {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn answer(&self, _: &Set, question: &Question, case: &Case) -> Result<Answer, Error> {
        self.postgres.runtime().block_on(async {
            let client = self.postgres.connect().await?;
            let rows = client.query(&question.postgres, &parameters(case)).await?;
            let rows = rows.iter().map(|found| serde_json::from_str(found.get(0)).unwrap_or_default());
            Ok(rows.map(|value: serde_json::Value| row(&value)).collect())
        })
    }

    fn run(&self, set: &Set, workload: &Workload, span: Duration) -> Result<Sample, Error> {
        self.postgres.runtime().block_on(async { Ok(drive(self.workers(set, workload).await?, span).await) })
    }
}

fn table(set: &Set) -> String {
    format!("CREATE TABLE {} (pk text, id text, doc jsonb, PRIMARY KEY (pk, id))", set.name)
}

fn sql(set: &Set, act: &Act) -> String {
    let table = &set.name;
    match act {
        Act::Read => format!("SELECT doc::text FROM {table} WHERE pk = $1 AND id = $2"),
        Act::Update(_) => format!("UPDATE {table} SET doc = $3::text::jsonb WHERE pk = $1 AND id = $2"),
        Act::Create => insertion(set),
        Act::Ask(question) => question.postgres.clone(),
    }
}

fn insertion(set: &Set) -> String {
    format!("INSERT INTO {} VALUES ($1, $2, $3::text::jsonb)", set.name)
}

fn parameters(case: &Case) -> Vec<&(dyn ToSql + Sync)> {
    case.values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

async fn copy(client: &Client, set: &Set) -> Result<(), Error> {
    let sink = client.copy_in(&format!("COPY {} (pk, id, doc) FROM STDIN BINARY", set.name)).await?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &[Type::TEXT, Type::TEXT, Type::JSONB]));
    let mut progress = Progress::new(format!("PostgreSQL, {}", set.name), set.items);
    for number in 0..set.items {
        let Item { id, partition, text } = set.item(number);
        writer.as_mut().write(&[&partition, &id, &Jsonb(&text)]).await?;
        if (number + 1).is_multiple_of(PROGRESS_ITEMS) {
            progress.add(PROGRESS_ITEMS);
        }
    }
    progress.add(set.items % PROGRESS_ITEMS);
    writer.finish().await?;
    Ok(())
}

async fn index(client: &Client, set: &Set) -> Result<(), Error> {
    client.batch_execute(INDEXING_SESSION).await?;
    for index in &set.indexes {
        client.batch_execute(&format!("CREATE INDEX ON {} {index}", set.name)).await?;
    }
    Ok(())
}

/// What autovacuum would do sooner or later, and the checkpoint, are done before anything is measured.
async fn settle(client: &Client, set: &Set) -> Result<(), Error> {
    client.batch_execute(&format!("VACUUM (FREEZE, ANALYZE) {}", set.name)).await?;
    client.batch_execute("CHECKPOINT").await?;
    Ok(())
}

/// As many rows a statement as a bulk request has items.
async fn insert(client: Client, set: Set, next: Arc<AtomicU64>) -> Result<(), Error> {
    let rows = "SELECT pk, id, doc::jsonb FROM unnest($1::text[], $2::text[], $3::text[]) AS t (pk, id, doc)";
    let statement = client.prepare(&format!("INSERT INTO {} {rows}", set.name)).await?;
    loop {
        let first = next.fetch_add(CREATES_A_REQUEST, Ordering::Relaxed);
        let items: Vec<Item> =
            (first..set.items.min(first + CREATES_A_REQUEST)).map(|number| set.item(number)).collect();
        if items.is_empty() {
            return Ok(());
        }
        let column = |of: fn(&Item) -> &str| items.iter().map(of).collect::<Vec<&str>>();
        let (partitions, ids) = (column(|item| &item.partition), column(|item| &item.id));
        client.execute(&statement, &[&partitions, &ids, &column(|item| &item.text)]).await?;
    }
}

/// JSON text on its way into a `jsonb` column.
#[derive(Debug)]
struct Jsonb<'a>(&'a str);

impl ToSql for Jsonb<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        out.put_u8(JSONB_VERSION);
        out.put_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::JSONB
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Binary
    }

    to_sql_checked!();
}

/// What the workers of a run have in common.
struct Shared {
    set: Set,
    act: Act,
    /// Partition and id of every item, if items are read: drawing one only for its name costs too much.
    places: Vec<(String, String)>,
}

impl Shared {
    fn new(set: &Set, workload: &Workload) -> Self {
        let named = if matches!(workload.act, Act::Read) { set.items } else { 0 };
        let place = |number| {
            let Item { id, partition, .. } = set.item(number);
            (partition, id)
        };
        let places = (0..named).map(place).collect();
        Self { set: set.clone(), act: workload.act.clone(), places }
    }
}

struct PostgresWorker {
    client: Client,
    statement: Statement,
    shared: Arc<Shared>,
    changes: Arc<AtomicU64>,
    random: Random,
}

impl PostgresWorker {
    /// How many rows were found or written, and how many should have been.
    async fn execute(&mut self) -> Result<(u64, Option<usize>), tokio_postgres::Error> {
        let Shared { set, act, places } = &*self.shared;
        match act {
            Act::Read => {
                let (partition, id) = &places[self.random.below(places.len() as u64) as usize];
                Ok((self.texts(&[partition, id]).await?, Some(1)))
            }
            Act::Update(revised) => {
                let revision = self.changes.fetch_add(1, Ordering::Relaxed);
                let item = revised(self.random.below(set.items), revision);
                Ok((self.write(&item).await?, Some(1)))
            }
            Act::Create => {
                let number = self.changes.fetch_add(1, Ordering::Relaxed);
                Ok((self.write(&set.new_item(number)).await?, Some(1)))
            }
            Act::Ask(question) => {
                let case = &question.cases[self.random.below(question.cases.len() as u64) as usize];
                Ok((self.texts(&parameters(case)).await?, case.rows))
            }
        }
    }

    /// Counts the rows whose text has come.
    async fn texts(&self, parameters: &[&(dyn ToSql + Sync)]) -> Result<u64, tokio_postgres::Error> {
        let rows = self.client.query(&self.statement, parameters).await?;
        Ok(rows.iter().filter(|row| !row.get::<_, &str>(0).is_empty()).count() as u64)
    }

    async fn write(&self, item: &Item) -> Result<u64, tokio_postgres::Error> {
        self.client.execute(&self.statement, &[&item.partition, &item.id, &item.text]).await
    }
}

impl Worker for PostgresWorker {
    async fn once(&mut self) -> Result<(), String> {
        match self.execute().await.map_err(|error| error.to_string())? {
            (rows, Some(wanted)) if rows != wanted as u64 => Err(format!("{rows} rows instead of {wanted}")),
            _ => Ok(()),
        }
    }
}
