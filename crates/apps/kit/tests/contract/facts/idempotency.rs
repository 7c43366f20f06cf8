//! Idempotency keys.

use crate::fixture::{Fixture, OWN};
use orrery_kit::idempotency::{Begun, Key, Records, Unanswered, hash};
use serde_json::{Value, json};
use std::collections::HashSet;

fn records(fixture: &Fixture) -> Records<'_> {
    Records { documents: &fixture.documents, container: OWN }
}

async fn first(fixture: &Fixture, key: &Key<'_>) -> Unanswered {
    match records(fixture).begin(key, None).await {
        Ok(Begun::First(begun)) => begun,
        other => panic!("{other:?}"),
    }
}

pub async fn a_repeated_request_gets_the_first_response(fixture: &Fixture) {
    let (body, other) = (hash(&[b"body"]), hash(&[b"other"]));
    // A key is arbitrary text.
    let key = Key { caller: "caller", key: "k/1#é?", body_hash: &body };
    let records = records(fixture);
    let begun = first(fixture, &key).await;
    let again = records.begin(&key, None).await;
    assert_eq!(again, Ok(Begun::Unfinished(begun.clone())), "a crash lies between");
    records.finish(&key, begun, &json!({"status": 202})).await.unwrap();
    assert_eq!(records.begin(&key, None).await, Ok(Begun::Repeated(json!({"status": 202}))));
    assert_eq!(records.begin(&Key { body_hash: &other, ..key }, None).await, Ok(Begun::Different));
    first(fixture, &Key { caller: "another", ..key }).await;
    let planned = Key { key: "k2", ..key };
    assert!(matches!(records.begin(&planned, Some(json!(1))).await, Ok(Begun::First(_))));
    assert_eq!(records.begin(&planned, Some(json!(2))).await, Ok(Begun::Repeated(json!(1))));
}

pub async fn of_concurrent_twins_the_first_response_stays(fixture: &Fixture) {
    let tasks: Vec<_> = (0..8)
        .map(|twin| {
            let documents = fixture.documents.clone();
            tokio::spawn(async move {
                let records = Records { documents: &documents, container: OWN };
                let key = Key { caller: "caller", key: "k", body_hash: "b" };
                let begun = records.begin(&key, None).await.unwrap();
                match &begun {
                    Begun::First(unanswered) | Begun::Unfinished(unanswered) => {
                        records.finish(&key, unanswered.clone(), &json!(twin)).await.unwrap();
                    }
                    Begun::Repeated(_) => {}
                    Begun::Different => panic!("the same"),
                }
                begun
            })
        })
        .collect();
    let (mut first, mut late) = (0, None);
    for task in tasks {
        match task.await.unwrap() {
            Begun::First(unanswered) => {
                first += 1;
                late = Some(unanswered);
            }
            Begun::Unfinished(_) | Begun::Repeated(_) | Begun::Different => {}
        }
    }
    assert_eq!(first, 1);
    let key = Key { caller: "caller", key: "k", body_hash: "b" };
    let Ok(Begun::Repeated(answer)) = records(fixture).begin(&key, None).await else { panic!("no answer") };
    records(fixture).finish(&key, late.unwrap(), &json!("late")).await.unwrap();
    assert_eq!(records(fixture).begin(&key, None).await, Ok(Begun::Repeated(answer)));
}

/// One caller with many keys, such as everyone who uses the account key, is not one hot partition.
pub async fn each_key_has_a_partition_of_its_own(fixture: &Fixture) {
    for caller in ["a", "b"] {
        for key in ["k", "l", "m"] {
            first(fixture, &Key { caller, key, body_hash: "b" }).await;
        }
    }
    let records = fixture.documents.changes(OWN, None, None, 100).await.unwrap().items;
    let partitions: HashSet<&str> =
        records.iter().filter_map(|record| record["partition"].as_str()).collect();
    assert_eq!((records.len(), partitions.len()), (6, 6), "{:?}", Value::from(records.clone()));
}
