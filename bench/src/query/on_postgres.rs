//! The questions asked of PostgreSQL: one connection, one process for it, no index and no parallel workers.

use super::answer::Answer;
use super::set::{self, Item};
use super::{Asked, Question};
use crate::drive::{Worker, drive};
use crate::error::Error;
use crate::sample::Sample;
use crate::subjects::Postgres;
use std::path::Path;
use std::time::Duration;
use tokio_postgres::{Client, SimpleQueryMessage, SimpleQueryRow};

/// Makes a session that scans alone. The plan of a question takes microseconds, so it is not prepared ahead.
const SESSION: &str = "SET max_parallel_workers_per_gather = 0; SET jit = off";

pub struct OnPostgres {
    postgres: Postgres,
}

impl OnPostgres {
    /// A cluster with the first `count` items in a table.
    pub fn start(base: &Path, cores: &str, count: u64) -> Result<Self, Error> {
        let postgres = Postgres::start_on(base, Some(cores))?;
        postgres.runtime().block_on(fill(&postgres, count))?;
        Ok(Self { postgres })
    }
}

async fn fill(postgres: &Postgres, count: u64) -> Result<(), Error> {
    let client = postgres.connect().await?;
    client.batch_execute("CREATE TABLE items (id text, doc jsonb); BEGIN").await?;
    let insert = client.prepare("INSERT INTO items VALUES ($1, $2::text::jsonb)").await?;
    for Item { id, text, .. } in set::items(count) {
        client.execute(&insert, &[&id, &text]).await?;
    }
    client.batch_execute("COMMIT").await?;
    client.batch_execute("VACUUM (FREEZE, ANALYZE) items").await?;
    client.batch_execute("CHECKPOINT").await?;
    Ok(())
}

impl Asked for OnPostgres {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn answer(&self, question: Question) -> Result<Answer, Error> {
        self.postgres.runtime().block_on(async {
            let client = session(&self.postgres).await?;
            let messages = client.simple_query(question.postgres()).await?;
            Ok(rows(&messages).map(cells).collect())
        })
    }

    fn run(&self, question: Question, rows: usize, span: Duration) -> Result<Sample, Error> {
        self.postgres.runtime().block_on(async {
            let client = session(&self.postgres).await?;
            Ok(drive(vec![Asker { client, question, rows }], span).await)
        })
    }
}

async fn session(postgres: &Postgres) -> Result<Client, Error> {
    let client = postgres.connect().await?;
    client.batch_execute(SESSION).await?;
    Ok(client)
}

struct Asker {
    client: Client,
    question: Question,
    rows: usize,
}

impl Worker for Asker {
    async fn once(&mut self) -> Result<(), String> {
        let messages = self.client.simple_query(self.question.postgres()).await;
        match rows(&messages.map_err(|error| error.to_string())?).count() {
            rows if rows == self.rows => Ok(()),
            rows => Err(format!("{rows} rows instead of {}", self.rows)),
        }
    }
}

fn rows(messages: &[SimpleQueryMessage]) -> impl Iterator<Item = &SimpleQueryRow> {
    messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    })
}

fn cells(row: &SimpleQueryRow) -> Vec<String> {
    (0..row.len()).map(|at| row.get(at).unwrap_or_default().to_owned()).collect()
}
