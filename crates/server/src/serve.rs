//! `orrery serve`: open the folder, bind the ports, say where we are, answer until told to stop.

use crate::banner;
use crate::blueprints::{self, Blueprints, OwnQueries, OwnStorage};
use crate::built_in_services;
use crate::caller::Callers;
use crate::config::{Clock, Config, PortNumbers};
use crate::identity;
use crate::limits;
use crate::open_files;
use crate::otlp_push;
use crate::ports::{self, Listeners};
use crate::ports_file;
use crate::services::Services;
use crate::stores::Stores;
use orrery_api_admin::Admin;
use orrery_api_admin::monitor::family::Family;
use orrery_api_admin::monitor::{self, StorageStores, Watch};
use orrery_api_common::bearer::{Bearers, Issuer};
use orrery_api_common::secrets::{AccountKeys, StorageAccounts};
use orrery_api_common::{Keys, Stop};
use orrery_api_cosmos::{Cosmos, Options, OtherPorts};
use orrery_api_queue::Queue;
use orrery_api_services::{Api, Gate};
use orrery_api_storage::{Options as StorageOptions, Storage};
use orrery_api_table::Table;
use orrery_core::{Env, Timestamp};
use orrery_document_store::Store;
use orrery_kit::service::{self, Service};
use orrery_kv_fjall::{DataFolder, Folder};
use orrery_protocol::KeyKind;
use orrery_txn::Background;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Fewer connections than this are worth a word.
const CONNECTIONS_FEW: u32 = 512;
/// How often the measurements are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub fn serve(mut config: Config) -> Result<(), String> {
    let env = env(&config)?;
    config.connections_max = open_files::connections_max(config.connections_max, open_files::raise());
    // Dropped last: what a failed start leaves in a folder of its own goes with it.
    let mut start = Start { made: Some(DataFolder::prepare(&config.data)?), found: None };
    let folder = Folder::open(&config.data).map_err(|error| error.to_string())?;
    orrery_kv_fjall::restrict(&config.data);
    let identity = Identity {
        keys: Arc::new(AccountKeys::load_or_make(&config.data, config.is_loopback())?),
        accounts: Arc::new(StorageAccounts::load_or_make(&config.data, config.is_loopback())?),
        issuers: identity::issuers(&config)?,
        tls: orrery_api_common::load_or_make(&config.data).map_err(|error| error.to_string())?,
    };
    let begun = Instant::now();
    let stores = Stores::open(&config, folder, env, identity.keys.token_secret)?;
    start.found = Some(Found::of(&stores.documents, begun.elapsed()));
    let runtime =
        tokio::runtime::Runtime::new().map_err(|error| format!("no threads could be started: {error}"))?;
    let background = Arc::new(Background::default());
    let worker = spawn_background(&background, &stores)?;
    let outcome = runtime.block_on(run(&config, identity, &stores, &background, &mut start));
    runtime.shutdown_timeout(Duration::from_secs(limits::STOP_THREADS_SECONDS_MAX));
    background.stop();
    drop(worker.join());
    stores.txns().close();
    outcome
}

fn env(config: &Config) -> Result<Env, String> {
    let system = Env::system().map_err(|error| error.to_string())?;
    match config.clock {
        Clock::System => Ok(system),
        Clock::Manual => {
            Env::manual(Timestamp::from_seconds(system.now().seconds())).map_err(|error| error.to_string())
        }
    }
}

/// Who this server is to others, and whose word it takes: the keys of its accounts, issuers of tokens, its certificate.
struct Identity {
    keys: Arc<AccountKeys>,
    accounts: Arc<StorageAccounts>,
    issuers: Vec<Issuer>,
    tls: Arc<orrery_api_common::ServerConfig>,
}

/// A start that is under way.
struct Start {
    /// The folder, if it is to go again when the start fails.
    made: Option<DataFolder>,
    found: Option<Found>,
}

/// What opening the folder found; it has checked the newest commits and the last one that was acknowledged.
struct Found {
    lsn: u64,
    databases: usize,
    containers: usize,
    journal_bytes: Option<u64>,
    took: Duration,
}

impl Found {
    fn of(store: &Store, took: Duration) -> Self {
        let (catalog, measures) = (store.catalog(), store.engine_measures());
        Self {
            lsn: store.durable_lsn().0,
            databases: catalog.databases().count(),
            containers: catalog.all_containers().count(),
            journal_bytes: measures.iter().find(|one| one.name == "journal").map(|journal| journal.value),
            took,
        }
    }
}

