//! A stored procedure of 100 creates, beside a PL/pgSQL function of 100 inserts.
//!
//! Each call writes a hundred small documents into a partition of its own, in one transaction, over eight connections.
//! PostgreSQL's function is as a careful user would write it: prepared, one statement a document, no index but the key.

use crate::Settings;
use crate::drive::{Worker, drive, runtime};
use crate::error::Error;
use crate::report::Report;
use crate::rounds::{Run, in_turns};
use crate::sample::{Outcome, Sample};
use crate::subjects::{Orrery, Postgres};
use orrery_core::Env;
use orrery_testing_client::{
    Client, Connection, ContainerPath, Method, Options, Request, Signer, dist_binary,
};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const NAME: &str = "procedure";
const CREATES: i32 = 100;
const CONNECTIONS: usize = 8;

const SCRIPT: &str = "function (partition, count) {
  for (let n = 0; n < count; n++) {
    const taken = __.createDocument(__.getSelfLink(), { id: String(n), pk: partition, n, text: 'a document of a procedure' });
    if (!taken) throw new Error('not taken');
  }
}";
const FUNCTION: &str = "
CREATE TABLE made (pk text, id text, doc jsonb, PRIMARY KEY (pk, id));
CREATE FUNCTION make(partition text, count int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  FOR n IN 0..count - 1 LOOP
    INSERT INTO made VALUES (partition, n::text, jsonb_build_object(
      'id', n::text, 'pk', partition, 'n', n, 'text', 'a document of a procedure'));
  END LOOP;
END $$";

pub fn run(settings: &Settings, report: &mut Report) -> Result<(), Error> {
    if !settings.wants(NAME) {
        return Ok(());
    }
    let orrery = match dist_binary().map_err(Error::from).and_then(|binary| {
        let orrery = Orrery::start(&settings.folder, &Options::new(binary))?;
        prepare(orrery.server.cosmos())?;
        Ok(orrery)
    }) {
        Ok(orrery) => orrery,
        Err(error) => {
            report.leave_out(&format!("{NAME}: {error}"));
            return Ok(());
        }
    };
    // Before the runs, which borrow it.
    let postgres = Postgres::start(&settings.folder).and_then(|postgres| {
        postgres.runtime().block_on(async {
            postgres.connect().await?.batch_execute(FUNCTION).await?;
            Ok::<(), Error>(())
        })?;
        Ok(postgres)
    });
    let mut names = vec!["orrery"];
    let (address, next) = (orrery.server.cosmos(), Arc::new(AtomicU64::new(0)));
    let calls = next.clone();
    let mut runs: Vec<Run<'_>> = vec![Box::new(move |span| call_orrery(address, &calls, span))];
    match &postgres {
        Ok(postgres) => {
            names.push("PostgreSQL");
            runs.push(Box::new(move |span| call_postgres(postgres, &next, span)));
        }
        Err(error) => report.leave_out(&format!("{NAME}: {error}")),
    }
    for (name, outcome) in names.into_iter().zip(in_turns(runs, settings)) {
        report.say(
            NAME,
            &format!(
                "{CREATES} creates a call, {CONNECTIONS} connections, calls/s: {name} {}",
                show(&outcome)
            ),
        );
    }
    Ok(())
}

fn show(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Measured(median) => {
            format!("{:.0} (p99 {:.1} ms)", median.rate, f64::from(median.micros_p99) / 1e3)
        }
        Outcome::Failed(why) => format!("FAILED: {why}"),
    }
}

fn path() -> ContainerPath {
    ContainerPath::new("bench", "procedure")
}

fn prepare(address: SocketAddr) -> Result<(), Error> {
    let mut client = Client::new(address, Env::system()?);
    runtime()?.block_on(async {
        let unindexed = json!({"indexingPolicy": {"indexingMode": "none", "automatic": false}});
        client.create_container(&path(), &unindexed).await?;
        let body = json!({"id": "make", "body": SCRIPT}).to_string();
        let made = client.call(&Request::new(Method::Post, procedures()).body(body)).await?;
        if made.status != 201 {
            return Err(Error::Unexpected(String::from_utf8_lossy(&made.body).into_owned()));
        }
        Ok(())
    })
}

fn procedures() -> String {
    path().items().replace("/docs", "/sprocs")
}

fn call_orrery(address: SocketAddr, next: &Arc<AtomicU64>, span: Duration) -> Result<Sample, Error> {
    let env = Env::system()?;
    runtime()?.block_on(async {
        let mut workers = Vec::with_capacity(CONNECTIONS);
        for _ in 0..CONNECTIONS {
            let (connection, signer) = (Connection::connect(address).await?, Signer::emulator(env.now()));
            workers.push(Caller { connection, signer, next: next.clone() });
        }
        Ok(drive(workers, span).await)
    })
}

struct Caller {
    connection: Connection,
    signer: Signer,
    next: Arc<AtomicU64>,
}

impl Worker for Caller {
    async fn once(&mut self) -> Result<(), String> {
        let partition = format!("p{}", self.next.fetch_add(1, Ordering::Relaxed));
        let call = Request::new(Method::Post, format!("{}/make", procedures()));
        let call = call.partition(&partition).body(json!([partition, CREATES]).to_string());
        let reply =
            self.connection.exchange(&call.encode(&self.signer)).await.map_err(|error| error.to_string())?;
        if reply.status == 200 { Ok(()) } else { Err(format!("status {}", reply.status)) }
    }
}

fn call_postgres(postgres: &Postgres, next: &Arc<AtomicU64>, span: Duration) -> Result<Sample, Error> {
    postgres.runtime().block_on(async {
        let mut workers = Vec::with_capacity(CONNECTIONS);
        for _ in 0..CONNECTIONS {
            let client = postgres.connect().await?;
            let statement = client.prepare("SELECT make($1, $2)").await?;
            workers.push(PostgresCaller { client, statement, next: next.clone() });
        }
        Ok(drive(workers, span).await)
    })
}

struct PostgresCaller {
    client: tokio_postgres::Client,
    statement: tokio_postgres::Statement,
    next: Arc<AtomicU64>,
}

impl Worker for PostgresCaller {
    async fn once(&mut self) -> Result<(), String> {
        let partition = format!("p{}", self.next.fetch_add(1, Ordering::Relaxed));
        let done = self.client.query(&self.statement, &[&partition, &CREATES]).await;
        done.map(drop).map_err(|error| error.to_string())
    }
}
