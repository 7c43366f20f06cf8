//! Push rate limits (B-3, C-42): anything over the limit is in-app only.

use crate::fixture::{like, of_type};
use crate::place::Place;
use orrery_notifications::records::Status;

pub async fn the_twenty_fifth_of_an_hour_is_in_app_only(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    for at in 0..25 {
        fixture.send(like("u", "Noor", &format!("post-{at}"), None)).await;
        fixture.settle().await;
        fixture.advance(60);
    }
    assert_eq!((fixture.notifications("u").await.len(), fixture.phones.pushes().len()), (25, 24));
    let limited =
        fixture.events("u").await.into_iter().filter(|event| event["status"] == "RATE_LIMITED").count();
    assert_eq!(limited, 1);
    // Other users are not affected, and an alarm is sent (S2-86).
    let alarm = fixture.send(of_type("u", "SECURITY_PASSWORD_CHANGED", "u")).await;
    fixture.settle().await;
    assert_eq!(fixture.status("u", &alarm).await, (Status::Completed, Some("delivered".to_owned())));
    // After an hour, the first ones no longer count.
    fixture.advance(40 * 60);
    let later = fixture.send(like("u", "Noor", "post-99", None)).await;
    fixture.settle().await;
    assert_eq!(fixture.status("u", &later).await.1.as_deref(), Some("delivered"));
}

pub async fn all_of_one_look_are_counted_too(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    for at in 0..30 {
        fixture.send(like("u", "Noor", &format!("post-{at}"), None)).await;
    }
    fixture.settle().await;
    assert_eq!((fixture.notifications("u").await.len(), fixture.phones.pushes().len()), (30, 24));
}

pub async fn the_third_promotion_of_a_day_is_in_app_only(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    let mut last = String::new();
    for at in 0..3 {
        last = fixture.send(of_type("u", "MARKETING_PROMOTION", &format!("offer-{at}"))).await;
        fixture.settle().await;
        fixture.advance(3_600);
    }
    assert_eq!(fixture.status("u", &last).await.0, Status::RateLimited);
    assert_eq!((fixture.notifications("u").await.len(), fixture.phones.pushes().len()), (3, 2));
}

/// C-42: four about one target within a quarter of an hour.
pub async fn one_target_has_a_limit_of_its_own(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    for _ in 0..5 {
        fixture.send(like("u", "Noor", "post-42", None)).await;
        fixture.settle().await;
    }
    assert_eq!((fixture.notifications("u").await.len(), fixture.phones.pushes().len()), (5, 4));
}
