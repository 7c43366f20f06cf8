//! Two concurrent dispatchers, and the loop that runs in a server.

use crate::fixture::like;
use crate::place::Place;
use orrery_notifications::dispatch::{self, Dispatcher};
use orrery_notifications::records::Status;
use std::collections::HashSet;
use tokio::sync::oneshot;

/// S2-73: no event is processed twice.
pub async fn two_dispatchers_share_the_work_and_push_each_event_once(place: &Place) {
    let fixture = place.fixture().await;
    let mut sent = Vec::new();
    for user in 0..20 {
        let user = format!("u-{user}");
        fixture.register(&user, &format!("phone-{user}")).await;
        for at in 0..5 {
            let id = fixture.send(like(&user, "Noor", &format!("post-{at}"), None)).await;
            sent.push((user.clone(), id));
        }
    }
    let second = fixture.another("worker-2").await;
    let (one, two) = (fixture.service.clone(), second.clone());
    let rounds = tokio::join!(
        tokio::spawn(async move { crate::fixture::settle(&one).await }),
        tokio::spawn(async move { crate::fixture::settle(&two).await }),
    );
    rounds.0.unwrap();
    rounds.1.unwrap();
    for (user, id) in &sent {
        let event = fixture.event(user, id).await;
        assert_eq!((event.status, event.lease_epoch, event.attempts.len()), (Status::Completed, 1, 1));
    }
    let pushes = fixture.phones.pushes();
    let distinct: HashSet<&str> = pushes.iter().map(|push| push.collapse_id.as_str()).collect();
    assert_eq!((pushes.len(), distinct.len()), (sent.len(), sent.len()));
}

/// The loop finds events enqueued while it runs, finishes its work, and does nothing before the containers
/// exist.
pub async fn a_running_dispatcher_is_woken_by_what_comes_in(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    let (stop, stopped) = oneshot::channel::<()>();
    let service = fixture.service.clone();
    let running = tokio::spawn(async move {
        dispatch::run(&service, async {
            let _ = stopped.await;
        })
        .await;
    });
    let mut watch = fixture.service.watch("u");
    for at in 0..10 {
        fixture.send(like("u", "Noor", &format!("post-{at}"), None)).await;
    }
    while fixture.notifications("u").await.len() < 10 {
        watch.changed().await.unwrap();
    }
    stop.send(()).unwrap();
    running.await.unwrap();
    fixture.settle().await;
    assert_eq!(fixture.phones.pushes().len(), 10);
}

pub async fn a_look_of_several_pages_comes_to_everybody(place: &Place) {
    let fixture = place.fixture().await;
    for user in 0..30 {
        fixture.send(like(&format!("u-{user}"), "Noor", "post-1", None)).await;
    }
    let options = dispatch::Options { claim_max: 10, users_at_once: 3, ..dispatch::Options::default() };
    let dispatcher = Dispatcher::new(&fixture.service, options);
    let mut rounds = Vec::new();
    for _ in 0..2 {
        let round = dispatcher.round().await.unwrap();
        rounds.push((round.claimed, round.processed));
    }
    assert_eq!(rounds, [(30, 30), (0, 0)]);
}
