//! The flags that say which storage account, and the endpoint of one of its services.
//!
//! A connection string says everything by itself. Without one it is an account of the server that `--url` names: `GET /`
//! of its Cosmos DB endpoint tells the ports, and whoever has one of the server's own keys need not know the account's,
//! because the server tells it.

use crate::client::{Account, Address, Host, ServerFlags, block_on, segment};
use clap::Args;
use http::{Method, Uri};
use orrery_client::storage::{Endpoint, StorageCredential};
use orrery_client::trust;
use orrery_core::Env;
use orrery_protocol::EMULATOR_KEY;
use orrery_protocol::storage::{ConnectionString, DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY, Endpoints, Service};
use serde_json::Value;

#[derive(Args)]
pub struct StorageFlags {
    #[command(flatten)]
    server: ServerFlags,
    /// The storage account of that server [default: devstoreaccount1]
    #[arg(
        id = "storage_account",
        long = "account",
        value_name = "NAME",
        global = true,
        help_heading = "Server"
    )]
    account: Option<String>,
    /// The storage account's key [default: the published one of devstoreaccount1; with --key the server tells it]
    #[arg(
        id = "storage_key",
        long = "account-key",
        value_name = "KEY",
        env = "ORRERY_STORAGE_KEY",
        hide_env_values = true,
        global = true,
        help_heading = "Server"
    )]
    key: Option<String>,
    /// An account anywhere, in Azure too, by its connection string; then --url does not matter
    #[arg(
        long,
        value_name = "STRING",
        env = "ORRERY_STORAGE_CONNECTION",
        hide_env_values = true,
        global = true,
        help_heading = "Server"
    )]
    connection_string: Option<String>,
}

/// `queues`, `tables`
fn plural(service: Service) -> String {
    format!("{}s", service.word())
}

impl StorageFlags {
    pub fn ca(&self) -> Option<&std::path::Path> {
        self.server.account.ca.as_deref()
    }

    /// One service of the account, where somebody answers.
    pub async fn endpoint(&self, service: Service) -> Result<Endpoint, String> {
        match &self.connection_string {
            Some(_) if self.account.is_some() || self.key.is_some() => Err(
                "a connection string (--connection-string, ORRERY_STORAGE_CONNECTION) names the account and its key; \
                 give it, or --account and --account-key, but not both"
                    .to_owned(),
            ),
            Some(text) => self.of_connection(service, text).await,
            None => self.of_server(service).await,
        }
    }

    async fn of_connection(&self, service: Service, text: &str) -> Result<Endpoint, String> {
        let connection = ConnectionString::parse(text).map_err(|error| error.to_string())?;
        let missing = || format!("the connection string does not say where {} are", plural(service));
        let url = connection.endpoints(service).primary.as_deref().ok_or_else(missing)?;
        let uri: Uri = url.parse().map_err(|_| format!("'{url}' in the connection string is no URL"))?;
        let host = Host::new(Address::of(&uri)?, self.ca())?;
        host.connect("; the connection string says that it is there").await?;
        self.open(service, url, &host.address, StorageCredential::of(&connection)?)
    }

    async fn of_server(&self, service: Service) -> Result<Endpoint, String> {
        let account = self.server.account()?;
        let address = service_address(&account, service).await?;
        let name = self.account.as_deref().unwrap_or(DEVELOPMENT_ACCOUNT);
        let credential = self.credential(&account, name).await?;
        self.open(service, &format!("{address}/{name}"), &address, credential)
    }

    fn open(
        &self,
        service: Service,
        url: &str,
        address: &Address,
        credential: StorageCredential,
    ) -> Result<Endpoint, String> {
        let env = Env::system().map_err(|error| error.to_string())?;
        Endpoint::new(service, url, credential, trust(address, self.ca())?, env)
    }

