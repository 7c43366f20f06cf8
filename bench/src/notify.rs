//! The notification service: events taken a second, and events brought to their end a second, pushed to a provider on
//! this machine that speaks FCM's protocol, TLS and HTTP/2 included. One device a user.
//!
//! The clock is moved by hand: events are sent for a later hour, so that taking them is measured alone, and when it
//! strikes they are all due, so that dispatching them is. Then both at once, as a busy day has it.

use crate::Settings;
use crate::drive::{Worker, drive, runtime};
use crate::error::Error;
use crate::item::Random;
use crate::report::{Report, Target};
use crate::sample::Sample;
use crate::seeds::{Item, Set, fill};
use orrery_core::{Env, Timestamp};
use orrery_testing_client::{
    Connection, ContainerPath, EMULATOR_KEY, Options, ServerProcess, release_binary,
};
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const NAME: &str = "notify";
const USERS: u64 = 100_000;
const CONNECTIONS: usize = 64;
const FILL_CONNECTIONS: usize = 16;
const TAKING: Duration = Duration::from_secs(10);
/// How long all events may take to their end.
const DRAIN_MAX: Duration = Duration::from_secs(600);
/// What the seed says a step costs (S2-56 to S2-61), in request units.
const SEED_UNITS: [(&str, &str, f64); 6] = [
    ("enqueue", "S2-56", 5.0),
    ("process", "S2-57", 15.0),
    ("list", "S2-58", 3.0),
    ("mark", "S2-59", 5.0),
    ("preferences", "S2-60", 5.0),
    ("register", "S2-61", 10.0),
];

pub fn run(settings: &Settings, report: &mut Report) -> Result<(), Error> {
    if !settings.wants(NAME) {
        return Ok(());
    }
    let users = USERS / settings.tenth();
    let stage = Stage::set(settings, users)?;
    runtime()?.block_on(stage.measure(users, settings, report))
}

/// A server and a provider.
struct Stage {
    server: ServerProcess,
    _provider: Provider,
    _folder: TempDir,
}

