//! Waiting for a commit that is not durable yet, and the newest commit of each range.

use crate::gate::Gate;
use crate::shop::{Shop, prepared};
use orrery_core::Lsn;
use orrery_kv::Sync;
use std::time::Duration;

fn reaches(shop: &Shop, lsn: Lsn, within: Duration) -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(shop.store.wait_until_durable(lsn, within))
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_waiter_continues_when_its_commit_is_durable() {
    let gate = Gate::new();
    let shop = Shop::new(gate.clone(), Sync::Data, 1);
    let container = shop.create_container("c", None);
    let a = prepared(&container, r#"{"id":"a","pk":"p"}"#);
    let next = Lsn(shop.store.durable_lsn().0 + 1);
    let arrivals = gate.written();
    gate.shut();
    std::thread::scope(|threads| {
        threads.spawn(|| shop.create(&container, &a).unwrap());
        gate.wait_for_arrivals(arrivals + 1);
        // It is queued, and told of: but not to who reads what is durable.
        let (range, durable) = (container.ranges().leaves()[0].id, shop.store.durable_lsn());
        assert_eq!(shop.store.range_lsn(container.number(), range, Lsn(99)), next);
        assert!(shop.store.range_lsn(container.number(), range, durable) < next);
        assert!(!reaches(&shop, next, Duration::from_millis(1)), "not while the disk takes its time");
        let waiting = threads.spawn(|| reaches(&shop, next, LONG));
        gate.open();
        assert!(waiting.join().unwrap());
    });
    assert!(shop.store.durable_lsn() >= next);
    assert!(reaches(&shop, next, Duration::ZERO), "what is durable is not waited for");
}
