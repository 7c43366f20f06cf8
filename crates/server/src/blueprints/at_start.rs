//! `serve --blueprint`: applied before the ports are announced.
//!
//! The server is its own client for it, over ports of loopback that nobody else knows and that are gone afterwards; so
//! a client that reaches the announced ports finds everything there.

use super::own_storage::{OwnAccounts, OwnStorage};
use crate::client::{self, Account, AccountFlags, Address, Host};
use crate::services::Services;
use orrery_api_common::secrets::AccountKeys;
use orrery_api_common::{Listener, Options, Stop};
use orrery_blueprint::{Blueprint, Environment, Variables, built_in_names};
use orrery_cli::blueprints::{self, Server};
use orrery_protocol::KeyKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The blueprints that a server knows: those that are built in, and those it was started with.
pub struct Blueprints {
    pub all: Vec<Blueprint>,
    /// How many of them, from the first, are to be applied at the start.
    applied: usize,
    pub environment: Environment,
    /// Where the server answers to itself.
    pub own: SocketAddr,
}

impl Blueprints {
    /// `words` as `orrery apply` takes them. `bound` is where the Cosmos DB endpoint listens.
    pub fn read(words: &[String], environment: Environment, bound: SocketAddr) -> Result<Self, String> {
        let mut all = blueprints::read(words, &Variables::default())?;
        let applied = all.len();
        for name in built_in_names() {
            if all.iter().all(|known| known.name != name) {
                all.extend(blueprints::read(&[name.to_owned()], &Variables::default())?);
            }
        }
        let ip = match bound.ip() {
            ip if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            ip => ip,
        };
        Ok(Self { all, applied, environment, own: SocketAddr::new(ip, bound.port()) })
    }
}

/// An account of this very server.
pub fn own_account(keys: &AccountKeys, at: SocketAddr) -> Result<Account, String> {
    let key = keys.text(KeyKind::Primary);
    AccountFlags::with_key(format!("http://{at}"), Some(key)).account()
}

/// Applies what the server was started with; the error is why it does not start.
pub async fn apply_at_start(services: &Services, storage: OwnStorage) -> Result<(), String> {
    let blueprints = services.blueprints.clone();
    let wanted = &blueprints.all[..blueprints.applied];
    if wanted.is_empty() {
        return Ok(());
    }
    let (cosmos, own) = (listener()?, listener()?);
    let (cosmos_at, own_at) = (address(&cosmos)?, address(&own)?);
    let (tables, queues) = (storage_listener()?, storage_listener()?);
    let (tables_at, queues_at) = (address(&tables)?, address(&queues)?);
    let accounts =
        OwnAccounts::new(storage.accounts.clone(), tables_at, queues_at, services.store.env().clone());
    let stop = Stop::new();
    let protocol = services.cosmos.clone();
    let cosmos = cosmos.serve(
        move |request, peer| {
            let protocol = protocol.clone();
            async move { protocol.handle(request, peer).await }
        },
        stop.clone(),
    );
    let answering = services.clone();
    let own = own.serve(
        move |request, peer| {
            let answering = answering.clone();
            async move { answering.handle(request, peer).await }
        },
        stop.clone(),
    );
    let OwnStorage { table, queue, .. } = storage;
    let tables = tables.serve(
        move |request, peer| {
            let table = table.clone();
            async move { table.handle(request, peer).await }
        },
        stop.clone(),
    );
    let queues = queues.serve(
        move |request, peer| {
            let queue = queue.clone();
            async move { queue.handle(request, peer).await }
        },
        stop.clone(),
    );
    let work = async {
        let outcome = apply(services, wanted, blueprints.environment, (cosmos_at, own_at), accounts).await;
        stop.stop();
        outcome
    };
    tokio::join!(cosmos, own, tables, queues, work).4
}

async fn apply(
    services: &Services,
    wanted: &[Blueprint],
    environment: Environment,
    (cosmos, own): (SocketAddr, SocketAddr),
    accounts: OwnAccounts,
) -> Result<(), String> {
    let account = own_account(&services.keys, cosmos)?;
    let address = Address::parse("--services-url", &format!("http://{own}"))?;
    let own = client::Services::open(account.clone(), Host::new(address, None)?).await?;
    let server = Server::open(&account, Some(own), services.store.env().clone()).await?;
    let mut server = server.with_storage(Box::new(accounts));
    for blueprint in wanted {
        let tell = |step: &orrery_blueprint::Step| tracing::info!(blueprint = blueprint.name, "{step}");
        let plan = blueprints::carry_out(&mut server, blueprint, environment, tell).await;
        let plan =
            plan.map_err(|error| format!("the blueprint '{}' is not applied: {error}", blueprint.name))?;
        if plan.is_refused() {
            let refused = plan.steps.iter().find(|step| step.verdict.word() == "refused");
            let refused = refused.map(ToString::to_string).unwrap_or_default();
            return Err(format!("the blueprint '{}' is not applied: {}", blueprint.name, refused.trim()));
        }
        for note in &plan.notes {
            tracing::info!(blueprint = blueprint.name, "{note}");
        }
    }
    Ok(())
}

fn listener() -> Result<Listener, String> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Listener::bind(any, None).map_err(|error| format!("no port of loopback can be listened on: {error}"))
}

/// Metadata keeps its spelling, as on the ports that are announced.
fn storage_listener() -> Result<Listener, String> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let options = Options { keeps_spelling: true, ..Options::default() };
    Listener::bind_with(any, None, options)
        .map_err(|error| format!("no port of loopback can be listened on: {error}"))
}

fn address(listener: &Listener) -> Result<SocketAddr, String> {
    listener.local_addr().map_err(|error| error.to_string())
}
