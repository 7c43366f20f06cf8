//! PostgreSQL: a table of rows with the properties as `jsonb`, and queues as its users build them, with `SKIP LOCKED`.
//!
//! A message is got by one statement and deleted by another, each a transaction that is synced, as the queue service's
//! requests are; a receipt keeps others from deleting it. Statements are prepared, as everywhere in the benchmark.

use super::courier::{Courier, Emptying, HIDDEN_SECONDS, Putting};
use super::payload::{self, PAGE_ENTITIES, Places, SET_ENTITIES};
use super::scene::{Act, Scene};
use super::stock::Stock;
use super::{Spent, Subject};
use crate::drive::{Worker, drive};
use crate::error::Error;
use crate::item::{Place, Random};
use crate::machine::written_bytes;
use crate::sample::Sample;
use crate::subjects::{Postgres, execute_all};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::{Client, Statement};

const TABLES: &str = "
CREATE TABLE entities (pk text, rk text, etag text NOT NULL, ts timestamptz NOT NULL, body jsonb NOT NULL, PRIMARY KEY (pk, rk));";
const PUT_QUEUE: &str = "put";
const WORK_QUEUE: &str = "work";
/// Messages completed a second at most, until it is known.
const RATE: f64 = 15_000.0;

pub struct OnPostgres {
    postgres: Postgres,
    places: Arc<Places>,
    stock: Stock,
}

impl OnPostgres {
    /// A cluster with the table and its set, and the queues.
    pub fn start(base: &Path) -> Result<Self, Error> {
        let subject = Self::empty(base)?;
        subject.create_queue(PUT_QUEUE)?;
        subject.create_queue(WORK_QUEUE)?;
        subject.postgres.runtime().block_on(subject.fill())?;
        Ok(subject)
    }

    pub fn empty(base: &Path) -> Result<Self, Error> {
        let postgres = Postgres::start_on(base, None)?;
        Ok(Self { postgres, places: Arc::default(), stock: Stock::new(RATE) })
    }

    async fn fill(&self) -> Result<(), Error> {
        let client = self.postgres.connect().await?;
        client.batch_execute(TABLES).await?;
        let insert = client.prepare(&sql(Act::Insert)).await?;
        let properties = payload::properties();
        for page in payload::set() {
            client.batch_execute("BEGIN").await?;
            insert_all(&client, &insert, page.into_iter(), &properties).await?;
            client.batch_execute("COMMIT").await?;
        }
        Ok(client.batch_execute("VACUUM ANALYZE entities").await?)
    }

    pub fn create_queue(&self, queue: &str) -> Result<(), Error> {
        let sql = format!(
            "CREATE TABLE {queue} (id bigserial PRIMARY KEY, visible_at timestamptz NOT NULL, inserted timestamptz NOT NULL, \
             expires timestamptz NOT NULL, dequeues int NOT NULL, receipt uuid NOT NULL, body text NOT NULL); \
             CREATE INDEX ON {queue} (visible_at, id)"
        );
        self.postgres
            .runtime()
            .block_on(async { Ok(self.postgres.connect().await?.batch_execute(&sql).await?) })
    }

    /// Puts so many messages, of which every second is visible after that time alone.
    pub fn put_all(&self, queue: &str, count: u64, hidden: Option<Duration>) -> Result<(), Error> {
        let seconds = hidden.map_or(0, |after| after.as_secs());
        let sql = format!(
            "INSERT INTO {queue} (visible_at, inserted, expires, dequeues, receipt, body) \
             SELECT now() + n % 2 * interval '{seconds} s', now(), now() + interval '7 days', 0, gen_random_uuid(), '{}' \
             FROM generate_series(1, {count}) AS n; ANALYZE {queue}",
            payload::message()
        );
        self.postgres
            .runtime()
            .block_on(async { Ok(self.postgres.connect().await?.batch_execute(&sql).await?) })
    }

    pub fn postgres(&self) -> &Postgres {
        &self.postgres
    }

    pub async fn courier(&self, queue: &str) -> Result<PostgresCourier, Error> {
        let client = self.postgres.connect().await?;
        let put = format!(
            "INSERT INTO {queue} (visible_at, inserted, expires, dequeues, receipt, body) \
             VALUES (now(), now(), now() + interval '7 days', 0, gen_random_uuid(), $1) RETURNING id, receipt::text"
        );
        let get = format!(
            "UPDATE {queue} SET visible_at = now() + interval '{HIDDEN_SECONDS} s', dequeues = dequeues + 1, \
             receipt = gen_random_uuid() WHERE id = (SELECT id FROM {queue} WHERE visible_at <= now() AND expires > now() \
             ORDER BY visible_at, id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, receipt::text, body"
        );
        let delete = format!("DELETE FROM {queue} WHERE id = $1 AND receipt = $2::text::uuid");
        let (put, get) = (client.prepare(&put).await?, client.prepare(&get).await?);
        Ok(PostgresCourier {
            message: payload::message(),
            put,
            get,
            delete: client.prepare(&delete).await?,
            client,
        })
    }

