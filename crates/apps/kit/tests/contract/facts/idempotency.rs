//! Idempotency keys.

use crate::world::{OWN, World};
use orrery_kit::idempotency::{Begun, Key, begin, finish, hash};
use serde_json::json;

pub async fn a_repeated_request_is_answered_as_it_was(world: &World) {
    let (body, other) = (hash(&[b"body"]), hash(&[b"other"]));
    // A key is the caller's text, whatever is in it.
    let key = Key { container: OWN, partition: "caller", key: "k/1#é?", body_hash: &body };
    let documents = &world.documents;
    assert_eq!(begin(documents, &key, None).await, Ok(Begun::First));
    assert_eq!(begin(documents, &key, None).await, Ok(Begun::Unfinished), "a crash lies between");
    finish(documents, &key, json!({"status": 202})).await.unwrap();
    assert_eq!(begin(documents, &key, None).await, Ok(Begun::Repeated(json!({"status": 202}))));
    assert_eq!(begin(documents, &Key { body_hash: &other, ..key }, None).await, Ok(Begun::Different));
    assert_eq!(begin(documents, &Key { partition: "another", ..key }, None).await, Ok(Begun::First));
    let planned = Key { key: "k2", ..key };
    assert_eq!(begin(documents, &planned, Some(json!(1))).await, Ok(Begun::First));
    assert_eq!(begin(documents, &planned, Some(json!(2))).await, Ok(Begun::Repeated(json!(1))));
}

pub async fn of_twins_one_is_first_and_the_first_answer_stays(world: &World) {
    let tasks: Vec<_> = (0..8)
        .map(|twin| {
            let documents = world.documents.clone();
            tokio::spawn(async move {
                let key = Key { container: OWN, partition: "caller", key: "k", body_hash: "b" };
                let begun = begin(&documents, &key, None).await.unwrap();
                finish(&documents, &key, json!(twin)).await.unwrap();
                begun
            })
        })
        .collect();
    let mut first = 0;
    for task in tasks {
        first += usize::from(task.await.unwrap() == Begun::First);
    }
    assert_eq!(first, 1);
    let key = Key { container: OWN, partition: "caller", key: "k", body_hash: "b" };
    let Ok(Begun::Repeated(answer)) = begin(&world.documents, &key, None).await else { panic!("no answer") };
    finish(&world.documents, &key, json!("late")).await.unwrap();
    assert_eq!(begin(&world.documents, &key, None).await, Ok(Begun::Repeated(answer)));
}
