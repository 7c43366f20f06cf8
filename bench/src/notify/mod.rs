//! The notification service: events taken a second, and events brought to their end a second, pushed to a provider on
//! this machine that speaks FCM's protocol, TLS and HTTP/2 included. One device a user.
//!
//! The clock is moved by hand: events are sent for a later hour, so that taking them is measured alone, and when it
//! strikes they are all due, so that dispatching them is. Then both at once, as a busy day has it.
//!
//! Server, client and provider share the machine, so nobody asks the server anything while it dispatches: the end is
//! the moment of the last push that the provider took, and only when pushes have stood still for a while is the server
//! asked whether any event is left. Its own counts are held against ours afterwards.

mod ask;
mod provider;

use crate::Settings;
use crate::drive::{drive, runtime};
use crate::error::Error;
use crate::item::Random;
use crate::machine::{cpu_seconds, settle};
use crate::report::{Report, Target};
use crate::sample::{Median, Outcome};
use crate::seeds::{Item, Set, fill};
use ask::{Event, Sender, advance, call, get, now, send, user};
use orrery_core::Env;
use orrery_testing_client::{Connection, ContainerPath, Options, ServerProcess, dist_binary};
use provider::Provider;
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const NAME: &str = "notify";
const USERS: u64 = 100_000;
const CONNECTIONS: usize = 32;
const FILL_CONNECTIONS: usize = 16;
const TAKING: Duration = Duration::from_secs(10);
/// How long all events may take to their end.
const DRAIN_MAX: Duration = Duration::from_secs(600);
/// How often the provider's count is looked at, which costs nothing; so exact is the end.
const LOOK: Duration = Duration::from_millis(5);
/// How long pushes have to stand still before the server is asked whether events are left.
const STILL: Duration = Duration::from_millis(500);
/// Users whose requests tell what a step costs.
const UNIT_USERS: u64 = 20;
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
    let mut stage = Stage::set(settings, users)?;
    runtime()?.block_on(stage.measure(settings, report))
}

/// A server and a provider.
struct Stage {
    server: ServerProcess,
    provider: Provider,
    users: u64,
    /// Events that were taken since the start.
    taken: u64,
    _folder: TempDir,
}

/// Where things stood at a moment.
struct Mark {
    at: Instant,
    taken: u64,
    pushed: u64,
    server_seconds: f64,
    own_seconds: f64,
}

/// What came of a measurement.
struct Spent {
    events: u64,
    pushes: u64,
    /// Until the last push.
    elapsed: Duration,
    /// Processor time an event, in microseconds; ours is the client's and the provider's.
    server_micros: f64,
    own_micros: f64,
}

