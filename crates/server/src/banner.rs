//! What the server prints when it is ready: where it is, and a connection string to copy.

use crate::config::{Advertised, Config, Durability, PortNumbers};
use orrery_api_common::secrets::{AccountKeys, StorageAccounts};
use orrery_protocol::storage::DEVELOPMENT_ACCOUNT;
use std::net::{IpAddr, SocketAddr};

pub fn text(config: &Config, keys: &AccountKeys, accounts: &StorageAccounts, ports: PortNumbers) -> String {
    let (account, services) = (account(config, ports.cosmos), dialled(config.host, ports.services));
    let connection = if config.is_loopback() || keys.are_new {
        format!("AccountEndpoint=http://{account}/;AccountKey={};", keys.shown())
    } else {
        format!("the keys are in {}", config.data.join("keys.json").display())
    };
    let storage = if config.is_loopback() || keys.are_new {
        connection_string(config, accounts, ports)
    } else {
        format!("the keys are in {}", config.data.join("storage-accounts.json").display())
    };
    let [queue, table] = [ports.queue, ports.table].map(|port| dialled(config.host, port));
    let everywhere = match (&config.advertised, config.host.is_unspecified()) {
        (None, true) => {
            "  It listens on every address of this machine; --advertise HOST says which one clients dial.\n"
        }
        _ => "",
    };
    let durability = match config.durability {
        Durability::Synced => "",
        Durability::Relaxed => "  Durability is relaxed: a crash may take the last writes away.\n",
    };
    format!(
        "Orrery {}, data in {}\n\
         \x20 Cosmos DB   http(s)://{account}\n\
         \x20             {connection}\n\
         \x20 Queue       http(s)://{queue}\n\
         \x20 Table       http(s)://{table}\n\
         \x20             {storage}\n\
         \x20 Services    http://{services}   (/healthz, /readyz, /metrics, /v1/clock, /v1/docs)\n{everywhere}{durability}",
        env!("CARGO_PKG_VERSION"),
        config.data.display(),
    )
}

/// For the SDKs of Azure Storage. They take the address of an account from it, so it is one that can be dialled.
fn connection_string(config: &Config, accounts: &StorageAccounts, ports: PortNumbers) -> String {
    let Some(account) = accounts.find(DEVELOPMENT_ACCOUNT) else { return String::new() };
    let advertised =
        |advertised: &Advertised, port| Advertised { port: None, ..advertised.clone() }.authority(port);
    let endpoint = |port: u16| {
        let authority = match &config.advertised {
            Some(host) => advertised(host, port),
            None => storage_host(config.host, port),
        };
        format!("http://{authority}/{}", account.name)
    };
    format!(
        "DefaultEndpointsProtocol=http;AccountName={};AccountKey={};QueueEndpoint={};TableEndpoint={};",
        account.name,
        account.key1,
        endpoint(ports.queue),
        endpoint(ports.table)
    )
}

/// An address rather than `localhost`, at which some SDKs take a table service for Cosmos DB's.
fn storage_host(host: IpAddr, port: u16) -> String {
    if host.is_loopback() || host.is_unspecified() {
        return format!("127.0.0.1:{port}");
    }
    SocketAddr::new(host, port).to_string()
}

fn account(config: &Config, port: u16) -> String {
    let advertised = config.advertised.as_ref().map(|advertised| advertised.authority(port));
    advertised.unwrap_or_else(|| dialled(config.host, port))
}

/// A name that can be dialled from this machine, which 0.0.0.0 is not.
fn dialled(host: IpAddr, port: u16) -> String {
    if host.is_loopback() || host.is_unspecified() {
        return format!("localhost:{port}");
    }
    SocketAddr::new(host, port).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_banner_names_only_what_can_be_dialled() {
        let check = |host: &str, expected: &str| {
            assert_eq!(dialled(host.parse().expect("an address"), 8081), expected, "{host}");
        };
        check("127.0.0.1", "localhost:8081");
        check("::1", "localhost:8081");
        check("0.0.0.0", "localhost:8081");
        check("::", "localhost:8081");
        check("192.168.1.5", "192.168.1.5:8081");
        check("fd00::5", "[fd00::5]:8081");
    }
}