    async fn credential(&self, account: &Account, name: &str) -> Result<StorageCredential, String> {
        let flags = &self.server.account;
        let is_published = flags.key.as_deref().is_none_or(|key| key == EMULATOR_KEY);
        match (&self.key, &flags.token) {
            (Some(key), _) => StorageCredential::key(name, key),
            (None, Some(token)) => Ok(StorageCredential::token(token.clone())),
            (None, None) if is_published && name == DEVELOPMENT_ACCOUNT => {
                StorageCredential::key(name, DEVELOPMENT_KEY)
            }
            (None, None) => StorageCredential::key(name, &self.told_key(account, name).await?),
        }
    }

    /// The first key of an account, as the server tells it to whoever has one of its own.
    async fn told_key(&self, account: &Account, name: &str) -> Result<String, String> {
        let path = format!("/v1/accounts/{}/keys", segment(name));
        let mut services = self.server.services_of(account).await?;
        let asked = http::Request::builder().method(Method::GET).uri(path);
        let keys: Value = services.ask(asked, Default::default()).await.map_err(|error| {
            format!("{error}; the key of '{name}' can also be given with --account-key, or all in --connection-string")
        })?;
        Ok(keys["key1"].as_str().unwrap_or_default().to_owned())
    }
}

/// Where a service of the server's storage accounts answers: on the same machine, by another port.
pub async fn service_address(account: &Account, service: Service) -> Result<Address, String> {
    let about = account.about().await?;
    let port = about.and_then(|about| match service {
        Service::Blob => None,
        Service::Queue => about.queue_port,
        Service::Table => about.table_port,
    });
    let address = &account.host.address;
    port.map(|port| address.at_port(port)).ok_or_else(|| {
        let plural = plural(service);
        format!("{address} does not say where its {plural} are; is it an Orrery of this version?")
    })
}

/// Whether a storage service is there: it refuses whoever shows no credential, and numbers the refusal.
pub(crate) async fn is_storage_service(account: &Account, address: &Address) -> Result<bool, String> {
    let host = account.host_at(address.clone())?;
    let connection = host.connect("; the server says that it is there").await?;
    let request = http::Request::get(format!("/{DEVELOPMENT_ACCOUNT}?comp=list"));
    let request = request.body(Default::default()).map_err(|error| error.to_string())?;
    Ok(connection.exchange(request).await?.header("x-ms-request-id").is_some())
}

/// Where the storage accounts of a server are, by the address that it is asked at here.
pub struct Addresses {
    queue: Address,
    table: Address,
}

impl Addresses {
    pub async fn of(flags: &ServerFlags) -> Result<Self, String> {
        let account = flags.account()?;
        let queue = service_address(&account, Service::Queue).await?;
        Ok(Self { queue, table: service_address(&account, Service::Table).await? })
    }

    /// The connection string of an account, to paste.
    pub fn connection_string(&self, account: &str, key: &str) -> ConnectionString {
        let endpoints = |address: &Address| Endpoints {
            primary: Some(format!("{}/{account}", dialled(address))),
            secondary: None,
        };
        ConnectionString {
            account: Some(account.to_owned()),
            key: Some(key.to_owned()),
            sas: None,
            blob: Endpoints::default(),
            queue: endpoints(&self.queue),
            table: endpoints(&self.table),
        }
    }
}

/// An address rather than `localhost`, at which some SDKs take a table service for Cosmos DB's.
fn dialled(address: &Address) -> Address {
    let host = if address.host == "localhost" { "127.0.0.1".to_owned() } else { address.host.clone() };
    Address { host, ..address.clone() }
}

/// Runs what is asked of an endpoint.
pub fn ask<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    block_on(work)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connection_string_has_addresses_that_sdks_take() {
        let address = |port| Address::parse("--url", "https://localhost").map(|it| it.at_port(port));
        let (queue, table) = (address(10001).expect("an address"), address(10002).expect("an address"));
        assert_eq!(
            Addresses { queue, table }.connection_string("orders", "YQ==").to_string(),
            "DefaultEndpointsProtocol=https;AccountName=orders;AccountKey=YQ==;\
             QueueEndpoint=https://127.0.0.1:10001/orders;TableEndpoint=https://127.0.0.1:10002/orders;"
        );
    }
}
