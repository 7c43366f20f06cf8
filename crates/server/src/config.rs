//! Configuration: flags over environment (`ORRERY_*`) over `orrery.toml` over defaults.

use crate::limits;
use crate::notify::{ServiceConfig, ServiceSettings};
use crate::otlp_push::Push;
use clap::builder::{BoolishValueParser, PossibleValuesParser};
use clap::{Args, ValueEnum};
use orrery_api_admin::monitor::alerts::rule::{self, Rule};
use orrery_api_common::limits::{CONNECTIONS_MAX, MEMORY_MEGABYTES_DEFAULT};
use orrery_api_common::{CorsRules, WebGuard, split_authority};
use orrery_api_cosmos::Consistency;
use orrery_api_storage::Addressing;
use orrery_blueprint::Environment;
use orrery_cli::blueprints::environment;
use orrery_core::limits::PARTITION_BYTES_MAX;
use orrery_document_store::limits::PARTITION_UNITS_PER_SECOND_MAX;
use orrery_document_store::{CrossPartition, Throttling};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

const OTLP_SECONDS_DEFAULT: u64 = 10;

// The flags of `serve` with their environment, and the members of `orrery.toml`: one list for both.
#[derive(Args, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Folder that holds the data [default: ./orrery-data]
    #[arg(long, env = "ORRERY_DATA")]
    data: Option<PathBuf>,
    /// Address to listen on [default: 127.0.0.1 and ::1]
    #[arg(long, env = "ORRERY_HOST")]
    host: Option<String>,
    /// Port of the Cosmos DB endpoint, http and https; 0 for any free one [default: 8081]
    #[arg(long, env = "ORRERY_COSMOS_PORT")]
    cosmos_port: Option<u16>,
    /// Port of the services: health, clock; 0 for any free one [default: 8080]
    #[arg(long, env = "ORRERY_SERVICES_PORT")]
    services_port: Option<u16>,
    /// Port of the Blob endpoint, http and https; 0 for any free one [default: 10000]
    #[arg(long, env = "ORRERY_BLOB_PORT")]
    blob_port: Option<u16>,
    /// Port of the Queue endpoint, http and https; 0 for any free one [default: 10001]
    #[arg(long, env = "ORRERY_QUEUE_PORT")]
    queue_port: Option<u16>,
    /// Port of the Table endpoint, http and https; 0 for any free one [default: 10002]
    #[arg(long, env = "ORRERY_TABLE_PORT")]
    table_port: Option<u16>,
    /// Take the account of storage requests from the path alone, never from the host's name
    #[arg(long, env = "ORRERY_STORAGE_PATH_STYLE", value_parser = BoolishValueParser::new())]
    storage_path_style: bool,
    /// Choose any free port for each that is not given, so that several servers run side by side
    #[arg(long, env = "ORRERY_FREE_PORTS", value_parser = BoolishValueParser::new())]
    free_ports: bool,
    /// Whether a write is answered after it is synced, or before [default: synced]
    #[arg(long, env = "ORRERY_DURABILITY")]
    durability: Option<Durability>,
    /// The system's clock, or one that tests move (loopback only) [default: system]
    #[arg(long, env = "ORRERY_CLOCK")]
    clock: Option<Clock>,
    /// Configuration file [default: ./orrery.toml, if it is there]
    #[arg(long, env = "ORRERY_CONFIG")]
    #[serde(skip)]
    config: Option<PathBuf>,
    /// Write the ports as JSON to this file once the server answers
    #[arg(long, env = "ORRERY_PORTS_FILE")]
    #[serde(skip)]
    ports_file: Option<PathBuf>,
    /// What to log, as in RUST_LOG; requests adds a line for each request [default: info]
    #[arg(long, env = "ORRERY_LOG")]
    log: Option<String>,
    /// How to log [default: text]
    #[arg(long, env = "ORRERY_LOG_FORMAT")]
    log_format: Option<LogFormat>,
    /// Memory for what was read, in MiB: half for blocks of files, half for rows [default: 256]
    #[arg(long, env = "ORRERY_CACHE_MB")]
    cache_mb: Option<u64>,
    /// Memory for running queries and for bodies of requests, in MiB; beyond it they wait or are refused [default: 1024]
    #[arg(long, env = "ORRERY_MEMORY_MB")]
    memory_mb: Option<usize>,
    /// Free disk space below which writes are refused, in MiB [default: 256]
    #[arg(long, env = "ORRERY_DISK_RESERVE_MB")]
    disk_reserve_mb: Option<u64>,
    /// What one logical partition may hold, in MB [default: 20000]
    #[arg(long, env = "ORRERY_PARTITION_MB")]
    partition_mb: Option<u64>,
    /// Turn away requests beyond the provisioned throughput with 429 [default: off]
    #[arg(long, env = "ORRERY_THROTTLE")]
    throttle: Option<Switch>,
    /// Save unused throughput for five minutes; with --throttle on [default: off]
    #[arg(long, env = "ORRERY_BURST")]
    burst: Option<Switch>,
    /// Provision nothing: no offers; with --throttle on 5,000 RU/s for every container
    #[arg(long, env = "ORRERY_SERVERLESS", value_parser = BoolishValueParser::new())]
    serverless: bool,
    /// What one logical partition may spend, in RU/s; with --throttle on [default: 10000]
    #[arg(long, env = "ORRERY_PARTITION_RUS")]
    partition_rus: Option<u64>,
    /// Who merges queries over several partitions: the client as with the service, or the server [default: service]
    #[arg(long, env = "ORRERY_CROSS_PARTITION")]
    cross_partition: Option<Merging>,
    /// The account's consistency level [default: Session]
    #[arg(
        long,
        env = "ORRERY_CONSISTENCY",
        ignore_case = true,
        value_parser = PossibleValuesParser::new(["Strong", "BoundedStaleness", "Session", "ConsistentPrefix", "Eventual"])
    )]
    consistency: Option<String>,
    /// Take bearer tokens of this issuer, whose keys are asked for over https
    #[arg(long, value_name = "URL", env = "ORRERY_ISSUER")]
    issuer: Option<String>,
    /// The issuer's keys in a file, instead of asking for them
    #[arg(long, value_name = "FILE", env = "ORRERY_JWKS")]
    jwks: Option<PathBuf>,
    /// Another name of this server that bearer tokens may be for; may be repeated
    #[arg(long = "audience", value_name = "URL", env = "ORRERY_AUDIENCE", value_delimiter = ',')]
    audiences: Vec<String>,
    /// Apply this blueprint before the ports are announced: a file, the name of a built-in one, or all; may be repeated
    #[arg(long = "blueprint", value_name = "FILE|NAME", env = "ORRERY_BLUEPRINT", value_delimiter = ',')]
    blueprints: Vec<String>,
    /// The environment whose throughput blueprints ask for [default: development]
    #[arg(long, value_name = "ENVIRONMENT", env = "ORRERY_BLUEPRINT_ENV", value_parser = environment())]
    #[serde(deserialize_with = "environment_by_name")]
    blueprint_env: Option<Environment>,
    /// Send measurements to this OpenTelemetry collector, such as http://127.0.0.1:4318
    #[arg(long, value_name = "URL", env = "ORRERY_OTLP")]
    otlp: Option<String>,
    /// How often to send them, in seconds [default: 10]
    #[arg(long, value_name = "SECONDS", env = "ORRERY_OTLP_SECONDS")]
    otlp_seconds: Option<u64>,
    /// Connections that each port takes at once; beyond it idle ones are closed [default: 8192]
    #[arg(long, env = "ORRERY_CONNECTIONS")]
    connections: Option<u32>,
    /// The name that clients dial, which GET / tells them to go on at [default: the name each one dialled]
    #[arg(long, value_name = "HOST[:PORT]", env = "ORRERY_ADVERTISE")]
    advertise: Option<String>,
    /// Another name of this server that requests may have as Host; may be repeated
    #[arg(long = "allow-host", value_name = "HOST", env = "ORRERY_ALLOW_HOST", value_delimiter = ',')]
    allow_hosts: Vec<String>,
    /// An origin whose web pages may use this server, such as http://localhost:3000; may be repeated
    #[arg(long = "allow-origin", value_name = "ORIGIN", env = "ORRERY_ALLOW_ORIGIN", value_delimiter = ',')]
    allow_origins: Vec<String>,
    /// Go on although the data folder lost acknowledged writes
    #[arg(long)]
    #[serde(skip)]
    accept_loss: bool,
    /// When alerts fire.
    #[arg(skip)]
    alerts: rule::Tables,
    #[command(flatten)]
    services: ServiceSettings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// A write is answered when it is on the disk
    Synced,
    /// A write is answered before; a power cut may take the last ones
    Relaxed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// The machine's
    System,
    /// Stands still until POST /v1/clock moves it
    Manual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people
    Text,
    /// A line of JSON each
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Merging {
    /// As Azure Cosmos DB: queries that need merging are left to the SDK
    Service,
    /// Every query is answered in full
    Direct,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    On,
    Off,
}

