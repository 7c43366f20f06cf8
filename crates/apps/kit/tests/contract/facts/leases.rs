//! Leases: one holder at a time, and fencing.

use crate::world::{OWN, World};
use orrery_kit::lease::Leases;
use serde_json::json;
use std::time::Duration;

const LENGTH: Duration = Duration::from_secs(30);

fn worker(world: &World, name: &str) -> Leases {
    Leases::new(world.documents.clone(), OWN, world.env.clone(), name, LENGTH)
}

pub async fn of_many_that_try_one_has_it(world: &World) {
    let tasks: Vec<_> = (0..16)
        .map(|name| {
            let leases = worker(world, &format!("w{name}"));
            tokio::spawn(async move { leases.take("job").await.unwrap() })
        })
        .collect();
    let mut taken = Vec::new();
    for task in tasks {
        taken.extend(task.await.unwrap());
    }
    assert_eq!((taken.len(), taken[0].epoch), (1, 1));
    assert!(worker(world, "late").take("job").await.unwrap().is_none());
    assert!(worker(world, "late").take("another job").await.unwrap().is_some());
}

pub async fn a_lease_that_ran_out_goes_to_another_and_the_first_is_fenced(world: &World) {
    let (one, two) = (worker(world, "one"), worker(world, "two"));
    let mut first = one.take("job").await.unwrap().unwrap();
    world.advance(29);
    assert!(one.renew(&mut first).await.unwrap());
    world.advance(29);
    assert!(two.take("job").await.unwrap().is_none(), "it was renewed");
    world.advance(1);
    let mut second = two.take("job").await.unwrap().unwrap();
    assert!(second.epoch > first.epoch);
    assert!(!one.renew(&mut first).await.unwrap());
    assert!(!one.save(&mut first, json!("stale")).await.unwrap());
    one.release(first).await.unwrap();
    assert!(two.renew(&mut second).await.unwrap(), "who was overtaken cannot give it away");
    let seen = two.look("job").await.unwrap().unwrap();
    assert_eq!((seen.owner.as_str(), seen.epoch, seen.state), ("two", second.epoch, json!(null)));
}

pub async fn state_is_handed_over_and_a_released_lease_is_free(world: &World) {
    let (one, two) = (worker(world, "one"), worker(world, "two"));
    let mut lease = one.take("job").await.unwrap().unwrap();
    assert!(one.save(&mut lease, json!({"cursor": 1})).await.unwrap());
    assert!(one.save(&mut lease, json!({"cursor": 2})).await.unwrap());
    assert!(one.keep(&mut lease).await.unwrap());
    one.release(lease).await.unwrap();
    let next = two.take("job").await.unwrap().unwrap();
    assert_eq!((next.epoch, &next.state), (2, &json!({"cursor": 2})));
}