impl Start {
    /// Nothing keeps the server from answering any more.
    fn succeed(&mut self, config: &Config) {
        if let Some(made) = self.made.take() {
            made.keep();
        }
        let Some(Found { lsn, databases, containers, journal_bytes, took }) = self.found.take() else {
            return;
        };
        tracing::info!(
            lsn,
            databases,
            containers,
            journal_bytes,
            ms = took.as_millis() as u64,
            "the data folder is open, with every write that was acknowledged"
        );
        if config.connections_max < CONNECTIONS_FEW {
            let connections = config.connections_max;
            tracing::warn!(
                connections,
                "each port takes few connections; ulimit -n and --connections decide"
            );
        }
    }
}

fn spawn_background(
    background: &Arc<Background>,
    stores: &Stores,
) -> Result<std::thread::JoinHandle<()>, String> {
    let (background, txns, jobs) = (background.clone(), stores.txns().clone(), stores.jobs());
    let thread = std::thread::Builder::new().name("background".to_owned());
    thread
        .spawn(move || background.run(&txns, &jobs))
        .map_err(|error| format!("no thread could be started: {error}"))
}

async fn run(
    config: &Config,
    identity: Identity,
    stores: &Stores,
    background: &Arc<Background>,
    start: &mut Start,
) -> Result<(), String> {
    let Identity { keys, accounts, issuers, tls } = identity;
    let store = &stores.documents;
    let listeners = Listeners::bind(config, &tls)?;
    let ports = listeners.numbers()?;
    let bound = SocketAddr::new(config.host, ports.cosmos);
    let known = Arc::new(Blueprints::read(&config.blueprints, config.blueprint_environment, bound)?);
    // Before anybody knows of the server: a signal that nobody catches ends it at once.
    let (mut terminate, mut interrupt) = (caught(SignalKind::terminate())?, caught(SignalKind::interrupt())?);
    let options = Options {
        keys: keys.keys()?,
        account: "orrery".to_owned(),
        account_id: keys.account_id()?,
        ports: OtherPorts {
            services: Some(ports.services),
            queue: Some(ports.queue),
            table: Some(ports.table),
        },
        secret: keys.token_secret,
        consistency: config.consistency,
        advertised: config.advertised.as_ref().map(|advertised| advertised.authority(ports.cosmos)),
        cross_partition: config.cross_partition,
    };
    let cosmos = Cosmos::new(store.clone(), options);
    let bearers = (!issuers.is_empty()).then(|| Arc::new(Bearers::new(issuers, audiences(config, ports))));
    if let Some(bearers) = &bearers {
        cosmos.access().take_bearers(bearers.clone());
    }
    let storage = storage(config, accounts.clone(), bearers.clone(), &cosmos, ports);
    let table = Table::new(storage.clone(), stores.tables.clone());
    let queue = Queue::new(storage, stores.queues.clone());
    let stop = Stop::new();
    let access = cosmos.clone();
    let gate = || {
        let (access, bearers) = (access.clone(), bearers.clone());
        Gate { keys: Box::new(move || access.access().keys()), bearers }
    };
    let callers = Callers::new(cosmos.clone(), gate(), config.is_loopback());
    let in_process = built_in_services::start(config, store)?;
    let options = orrery_api_services::Options { rate: config.services.rate };
    let api = Api::new(gate(), store.env().clone(), in_process.clone(), stop.clone(), &options);
    let (store, background) = (store.clone(), background.clone());
    let options = monitor::Options {
        rules: config.alert_rules.clone(),
        partition_bytes_max: config.partition_bytes_max,
        is_serverless: config.throttling.is_serverless,
        is_throttling: config.throttling.is_on,
    };
    let watched = StorageStores { tables: stores.tables.clone(), queues: stores.queues.clone() };
    let watch = Watch::new(store.clone(), cosmos.clone(), watched, options);
    let counts = listeners.counts();
    let measured = in_process.clone();
    watch.tell_also(move || {
        let mut families = ports::families(&counts);
        families.extend(measured.iter().flat_map(|service| service.measures()).map(Family::from));
        families
    });
    let admin = Admin {
        store: store.clone(),
        cosmos: cosmos.clone(),
        watch: watch.clone(),
        keys: Arc::new(OwnKeys(keys.clone())),
        accounts: accounts.clone(),
        queries: Arc::new(OwnQueries::new(known.clone(), keys.clone(), store.env().clone())),
        wake: waker(&background, in_process.clone()),
    };
    let services = Services {
        store,
        cosmos: cosmos.clone(),
        background,
        keys,
        callers,
        ports,
        watch: watch.clone(),
        blueprints: known,
        admin,
        api,
    };
    let own = OwnStorage { accounts: accounts.clone(), table: table.clone(), queue: queue.clone() };
    blueprints::apply_at_start(&services, own).await?;
    start.succeed(config);
    let banner = banner::text(config, &services.keys, &accounts, ports);
    // Nobody may be reading it.
    let _ = std::io::stdout().lock().write_all(banner.as_bytes());
    // The first look is what the others are compared with.
    look(&watch).await;
    let watching = watch_on(watch.clone(), stop.clone());
    let pushing = push_on(config.push.clone(), watch.clone(), stop.clone());
    let working = run_services(in_process, stop.clone());
    let cosmos = listeners.cosmos.serve(
        move |request, peer| {
            let cosmos = cosmos.clone();
            async move { cosmos.handle(request, peer).await }
        },
        stop.clone(),
    );
    let services = listeners.services.serve(
        move |request, peer| {
            let services = services.clone();
            async move { services.handle(request, peer).await }
        },
        stop.clone(),
    );
    let queue = listeners.queue.serve(
        move |request, peer| {
            let queue = queue.clone();
            async move { queue.handle(request, peer).await }
        },
        stop.clone(),
    );
    let table = listeners.table.serve(
        move |request, peer| {
            let table = table.clone();
            async move { table.handle(request, peer).await }
        },
        stop.clone(),
    );
    if let Some(path) = &config.ports_file {
        ports_file::write(path, ports)?;
    }
    let until_told = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping: requests in flight are finished first");
        stop.stop();
    };
    tokio::join!(cosmos, services, queue, table, watching, pushing, working, until_told);
    // Whoever was answered is counted by now.
    drop(tokio::task::spawn_blocking(move || watch.finish()).await);
    Ok(())
}

