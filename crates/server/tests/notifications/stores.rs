//! Services whose store is another server: over TLS, with a key and with a token, throttled, killed, shared by two.

use crate::asking::{ask, ended, pressing, titles, token, with_key};
use crate::fake::{Fake, device};
use crate::server::{Server, orrery};
use orrery_testing_client::EMULATOR_KEY;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::PathBuf;
use tempfile::TempDir;

const EVENTS: &str = "/v1/notifications/events";

/// A store, the fake providers, and the files that lead to both.
struct World {
    here: TempDir,
    fake: Fake,
    store: Server,
}

impl World {
    fn new(flags: &[&str], lease_seconds: u64) -> Self {
        let here = tempfile::tempdir().unwrap();
        let world = Self { fake: Fake::start(), store: store(&here, "0", "0", flags), here };
        let policy = json!({ "leaseSeconds": lease_seconds, "tickMillis": 50 });
        std::fs::write(world.here.path().join("policy.json"), policy.to_string()).unwrap();
        world
    }

    /// At the same ports and on the same folder.
    fn start_again(&mut self) {
        let (cosmos, services) = (self.store.cosmos.port(), self.store.services.port());
        self.store = store(&self.here, &cosmos.to_string(), &services.to_string(), &[]);
    }

    fn path(&self, name: &str) -> String {
        self.here.path().join(name).to_str().unwrap().to_owned()
    }

    /// A server that has its own folder and keeps what its services store in the other one.
    fn service(&self, name: &str, credential: [&str; 2]) -> Server {
        let url = format!("https://localhost:{}", self.store.cosmos.port());
        let (ca, policy, push) = (self.path("store/cert.pem"), self.path("policy.json"), self.fake.config());
        let mut flags = vec!["--store", &url, "--store-ca", &ca, "--notifications-config", &policy];
        flags.extend(["--push-config", push.to_str().unwrap()]);
        flags.extend(credential);
        Server::start(&PathBuf::from(self.path(name)), &flags)
    }
}

fn store(here: &TempDir, cosmos: &str, services: &str, flags: &[&str]) -> Server {
    let scratch = tempfile::tempdir().unwrap();
    let mut command = orrery(scratch.path());
    command.arg("serve").arg("--data").arg(here.path().join("store"));
    command
        .args([
            "--cosmos-port",
            cosmos,
            "--services-port",
            services,
            "--free-ports",
            "--notifications",
            "off",
        ])
        .args(flags);
    Server::run(command, scratch)
}

const KEY: [&str; 2] = ["--store-key", EMULATOR_KEY];

async fn register(server: &Server, user: &str) {
    let path = format!("/v1/users/{user}/devices");
    let registered = with_key(server, "POST", &path, &device(user, "fcm")).await;
    assert_eq!(registered.status, 201, "{}", registered.body);
}

/// Sends until it is taken, as clients do: with a key, and again when they are told to come later.
async fn send(server: &Server, user: &str, target: &str) -> String {
    let headers = [("x-api-key", EMULATOR_KEY), ("idempotency-key", target)];
    loop {
        let sent = ask(server, "POST", EVENTS, &headers, &pressing(user, target).to_string()).await;
        if sent.status == 202 {
            return sent.body[0]["id"].as_str().unwrap().to_owned();
        }
        assert!([429, 503].contains(&sent.status), "{}", sent.body);
    }
}

/// The collapse ids of all pushes, each as often as it came.
async fn pushed(fake: &Fake) -> Vec<String> {
    let taken = fake.taken().await;
    taken.iter().map(|push| push["collapseId"].as_str().unwrap().to_owned()).collect()
}

async fn all_delivered(server: &Server, sent: &[(String, String)]) {
    for (user, id) in sent {
        let event = ended(server, id, user).await;
        assert_eq!(event["outcome"], "delivered", "K1: {event}");
    }
}

/// Killed while events are on their way, and back after a while: nobody has to do anything, and nothing is lost.
#[tokio::test]
async fn a_store_that_is_killed_and_comes_back_loses_nothing() {
    // Leases end soon, so that nobody waits long for work that was cut off.
    let mut world = World::new(&[], 3);
    let service = world.service("service", KEY);
    let users: Vec<String> = (0..10).map(|at| format!("user-{at}")).collect();
    for user in &users {
        register(&service, user).await;
    }
    let mut sent = Vec::new();
    for target in ["a", "b"] {
        for user in &users {
            sent.push((user.clone(), send(&service, user, &format!("{target}-{user}")).await));
        }
    }
    world.store.signal("-KILL");
    world.store.wait();
    let refused = with_key(&service, "POST", EVENTS, &pressing("user-0", "meanwhile")).await;
    assert_eq!(refused.status, 503, "{}", refused.body);
    assert_eq!(refused.reply.header("content-type"), Some("application/problem+json"));
    world.start_again();
    sent.push(("user-0".to_owned(), send(&service, "user-0", "afterwards").await));
    all_delivered(&service, &sent).await;
    let pushes = pushed(&world.fake).await;
    let distinct: HashSet<&String> = pushes.iter().collect();
    assert_eq!(distinct.len(), sent.len(), "K6: each has arrived");
    // What was at the provider at that moment may come again; one a user is worked on at once.
    assert!(pushes.len() <= sent.len() + users.len(), "{} pushes of {}", pushes.len(), sent.len());
    for user in &users {
        let expected = if user == "user-0" { 3 } else { 2 };
        assert_eq!(titles(&service, user).await.len(), expected, "{user}");
    }
}

