//! Asking the server: for the definitions as every client does, and for the report on each container.

use crate::client::{Account, Address, Answer, Connection, SEGMENT, Services};
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use orrery_api_cosmos::usage::report::Report;
use orrery_core::Env;
use orrery_documents::definition::ContainerDefinition;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

/// A container and what is known of it.
pub struct Container {
    pub database: String,
    pub name: String,
    pub definition: ContainerDefinition,
    pub report: Report,
}

/// Which containers: one, those of a database, or all.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    pub database: Option<&'a str>,
    pub container: Option<&'a str>,
}

pub async fn containers(
    account: &Account,
    services: Address,
    wanted: Wanted<'_>,
) -> Result<Vec<Container>, String> {
    let mut cosmos = Cosmos { account, connection: account.connect().await?, env: env()? };
    let databases = match wanted.database {
        Some(name) => vec![name.to_owned()],
        None => cosmos.databases().await?,
    };
    let mut reports = Services::open(services).await?;
    let mut found = Vec::new();
    for database in databases {
        let definitions = match wanted.container {
            Some(name) => vec![cosmos.container(&database, name).await?],
            None => cosmos.containers(&database).await?,
        };
        for definition in definitions {
            let definition = ContainerDefinition::parse(definition)
                .map_err(|error| format!("a container's definition is not understood: {error}"))?;
            let name = definition.name().to_string();
            let report = report(&mut reports, &database, &name).await?;
            found.push(Container { database: database.clone(), name, definition, report });
        }
    }
    Ok(found)
}

fn env() -> Result<Env, String> {
    Env::system().map_err(|error| error.to_string())
}

struct Cosmos<'a> {
    account: &'a Account,
    connection: Connection,
    env: Env,
}

impl Cosmos<'_> {
    async fn databases(&mut self) -> Result<Vec<String>, String> {
        let list = self.get("dbs", "", "/dbs").await?;
        let name = |database: Map<String, Value>| database.get("id")?.as_str().map(str::to_owned);
        Ok(objects(list, "Databases")?.into_iter().filter_map(name).collect())
    }

    async fn containers(&mut self, database: &str) -> Result<Vec<Map<String, Value>>, String> {
        let (link, path) = (format!("dbs/{database}"), format!("/dbs/{}/colls", segment(database)));
        objects(self.get("colls", &link, &path).await?, "DocumentCollections")
    }

    async fn container(&mut self, database: &str, name: &str) -> Result<Map<String, Value>, String> {
        let link = format!("dbs/{database}/colls/{name}");
        let path = format!("/dbs/{}/colls/{}", segment(database), segment(name));
        match self.get("colls", &link, &path).await? {
            Value::Object(definition) => Ok(definition),
            _ => Err(not_understood()),
        }
    }

    async fn get(&mut self, kind: &str, link: &str, path: &str) -> Result<Value, String> {
        let request = self.account.request(Method::GET, kind, link, path, self.env.now());
        let request = request.body(Full::new(Bytes::new()));
        let request = request.map_err(|error| format!("the request cannot be written: {error}"))?;
        read(&self.connection.exchange(request).await?)
    }
}

async fn report(services: &mut Services, database: &str, container: &str) -> Result<Report, String> {
    let value = |name: &str| utf8_percent_encode(name, NON_ALPHANUMERIC).to_string();
    let path = format!("/v1/advice?database={}&container={}", value(database), value(container));
    services.ask(Request::get(path), Bytes::new()).await
}

fn read(answer: &Answer) -> Result<Value, String> {
    if !answer.status.is_success() {
        return Err(answer.refusal());
    }
    serde_json::from_slice(&answer.body).map_err(|_| not_understood())
}

fn objects(list: Value, name: &str) -> Result<Vec<Map<String, Value>>, String> {
    let found = list.get(name).and_then(Value::as_array).ok_or_else(not_understood)?;
    Ok(found.iter().filter_map(|one| one.as_object().cloned()).collect())
}

fn not_understood() -> String {
    "the server's answer is not understood".to_owned()
}

fn segment(name: &str) -> String {
    utf8_percent_encode(name, SEGMENT).to_string()
}
