//! The SDK over one transport, and the few things every fact needs of it.

use crate::server::Server;
use azure_core::credentials::TokenCredential;
use azure_data_cosmos::clients::{ContainerClient, DatabaseClient};
use azure_data_cosmos::models::{ContainerProperties, ThroughputProperties};
use azure_data_cosmos::options::{
    BinaryEncodingOptions, ConnectionPoolOptions, CreateContainerOptions, ServerCertificateValidation,
};
use azure_data_cosmos::{AccountReference, CosmosClient, CosmosRuntime, Result, RoutingStrategy};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const KEY: &str = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transport {
    Http,
    Https,
}

impl Transport {
    pub fn scheme(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

#[derive(Clone)]
pub struct Cosmos {
    pub client: CosmosClient,
    pub server: Arc<Server>,
    transport: Transport,
}

impl Cosmos {
    pub async fn connect(server: Arc<Server>, transport: Transport) -> Result<Self> {
        let client = open(&server.endpoint(transport.scheme()), KEY, Bodies::AsTheSdkLikes).await?;
        Ok(Self { client, server, transport })
    }

    pub fn endpoint(&self) -> String {
        self.server.endpoint(self.transport.scheme())
    }

    pub fn scheme(&self) -> &'static str {
        self.transport.scheme()
    }

    pub fn is_secure(&self) -> bool {
        self.transport == Transport::Https
    }

    /// A further client, with caches of its own.
    pub async fn open(&self) -> Result<CosmosClient> {
        open(&self.endpoint(), KEY, Bodies::AsTheSdkLikes).await
    }

    pub async fn open_with_key(&self, key: &'static str) -> Result<CosmosClient> {
        open(&self.endpoint(), key, Bodies::AsTheSdkLikes).await
    }

    /// A client with a bearer token; such are sent over https.
    pub async fn open_with_token(&self, credential: Arc<dyn TokenCredential>) -> Result<CosmosClient> {
        let endpoint = self.server.endpoint(Transport::Https.scheme());
        let account = AccountReference::with_credential(endpoint.parse()?, credential);
        build(account, Bodies::AsTheSdkLikes).await
    }

    /// A client that sends and asks for JSON text where others use Cosmos binary JSON.
    pub async fn open_without_binary(&self) -> Result<CosmosClient> {
        open(&self.endpoint(), KEY, Bodies::Text).await
    }

    pub async fn database(&self) -> Result<DatabaseClient> {
        let name = fresh("db");
        self.client.create_database(&name, None).await?;
        Ok(self.client.database_client(name))
    }

    /// A container in a database of its own, partitioned by `/pk`.
    pub async fn container(&self) -> Result<ContainerClient> {
        self.container_of(properties("/pk"), None).await
    }

    pub async fn container_with_throughput(&self, throughput: u64) -> Result<ContainerClient> {
        self.container_of(properties("/pk"), Some(ThroughputProperties::manual(throughput))).await
    }

    pub async fn container_of(
        &self,
        properties: ContainerProperties,
        throughput: Option<ThroughputProperties>,
    ) -> Result<ContainerClient> {
        self.place(properties, throughput).await?.seen_by(&self.client).await
    }

    /// A container that several clients are going to look at.
    pub async fn place(
        &self,
        properties: ContainerProperties,
        throughput: Option<ThroughputProperties>,
    ) -> Result<Place> {
        let place = Place { database: fresh("db"), container: properties.id.to_string() };
        self.client.create_database(&place.database, None).await?;
        let options = throughput.map(|given| CreateContainerOptions::default().with_throughput(given));
        self.client.database_client(&place.database).create_container(properties, options).await?;
        Ok(place)
    }
}

/// Where a container is, for any client.
pub struct Place {
    pub database: String,
    pub container: String,
}

impl Place {
    pub async fn seen_by(&self, client: &CosmosClient) -> Result<ContainerClient> {
        client.database_client(&self.database).container_client(&self.container, None).await
    }
}

pub fn properties(partition_key: &str) -> ContainerProperties {
    ContainerProperties::new(fresh("c"), partition_key.into())
}

/// A name no other fact has.
pub fn fresh(prefix: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(1);
    format!("{prefix}-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

enum Bodies {
    AsTheSdkLikes,
    Text,
}

async fn open(endpoint: &str, key: &'static str, bodies: Bodies) -> Result<CosmosClient> {
    build(AccountReference::with_authentication_key(endpoint.parse()?, key), bodies).await
}

async fn build(account: AccountReference, bodies: Bodies) -> Result<CosmosClient> {
    let pool = ConnectionPoolOptions::builder()
        .with_server_certificate_validation(ServerCertificateValidation::RequiredUnlessEmulator)
        .build()?;
    let runtime = CosmosRuntime::builder().with_connection_pool(pool).build().await?;
    let mut client = CosmosClient::builder().with_runtime(runtime);
    if let Bodies::Text = bodies {
        client = client.with_binary_encoding_options(BinaryEncodingOptions::new().with_enabled(false));
    }
    client.build(account, RoutingStrategy::PreferredRegions(vec![])).await
}