/// Where clients reach the server, if that is not where it listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advertised {
    /// Without the brackets that an IPv6 address has in a URL.
    pub host: String,
    /// The Cosmos DB endpoint's, if it is another one than the server's own.
    pub port: Option<u16>,
}

impl Advertised {
    fn parse(text: &str) -> Result<Self, String> {
        let unlike = || format!("--advertise '{text}' is not like db.example or db.example:443");
        let (host, port) = split_authority(text).ok_or_else(unlike)?;
        let port = if port.is_empty() { None } else { Some(port.parse().map_err(|_| unlike())?) };
        Ok(Self { host: host.to_owned(), port })
    }

    /// `host:port` of the Cosmos DB endpoint, which listens on this port.
    pub fn authority(&self, listening: u16) -> String {
        let port = self.port.unwrap_or(listening);
        if self.host.contains(':') {
            format!("[{}]:{port}", self.host)
        } else {
            format!("{}:{port}", self.host)
        }
    }
}

/// The number of each port; 0 before one is bound that may be any free one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PortNumbers {
    pub cosmos: u16,
    pub services: u16,
    pub blob: u16,
    pub queue: u16,
    pub table: u16,
}

impl PortNumbers {
    fn merge(flags: &Settings, file: &Settings) -> Self {
        let are_free = flags.free_ports || file.free_ports;
        let number = |flag: Option<u16>, in_file: Option<u16>, default| {
            flag.or(in_file).unwrap_or(if are_free { 0 } else { default })
        };
        Self {
            cosmos: number(flags.cosmos_port, file.cosmos_port, 8081),
            services: number(flags.services_port, file.services_port, 8080),
            blob: number(flags.blob_port, file.blob_port, 10000),
            queue: number(flags.queue_port, file.queue_port, 10001),
            table: number(flags.table_port, file.table_port, 10002),
        }
    }
}

