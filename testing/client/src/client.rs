//! The convenient client: signs each request now, reconnects after a broken connection, never waits for ever.

use crate::connection::{ClientError, Connection};
use crate::items::ContainerPath;
use crate::reply::OwnedReply;
use crate::request::{Method, Request};
use crate::sign::Signer;
use crate::storage::StorageRequest;
use orrery_core::Env;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;

/// How long a call may take.
const CALL_SECONDS_MAX: u64 = 60;

#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    env: Env,
    connection: Option<Connection>,
}

impl Client {
    /// Connects at the first call. `env` is where the date of each request comes from.
    pub fn new(address: SocketAddr, env: Env) -> Self {
        Self { address, env, connection: None }
    }

    /// Sends a request and gives its reply, whatever its status. After an error the next call connects anew.
    pub async fn call(&mut self, request: &Request) -> Result<OwnedReply, ClientError> {
        self.send(&request.encode(&Signer::emulator(self.env.now()))).await
    }

    /// The same for the ports of storage.
    pub async fn call_storage(&mut self, request: &StorageRequest) -> Result<OwnedReply, ClientError> {
        self.send(&request.encode(self.env.now())).await
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<OwnedReply, ClientError> {
        let exchange = async {
            let mut connection = match self.connection.take() {
                Some(connection) => connection,
                None => Connection::connect(self.address).await?,
            };
            let reply = connection.exchange(bytes).await?.to_owned();
            Ok((connection, reply))
        };
        let (connection, reply) = tokio::time::timeout(Duration::from_secs(CALL_SECONDS_MAX), exchange)
            .await
            .unwrap_or(Err(ClientError::Late(CALL_SECONDS_MAX)))?;
        self.connection = Some(connection);
        Ok(reply)
    }

    /// The account, which the SDKs read before anything else.
    pub async fn read_account(&mut self) -> Result<OwnedReply, ClientError> {
        self.call(&Request::new(Method::Get, "")).await
    }

    pub async fn create_database(&mut self, id: &str) -> Result<OwnedReply, ClientError> {
        self.call(&Request::new(Method::Post, "dbs").body(json!({"id": id}).to_string())).await
    }

    /// A container partitioned by `/pk`; `more` adds to or overrides its definition.
    pub async fn create_container(
        &mut self,
        path: &ContainerPath,
        more: &Value,
    ) -> Result<OwnedReply, ClientError> {
        let mut body = json!({
            "id": path.container,
            "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2},
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        let colls = format!("dbs/{}/colls", path.database);
        self.call(&Request::new(Method::Post, colls).body(body.to_string())).await
    }

    pub async fn create_item(
        &mut self,
        path: &ContainerPath,
        partition: &str,
        item: &Value,
    ) -> Result<OwnedReply, ClientError> {
        self.call(&path.create(partition, item.to_string())).await
    }

    pub async fn upsert_item(
        &mut self,
        path: &ContainerPath,
        partition: &str,
        item: &Value,
    ) -> Result<OwnedReply, ClientError> {
        self.call(&path.upsert(partition, item.to_string())).await
    }

    pub async fn replace_item(
        &mut self,
        path: &ContainerPath,
        partition: &str,
        id: &str,
        item: &Value,
        if_match: Option<&str>,
    ) -> Result<OwnedReply, ClientError> {
        self.call(&path.replace(partition, id, item.to_string(), if_match)).await
    }

    pub async fn read_item(
        &mut self,
        path: &ContainerPath,
        partition: &str,
        id: &str,
    ) -> Result<OwnedReply, ClientError> {
        self.call(&path.read(partition, id)).await
    }

    pub async fn delete_item(
        &mut self,
        path: &ContainerPath,
        partition: &str,
        id: &str,
        if_match: Option<&str>,
    ) -> Result<OwnedReply, ClientError> {
        self.call(&path.delete(partition, id, if_match)).await
    }
}
