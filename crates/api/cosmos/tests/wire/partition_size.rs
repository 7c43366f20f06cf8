//! A logical partition that is full (S1-45, wire guide §23).

use crate::call::Call;
use crate::world::{ITEMS, World};
use orrery_core::{Env, Timestamp};
use orrery_documents::spaces::SPACES;
use orrery_kv::MemoryEngine;

#[tokio::test]
async fn a_full_partition_is_forbidden_1014_and_others_go_on() {
    let env = Env::seeded(Timestamp::from_seconds(1_800_000_000), 7);
    let world = World::bounded(MemoryEngine::new(&SPACES), env, 100);
    world.make_container().await;
    world.made(Call::post(ITEMS, r#"{"id":"a","pk":"p","t":"012345678901234567890123456789"}"#)).await;
    let more = Call::post(ITEMS, r#"{"id":"b","pk":"p","email":"b","t":"012345678901234567890123456789"}"#);
    world.refused(more, (403, 1014), "Partition key reached maximum size").await;
    world.made(Call::post(ITEMS, r#"{"id":"b","pk":"q","t":"012345678901234567890123456789"}"#)).await;
}
