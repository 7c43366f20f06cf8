//! The server that a blueprint is applied to, as its clients see it: what it has, and requests that change it.

use crate::client::{Account, Address, Answer, Connection, SEGMENT, Services};
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use orrery_blueprint::{Blueprint, Observed, ObservedContainer, ObservedDatabase, ObservedOffer};
use orrery_core::Env;
use orrery_documents::definition::{ContainerDefinition, Throughput};
use percent_encoding::utf8_percent_encode;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::time::Duration;

pub struct Server<'a> {
    account: &'a Account,
    connection: Connection,
    /// The services port, if schemas are to be told.
    services: Option<Services>,
    env: Env,
}

/// A request to the Cosmos DB endpoint.
pub struct Call<'c> {
    pub verb: Method,
    pub kind: &'c str,
    /// What is signed.
    pub link: String,
    pub path: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

/// Tries of a request that the server turns away because too many come.
const TRIES_MAX: usize = 100;
const PAUSE_MILLIS_MAX: u64 = 5_000;

impl<'a> Server<'a> {
    /// `env` tells the time that requests are signed with.
    pub async fn open(account: &'a Account, services: Option<&Address>, env: Env) -> Result<Self, String> {
        let connection = account.connect().await?;
        let services = match services {
            None => None,
            Some(address) => {
                let opened = Services::open(address.clone()).await;
                let told =
                    |error| format!("schemas are told to the services port: {error}, or --without-schemas");
                Some(opened.map_err(told)?)
            }
        };
        Ok(Self { account, connection, services, env })
    }

    /// What the server has of the blueprint's database.
    pub async fn observe(&mut self, blueprint: &Blueprint) -> Result<Observed, String> {
        let name = blueprint.database.as_str();
        let offers = self.offers().await?;
        let mut observed = Observed {
            is_serverless: offers.is_none(),
            keeps_schemas: self.services.is_some(),
            ..Observed::default()
        };
        let offers = offers.unwrap_or_default();
        let link = format!("dbs/{name}");
        let Some(database) = self.get("dbs", &link, &format!("/dbs/{}", segment(name))).await? else {
            observed.keeps_schemas = self.answers_for_schemas(name).await?;
            return Ok(observed);
        };
        let offer = |resource: &Value| offers.get(resource["_rid"].as_str()?).cloned();
        let path = format!("/dbs/{}/colls", segment(name));
        let list = self.get("colls", &link, &path).await?.unwrap_or_default();
        let mut there = ObservedDatabase { offer: offer(&database), ..ObservedDatabase::default() };
        for container in list["DocumentCollections"].as_array().ok_or_else(not_understood)? {
            let definition = ContainerDefinition::parse(container.as_object().cloned().unwrap_or_default());
            let definition =
                definition.map_err(|error| format!("a container's definition is not understood: {error}"))?;
            let id = definition.name().to_string();
            let schema = match blueprint.container(&id).is_some_and(|wanted| wanted.schema.is_some()) {
                true => self.schema(name, &id, &mut observed.keeps_schemas).await?,
                false => None,
            };
            let etag = container["_etag"].as_str().unwrap_or_default().to_owned();
            there
                .containers
                .insert(id, ObservedContainer { definition, etag, offer: offer(container), schema });
        }
        if blueprint.containers.iter().any(|container| container.schema.is_some()) && observed.keeps_schemas {
            observed.keeps_schemas = self.answers_for_schemas(name).await?;
        }
        observed.databases.insert(name.to_owned(), there);
        Ok(observed)
    }

    /// By the resource they are of; `None` for a serverless account, which has none and says so.
    async fn offers(&mut self) -> Result<Option<HashMap<String, ObservedOffer>>, String> {
        let answer = self.call(Call::get("offers", "", "/offers")).await?;
        if answer.status == StatusCode::BAD_REQUEST && answer.refusal().contains("serverless") {
            return Ok(None);
        }
        let list = read(&answer)?;
        let mut offers = HashMap::new();
        for offer in list["Offers"].as_array().ok_or_else(not_understood)? {
            let throughput = Throughput::from_offer_content(&offer["content"])
                .map_err(|error| format!("an offer of the server is not understood: {error}"))?;
            let text = |name: &str| offer[name].as_str().map(str::to_owned).ok_or_else(not_understood);
            offers.insert(text("offerResourceId")?, ObservedOffer { rid: text("_rid")?, throughput });
        }
        Ok(Some(offers))
    }