#[derive(Debug)]
pub struct Config {
    pub data: PathBuf,
    pub host: IpAddr,
    pub ports: PortNumbers,
    pub storage_addressing: Addressing,
    pub durability: Durability,
    pub clock: Clock,
    pub ports_file: Option<PathBuf>,
    pub log: String,
    pub log_format: LogFormat,
    pub cache_bytes: u64,
    /// For queries and for bodies of requests.
    pub memory_bytes: usize,
    pub disk_free_bytes_min: u64,
    pub partition_bytes_max: u64,
    pub throttling: Throttling,
    pub cross_partition: CrossPartition,
    pub consistency: Consistency,
    pub issuer: Option<String>,
    pub jwks: Option<PathBuf>,
    pub audiences: Vec<String>,
    pub blueprints: Vec<String>,
    pub blueprint_environment: Environment,
    pub push: Option<Push>,
    pub alert_rules: Vec<Rule>,
    pub connections_max: u32,
    /// As whom the server is dialled from outside.
    pub advertised: Option<Advertised>,
    /// Which names and web pages every port serves.
    pub guard: WebGuard,
    pub accept_loss: bool,
    pub services: ServiceConfig,
}

impl Config {
    pub fn read(flags: Settings) -> Result<Self, String> {
        let file = match &flags.config {
            Some(path) => read_file(path)?,
            None if Path::new("orrery.toml").exists() => read_file(Path::new("orrery.toml"))?,
            None => Settings::default(),
        };
        Self::merge(flags, file)
    }

