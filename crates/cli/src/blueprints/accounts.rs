//! Who opens the storage accounts of a server, and who adds one.
//!
//! `orrery apply` asks the services port for accounts and their keys, and the Cosmos DB endpoint for the ports of tables
//! and queues. `serve --blueprint` has all of it in its hands, so this is a trait.

use crate::client::{Account, Address, ServerFlags, Services, segment};
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use orrery_client::storage::queues::Queues;
use orrery_client::storage::tables::Tables;
use orrery_client::storage::{Endpoint, StorageCredential};
use orrery_client::trust;
use orrery_core::Env;
use orrery_protocol::storage::{DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY, Service};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::pin::Pin;

/// The services of one account, as whoever has its key sees them.
#[derive(Clone)]
pub struct OpenAccount {
    pub tables: Tables,
    pub queues: Queues,
}

pub type Opening<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + 'a>>;

pub trait StorageAccounts {
    /// Whether an account that is not there can be added.
    fn adds(&self) -> bool;

    /// `None`: there is no such account.
    fn open<'a>(&'a mut self, name: &'a str) -> Opening<'a, Option<OpenAccount>>;

    /// One that is there already is as good.
    fn add<'a>(&'a mut self, name: &'a str) -> Opening<'a, ()>;
}

/// The accounts of a server somewhere else.
pub struct RemoteAccounts {
    services: Result<Services, String>,
    /// All that there are; `None` if the server does not tell.
    names: Option<BTreeSet<String>>,
    /// First keys that were told.
    keys: BTreeMap<String, String>,
    tables: Address,
    queues: Address,
    ca: Option<PathBuf>,
    env: Env,
}

impl RemoteAccounts {
    pub async fn of(flags: &ServerFlags, account: &Account, env: Env) -> Result<Self, String> {
        let address = &account.host.address;
        let unknown = || {
            format!(
                "{address} does not say where its tables and queues are; is it an Orrery of this version?"
            )
        };
        let about = account.about().await?.ok_or_else(unknown)?;
        let at = |port: Option<u16>| port.map(|port| address.at_port(port)).ok_or_else(unknown);
        let (tables, queues) = (at(about.table_port)?, at(about.queue_port)?);
        let mut services = flags.services_of(account).await;
        let names = match &mut services {
            Ok(services) => names(services).await?,
            Err(_) => None,
        };
        let (keys, ca) = (BTreeMap::new(), flags.account.ca.clone());
        Ok(Self { services, names, keys, tables, queues, ca, env })
    }

    /// The first key; the published one where the server does not tell its own.
    async fn key(&mut self, name: &str) -> Result<String, String> {
        if let Some(key) = self.keys.get(name) {
            return Ok(key.clone());
        }
        match self.ask(Method::GET, &format!("/v1/accounts/{}/keys", segment(name)), None).await {
            Ok((status, answer)) if status.is_success() => Ok(key1(&answer)),
            _ if name == DEVELOPMENT_ACCOUNT => Ok(DEVELOPMENT_KEY.to_owned()),
            Ok((_, answer)) => {
                let detail = answer["detail"].as_str().unwrap_or("the server tells no key");
                Err(format!("the key of the storage account '{name}' is not told: {detail}"))
            }
            Err(error) => Err(error),
        }
    }

    async fn ask(
        &mut self,
        verb: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, Value), String> {
        let services = self.services.as_mut().map_err(|error| error.clone())?;
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = Request::builder().method(verb).uri(path);
        let answer = services.exchange(request, Bytes::from(body)).await?;
        Ok((answer.status, serde_json::from_slice(&answer.body).unwrap_or_default()))
    }

    fn endpoint(&self, service: Service, name: &str, key: &str) -> Result<Endpoint, String> {
        let address = if service == Service::Table { &self.tables } else { &self.queues };
        let credential = StorageCredential::key(name, key)?;
        let trust = trust(address, self.ca.as_deref())?;
        Endpoint::new(service, &format!("{address}/{name}"), credential, trust, self.env.clone())
    }
}

/// A server without this route has the development account alone; so has one that does not tell.
async fn names(services: &mut Services) -> Result<Option<BTreeSet<String>>, String> {
    let answer = services.exchange(Request::get("/v1/accounts"), Bytes::new()).await?;
    if !answer.status.is_success() {
        return Ok(None);
    }
    let told: Value = answer.json()?;
    let accounts = told["accounts"].as_array().into_iter().flatten();
    Ok(Some(accounts.filter_map(|one| one["name"].as_str().map(str::to_owned)).collect()))
}

fn key1(answer: &Value) -> String {
    answer["key1"].as_str().unwrap_or_default().to_owned()
}

impl StorageAccounts for RemoteAccounts {
    fn adds(&self) -> bool {
        self.names.is_some()
    }

    fn open<'a>(&'a mut self, name: &'a str) -> Opening<'a, Option<OpenAccount>> {
        Box::pin(async move {
            let is_there = match &self.names {
                Some(names) => names.contains(name),
                None => name == DEVELOPMENT_ACCOUNT,
            };
            if !is_there {
                return Ok(None);
            }
            let key = self.key(name).await?;
            let tables = Tables::new(self.endpoint(Service::Table, name, &key)?);
            let queues = Queues::new(self.endpoint(Service::Queue, name, &key)?);
            Ok(Some(OpenAccount { tables, queues }))
        })
    }

    fn add<'a>(&'a mut self, name: &'a str) -> Opening<'a, ()> {
        Box::pin(async move {
            let (status, answer) =
                self.ask(Method::POST, "/v1/accounts", Some(&json!({ "name": name }))).await?;
            match status {
                status if status.is_success() => drop(self.keys.insert(name.to_owned(), key1(&answer))),
                StatusCode::CONFLICT => {}
                _ => {
                    let detail = answer["detail"].as_str().unwrap_or("the server does not say why");
                    return Err(format!("the storage account '{name}' is not added: {detail}"));
                }
            }
            self.names.get_or_insert_default().insert(name.to_owned());
            Ok(())
        })
    }
}