    /// `None` if it is not there.
    async fn get(&mut self, kind: &str, link: &str, path: &str) -> Result<Option<Value>, String> {
        let answer = self.call(Call::get(kind, link, path)).await?;
        if answer.status == StatusCode::NOT_FOUND { Ok(None) } else { read(&answer).map(Some) }
    }

    async fn schema(
        &mut self,
        database: &str,
        container: &str,
        keeps: &mut bool,
    ) -> Result<Option<Value>, String> {
        let Some(answer) = self.ask_services(Method::GET, database, container, Vec::new()).await? else {
            return Ok(None);
        };
        match answer.status {
            StatusCode::NOT_FOUND => {
                *keeps &= !is_no_endpoint(&answer);
                Ok(None)
            }
            _ => read(&answer).map(Some),
        }
    }

    /// An older server has no schemas, and says that there is nothing.
    async fn answers_for_schemas(&mut self, database: &str) -> Result<bool, String> {
        let answer = self.ask_services(Method::GET, database, "-", Vec::new()).await?;
        Ok(answer.is_some_and(|answer| !is_no_endpoint(&answer)))
    }

    pub async fn put_schema(&mut self, database: &str, container: &str, body: &Value) -> Result<(), String> {
        match self.ask_services(Method::PUT, database, container, body.to_string().into_bytes()).await? {
            Some(answer) if !answer.status.is_success() => {
                Err(format!("the schema of '{container}' is not taken: {}", answer.refusal()))
            }
            _ => Ok(()),
        }
    }

    async fn ask_services(
        &mut self,
        verb: Method,
        database: &str,
        container: &str,
        body: Vec<u8>,
    ) -> Result<Option<Answer>, String> {
        let Some(services) = &mut self.services else { return Ok(None) };
        let path = format!("/v1/schemas/{}/{}", segment(database), segment(container));
        let request = Request::builder().method(verb).uri(path).header("content-type", "application/json");
        services.exchange(request, Bytes::from(body)).await.map(Some)
    }

    /// Sends a request, again if the server is too busy for it.
    pub async fn call(&mut self, call: Call<'_>) -> Result<Answer, String> {
        let mut tries = 0;
        loop {
            let request = self.request(&call)?;
            let answer = self.connection.exchange(request).await?;
            tries += 1;
            if answer.status != StatusCode::TOO_MANY_REQUESTS || tries == TRIES_MAX {
                return Ok(answer);
            }
            let asked =
                answer.headers.get("x-ms-retry-after-ms").and_then(|value| value.to_str().ok()?.parse().ok());
            tokio::time::sleep(Duration::from_millis(asked.unwrap_or(100).clamp(1, PAUSE_MILLIS_MAX))).await;
        }
    }

    fn request(&self, call: &Call<'_>) -> Result<Request<Full<Bytes>>, String> {
        let mut request =
            self.account.request(call.verb.clone(), call.kind, &call.link, &call.path, self.env.now());
        for (name, value) in &call.headers {
            request = request.header(*name, value);
        }
        let request = request.body(Full::new(Bytes::from(call.body.clone())));
        request.map_err(|error| format!("the request cannot be written: {error}"))
    }
}

impl<'c> Call<'c> {
    fn get(kind: &'c str, link: &str, path: &str) -> Self {
        let (link, path) = (link.to_owned(), path.to_owned());
        Self { verb: Method::GET, kind, link, path, headers: Vec::new(), body: Vec::new() }
    }

    pub fn post(kind: &'c str, link: String, path: String, body: &Map<String, Value>) -> Self {
        Self { verb: Method::POST, ..Self::put(kind, link, path, body) }
    }

    pub fn put(kind: &'c str, link: String, path: String, body: &Map<String, Value>) -> Self {
        let body = serde_json::to_vec(body).unwrap_or_default();
        Self { verb: Method::PUT, kind, link, path, headers: Vec::new(), body }
    }

    pub fn header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }
}

fn is_no_endpoint(answer: &Answer) -> bool {
    answer.status == StatusCode::NOT_FOUND && answer.refusal().contains("there is nothing at")
}

fn read(answer: &Answer) -> Result<Value, String> {
    if !answer.status.is_success() {
        return Err(answer.refusal());
    }
    serde_json::from_slice(&answer.body).map_err(|_| not_understood())
}

fn not_understood() -> String {
    "the server's answer is not understood".to_owned()
}

/// A name inside a path.
pub fn segment(name: &str) -> String {
    utf8_percent_encode(name, SEGMENT).to_string()
}
