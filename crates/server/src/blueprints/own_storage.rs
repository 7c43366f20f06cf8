//! The server's own storage accounts, for blueprints that it is started with.

use orrery_api_common::secrets::{StorageAccountError, StorageAccounts};
use orrery_api_queue::Queue;
use orrery_api_table::Table;
use orrery_cli::blueprints::{OpenAccount, Opening, StorageAccounts as Accounts};
use orrery_client::http::Trust;
use orrery_client::storage::queues::Queues;
use orrery_client::storage::tables::Tables;
use orrery_client::storage::{Endpoint, StorageCredential};
use orrery_core::Env;
use orrery_protocol::storage::Service;
use std::net::SocketAddr;
use std::sync::Arc;

/// What answers for tables and queues, and the accounts that it answers for.
pub struct OwnStorage {
    pub accounts: Arc<StorageAccounts>,
    pub table: Table,
    pub queue: Queue,
}

/// The accounts, at two ports of loopback.
pub struct OwnAccounts {
    accounts: Arc<StorageAccounts>,
    tables: SocketAddr,
    queues: SocketAddr,
    env: Env,
}

impl OwnAccounts {
    pub fn new(accounts: Arc<StorageAccounts>, tables: SocketAddr, queues: SocketAddr, env: Env) -> Self {
        Self { accounts, tables, queues, env }
    }

    fn opened(&self, name: &str) -> Result<Option<OpenAccount>, String> {
        let Some(account) = self.accounts.find(name) else { return Ok(None) };
        let endpoint = |service, at: SocketAddr| {
            let credential = StorageCredential::key(name, &account.key1)?;
            let (url, trust) = (format!("http://{at}/{name}"), Trust::These(Vec::new()));
            Endpoint::new(service, &url, credential, trust, self.env.clone())
        };
        let tables = Tables::new(endpoint(Service::Table, self.tables)?);
        let queues = Queues::new(endpoint(Service::Queue, self.queues)?);
        Ok(Some(OpenAccount { tables, queues }))
    }
}

impl Accounts for OwnAccounts {
    fn adds(&self) -> bool {
        true
    }

    fn open<'a>(&'a mut self, name: &'a str) -> Opening<'a, Option<OpenAccount>> {
        Box::pin(async move { self.opened(name) })
    }

    fn add<'a>(&'a mut self, name: &'a str) -> Opening<'a, ()> {
        Box::pin(async move {
            let accounts = self.accounts.clone();
            let own = name.to_owned();
            // It is on the disk before it is there.
            let added = tokio::task::spawn_blocking(move || accounts.add(&own)).await;
            match added.map_err(|error| error.to_string())? {
                Ok(_) | Err(StorageAccountError::Exists(_)) => Ok(()),
                Err(error) => Err(error.to_string()),
            }
        })
    }
}