    fn merge(flags: Settings, file: Settings) -> Result<Self, String> {
        let throttling = throttling(&flags, &file)?;
        let ports = PortNumbers::merge(&flags, &file);
        let host = host(flags.host.or(file.host))?;
        let advertised = flags.advertise.or(file.advertise).as_deref().map(Advertised::parse).transpose()?;
        let allow_hosts = either(flags.allow_hosts, file.allow_hosts);
        let guard =
            guard(host, advertised.as_ref(), allow_hosts, &either(flags.allow_origins, file.allow_origins))?;
        let config = Self {
            data: flags.data.or(file.data).unwrap_or_else(|| PathBuf::from("orrery-data")),
            host,
            connections_max: connections(flags.connections.or(file.connections))?,
            advertised,
            guard,
            ports,
            storage_addressing: if flags.storage_path_style || file.storage_path_style {
                Addressing::PathOnly
            } else {
                Addressing::Both
            },
            durability: flags.durability.or(file.durability).unwrap_or(Durability::Synced),
            clock: flags.clock.or(file.clock).unwrap_or(Clock::System),
            ports_file: flags.ports_file,
            log: flags.log.or(file.log).unwrap_or_else(|| "info".to_owned()),
            log_format: flags.log_format.or(file.log_format).unwrap_or(LogFormat::Text),
            cache_bytes: flags.cache_mb.or(file.cache_mb).unwrap_or(256).saturating_mul(1 << 20),
            memory_bytes: memory_bytes(flags.memory_mb.or(file.memory_mb))?,
            partition_bytes_max: flags
                .partition_mb
                .or(file.partition_mb)
                .map_or(PARTITION_BYTES_MAX, |mb| mb.saturating_mul(1_000_000)),
            disk_free_bytes_min: flags
                .disk_reserve_mb
                .or(file.disk_reserve_mb)
                .unwrap_or(256)
                .saturating_mul(1 << 20),
            throttling,
            cross_partition: match flags.cross_partition.or(file.cross_partition) {
                None | Some(Merging::Service) => CrossPartition::Service,
                Some(Merging::Direct) => CrossPartition::Direct,
            },
            consistency: consistency(flags.consistency.or(file.consistency))?,
            issuer: flags.issuer.or(file.issuer),
            jwks: flags.jwks.or(file.jwks),
            audiences: either(flags.audiences, file.audiences),
            blueprints: either(flags.blueprints, file.blueprints),
            blueprint_environment: flags.blueprint_env.or(file.blueprint_env).unwrap_or_default(),
            push: push(flags.otlp.or(file.otlp), flags.otlp_seconds.or(file.otlp_seconds))?,
            alert_rules: rule::rules(&file.alerts)?,
            accept_loss: flags.accept_loss,
            services: ServiceConfig::merge(flags.services, file.services)?,
        };
        if config.jwks.is_some() && config.issuer.is_none() {
            return Err("--jwks has the keys of an issuer; say which with --issuer".to_owned());
        }
        if config.clock == Clock::Manual && !config.is_loopback() {
            return Err(format!(
                "--clock manual is for tests and works on loopback only, not on {}",
                config.host
            ));
        }
        Ok(config)
    }

    /// The other loopback address, which `localhost` may mean as well.
    pub fn also_host(&self) -> Option<IpAddr> {
        (self.host == IpAddr::V4(Ipv4Addr::LOCALHOST)).then_some(IpAddr::V6(Ipv6Addr::LOCALHOST))
    }

    /// Whether only this machine can reach the server.
    pub fn is_loopback(&self) -> bool {
        self.host.is_loopback()
    }
}

fn environment_by_name<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Environment>, D::Error> {
    String::deserialize(from)?.parse().map(Some).map_err(D::Error::custom)
}

fn connections(given: Option<u32>) -> Result<u32, String> {
    match given {
        Some(0) => Err("--connections 0 would let nobody in; give at least 1".to_owned()),
        given => Ok(given.unwrap_or(CONNECTIONS_MAX as u32)),
    }
}

/// The list of the flag, unless it is empty.
fn either(flag: Vec<String>, member: Vec<String>) -> Vec<String> {
    if flag.is_empty() { member } else { flag }
}

/// Off loopback the name that is advertised is not the only one that clients may dial.
fn guard(
    host: IpAddr,
    advertised: Option<&Advertised>,
    mut hosts: Vec<String>,
    origins: &[String],
) -> Result<WebGuard, String> {
    for name in &hosts {
        if !matches!(split_authority(name), Some((_, ""))) {
            return Err(format!("--allow-host '{name}' is not a host name without a port"));
        }
    }
    if host.is_loopback() || !hosts.is_empty() {
        hosts.extend(advertised.map(|advertised| advertised.host.clone()));
    }
    let cors = CorsRules::parse(origins).map_err(|error| format!("--allow-origin {error}"))?;
    Ok(WebGuard::new(host.is_loopback(), hosts, cors))
}

fn memory_bytes(megabytes: Option<usize>) -> Result<usize, String> {
    let megabytes = megabytes.unwrap_or(MEMORY_MEGABYTES_DEFAULT);
    if megabytes < limits::MEMORY_MEGABYTES_MIN {
        return Err(format!(
            "--memory-mb is {megabytes}; it must be at least {}",
            limits::MEMORY_MEGABYTES_MIN
        ));
    }
    Ok(megabytes.saturating_mul(1 << 20))
}