impl Spent {
    fn rate(&self) -> f64 {
        self.events as f64 / self.elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

impl Stage {
    fn set(settings: &Settings, users: u64) -> Result<Self, Error> {
        let io = |what| move |error| Error::Io(what, error);
        let folder =
            TempDir::with_prefix_in("orrery-bench-notify-", &settings.folder).map_err(io("no folder"))?;
        let provider = Provider::start(&folder.path().join("push"))?;
        let policy = folder.path().join("policy.json");
        let hours = vec![false; 24];
        std::fs::write(&policy, json!({"defaultQuietHours": hours}).to_string()).map_err(io("no policy"))?;
        let arguments = ["--clock", "manual", "--services-rate", "1000000", "--notifications-config"];
        let mut arguments: Vec<_> = arguments.map(Into::into).to_vec();
        arguments.extend([policy.into(), "--push-config".into(), provider.config.clone().into()]);
        let options = Options { arguments, ..Options::new(dist_binary()?) };
        let server = ServerProcess::start(&folder.path().join("data"), &options)?;
        let mut stage = Self { server, provider, users, taken: 0, _folder: folder };
        runtime()?.block_on(stage.prepare())?;
        // What the devices left to be put away is no event's.
        settle(stage.server.process_id())?;
        Ok(stage)
    }

    fn services(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.server.ports().services).into()
    }

    /// The containers are there after the first event; then each user gets a device.
    async fn prepare(&mut self) -> Result<(), Error> {
        let mut connection = Connection::connect(self.services()).await?;
        send(&mut connection, Event::new(None).to(self.users)).await?;
        self.taken += 1;
        let devices = Set {
            name: "device_tokens".to_owned(),
            items: self.users,
            definition: Value::Null,
            indexes: Vec::new(),
            draw: |number, _| device(number),
        };
        let path = ContainerPath::new("asora", "device_tokens");
        fill(self.server.cosmos(), &Env::system()?, &path, &devices, FILL_CONNECTIONS).await?;
        self.drained(&mut connection).await.map(drop)
    }

    async fn measure(&mut self, settings: &Settings, report: &mut Report) -> Result<(), Error> {
        let mut connection = Connection::connect(self.services()).await?;
        let span = TAKING / settings.tenth() as u32;
        let later = now(&mut connection).await? + 3600;
        let before = self.mark()?;
        let median = self.take(span, Some(later), 0).await?;
        let taking = spent(&before, &self.mark()?);
        advance(&mut connection, 3600).await?;
        let due = Mark { taken: before.taken, ..self.mark()? };
        let dispatching = spent(&due, &self.drained(&mut connection).await?);
        self.told(&median, &taking, &dispatching, report);
        self.both_at_once(span, &mut connection, report).await?;
        self.units(&mut connection, report).await
    }

    fn told(&self, median: &Median, taking: &Spent, dispatching: &Spent, report: &mut Report) {
        let (p50, p99) = (f64::from(median.micros_p50) / 1e3, f64::from(median.micros_p99) / 1e3);
        report.say(NAME, &format!(
            "{} users, {CONNECTIONS} connections: {:.0} events/s taken (p50 {p50:.1} ms, p99 {p99:.1} ms), then {} events \
             dispatched at {:.0}/s with {} pushes",
            self.users, median.rate, dispatching.events, dispatching.rate(), dispatching.pushes,
        ));
        report.say(NAME, &format!(
            "processor time an event: taken {:.0} µs (and {:.0} of the client), dispatched {:.0} µs (and {:.0} of the provider)",
            taking.server_micros, taking.own_micros, dispatching.server_micros, dispatching.own_micros,
        ));
        report.target(Target::at_least("notify: events taken", 5000.0, "/s").measured(Some(median.rate)));
        report.target(Target::at_most("notify: an event taken, p99", 20.0, "ms").measured(Some(p99)));
        let dispatched = Some(dispatching.rate());
        report.target(Target::at_least("notify: events dispatched", 2000.0, "/s").measured(dispatched));
    }

    async fn both_at_once(
        &mut self,
        span: Duration,
        connection: &mut Connection,
        report: &mut Report,
    ) -> Result<(), Error> {
        // What is due now was due before it came, so it is found at once.
        advance(connection, 1).await?;
        let before = self.mark()?;
        let median = self.take(span, None, CONNECTIONS).await?;
        let both = spent(&before, &self.drained(connection).await?);
        report.say(NAME, &format!(
            "both at once: {:.0} events/s taken (p99 {:.1} ms) while others are dispatched; {:.0}/s from the first one taken to \
             the last one pushed, {} events with {} pushes, {:.0} µs of the server's processor time an event",
            median.rate, f64::from(median.micros_p99) / 1e3, both.rate(), both.events, both.pushes, both.server_micros,
        ));
        Ok(())
    }

    /// What each step would have cost, beside the seed's numbers.
    async fn units(&mut self, connection: &mut Connection, report: &mut Report) -> Result<(), Error> {
        let mut event = Event::new(None);
        for number in 0..UNIT_USERS {
            send(connection, event.to(number)).await?;
            self.taken += 1;
        }
        self.drained(connection).await?;
        for number in 0..UNIT_USERS {
            steps(connection, number).await?;
        }
        let stats = get(connection, "/v1/notifications/stats").await?;
        let shown = SEED_UNITS.map(|(step, id, seed)| {
            let average = stats["requestUnits"][step]["average"].as_f64();
            let found = average.map_or("not measured".to_owned(), |found| format!("{found:.1}"));
            format!("{step} {found} ({id}: {seed})")
        });
        report.say(NAME, &format!("request units a step: {}", shown.join(", ")));
        Ok(())
    }

    /// `drawn` is how many random numbers were begun with before, so that no two runs send to the same users in turn.
    async fn take(&mut self, span: Duration, at: Option<u64>, drawn: usize) -> Result<Median, Error> {
        let mut workers = Vec::with_capacity(CONNECTIONS);
        let event = Event::new(at);
        for index in 1..=CONNECTIONS {
            let connection = Connection::connect(self.services()).await?;
            let random = Random::new((drawn + index) as u64);
            workers.push(Sender { connection, users: self.users, event: event.clone(), random });
        }
        let sample = drive(workers, span).await;
        self.taken += sample.done;
        match Outcome::of(vec![sample]) {
            Outcome::Measured(median) => Ok(median),
            Outcome::Failed(why) => Err(Error::Unexpected(why)),
        }
    }

    /// Waits until nothing is left to do, and gives how things stood when the last push came; now, if none did.
    async fn drained(&self, connection: &mut Connection) -> Result<Mark, Error> {
        let began = Instant::now();
        let (mut last, mut looked) = (self.mark()?, began);
        while began.elapsed() < DRAIN_MAX {
            tokio::time::sleep(LOOK).await;
            let pushed = self.provider.delivered();
            if pushed != last.pushed {
                looked = Instant::now();
                (last.pushed, last.at) = (pushed, looked);
            } else if looked.elapsed() >= STILL {
                // What the server is asked from here on is no event's cost.
                let last = Mark { at: last.at, ..self.mark()? };
                if self.is_over(connection).await? {
                    return Ok(last);
                }
                looked = Instant::now();
            }
        }
        Err(Error::Unexpected("events were left after ten minutes".to_owned()))
    }

    /// Whether no event is left; then the server's counts must be ours.
    async fn is_over(&self, connection: &mut Connection) -> Result<bool, Error> {
        for status in ["PENDING", "PROCESSING"] {
            let path = format!("/v1/notifications/events?status={status}&limit=1");
            let found = get(connection, &path).await?;
            // A page may be empty and not the last.
            if found["items"].as_array().is_none_or(|items| !items.is_empty())
                || found["continuation"].is_string()
            {
                return Ok(false);
            }
        }
        let ready = get(connection, "/readyz").await?;
        if ready["status"] != "ready" {
            return Err(Error::Unexpected(format!("the server is not well: {ready}")));
        }
        let stats = get(connection, "/v1/notifications/stats").await?;
        let over =
            ["COMPLETED", "DEDUPLICATED", "RATE_LIMITED"].map(|status| stats["events"][status].as_u64());
        let (over, refused) = (over.into_iter().flatten().sum::<u64>(), self.provider.refused());
        if over == self.taken && refused == 0 {
            return Ok(true);
        }
        let taken = self.taken;
        Err(Error::Unexpected(format!(
            "{taken} events were taken and {over} ended, {refused} pushes refused: {stats}"
        )))
    }

    fn mark(&self) -> Result<Mark, Error> {
        Ok(Mark {
            taken: self.taken,
            pushed: self.provider.delivered(),
            server_seconds: cpu_seconds(self.server.process_id())?,
            own_seconds: cpu_seconds(std::process::id())?,
            at: Instant::now(),
        })
    }
}

fn spent(from: &Mark, to: &Mark) -> Spent {
    let events = to.taken - from.taken;
    let micros = |from: f64, to: f64| (to - from) * 1e6 / events.max(1) as f64;
    Spent {
        events,
        pushes: to.pushed - from.pushed,
        elapsed: to.at.saturating_duration_since(from.at),
        server_micros: micros(from.server_seconds, to.server_seconds),
        own_micros: micros(from.own_seconds, to.own_seconds),
    }
}

/// A user who was notified looks, reads one, moves, and has a new device.
async fn steps(connection: &mut Connection, number: u64) -> Result<(), Error> {
    let user = user(number);
    let listed = get(connection, &format!("/v1/users/{user}/notifications")).await?;
    let id = listed["items"][0]["id"].as_str();
    let id = id.ok_or_else(|| Error::Unexpected(format!("{user} was not notified: {listed}")))?;
    call(connection, "POST", &format!("/v1/users/{user}/notifications/{id}/read"), &json!({})).await?;
    let zone = json!({"timezone": "Europe/Berlin"});
    call(connection, "PATCH", &format!("/v1/users/{user}/preferences"), &zone).await?;
    let device =
        json!({"deviceId": format!("other-{number}"), "pushToken": "t", "platform": "fcm", "label": "other"});
    call(connection, "POST", &format!("/v1/users/{user}/devices"), &device).await.map(drop)
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
