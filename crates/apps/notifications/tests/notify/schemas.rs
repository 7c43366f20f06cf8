//! Everything that the service writes matches the schemas of the blueprint, which a deployment may enforce.

use crate::fixture::{Fixture, like, of_type};
use crate::place::Place;
use orrery_blueprint::{Variables, built_in, read};
use orrery_notifications::push::Outcome;
use orrery_notifications::service::List;
use serde_json::{Value, json};

/// Every container with every kind of item: all endings, marks, evictions, dead letters.
async fn with_everything(place: &Place) -> Fixture {
    let fixture = place.fixture().await;
    for device in ["a", "b", "c", "d"] {
        fixture.register("u", device).await;
    }
    fixture.service.patch_preferences("u", &json!({"categories": {"news": false}}), None).await.unwrap();
    for actor in ["A", "B"] {
        fixture.like("u", actor, Some("k")).await;
    }
    fixture.send(of_type("u", "NEWS_SYSTEM_UPDATE", "n")).await;
    for at in 0..5 {
        fixture.send(like("u", "C", "post-7", None)).await;
        fixture.settle().await;
        fixture.advance(at);
    }
    let listed = fixture.service.list("u", &List::default()).await.unwrap().items;
    fixture.service.read("u", &listed[0].id, None).await.unwrap();
    fixture.service.dismiss("u", &listed[1].id, None).await.unwrap();
    fixture
        .phones
        .answer(|_, _| Outcome::Refused { reason: "INVALID_ARGUMENT".to_owned(), status: Some(400) });
    fixture.send(of_type("u", "SECURITY_NEW_DEVICE", "u")).await;
    fixture.settle().await;
    let later = |_: &_, _: &_| Outcome::Later {
        after: None,
        reason: String::new(),
        status: None,
        may_have_arrived: true,
    };
    fixture.phones.answer(later);
    fixture.send(of_type("u", "SAFETY_ACCOUNT_WARNING", "u")).await;
    fixture.settle().await;
    let mut ahead = like("u", "D", "post-8", None);
    ahead["scheduledAt"] = json!("2026-11-20T10:00:00Z");
    fixture.send(ahead).await;
    fixture
}

pub async fn what_is_written_fits_the_schemas(place: &Place) {
    let fixture = with_everything(place).await;
    let source = built_in("asora-notifications").unwrap();
    let blueprints = read(&[source], &Variables::default()).unwrap_or_else(|trouble| panic!("{trouble}"));
    let mut kinds = Vec::new();
    for container in &blueprints[0].containers {
        let name = container.definition.name().as_str();
        let schema = &container.schema.as_ref().unwrap()["schema"];
        let validator = jsonschema::draft202012::new(schema).unwrap();
        for item in fixture.rows(name, None, "SELECT * FROM c").await {
            let errors: Vec<String> = validator.iter_errors(&item).map(|error| error.to_string()).collect();
            assert_eq!(errors, [""; 0], "{name}: {item}");
            kinds.push(format!("{name} {} {}", text(&item["kind"]), text(&item["status"])));
        }
    }
    kinds.sort();
    kinds.dedup();
    let statuses = ["COMPLETED", "DEDUPLICATED", "FAILED", "PENDING", "RATE_LIMITED"];
    let mut expected: Vec<String> =
        statuses.iter().map(|status| format!("notification_events - {status}")).collect();
    expected.extend([
        "device_tokens - -".to_owned(),
        "device_tokens guard -".to_owned(),
        "device_tokens outbox -".to_owned(),
        "notification_events aggregate -".to_owned(),
        "notification_events outbox -".to_owned(),
        "notification_preferences - -".to_owned(),
        "notifications - -".to_owned(),
        "notifications outbox -".to_owned(),
    ]);
    expected.sort();
    assert_eq!(kinds, expected);
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("-")
}
