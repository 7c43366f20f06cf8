//! How often one caller may ask, how much, and what is answered when nothing is there.

use crate::world::{ADMIN, As, World};
use http::Method;
use std::time::Duration;

const ANN: As = As::User("ann", &[]);
const PATH: &str = "/v1/users/ann/notifications/unread-count";

#[tokio::test]
async fn a_caller_over_its_rate_gets_a_retry_time_and_others_are_unaffected() {
    let world = World::with_rate(3);
    for left in ["2", "1", "0"] {
        let answer = world.get(&ANN, PATH).await;
        assert_eq!(answer.status, 200);
        assert_eq!((answer.header("x-ratelimit-limit"), answer.header("x-ratelimit-remaining")), ("3", left));
    }
    let refused = world.get(&ANN, PATH).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, "1"), "{refused:?}");
    assert_eq!(refused.header("x-ratelimit-remaining"), "0");
    assert_eq!(refused.header("content-type"), "application/problem+json");
    assert_eq!(world.get(&ADMIN, PATH).await.status, 200);
    world.env.advance(Duration::from_secs(1));
    assert_eq!(world.get(&ANN, PATH).await.status, 200);
}

#[tokio::test]
async fn a_missing_resource_is_a_problem() {
    let world = World::new();
    let check = async |method: Method, path: &str, status: u16| {
        let answer = world.call(&ADMIN, method, path, &[], "").await;
        assert_eq!(answer.status, status, "{path}: {answer:?}");
        assert_eq!(answer.header("content-type"), "application/problem+json");
        for member in ["type", "title", "detail", "instance"] {
            assert!(answer.body[member].as_str().is_some_and(|text| !text.is_empty()), "{member} of {path}");
        }
        assert_eq!((&answer.body["status"], &answer.body["instance"]), (&status.into(), &path.into()));
        answer
    };
    check(Method::GET, "/v1/notifications", 404).await;
    check(Method::GET, "/v1/users/ann/nothing", 404).await;
    let wrong = check(Method::DELETE, "/v1/notifications/events", 405).await;
    assert_eq!(wrong.header("allow"), "POST, GET");
    check(Method::GET, "/v1/users/%FF/notifications", 400).await;
}
