//! Numbers of items stay above all earlier ones, through transactions that came to nothing and through restarts.

use crate::shop::{Shop, prepared};
use orrery_documents::spaces::SPACES;
use orrery_kv::{MemoryEngine, Sync};

#[test]
fn numbers_drawn_in_vain_are_not_given_again_after_a_restart() {
    let engine = MemoryEngine::new(&SPACES);
    let first = Shop::new(engine.clone(), Sync::Data, 7);
    let container = first.create_container("c", None);
    // As failed batches do, which draw a number for each item that they would have made.
    let drawn = (0..300_000).fold(0, |_, _| first.store.next_ordinal());
    first.create(&container, &prepared(&container, r#"{"id":"a","pk":1}"#)).unwrap();
    let used = first.store.next_ordinal();
    assert!(used > drawn);
    first.store.close();
    let second = Shop::over(engine.crash(0), Sync::Data, first.store.env().clone());
    assert!(second.store.next_ordinal() > drawn + 1, "the item has one of the numbers up to there");
    second.audit();
    second.store.close();
}