fn throttling(flags: &Settings, file: &Settings) -> Result<Throttling, String> {
    let is_on = |flag: Option<Switch>, member: Option<Switch>| flag.or(member) == Some(Switch::On);
    let partition_units_max = flags.partition_rus.or(file.partition_rus);
    if partition_units_max == Some(0) {
        return Err("--partition-rus 0 would let no request in; give at least 1".to_owned());
    }
    Ok(Throttling {
        is_on: is_on(flags.throttle, file.throttle),
        saves: is_on(flags.burst, file.burst),
        is_serverless: flags.serverless || file.serverless,
        partition_units_max: partition_units_max.unwrap_or(PARTITION_UNITS_PER_SECOND_MAX),
    })
}

fn push(url: Option<String>, seconds: Option<u64>) -> Result<Option<Push>, String> {
    url.map(|url| Push::parse(&url, seconds.unwrap_or(OTLP_SECONDS_DEFAULT))).transpose()
}

fn consistency(given: Option<String>) -> Result<Consistency, String> {
    let level = given.map_or(Ok(Consistency::default()), |text| text.parse());
    level.map_err(|error| format!("--consistency {error}"))
}

fn host(given: Option<String>) -> Result<IpAddr, String> {
    match given.as_deref() {
        None | Some("localhost") => Ok(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        Some(text) => text
            .parse()
            .map_err(|_| format!("--host '{text}' is not an IP address; use one like 127.0.0.1 or 0.0.0.0")),
    }
}

fn read_file(path: &Path) -> Result<Settings, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    toml::from_str(&text)
        .map_err(|error| format!("{} is not understood: {}", path.display(), error.message()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(flags: Settings, file: &str) -> Result<Config, String> {
        Config::merge(flags, toml::from_str(file).map_err(|error| error.message().to_owned())?)
    }

    #[test]
    fn flags_win_over_the_file_and_the_file_over_defaults() {
        let flags = Settings { cosmos_port: Some(1), ..Settings::default() };
        let config =
            merged(flags, "cosmos_port = 2\nservices_port = 3\ndurability = \"relaxed\"").expect("a config");
        assert_eq!((config.ports.cosmos, config.ports.services), (1, 3));
        assert_eq!(config.durability, Durability::Relaxed);
        assert_eq!(config.data, PathBuf::from("orrery-data"));
    }

    #[test]
    fn throughput_and_consistency_are_chosen_by_flags_or_the_file() {
        let config = merged(Settings::default(), "").expect("a config");
        assert_eq!((config.throttling, config.consistency), (Throttling::default(), Consistency::Session));
        let flags = Settings { throttle: Some(Switch::On), serverless: true, ..Settings::default() };
        let file = "throttle = \"off\"\nburst = \"on\"\npartition_rus = 500\nconsistency = \"strong\"";
        let config = merged(flags, file).expect("a config");
        let all = Throttling { is_on: true, is_serverless: true, saves: true, partition_units_max: 500 };
        assert_eq!((config.throttling, config.consistency), (all, Consistency::Strong));
    }

    #[test]
    fn clients_merge_unless_the_server_is_told_to() {
        let merging = |flag: Option<Merging>, file: &str| {
            let flags = Settings { cross_partition: flag, ..Settings::default() };
            merged(flags, file).expect("a config").cross_partition
        };
        assert_eq!(merging(None, ""), CrossPartition::Service);
        assert_eq!(merging(None, "cross_partition = \"direct\""), CrossPartition::Direct);
        assert_eq!(merging(Some(Merging::Service), "cross_partition = \"direct\""), CrossPartition::Service);
    }

    #[test]
    fn mistakes_are_sentences() {
        let check = |flags: Settings, file: &str, fragment: &str| {
            let error = merged(flags, file).expect_err(fragment);
            assert!(error.contains(fragment), "{error}");
        };
        check(Settings::default(), "cosmosport = 1", "unknown field `cosmosport`");
        check(Settings::default(), "consistency = \"Strongest\"", "choose Strong, BoundedStaleness, Session");
        check(Settings::default(), "partition_rus = 0", "let no request in");
        check(Settings::default(), "connections = 0", "let nobody in");
        check(Settings::default(), "advertise = \"http://db\"", "not like db.example");
        check(Settings::default(), "allow_hosts = [\"db:80\"]", "without a port");
        check(Settings::default(), "allow_origins = [\"db\"]", "not an origin");
        check(Settings { host: Some("nowhere".into()), ..Settings::default() }, "", "not an IP address");
        let exposed =
            Settings { host: Some("0.0.0.0".into()), clock: Some(Clock::Manual), ..Settings::default() };
        check(exposed, "", "loopback only");
    }
}
