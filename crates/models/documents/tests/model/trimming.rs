//! Trimming: the log forgets what no feed can show, and nothing else.

use crate::audit::audit;
use crate::changes_model::trim;
use crate::world::{World, prepared, target};
use orrery_catalog::Container;
use orrery_catalog::change_log;
use orrery_core::Lsn;
use orrery_documents::changes;
use orrery_documents::item::{self, Preconditions};
use orrery_documents::limits;
use orrery_documents::spaces::{DOCUMENTS, INDEX, LOG, OVERFLOW};
use orrery_documents::{row, sweep};
use orrery_kv::limits::LOG_VERIFY_COMMITS;
use orrery_kv::{Engine, KeyRange, LogRecord, META, Order, Put, Read, Sync};

const ALWAYS: Preconditions = Preconditions { if_match: None, if_none_match: None };
const DAY: u64 = 86_400;

fn log(world: &World, container: &Container) -> Vec<LogRecord> {
    let range = LogRecord::range(change_log::stream(container.number()), Lsn(0));
    let snapshot = world.snapshot();
    let rows = snapshot.range(LOG, &range, Order::Ascending);
    rows.map(|row| LogRecord::read(&row.unwrap()).unwrap()).collect()
}

fn index_rows(world: &World) -> usize {
    world.snapshot().range(INDEX, &KeyRange::all(), Order::Ascending).count()
}

fn text_rows(world: &World) -> usize {
    world.snapshot().range(OVERFLOW, &KeyRange::all(), Order::Ascending).count()
}

