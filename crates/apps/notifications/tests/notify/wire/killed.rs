//! A store is killed and restarted while two dispatchers run: they continue by themselves, and nothing is
//! lost.

use super::proxy::Proxy;
use crate::fixture::{Fixture, of_type};
use crate::place::{Home, Place};
use orrery_kit::ports::documents::Documents;
use orrery_notifications::dispatch;
use orrery_notifications::service::{Notifications, ServiceError};
use std::collections::HashSet;
use std::time::{Duration, Instant};
use tokio::sync::watch;

const USERS: usize = 8;
const DEADLINE: Duration = Duration::from_secs(90);

fn by(fixture: &Fixture, proxy: &Proxy, worker: &str) -> Notifications {
    let Home::Server { server, database } = fixture.home() else { panic!("it is over the wire") };
    let remote = server.remote(proxy.endpoint(), database).with_time_limit(Duration::from_millis(700));
    fixture.on(Documents::Remote(remote), worker)
}

/// The id, if the store accepted it.
async fn try_send(service: &Notifications, user: &str, name: &str) -> Option<String> {
    let body = of_type(user, "SECURITY_NEW_DEVICE", name);
    match service.enqueue(&body, Some(&format!("caller\n{name}"))).await {
        Ok(accepted) => accepted[0].id.clone(),
        Err(error) => {
            assert!(matches!(error, ServiceError::Unavailable(_)), "{error:?}");
            None
        }
    }
}

/// One per user, with the same key until it is accepted.
async fn send(service: &Notifications, name: &str) -> Vec<(String, String)> {
    let mut sent = Vec::new();
    for user in 0..USERS {
        let user = format!("u-{user}");
        let id = loop {
            if let Some(id) = try_send(service, &user, name).await {
                break id;
            }
        };
        sent.push((user, id));
    }
    sent
}

/// Until all have ended; leases of interrupted work expire meanwhile.
async fn over(fixture: &Fixture, sent: &[(String, String)]) {
    let until = Instant::now() + DEADLINE;
    for (user, id) in sent {
        while fixture.event(user, id).await.processed_at.is_none() {
            assert!(Instant::now() < until, "K1: {:?}", fixture.event(user, id).await);
            fixture.advance(5);
            fixture.service.wake();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_store_that_is_killed_and_comes_back_loses_nothing() {
    let place = Place::server();
    let mut fixture = place.fixture().await;
    let Place::Server(server) = &place else { panic!("it is a server") };
    let proxy = Proxy::to(server.port(), 1).await;
    for user in 0..USERS {
        fixture.register(&format!("u-{user}"), &format!("phone-{user}")).await;
    }
    let (stop, _) = watch::channel(false);
    let workers: Vec<Notifications> =
        (0..2).map(|at| by(&fixture, &proxy, &format!("worker-{at}"))).collect();
    let mut running = tokio::task::JoinSet::new();
    for worker in &workers {
        while worker.ensure().await.is_err() {}
        let (worker, mut stopped) = (worker.clone(), stop.subscribe());
        running.spawn(async move {
            dispatch::run(&worker, async { drop(stopped.wait_for(|is| *is).await) }).await;
        });
    }
    let mut sent = Vec::new();
    for round in 0..3 {
        sent.extend(send(&workers[0], &format!("before-{round}")).await);
        server.kill();
        let taken = try_send(&workers[1], "u-0", &format!("meanwhile-{round}")).await;
        assert_eq!(taken, None, "nothing is taken that is not stored");
        server.restart();
        proxy.lead_to(server.port());
        // A client without a response asks again with the same key.
        sent.extend(send(&workers[1], &format!("meanwhile-{round}")).await);
        fixture.reopen();
    }
    over(&fixture, &sent).await;
    stop.send(true).unwrap();
    running.join_all().await;
    for (user, id) in &sent {
        let event = fixture.event(user, id).await;
        assert_eq!(event.outcome.as_deref(), Some("delivered"), "K1: {event:?}");
    }
    for user in 0..USERS {
        let user = format!("u-{user}");
        assert_eq!((fixture.events(&user).await.len(), fixture.notifications(&user).await.len()), (6, 6));
    }
    let pushes = fixture.phones.pushes();
    let distinct: HashSet<&str> = pushes.iter().map(|push| push.collapse_id.as_str()).collect();
    assert_eq!(distinct.len(), sent.len(), "K6: each has arrived");
    // Messages at the provider when the store was killed may arrive again; no others.
    assert!(pushes.len() <= sent.len() + 3 * USERS, "{} pushes of {}", pushes.len(), sent.len());
}