    async fn on_entities(&self, scene: Scene, span: Duration) -> Result<Sample, Error> {
        let mut workers = Vec::with_capacity(scene.connections);
        for index in 0..scene.connections {
            let client = self.postgres.connect().await?;
            workers.push(EntityWorker {
                statement: client.prepare(&sql(scene.act)).await?,
                client,
                act: scene.act,
                properties: payload::properties(),
                places: self.places.clone(),
                random: Random::new(index as u64 + 1),
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

impl Subject for OnPostgres {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    /// Its processes come and go with connections, so their time is not told.
    fn spent(&self) -> Result<Spent, Error> {
        Ok(Spent { bytes: written_bytes(self.postgres.process_id())?, seconds: None })
    }

    fn prepare(&mut self, scene: Scene, span: Duration) -> Result<(), Error> {
        if scene.act != Act::GetAndDelete {
            return Ok(());
        }
        let count = self.stock.fill(span);
        self.put_all(WORK_QUEUE, count, None)
    }

    fn run(&mut self, scene: Scene, span: Duration) -> Result<Sample, Error> {
        if !matches!(scene.act, Act::Put | Act::GetAndDelete) {
            return self.postgres.runtime().block_on(self.on_entities(scene, span));
        }
        let sample = self.postgres.runtime().block_on(self.on_messages(scene, span))?;
        if scene.act == Act::GetAndDelete {
            self.stock.took(sample.done, sample.elapsed);
        }
        Ok(sample)
    }
}

/// Of a statement on entities.
fn sql(act: Act) -> String {
    match act {
        Act::Get => "SELECT etag, ts::text, body::text FROM entities WHERE pk = $1 AND rk = $2".to_owned(),
        Act::Page => format!(
            "SELECT rk, etag, ts::text, body::text FROM entities WHERE pk = $1 ORDER BY rk LIMIT {PAGE_ENTITIES}"
        ),
        _ => {
            "INSERT INTO entities VALUES ($1, $2, gen_random_uuid()::text, now(), $3::text::jsonb)".to_owned()
        }
    }
}

/// One insert for each, all sent at once.
async fn insert_all(
    client: &Client,
    insert: &Statement,
    places: impl Iterator<Item = Place>,
    properties: &str,
) -> Result<u64, tokio_postgres::Error> {
    let rows = places.map(|place| [place.partition(), place.id(), properties.to_owned()]).collect();
    execute_all(client, insert, rows).await
}

struct EntityWorker {
    client: Client,
    statement: Statement,
    act: Act,
    properties: String,
    places: Arc<Places>,
    random: Random,
}

impl EntityWorker {
    /// How many entities were read or written.
    async fn entities(&mut self) -> Result<u64, tokio_postgres::Error> {
        let (client, statement) = (&self.client, &self.statement);
        match self.act {
            Act::Get => {
                let place = payload::any_of_set(&mut self.random);
                let rows = client.query(statement, &[&place.partition(), &place.id()]).await?;
                Ok(rows.iter().filter(|row| row.get::<_, &str>(2).len() > 800).count() as u64)
            }
            Act::Page => {
                let place = payload::of_set(self.random.below(SET_ENTITIES));
                let rows = client.query(statement, &[&place.partition()]).await?;
                Ok(rows.iter().filter(|row| row.get::<_, &str>(3).len() > 800).count() as u64)
            }
            Act::Batch => {
                client.batch_execute("BEGIN").await?;
                let done = insert_all(client, statement, self.places.new_group(), &self.properties).await?;
                client.batch_execute("COMMIT").await?;
                Ok(done)
            }
            _ => {
                let place = self.places.new_one();
                client.execute(statement, &[&place.partition(), &place.id(), &self.properties]).await
            }
        }
    }
}

impl Worker for EntityWorker {
    async fn once(&mut self) -> Result<(), String> {
        let wanted = if matches!(self.act, Act::Page | Act::Batch) { PAGE_ENTITIES } else { 1 };
        match self.entities().await {
            Ok(entities) if entities == wanted => Ok(()),
            Ok(entities) => Err(format!("{entities} entities instead of {wanted}")),
            Err(error) => Err(error.to_string()),
        }
    }
}

pub struct PostgresCourier {
    client: Client,
    message: String,
    put: Statement,
    get: Statement,
    delete: Statement,
}

impl Courier for PostgresCourier {
    /// Its id and its receipt.
    type Held = (i64, String);

    async fn put(&mut self) -> Result<(), String> {
        let message = &self.message;
        let put = self.client.query_one(&self.put, &[message]).await;
        put.map(drop).map_err(|error| error.to_string())
    }

    async fn get(&mut self) -> Result<Option<(i64, String)>, String> {
        let got = self.client.query_opt(&self.get, &[]).await.map_err(|error| error.to_string())?;
        match got {
            None => Ok(None),
            Some(row) if row.get::<_, &str>(2).len() == payload::MESSAGE_BYTES => {
                Ok(Some((row.get(0), row.get(1))))
            }
            Some(_) => Err("a message that is not whole".to_owned()),
        }
    }

    async fn delete(&mut self, (id, receipt): (i64, String)) -> Result<(), String> {
        match self.client.execute(&self.delete, &[&id, &receipt]).await {
            Ok(1) => Ok(()),
            Ok(rows) => Err(format!("{rows} messages deleted instead of one")),
            Err(error) => Err(error.to_string()),
        }
    }
}