struct Provider(Child);

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Stage {
    fn set(settings: &Settings, users: u64) -> Result<Self, Error> {
        let io = |what| move |error| Error::Io(what, error);
        let folder =
            TempDir::with_prefix_in("orrery-bench-notify-", &settings.folder).map_err(io("no folder"))?;
        let binary = release_binary()?;
        let provider = provider(&binary, folder.path())?;
        let policy = folder.path().join("policy.json");
        let hours = vec![false; 24];
        std::fs::write(&policy, json!({"defaultQuietHours": hours}).to_string()).map_err(io("no policy"))?;
        let arguments = ["--clock", "manual", "--services-rate", "1000000", "--notifications-config"];
        let mut arguments: Vec<_> = arguments.map(Into::into).to_vec();
        arguments.extend([
            policy.into(),
            "--push-config".into(),
            folder.path().join("push/providers.json").into(),
        ]);
        let server = ServerProcess::start(
            &folder.path().join("data"),
            &Options { arguments, ..Options::new(binary) },
        )?;
        let stage = Self { server, _provider: provider, _folder: folder };
        runtime()?.block_on(stage.prepare(users))?;
        Ok(stage)
    }

    fn services(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.server.ports().services).into()
    }

    /// The containers are there after the first event; then each user gets a device.
    async fn prepare(&self, users: u64) -> Result<(), Error> {
        let mut connection = Connection::connect(self.services()).await?;
        send(&mut connection, &event(users, None)).await?;
        let devices = Set {
            name: "device_tokens".to_owned(),
            items: users,
            definition: Value::Null,
            indexes: Vec::new(),
            draw: |number, _| device(number),
        };
        let path = ContainerPath::new("asora", "device_tokens");
        fill(self.server.cosmos(), &Env::system()?, &path, &devices, FILL_CONNECTIONS).await?;
        self.drained(&mut connection).await.map(drop)
    }

    async fn measure(&self, users: u64, settings: &Settings, report: &mut Report) -> Result<(), Error> {
        let mut connection = Connection::connect(self.services()).await?;
        let span = TAKING / settings.tenth() as u32;
        let later = now(&mut connection).await? + 3600;
        let taken = self.take(users, span, Some(later)).await?;
        let before = ended(&mut connection).await?;
        advance(&mut connection, 3600).await?;
        let began = Instant::now();
        let after = self.drained(&mut connection).await?;
        let dispatched = (after - before) as f64 / began.elapsed().as_secs_f64();
        let p99 = f64::from(percentile(&taken, 99)) / 1e3;
        report.say(NAME, &format!(
            "{users} users, {CONNECTIONS} connections: {:.0} events/s taken (p50 {:.1} ms, p99 {p99:.1} ms), then {} of them \
             dispatched at {dispatched:.0}/s, each with a push",
            taken.rate(), f64::from(percentile(&taken, 50)) / 1e3, after - before,
        ));
        report.target(Target::at_least("notify: events taken", 5000.0, "/s").measured(Some(taken.rate())));
        report.target(Target::at_most("notify: an event taken, p99", 20.0, "ms").measured(Some(p99)));
        report.target(Target::at_least("notify: events dispatched", 2000.0, "/s").measured(Some(dispatched)));
        self.both_at_once(users, span, &mut connection, report).await?;
        self.units(&mut connection, report).await
    }

    async fn both_at_once(
        &self,
        users: u64,
        span: Duration,
        connection: &mut Connection,
        report: &mut Report,
    ) -> Result<(), Error> {
        // What is due now was due before it came, so it is found at once.
        advance(connection, 1).await?;
        let (before, began) = (ended(connection).await?, Instant::now());
        let taken = self.take(users, span, None).await?;
        let after = self.drained(connection).await?;
        let all = (after - before) as f64 / began.elapsed().as_secs_f64();
        report.say(NAME, &format!(
            "both at once: {:.0} events/s taken (p99 {:.1} ms) while others are dispatched; {all:.0}/s from the first one taken to \
             the last one pushed",
            taken.rate(), f64::from(percentile(&taken, 99)) / 1e3,
        ));
        Ok(())
    }

    /// What each step would have cost, beside the seed's numbers.
    async fn units(&self, connection: &mut Connection, report: &mut Report) -> Result<(), Error> {
        for step in 0..20 {
            let user = user(step);
            get(connection, &format!("/v1/users/{user}/notifications")).await?;
            post(connection, &format!("/v1/users/{user}/notifications/read-all"), &json!({})).await?;
            let zone = json!({"timezone": "Europe/Berlin"});
            call(connection, "PATCH", &format!("/v1/users/{user}/preferences"), &zone).await?;
            let device = json!({"deviceId": format!("other-{step}"), "pushToken": "t", "platform": "fcm", "label": "other"});
            post(connection, &format!("/v1/users/{user}/devices"), &device).await?;
        }
        let stats = get(connection, "/v1/notifications/stats").await?;
        let shown = SEED_UNITS.map(|(step, id, seed)| {
            let units = &stats["requestUnits"][step];
            let average = units["average"].as_f64().or(units.as_f64());
            let found = average.map_or("not measured".to_owned(), |found| format!("{found:.1}"));
            format!("{step} {found} ({id}: {seed})")
        });
        report.say(NAME, &format!("request units a step: {}", shown.join(", ")));
        Ok(())
    }

    async fn take(&self, users: u64, span: Duration, at: Option<u64>) -> Result<Sample, Error> {
        let mut workers = Vec::with_capacity(CONNECTIONS);
        for index in 0..CONNECTIONS {
            let connection = Connection::connect(self.services()).await?;
            workers.push(Sender { connection, users, at, random: Random::new(index as u64 + 1) });
        }
        let sample = drive(workers, span).await;
        match &sample.first_error {
            None => Ok(sample),
            Some(error) => Err(Error::Unexpected(error.clone())),
        }
    }

    /// Waits until nothing is left to do, and gives how many events came to an end since the start.
    async fn drained(&self, connection: &mut Connection) -> Result<u64, Error> {
        let until = Instant::now() + DRAIN_MAX;
        while Instant::now() < until {
            let stats = get(connection, "/v1/notifications/stats").await?;
            let ready = get(connection, "/readyz").await?;
            if ready["status"] != "ready" {
                return Err(Error::Unexpected(format!("the server is not well: {ready}")));
            }
            let open = ["PENDING", "PROCESSING", "FAILED"].map(|status| stats["events"][status].as_u64());
            if open.into_iter().flatten().sum::<u64>() == 0 {
                return Ok(over(&stats));
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Err(Error::Unexpected("events were left after ten minutes".to_owned()))
    }
}

/// Starts it and waits until it has written what the server needs.
fn provider(binary: &Path, folder: &Path) -> Result<Provider, Error> {
    let io = |what| move |error| Error::Io(what, error);
    let (push, ports) = (folder.join("push"), folder.join("push-ports.json"));
    let mut command = Command::new(binary);
    command.args([
        "notify",
        "fake-push",
        "--any-clock",
        "--fcm-port",
        "0",
        "--apns-port",
        "0",
        "--control-port",
        "0",
        "--folder",
    ]);
    command.arg(&push).arg("--ports-file").arg(&ports).stdout(Stdio::null()).stderr(Stdio::null());
    let provider = Provider(command.spawn().map_err(io("no provider"))?);
    let until = Instant::now() + Duration::from_secs(20);
    while !ports.is_file() {
        if Instant::now() > until {
            return Err(Error::Unexpected("the provider did not start".to_owned()));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(provider)
}

struct Sender {
    connection: Connection,
    users: u64,
    at: Option<u64>,
    random: Random,
}

impl Worker for Sender {
    async fn once(&mut self) -> Result<(), String> {
        let request = event(self.random.below(self.users), self.at);
        send(&mut self.connection, &request).await.map(drop).map_err(|error| error.to_string())
    }
}

fn user(number: u64) -> String {
    format!("user-{number:06}")
}

fn device(number: u64) -> Item {
    let (user, id) = (user(number), format!("device-{number:06}"));
    let text = format!(
        "{{\"id\":\"{id}\",\"userId\":\"{user}\",\"deviceId\":\"{id}\",\"pushToken\":\"token-{number:06}\",\"platform\":\"fcm\",\
         \"label\":\"Pixel 9\",\"createdAt\":\"2026-11-01T08:00:00.000Z\",\"lastSeenAt\":\"2026-11-14T08:00:00.000Z\",\
         \"revokedAt\":null}}"
    );
    Item { id, partition: user, text }
}

fn event(user_number: u64, at: Option<u64>) -> Vec<u8> {
    let user = user(user_number);
    let mut body = json!({
        "userId": user,
        "eventType": "POST_COMMENT",
        "payload": {
            "actorId": "user-900001", "actorName": "Noor", "targetId": format!("post-{user_number}"), "targetType": "post",
            "snippet": "Morning on the pier, and nobody there but the gulls",
        },
    });
    if let Some(at) = at {
        body["scheduledAt"] = orrery_kit::time::format(Timestamp::from_seconds(at)).into();
    }
    request("POST", "/v1/notifications/events", &body)
}

fn request(method: &str, path: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {EMULATOR_KEY}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

async fn send(connection: &mut Connection, request: &[u8]) -> Result<Value, Error> {
    let reply = connection.exchange(request).await?;
    if !(200..300).contains(&reply.status) {
        let said = String::from_utf8_lossy(reply.body).into_owned();
        return Err(Error::Unexpected(format!("status {}: {said}", reply.status)));
    }
    Ok(serde_json::from_slice(reply.body).unwrap_or_default())
}

async fn call(connection: &mut Connection, method: &str, path: &str, body: &Value) -> Result<Value, Error> {
    send(connection, &request(method, path, body)).await
}

async fn post(connection: &mut Connection, path: &str, body: &Value) -> Result<Value, Error> {
    call(connection, "POST", path, body).await
}

async fn get(connection: &mut Connection, path: &str) -> Result<Value, Error> {
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {EMULATOR_KEY}\r\n\r\n");
    send(connection, request.as_bytes()).await
}

async fn now(connection: &mut Connection) -> Result<u64, Error> {
    let clock = get(connection, "/v1/clock").await?;
    let seconds = clock["now_ms"].as_u64().map(|millis| millis / 1000);
    seconds.ok_or_else(|| Error::Unexpected(format!("no time in {clock}")))
}

async fn advance(connection: &mut Connection, seconds: u64) -> Result<(), Error> {
    post(connection, "/v1/clock", &json!({"advance_seconds": seconds})).await.map(drop)
}

async fn ended(connection: &mut Connection) -> Result<u64, Error> {
    Ok(over(&get(connection, "/v1/notifications/stats").await?))
}

/// Events of the statistics that came to their end.
fn over(stats: &Value) -> u64 {
    let over = ["COMPLETED", "DEDUPLICATED", "RATE_LIMITED"].map(|status| stats["events"][status].as_u64());
    over.into_iter().flatten().sum()
}

fn percentile(sample: &Sample, percent: usize) -> u32 {
    let mut micros = sample.micros.clone();
    micros.sort_unstable();
    micros.get(micros.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default()
}
