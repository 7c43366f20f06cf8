//! The server that a blueprint is applied to, as its clients see it: what it has, and requests that change it.

use super::accounts::StorageAccounts;
use super::storage::StorageSide;
use crate::client::{Account, Answer, Call, Remote, Services, not_understood, segment};
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use orrery_blueprint::{Blueprint, Observed, ObservedContainer, ObservedDatabase, ObservedOffer};
use orrery_core::Env;
use orrery_documents::definition::{ContainerDefinition, Throughput};
use serde_json::Value;
use std::collections::HashMap;

pub struct Server {
    remote: Remote,
    /// The services port, if schemas are to be told.
    services: Option<Services>,
    /// Its storage accounts, if a blueprint has any.
    storage: Option<StorageSide>,
}

impl Server {
    /// `env` tells the time that requests are signed with.
    pub async fn open(account: &Account, services: Option<Services>, env: Env) -> Result<Self, String> {
        let remote = Remote::at_once(account.clone(), env).await?;
        Ok(Self { remote, services, storage: None })
    }

    pub fn with_storage(self, accounts: Box<dyn StorageAccounts>) -> Self {
        Self { storage: Some(StorageSide::new(accounts)), ..self }
    }

    pub fn storage(&mut self) -> Result<&mut StorageSide, String> {
        self.storage
            .as_mut()
            .ok_or_else(|| "the storage accounts of the server are not opened here".to_owned())
    }

    /// What the server has of the blueprint's database and its storage accounts.
    pub async fn observe(&mut self, blueprint: &Blueprint) -> Result<Observed, String> {
        let mut observed = match &blueprint.database {
            Some(database) => self.observe_database(blueprint, database.as_str()).await?,
            None => Observed::default(),
        };
        if !blueprint.storage.is_empty() {
            observed.storage = self.storage()?.observe(&blueprint.storage).await?;
        }
        Ok(observed)
    }

    async fn observe_database(&mut self, blueprint: &Blueprint, name: &str) -> Result<Observed, String> {
        let offers = self.offers().await?;
        let mut observed = Observed {
            is_serverless: offers.is_none(),
            keeps_schemas: self.services.is_some(),
            ..Observed::default()
        };
        let offers = offers.unwrap_or_default();
        let Some(database) = self.get(&["dbs", name]).await? else {
            observed.keeps_schemas = self.answers_for_schemas(name).await?;
            return Ok(observed);
        };
        let offer = |resource: &Value| offers.get(resource["_rid"].as_str()?).cloned();
        let list = self.remote.list(&["dbs", name, "colls"], "DocumentCollections").await?;
        let mut there = ObservedDatabase { offer: offer(&database), ..ObservedDatabase::default() };
        let list = list.map_err(|refused| refused.refusal())?;
        for container in list.into_iter().map(Value::Object) {
            let definition = ContainerDefinition::read(container.as_object().cloned().unwrap_or_default());
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
                .insert(id, ObservedContainer { definition, etag, offer: offer(&container), schema });
        }
        if blueprint.containers.iter().any(|container| container.schema.is_some()) && observed.keeps_schemas {
            observed.keeps_schemas = self.answers_for_schemas(name).await?;
        }
        observed.databases.insert(name.to_owned(), there);
        Ok(observed)
    }

    /// By the resource they are of; `None` for a serverless account, which has none and says so.
    async fn offers(&self) -> Result<Option<HashMap<String, ObservedOffer>>, String> {
        let answer = self.call(&Call::get(&["offers"])).await?;
        if answer.status == StatusCode::BAD_REQUEST && answer.refusal().contains("serverless") {
            return Ok(None);
        }
        let list = answer.json()?;
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
    async fn get(&self, path: &[&str]) -> Result<Option<Value>, String> {
        let answer = self.call(&Call::get(path)).await?;
        if answer.status == StatusCode::NOT_FOUND { Ok(None) } else { answer.json().map(Some) }
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
            _ => answer.json().map(Some),
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
    pub async fn call(&self, call: &Call) -> Result<Answer, String> {
        self.remote.call(call).await
    }
}

fn is_no_endpoint(answer: &Answer) -> bool {
    answer.status == StatusCode::NOT_FOUND && answer.refusal().contains("there is nothing at")
}