fn body(id: &str, number: u64) -> String {
    format!(r#"{{"id":"{id}","pk":1,"n":{number}}}"#)
}

/// One whose text lies apart.
fn large_body(id: &str, number: u64) -> String {
    let much = "x".repeat(limits::TEXT_APART_BYTES_MIN);
    format!(r#"{{"id":"{id}","pk":1,"n":{number},"much":"{much}"}}"#)
}

/// So many commits elsewhere that none of the container's is verified at start any more.
fn leave_behind(world: &mut World) {
    world.skip_commits(LOG_VERIFY_COMMITS + 1);
    world.edit(|txn| txn.put(META, vec![7], Vec::new()));
}

#[test]
fn an_item_that_is_written_for_ever_has_a_log_that_does_not_grow() {
    let mut world = World::new();
    let container = world.container("");
    world.create(&container, &body("other", 0)).unwrap();
    let mut sizes = Vec::new();
    for week in 0..20 {
        for number in 0..50 {
            world.at(week * 8 * DAY + number);
            world.upsert(&container, &body("hot", number), ALWAYS).unwrap();
            world.upsert(&container, &large_body("large", number), ALWAYS).unwrap();
        }
        leave_behind(&mut world);
        trim(&mut world, &container);
        audit(&*world.snapshot(), world.db.tip().lsn);
        sizes.push((log(&world, &container).len(), index_rows(&world), text_rows(&world)));
    }
    assert!(sizes[2..].windows(2).all(|pair| pair[0] == pair[1]), "{sizes:?}");
    assert!(sizes[19].0 <= 1 + 2 + 100, "{sizes:?}");
    assert!(sizes[19].2 <= 1 + 50, "{sizes:?}");
}

#[test]
fn an_item_that_is_written_less_often_than_trimmed_leaves_one_entry() {
    let mut world = World::new();
    let container = world.container("");
    for round in 0..10 {
        world.at(round * 8 * DAY);
        world.upsert(&container, &body("slow", round), ALWAYS).unwrap();
        world.upsert(&container, &body(&format!("new{round}"), 0), ALWAYS).unwrap();
        leave_behind(&mut world);
        world.at(round * 8 * DAY + 8 * DAY - 1);
        trim(&mut world, &container);
        audit(&*world.snapshot(), world.db.tip().lsn);
        // The newest entry is kept as it is, and whatever the horizon has not passed with it.
        assert!(log(&world, &container).len() <= 2 + round as usize + 1, "round {round}");
    }
}

#[test]
fn what_is_left_of_an_item_that_stays_is_bare() {
    let mut world = World::new();
    let container = world.container("");
    world.create(&container, &body("a", 0)).unwrap();
    world.upsert(&container, &body("a", 1), ALWAYS).unwrap();
    world.create(&container, &body("gone", 0)).unwrap();
    world.delete(&container, &target(&container, "1", "gone"), ALWAYS).unwrap();
    world.create(&container, &body("last", 0)).unwrap();
    let before: usize = log(&world, &container).iter().map(|record| record.payload.len()).sum();
    leave_behind(&mut world);
    world.at(8 * DAY);
    assert!(trim(&mut world, &container) > 0);
    let left = log(&world, &container);
    assert_eq!(left.len(), 2, "the last change of a, and the newest of all");
    assert!(left.iter().map(|record| record.payload.len()).sum::<usize>() < before / 2);
    audit(&*world.snapshot(), world.db.tip().lsn);
    assert_eq!(trim(&mut world, &container), 0);
}

#[test]
fn the_newest_entry_stays_even_of_an_item_that_is_gone() {
    let mut world = World::new();
    let container = world.container("");
    world.create(&container, &body("a", 0)).unwrap();
    world.delete(&container, &target(&container, "1", "a"), ALWAYS).unwrap();
    let newest = world.db.tip().lsn;
    leave_behind(&mut world);
    world.at(8 * DAY);
    trim(&mut world, &container);
    let left: Vec<Lsn> = log(&world, &container).iter().map(|record| record.lsn).collect();
    assert_eq!(left, [newest], "the next entry is linked to it");
    assert_eq!(trim(&mut world, &container), 0);
}

/// What builds before this one wrote: the text in the row, however large it is.
#[test]
fn a_large_text_inside_its_row_is_read_replaced_shown_and_forgotten() {
    const TEXT_AT: usize = 50;
    let mut world = World::new();
    let container = world.container("");
    let place = target(&container, "1", "old");
    let old = large_body("old", 0);
    world.create(&container, &old).unwrap();
    let key = row::Row::Item { container: container.number(), epk: place.epk.as_bytes(), id: "old" }.key();
    let (head, text) = {
        let snapshot = world.snapshot();
        let head = snapshot.get(DOCUMENTS, &key).unwrap().unwrap();
        let text = snapshot.range(OVERFLOW, &KeyRange::all(), Order::Ascending).next().unwrap().unwrap();
        (head, text)
    };
    let mut inside = [&head[..TEXT_AT], &text.1].concat();
    inside[0] = 1;
    world.edit(|txn| {
        txn.put(DOCUMENTS, key, inside);
        txn.delete(OVERFLOW, text.0);
    });
    audit(&*world.snapshot(), world.db.tip().lsn);
    assert_eq!(world.read(&container, &place).unwrap().text(), old);
    let before = world.snapshot().lsn();
    world.replace(&container, &place, &large_body("old", 1), ALWAYS).unwrap();
    world.create(&container, &body("last", 0)).unwrap();
    audit(&*world.snapshot(), world.db.tip().lsn);
    let scope = item::FeedScope::Partition(place.epk.clone());
    let page = orrery_query::execute::Limits { items: 10, bytes: 1 << 20 };
    let shown =
        changes::versions(&world.snapshot(), &container, &scope, before, page, world.now()).unwrap().changes;
    assert_eq!(shown[0].previous.as_ref().unwrap().text(), old);
    assert_eq!(shown[0].current.as_ref().unwrap().text(), large_body("old", 1));
    leave_behind(&mut world);
    world.at(8 * DAY);
    trim(&mut world, &container);
    audit(&*world.snapshot(), world.db.tip().lsn);
    assert_eq!(text_rows(&world), 1, "the one that is there");
}

#[test]
fn nothing_young_and_nothing_that_opening_verifies_is_touched() {
    let mut world = World::new();
    let container = world.container("");
    for number in 0..5 {
        world.upsert(&container, &body("a", number), ALWAYS).unwrap();
    }
    world.at(8 * DAY);
    assert_eq!(trim(&mut world, &container), 0, "old, and verified when the store is opened");
    leave_behind(&mut world);
    world.at(7 * DAY - 1);
    assert_eq!(trim(&mut world, &container), 0, "not verified, and young");
    world.at(7 * DAY);
    assert!(trim(&mut world, &container) > 0);
}

#[test]
fn a_trimmed_store_opens_and_its_log_goes_on() {
    let mut world = World::new();
    let container = world.container("");
    for number in 0..5 {
        world.upsert(&container, &body("a", number), ALWAYS).unwrap();
    }
    leave_behind(&mut world);
    world.at(8 * DAY);
    trim(&mut world, &container);
    for number in 0..5 {
        world = world.restarted();
        world.upsert(&container, &body("b", number), ALWAYS).unwrap();
        audit(&*world.snapshot(), world.db.tip().lsn);
    }
    // A gap above what is trimmed is still damage.
    let records = log(&world, &container);
    let hole = records[records.len() - 2].key();
    world.engine.write(vec![Put { space: LOG, key: hole, value: None }], Sync::Data).unwrap();
    let reopened = orrery_kv::Db::open(Box::new(world.engine.crash(0)), Sync::Data);
    assert!(reopened.is_err_and(|error| error.to_string().contains("broken")), "a hole is found");
}

#[test]
fn a_step_is_bounded_and_the_next_goes_on() {
    let mut world = World::new();
    let container = world.container("");
    // A hundred changes of a hundred items in each commit.
    for round in 0..limits::LOG_TRIM_ENTRIES_MAX / 100 + 3 {
        let items: Vec<_> = (0..100)
            .map(|n| {
                (prepared(&container, &body(&n.to_string(), round as u64)), world.stamp(), world.ordinal())
            })
            .collect();
        let upsert = |txn: &mut orrery_kv::Txn<'_>| {
            let mut each = items.iter();
            each.try_for_each(|(item, stamp, ordinal)| {
                item::upsert(txn, &container, item, ALWAYS, *stamp, || *ordinal).map(drop)
            })
        };
        world.txn(upsert).unwrap();
    }
    let all = log(&world, &container).len();
    leave_behind(&mut world);
    world.at(8 * DAY);
    let first = changes::plan_trimming(&world.snapshot(), &container, world.now()).unwrap().unwrap();
    assert!(first.rows() <= 4 * limits::LOG_TRIM_ENTRIES_MAX, "{} of {all}", first.rows());
    world.edit(|txn| changes::apply_trimming(txn, &container, &first));
    assert!(log(&world, &container).len() > 100);
    trim(&mut world, &container);
    assert_eq!(log(&world, &container).len(), 100, "the newest commit, which is kept");
}

#[test]
fn a_dropped_container_leaves_nothing_of_its_trimming() {
    let mut world = World::new();
    let container = world.container("");
    for number in 0..5 {
        world.upsert(&container, &body("a", number), ALWAYS).unwrap();
        world.upsert(&container, &large_body("b", number), ALWAYS).unwrap();
    }
    leave_behind(&mut world);
    world.at(8 * DAY);
    trim(&mut world, &container);
    let number = container.number();
    assert!(changes::horizon(&*world.snapshot(), number).unwrap() > Lsn(0));
    let delete = |txn: &mut orrery_kv::Txn<'_>| {
        orrery_catalog::delete_container(txn, crate::world::DATABASE, "c", ALWAYS)
    };
    world.txn(delete).unwrap();
    while world.txn(|txn| sweep::step(txn, number)).unwrap() != orrery_catalog::jobs::Step::Done {}
    assert_eq!(changes::horizon(&*world.snapshot(), number).unwrap(), Lsn(0));
    assert_eq!((log(&world, &container).len(), index_rows(&world), text_rows(&world)), (0, 0, 0));
}
