//! Leases: one holder at a time, and fencing.

use crate::fixture::{Fixture, OWN};
use orrery_kit::lease::Leases;
use serde_json::json;
use std::time::Duration;

const LENGTH: Duration = Duration::from_secs(30);

fn worker(fixture: &Fixture, name: &str) -> Leases {
    Leases::new(fixture.documents.clone(), OWN, fixture.env.clone(), name, LENGTH)
}

pub async fn one_of_many_contenders_gets_the_lease(fixture: &Fixture) {
    let tasks: Vec<_> = (0..16)
        .map(|name| {
            let leases = worker(fixture, &format!("w{name}"));
            tokio::spawn(async move { leases.acquire("job").await.unwrap() })
        })
        .collect();
    let mut taken = Vec::new();
    for task in tasks {
        taken.extend(task.await.unwrap());
    }
    assert_eq!((taken.len(), taken[0].epoch), (1, 1));
    assert!(worker(fixture, "late").acquire("job").await.unwrap().is_none());
    assert!(worker(fixture, "late").acquire("another job").await.unwrap().is_some());
}

pub async fn an_expired_lease_passes_on_and_fences_its_holder(fixture: &Fixture) {
    let (one, two) = (worker(fixture, "one"), worker(fixture, "two"));
    let mut first = one.acquire("job").await.unwrap().unwrap();
    fixture.advance(29);
    assert!(one.renew(&mut first).await.unwrap());
    fixture.advance(29);
    assert!(two.acquire("job").await.unwrap().is_none(), "it was renewed");
    fixture.advance(1);
    let mut second = two.acquire("job").await.unwrap().unwrap();
    assert!(second.epoch > first.epoch);
    assert!(!one.renew(&mut first).await.unwrap());
    assert!(!one.save(&mut first, json!("stale")).await.unwrap());
    one.release(first).await.unwrap();
    assert!(two.renew(&mut second).await.unwrap(), "who was overtaken cannot give it away");
    let seen = two.inspect("job").await.unwrap().unwrap();
    assert_eq!((seen.owner.as_str(), seen.epoch, seen.state), ("two", second.epoch, json!(null)));
}

pub async fn state_is_handed_over_and_a_released_lease_is_free(fixture: &Fixture) {
    let (one, two) = (worker(fixture, "one"), worker(fixture, "two"));
    let mut lease = one.acquire("job").await.unwrap().unwrap();
    assert!(one.save(&mut lease, json!({"cursor": 1})).await.unwrap());
    assert!(one.save(&mut lease, json!({"cursor": 2})).await.unwrap());
    assert!(one.renew_if_due(&mut lease).await.unwrap());
    one.release(lease).await.unwrap();
    let next = two.acquire("job").await.unwrap().unwrap();
    assert_eq!((next.epoch, &next.state), (2, &json!({"cursor": 2})));
}
