//! The ports: bound on every address that is configured, and what is counted of their connections.

use crate::config::{Config, PortNumbers};
use orrery_api_admin::monitor::family::{Family, Labels, Unit};
use orrery_api_common::{ConnectionCounts, Listener, Options, ServerConfig};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// How often another free port is looked for, when one that is free on the first address is taken on the second.
const TRIES_MAX: usize = 16;

/// Every port, bound and not yet served.
pub struct Listeners {
    pub cosmos: Listener,
    pub services: Listener,
    pub blob: Listener,
    pub queue: Listener,
    pub table: Listener,
}

impl Listeners {
    pub fn bind(config: &Config, tls: &Arc<ServerConfig>) -> Result<Self, String> {
        let options = |name| Options {
            name,
            connections_max: config.connections_max,
            guard: Some(config.guard.clone()),
            ..Options::default()
        };
        // Web pages are let in by the CORS rules of each service, and metadata keeps its spelling.
        let storage = |name| Options {
            guard: Some(config.guard.clone().with_rules_of_protocol()),
            keeps_spelling: true,
            ..options(name)
        };
        let bind = |port, options: Options| bind(config, port, &options, tls);
        Ok(Self {
            cosmos: bind(config.ports.cosmos, options("cosmos"))?,
            services: bind(config.ports.services, options("services"))?,
            blob: bind(config.ports.blob, storage("blob"))?,
            queue: bind(config.ports.queue, storage("queue"))?,
            table: bind(config.ports.table, storage("table"))?,
        })
    }

    pub fn numbers(&self) -> Result<PortNumbers, String> {
        Ok(PortNumbers {
            cosmos: number(&self.cosmos)?,
            services: number(&self.services)?,
            blob: number(&self.blob)?,
            queue: number(&self.queue)?,
            table: number(&self.table)?,
        })
    }

    /// What is counted of their connections, by the name of each port.
    pub fn counts(&self) -> Vec<(&'static str, ConnectionCounts)> {
        let all = [
            ("cosmos", &self.cosmos),
            ("services", &self.services),
            ("blob", &self.blob),
            ("queue", &self.queue),
            ("table", &self.table),
        ];
        all.map(|(name, listener)| (name, listener.counts())).into()
    }
}

/// Binds `--{name}-port`. `localhost` means 127.0.0.1 to some clients and ::1 to others, so both are bound.
fn bind(config: &Config, port: u16, options: &Options, tls: &Arc<ServerConfig>) -> Result<Listener, String> {
    let name = options.name;
    let tries = if port == 0 { TRIES_MAX } else { 1 };
    let mut refused = String::new();
    for _ in 0..tries {
        let address = SocketAddr::new(config.host, port);
        let bound = Listener::bind_with(address, Some(tls.clone()), options.clone());
        let mut listener = bound.map_err(|error| refusal(name, address, &error))?;
        let Some(host) = config.also_host() else { return Ok(listener) };
        let also = SocketAddr::new(host, number(&listener)?);
        match listener.bind_also(also) {
            Ok(()) => return Ok(listener),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => refused = refusal(name, also, &error),
            Err(error) => {
                tracing::info!(%error, "there is no IPv6 here; clients reach 127.0.0.1 only");
                return Ok(listener);
            }
        }
    }
    Err(refused)
}

fn refusal(name: &str, address: SocketAddr, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            let (port, host) = (address.port(), address.ip());
            format!("port {port} is taken on {host}; stop what uses it or give another --{name}-port")
        }
        _ => format!("{address} cannot be listened on: {error}"),
    }
}

fn number(listener: &Listener) -> Result<u16, String> {
    listener.local_addr().map(|address| address.port()).map_err(|error| error.to_string())
}

/// What `/metrics` tells of connections.
pub fn families(ports: &[(&'static str, ConnectionCounts)]) -> Vec<Family> {
    let all = |count: fn(&ConnectionCounts) -> f64| -> Vec<(Labels, f64)> {
        ports.iter().map(|(port, counts)| (vec![("port", (*port).to_owned())], count(counts))).collect()
    };
    let gauge = |name, help, count| Family::gauge(name, help, Unit::None, all(count));
    let counter = |name, help, count| Family::counter(name, help, all(count));
    vec![
        gauge("orrery.connections", "open connections", |counts| counts.open() as f64),
        gauge("orrery.connections.authenticated", "open connections that showed a credential", |counts| {
            counts.confirmed() as f64
        }),
        counter("orrery.connections.evicted", "connections closed to make room for others", |counts| {
            counts.evicted() as f64
        }),
        counter("orrery.connections.held_back", "new connections that waited for room", |counts| {
            counts.held_back() as f64
        }),
    ]
}
