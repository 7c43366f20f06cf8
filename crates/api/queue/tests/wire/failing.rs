//! A disk that fails: clients are told to come back, and nothing is half done.

use crate::call::Call;
use crate::world::World;
use orrery_kv::Fault;

#[tokio::test]
async fn a_write_that_fails_is_told_as_busy_and_is_not_there() {
    let world = World::new().await;
    world.answered(201, Call::send("/turns/messages", "a")).await;
    world.engine.fail_at(0, Fault::BeforeWrite);
    world.refused(Call::send("/turns/messages", "b"), 503, "ServerBusy").await;
    world.engine.fail_at(0, Fault::BeforeWrite);
    world.refused(Call::get("/turns/messages"), 503, "ServerBusy").await;
    assert_eq!(world.texts(Call::get("/turns/messages?numofmessages=32")).await, ["a"]);
}