/// The containers are made by somebody who may; the token may only read and write items. It is read again from its file, so
/// one that is renewed is taken up.
#[tokio::test]
async fn a_service_with_a_token_runs_where_its_containers_are() {
    let world = World::new(&[], 30);
    let first = world.service("first", KEY);
    register(&first, "ann").await;
    first.stop();
    let file = world.path("token");
    std::fs::write(&file, token(&here(&world, "store"), "notifier", &["contributor"])).unwrap();
    let service = world.service("service", ["--store-token", &format!("@{file}")]);
    let id = send(&service, "ann", "a").await;
    all_delivered(&service, &[("ann".to_owned(), id)]).await;
    std::fs::write(&file, "no token any more").unwrap();
    let refused = with_key(&service, "POST", EVENTS, &pressing("ann", "b")).await;
    assert_eq!(refused.status, 503, "{}", refused.body);
    std::fs::write(&file, token(&here(&world, "store"), "notifier", &["contributor"])).unwrap();
    let id = send(&service, "ann", "c").await;
    all_delivered(&service, &[("ann".to_owned(), id)]).await;
    assert_eq!(titles(&service, "ann").await.len(), 2);
    assert_eq!(pushed(&world.fake).await.len(), 2);
}

fn here(world: &World, name: &str) -> PathBuf {
    world.here.path().join(name)
}

/// 400 request units a second of each container, and more work than that: it takes longer, and everything ends once.
#[tokio::test]
async fn a_store_that_turns_requests_away_delays_and_loses_nothing() {
    let world = World::new(&["--throttle", "on"], 30);
    let service = world.service("service", KEY);
    let users: Vec<String> = (0..6).map(|at| format!("user-{at}")).collect();
    for user in &users {
        register(&service, user).await;
    }
    let mut sent = Vec::new();
    for at in 0..8 {
        for user in &users {
            sent.push((user.clone(), send(&service, user, &format!("{at}-{user}")).await));
        }
    }
    all_delivered(&service, &sent).await;
    let measured = ask(&world.store, "GET", "/metrics", &[], "").await;
    let text = String::from_utf8_lossy(&measured.reply.body).into_owned();
    let is_turned_away =
        |line: &&str| line.starts_with("cosmos_requests_total") && line.contains("status=\"429\"");
    let turned_away = text.lines().filter(is_turned_away);
    let count: f64 = turned_away.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum();
    assert!(count > 0.0, "nothing was turned away: the test shows nothing\n{text}");
    let pushes = pushed(&world.fake).await;
    assert_eq!(pushes.iter().collect::<HashSet<_>>().len(), sent.len());
    for user in &users {
        assert_eq!(titles(&service, user).await.len(), 8, "{user}");
    }
}

/// S2-73: two servers, one store.
#[tokio::test]
async fn two_services_on_one_store_process_each_event_once() {
    let world = World::new(&[], 30);
    let services = [world.service("one", KEY), world.service("two", KEY)];
    let users: Vec<String> = (0..10).map(|at| format!("user-{at}")).collect();
    for user in &users {
        register(&services[0], user).await;
    }
    let mut sent = Vec::new();
    for at in 0..8 {
        for user in &users {
            sent.push((user.clone(), send(&services[at % 2], user, &format!("{at}-{user}")).await));
        }
    }
    for service in &services {
        all_delivered(service, &sent).await;
    }
    for (user, id) in &sent {
        let event = ended(&services[0], id, user).await;
        assert_eq!(
            (&event["leaseEpoch"], event["attempts"].as_array().unwrap().len()),
            (&json!(1), 1),
            "{event}"
        );
    }
    let pushes = pushed(&world.fake).await;
    let distinct: HashSet<&String> = pushes.iter().collect();
    assert_eq!((pushes.len(), distinct.len()), (sent.len(), sent.len()), "K6");
    let ended = async |service: &Server| {
        let stats = with_key(service, "GET", "/v1/notifications/stats", &Value::Null).await.body;
        stats["sinceStart"]["delivered"].as_u64().unwrap()
    };
    let (one, two) = (ended(&services[0]).await, ended(&services[1]).await);
    assert_eq!(one + two, sent.len() as u64);
    assert!(one > 0 && two > 0, "both worked: {one} and {two}");
}