fn caught(kind: SignalKind) -> Result<Signal, String> {
    signal(kind).map_err(|error| format!("signals cannot be caught: {error}"))
}

async fn look(watch: &Watch) {
    let watch = watch.clone();
    drop(tokio::task::spawn_blocking(move || watch.look()).await);
}

/// Looks every second until stopped.
async fn watch_on(watch: Watch, stop: Stop) {
    while !stop.is_stopped() {
        look(&watch).await;
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = stop.stopped() => {}
        }
    }
}

async fn push_on(push: Option<otlp_push::Push>, watch: Watch, stop: Stop) {
    if let Some(push) = push {
        push.run(watch, stop).await;
    }
}

/// The background work of all services, side by side.
async fn run_services(services: Vec<Arc<dyn Service>>, stop: Stop) {
    let mut working = tokio::task::JoinSet::new();
    for service in services {
        let stop = stop.clone();
        working.spawn(async move { service::run(&*service, stop.stopped()).await });
    }
    working.join_all().await;
}

/// Wakes what sleeps by the clock: background jobs, and the services' own work.
fn waker(
    background: &Arc<Background>,
    services: Vec<Arc<dyn Service>>,
) -> Arc<dyn Fn() + Send + std::marker::Sync> {
    let background = background.clone();
    Arc::new(move || {
        background.wake();
        services.iter().for_each(|service| service.wake());
    })
}

/// The folder's keys, for the administrative routes.
struct OwnKeys(Arc<AccountKeys>);

impl orrery_api_admin::AccountKeys for OwnKeys {
    fn text(&self, kind: KeyKind) -> String {
        self.0.text(kind)
    }

    fn regenerate(&self, kind: KeyKind, open: &dyn Fn(Keys)) -> Result<(), String> {
        self.0.regenerate(kind, open)
    }
}

/// What the ports of storage share: accounts, and tokens of the issuers with the roles in them.
fn storage(
    config: &Config,
    accounts: Arc<StorageAccounts>,
    bearers: Option<Arc<Bearers>>,
    cosmos: &Cosmos,
    ports: PortNumbers,
) -> Storage {
    let audiences = [ports.queue, ports.table].map(|port| identity::audiences(config, port)).concat();
    let mut options = StorageOptions::new(accounts, cosmos.store().env().clone());
    // The dates of clients say nothing under a clock that stands still.
    if config.clock == Clock::Manual {
        options.skew_max = Duration::MAX;
    }
    Storage::new(StorageOptions { bearers, audiences, addressing: config.storage_addressing, ..options })
}

/// A token may be for either port.
fn audiences(config: &Config, ports: PortNumbers) -> Vec<String> {
    let mut audiences = identity::audiences(config, ports.cosmos);
    audiences.extend(identity::audiences(config, ports.services));
    audiences
}
