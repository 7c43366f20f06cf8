//! The scenes on PostgreSQL: prepared statements, and a transaction's inserts sent without waiting for each.

use super::load::Batches;
use super::{SIZE, Scene, Subject};
use crate::drive::{Worker, drive};
use crate::error::Error;
use crate::item::{self, Place, Random, Template};
use crate::sample::Sample;
use crate::subjects::{Postgres, execute_all};
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::{Client, Statement};

pub struct OnPostgres {
    postgres: Postgres,
    batches: Arc<Batches>,
}

impl OnPostgres {
    pub fn new(postgres: Postgres) -> Self {
        Self { postgres, batches: Arc::default() }
    }
}

impl Subject for OnPostgres {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn run(&mut self, scene: Scene, span: Duration) -> Result<Sample, Error> {
        self.postgres.runtime().block_on(async {
            let mut workers = Vec::with_capacity(scene.connections());
            for index in 0..scene.connections() {
                let client = self.postgres.connect().await?;
                let statement = client.prepare(&sql(scene)).await?;
                workers.push(BatchWorker {
                    client,
                    statement,
                    scene,
                    template: item::template(SIZE),
                    batches: self.batches.clone(),
                    random: Random::new(index as u64 + 1),
                });
            }
            Ok(drive(workers, span).await)
        })
    }
}

fn sql(scene: Scene) -> String {
    let table = SIZE.container();
    match scene {
        Scene::Create => format!("INSERT INTO {table} VALUES ($1, $2, $3::text::jsonb)"),
        Scene::Upsert => format!(
            "INSERT INTO {table} SELECT pk, id, doc::jsonb FROM unnest($1::text[], $2::text[], $3::text[]) AS new (pk, id, doc) \
             ON CONFLICT (pk, id) DO UPDATE SET doc = excluded.doc"
        ),
        Scene::Patch => format!(
            "UPDATE {table} SET doc = jsonb_set(jsonb_set(doc, '{{priority}}', to_jsonb((doc->>'priority')::bigint + 1)), \
             '{{status}}', '\"DONE\"') WHERE pk = $1 AND id = $2"
        ),
    }
}

struct BatchWorker {
    client: Client,
    statement: Statement,
    scene: Scene,
    template: Template,
    batches: Arc<Batches>,
    random: Random,
}

impl BatchWorker {
    fn document(&self, place: Place) -> String {
        let mut bytes = Vec::new();
        self.template.append(place, &mut bytes);
        String::from_utf8(bytes).unwrap_or_default()
    }

    async fn create(&self, places: &[Place]) -> Result<u64, tokio_postgres::Error> {
        let rows: Vec<[String; 3]> =
            places.iter().map(|place| [place.partition(), place.id(), self.document(*place)]).collect();
        self.client.batch_execute("BEGIN").await?;
        let done = execute_all(&self.client, &self.statement, rows).await?;
        self.client.batch_execute("COMMIT").await?;
        Ok(done)
    }

    async fn upsert(&self, places: &[Place]) -> Result<u64, tokio_postgres::Error> {
        let partitions: Vec<String> = places.iter().map(|place| place.partition()).collect();
        let ids: Vec<String> = places.iter().map(|place| place.id()).collect();
        let documents: Vec<String> = places.iter().map(|place| self.document(*place)).collect();
        self.client.execute(&self.statement, &[&partitions, &ids, &documents]).await
    }
}

impl Worker for BatchWorker {
    async fn once(&mut self) -> Result<(), String> {
        let places = self.batches.places(self.scene, &mut self.random);
        let rows = match self.scene {
            Scene::Create => self.create(&places).await,
            Scene::Upsert => self.upsert(&places).await,
            Scene::Patch => {
                let (partition, id) = (places[0].partition(), places[0].id());
                self.client.execute(&self.statement, &[&partition, &id]).await
            }
        };
        match rows {
            Ok(rows) if rows == self.scene.items() => Ok(()),
            Ok(rows) => Err(format!("{rows} rows instead of {}", self.scene.items())),
            Err(error) => Err(error.to_string()),
        }
    }
}
