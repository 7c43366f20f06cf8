//! So many pushes a while (B-3, C-42): what is over the limit is in-app only.

use crate::place::Place;
use crate::world::{like, of_type};
use orrery_notifications::records::Status;

pub async fn the_twenty_fifth_of_an_hour_is_in_app_only(place: &Place) {
    let world = place.world().await;
    world.register("u", "phone").await;
    for at in 0..25 {
        world.send(like("u", "Noor", &format!("post-{at}"), None)).await;
        world.settle().await;
        world.advance(60);
    }
    assert_eq!((world.notifications("u").await.len(), world.phones.pushes().len()), (25, 24));
    let limited =
        world.events("u").await.into_iter().filter(|event| event["status"] == "RATE_LIMITED").count();
    assert_eq!(limited, 1);
    // Others are not touched by it, and an alarm goes out (S2-86).
    let alarm = world.send(of_type("u", "SECURITY_PASSWORD_CHANGED", "u")).await;
    world.settle().await;
    assert_eq!(world.status("u", &alarm).await, (Status::Completed, Some("delivered".to_owned())));
    // When the hour is over, the first are forgotten.
    world.advance(40 * 60);
    let later = world.send(like("u", "Noor", "post-99", None)).await;
    world.settle().await;
    assert_eq!(world.status("u", &later).await.1.as_deref(), Some("delivered"));
}

pub async fn all_of_one_look_are_counted_too(place: &Place) {
    let world = place.world().await;
    world.register("u", "phone").await;
    for at in 0..30 {
        world.send(like("u", "Noor", &format!("post-{at}"), None)).await;
    }
    world.settle().await;
    assert_eq!((world.notifications("u").await.len(), world.phones.pushes().len()), (30, 24));
}

pub async fn the_third_promotion_of_a_day_is_in_app_only(place: &Place) {
    let world = place.world().await;
    world.register("u", "phone").await;
    let mut last = String::new();
    for at in 0..3 {
        last = world.send(of_type("u", "MARKETING_PROMOTION", &format!("offer-{at}"))).await;
        world.settle().await;
        world.advance(3_600);
    }
    assert_eq!(world.status("u", &last).await.0, Status::RateLimited);
    assert_eq!((world.notifications("u").await.len(), world.phones.pushes().len()), (3, 2));
}

/// C-42: four about one target in a quarter of an hour.
pub async fn one_target_has_a_limit_of_its_own(place: &Place) {
    let world = place.world().await;
    world.register("u", "phone").await;
    for _ in 0..5 {
        world.send(like("u", "Noor", "post-42", None)).await;
        world.settle().await;
    }
    assert_eq!((world.notifications("u").await.len(), world.phones.pushes().len()), (5, 4));
}
