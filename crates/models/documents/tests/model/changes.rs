//! The change feed: what it tells is what happened, in order, once, at any size of pages.

use crate::audit::audit;
use crate::changes_model::{Diary, PARTITIONS, Step, Told, key_of, steps};
use crate::world::{START, World, epk, target};
use orrery_catalog::Container;
use orrery_core::limits::PAGE_BYTES_MAX;
use orrery_core::{Lsn, Timestamp};
use orrery_documents::changes::{self, Change, Changes, NotRetained, Start, Version};
use orrery_documents::item::{FeedScope, ItemRow, Preconditions};
use orrery_documents::limits;
use orrery_documents::spaces::LOG;
use orrery_keys::{Epk, prefix_range};
use orrery_kv::{Engine, LogRecord, Order, Put, Read, Sync};
use orrery_query::execute::Limits;
use orrery_value::Value;
use proptest::prelude::*;

const ALL: Limits = Limits { items: 1000, bytes: PAGE_BYTES_MAX };
const ALWAYS: Preconditions = Preconditions { if_match: None, if_none_match: None };

fn everything() -> FeedScope {
    FeedScope::Between(Epk::start(), Epk::end())
}

fn after(lsn: Lsn) -> Start {
    Start { after: lsn, since: None }
}

fn latest(
    world: &World,
    container: &Container,
    scope: &FeedScope,
    start: Start,
    page: Limits,
) -> Changes<ItemRow> {
    changes::latest(&world.snapshot(), container, scope, start, page, world.now()).unwrap()
}

/// All pages from a start on; each ends where a commit does and has no more than it must.
fn walk(
    world: &World,
    container: &Container,
    scope: &FeedScope,
    start: Start,
    items: usize,
) -> Vec<(Lsn, String)> {
    let (mut start, mut found) = (start, Vec::new());
    loop {
        let page = latest(world, container, scope, start, Limits { items, ..ALL });
        let shown: Vec<(Lsn, String)> =
            page.changes.iter().map(|item| (item.lsn(), item.text().to_owned())).collect();
        check_page(shown.iter().map(|(lsn, _)| *lsn).collect(), start.after, page.after, items);
        found.extend(shown);
        if !page.has_more {
            assert_eq!(page.after, world.db.tip().lsn);
            return found;
        }
        assert!(page.after > start.after, "a page goes on");
        start.after = page.after;
    }
}

fn check_page(lsns: Vec<Lsn>, before: Lsn, end: Lsn, items: usize) {
    assert!(
        lsns.is_sorted() && lsns.iter().all(|lsn| before < *lsn && *lsn <= end),
        "{before} {lsns:?} {end}"
    );
    // Without its last commit the page would have had room.
    let without_last = lsns.iter().filter(|lsn| Some(*lsn) != lsns.last()).count();
    assert!(without_last < items, "{lsns:?} in a page of {items}");
}

fn told(version: &Version) -> Told {
    let text = |item: &ItemRow| item.text().to_owned();
    Told {
        lsn: version.lsn,
        second: version.at.seconds(),
        n: version.id.parse().unwrap(),
        change: version.change,
        current: version.current.as_ref().map(text),
        previous: version.previous.as_ref().map(|item| (text(item), item.lsn())),
    }
}

fn versions(
    world: &World,
    container: &Container,
    scope: &FeedScope,
    after: Lsn,
    items: usize,
) -> Result<Vec<Told>, NotRetained> {
    let (mut after, mut found) = (after, Vec::new());
    loop {
        let limits = Limits { items, ..ALL };
        let page = changes::versions(&world.snapshot(), container, scope, after, limits, world.now())?;
        check_page(page.changes.iter().map(|version| version.lsn).collect(), after, page.after, items);
        found.extend(page.changes.iter().map(told));
        if !page.has_more {
            return Ok(found);
        }
        after = page.after;
    }
}

/// A scope of one partition said in both ways, or of all.
fn scope(container: &Container, partition: Option<u32>, is_bounds: bool) -> FeedScope {
    match partition {
        None => everything(),
        Some(n) if is_bounds => {
            let min = key_of(container, n);
            let mut max = min.clone();
            max.push(0);
            FeedScope::Between(Epk::from_bytes(&min).unwrap(), Epk::from_bytes(&max).unwrap())
        }
        Some(n) => FeedScope::Partition(epk(container, &n.to_string())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// S1-83.
    #[test]
    fn a_feed_tells_what_happened(
        steps in steps(), start in 0.0..1.0f64, items in 1usize..8,
        partition in prop::option::of(0..PARTITIONS), is_bounds in any::<bool>(),
    ) {
        let mut diary = Diary::new();
        steps.iter().for_each(|step| diary.step(step));
        let (world, container) = (&diary.world, &diary.container);
        let scope = scope(container, partition, is_bounds);
        let is_in = |n: u32| partition.is_none_or(|partition| n % PARTITIONS == partition);
        let begins = [Lsn(0), Lsn((diary.tip().0 as f64 * start) as u64), diary.tip()];
        for begin in begins {
            let found = walk(world, container, &scope, after(begin), items);
            prop_assert_eq!(found, diary.latest_after(begin, is_in), "after {}", begin);
            match versions(world, container, &scope, begin, items) {
                Ok(found) => prop_assert_eq!(found, diary.told_after(begin, is_in), "after {}", begin),
                Err(NotRetained::TooOld { minutes: 1 }) => {
                    let old = |told: &Told| told.lsn > begin && told.second + 60 < diary.second();
                    let gone = begin < changes::horizon(&*world.snapshot(), container.number()).unwrap();
                    prop_assert!(gone || diary.told.iter().any(old));
                }
                Err(error) => prop_assert!(false, "{error}"),
            }
        }
        audit(&*world.snapshot(), diary.tip());
        audit(&*world.restarted().snapshot(), diary.tip());
    }

    /// A reader beside writers: whenever it reads and however much, it has seen everything once in the end.
    #[test]
    fn a_reader_beside_writers_misses_nothing_and_sees_nothing_twice(
        early in steps(), steps in steps(), sizes in prop::collection::vec(1usize..4, 1..60),
    ) {
        let mut diary = Diary::new();
        early.iter().for_each(|step| diary.step(step));
        let begin = diary.tip();
        let (mut last, mut last_latest) = (begin, begin);
        let (mut seen, mut newest) = (Vec::new(), Vec::new());
        let steps = steps.iter().filter(|step| !matches!(step, Step::Trim));
        for (step, size) in steps.zip(sizes.iter().cycle()) {
            diary.step(step);
            let (world, container, page) = (&diary.world, &diary.container, Limits { items: *size, ..ALL });
            let snapshot = world.snapshot();
            let page_of = changes::versions(&snapshot, container, &everything(), last, page, world.now());
            // The clock passes a minute at most in steps without trimming, and the reader keeps up.
            let found = page_of.unwrap();
            last = found.after;
            seen.extend(found.changes.iter().map(told));
            let found = latest(world, container, &everything(), after(last_latest), page);
            last_latest = found.after;
            newest.extend(found.changes.iter().map(|item| (item.lsn(), item.text().to_owned())));
        }
        let (world, container) = (&diary.world, &diary.container);
        seen.extend(versions(world, container, &everything(), last, 1000).unwrap());
        prop_assert_eq!(&seen, &diary.told_after(begin, |_| true));
        newest.extend(walk(world, container, &everything(), after(last_latest), 1000));
        // Each version at most once and in order; and of what is there now, the newest.
        let lsns: Vec<Lsn> = newest.iter().map(|(lsn, _)| *lsn).collect();
        prop_assert!(lsns.is_sorted());
        for version in diary.latest_after(begin, |_| true) {
            prop_assert_eq!(newest.iter().filter(|seen| **seen == version).count(), 1, "{:?}", version);
        }
        let happened = |seen: &(Lsn, String)| {
            diary.told.iter().any(|told| told.lsn == seen.0 && told.current.as_ref() == Some(&seen.1))
        };
        prop_assert!(newest.iter().all(happened));
    }

    /// The clock may have been set back a little: a start at a time still misses nothing.
    #[test]
    fn a_start_at_a_time_has_every_later_change(steps in steps(), back in 0u64..20, items in 1usize..5) {
        let mut diary = Diary::new();
        steps.iter().for_each(|step| diary.step(step));
        let (world, container) = (&diary.world, &diary.container);
        let since = Timestamp::from_seconds(diary.second() - back);
        let begin = changes::position_at(&world.snapshot(), container.number(), since).unwrap();
        let start = Start { after: begin, since: Some(since) };
        let found = walk(world, container, &everything(), start, items);
        let of_time = |lsn: &Lsn| diary.told.iter().any(|told| told.lsn == *lsn && told.second >= since.seconds());
        let expected: Vec<_> =
            diary.latest_after(Lsn(0), |_| true).into_iter().filter(|(lsn, _)| of_time(lsn)).collect();
        prop_assert_eq!(found, expected);
    }
}

fn body(n: u32, text: &str) -> String {
    format!(r#"{{"id":"{n}","pk":{},"text":{text:?}}}"#, n % PARTITIONS)
}

#[test]
fn a_page_ends_before_its_number_of_bytes_but_has_one_commit() {
    let mut world = World::new();
    let container = world.container("");
    for n in 0..4 {
        world.create_all(&container, [body(2 * n, "x"), body(2 * n + 1, "x")]);
    }
    let commit = 2 * body(0, "x").len();
    for (bytes, expected) in [(1, 2), (commit, 2), (2 * commit - 1, 2), (2 * commit, 4), (1 << 20, 8)] {
        let limits = Limits { items: 1000, bytes };
        let page = latest(&world, &container, &everything(), after(Lsn(0)), limits);
        assert_eq!((page.changes.len(), page.has_more), (expected, expected < 8), "{bytes} bytes");
        let newest = world.db.tip().lsn;
        let before = changes::versions(
            &world.snapshot(),
            &container,
            &everything(),
            Lsn(newest.0 - 4),
            limits,
            world.now(),
        );
        assert_eq!(before.unwrap().changes.len(), expected, "{bytes} bytes");
    }
}

/// A container with so many items, then more changes of one of them than a page looks at, then one item of its own
/// partition; the range of that, the first commit with all items and how many changes there are.
fn busy(items: u64) -> (World, Container, FeedScope, Lsn, u64) {
    let mut world = World::new();
    let container = world.container("");
    world.create_all(&container, (0..items).map(|n| format!(r#"{{"id":"{n}","pk":{n}}}"#)));
    let (stream, first) = (u64::from(container.number()), world.db.tip().lsn);
    let (_, value) = world
        .snapshot()
        .range(LOG, &LogRecord::of_commit(stream, first), Order::Ascending)
        .next()
        .unwrap()
        .unwrap();
    let count = limits::CHANGE_FEED_ENTRIES_SCANNED_MAX as u64 + 1000;
    let put = |number: u64| {
        let key = LogRecord::of_commit(stream, Lsn(first.0 + number)).start.into();
        Put { space: LOG, key, value: Some(value.clone()) }
    };
    world.engine.write((1..=count).map(put).collect(), Sync::Data).unwrap();
    world.skip_commits(count);
    let newest = format!(r#"{{"id":"new","pk":{items}}}"#);
    world.create(&container, &newest).unwrap();
    let (min, max) = prefix_range(&epk(&container, &items.to_string()));
    (world, container, FeedScope::Between(min, max), first, count)
}

#[test]
fn a_page_that_finds_nothing_for_long_reads_the_items_if_they_are_not_too_many() {
    let (world, container, scope, _, _) = busy(limits::CHANGE_FEED_ITEMS_READ_MAX + 1);
    let page = latest(&world, &container, &scope, after(Lsn(0)), ALL);
    assert_eq!((page.changes.len(), page.has_more), (1, false));
    assert!(page.work.entries >= limits::CHANGE_FEED_ENTRIES_SCANNED_MAX && page.work.items > 0);
}

#[test]
fn with_more_items_it_ends_with_a_position_further_on() {
    let (world, container, scope, first, count) = busy(limits::CHANGE_FEED_ITEMS_READ_INSTEAD_MAX);
    let page = latest(&world, &container, &scope, after(Lsn(0)), ALL);
    assert!(page.changes.is_empty() && page.has_more);
    assert!(page.after > first && page.after < Lsn(first.0 + count), "{}", page.after);
    assert_eq!(walk(&world, &container, &scope, after(Lsn(0)), 10).len(), 1);
}

#[test]
fn few_items_with_a_long_log_are_read_themselves() {
    let mut world = World::new();
    let container = world.container("");
    for number in 0..100 {
        world.upsert(&container, &body(number % 2, &number.to_string()), ALWAYS).unwrap();
    }
    let page = latest(&world, &container, &everything(), after(Lsn(0)), ALL);
    assert_eq!((page.work.entries, page.work.items, page.changes.len()), (0, 2, 2));
    let hot = target(&container, "1", "1").epk;
    let (min, mut max) = (hot.as_bytes().to_vec(), hot.as_bytes().to_vec());
    *max.last_mut().unwrap() += 1;
    let point = FeedScope::Between(Epk::from_bytes(&min).unwrap(), Epk::from_bytes(&max).unwrap());
    for scope in [FeedScope::Partition(hot), point] {
        let page = latest(&world, &container, &scope, after(Lsn(0)), ALL);
        assert_eq!((page.work.entries, page.work.items, page.changes.len()), (0, 1, 1));
        let newest = page.after;
        let page = latest(&world, &container, &scope, after(Lsn(newest.0 - 1)), ALL);
        assert_eq!((page.work.entries, page.changes.len()), (1, 1), "a short log is gone along");
    }
}

#[test]
fn an_expired_item_is_not_shown_before_it_is_removed_either() {
    let mut world = World::new();
    let container = world.container(r#""defaultTtl":5"#);
    world.create(&container, &body(1, "x")).unwrap();
    let ids = |world: &World| latest(world, &container, &everything(), after(Lsn(0)), ALL).changes.len();
    world.at(4);
    assert_eq!(ids(&world), 1);
    world.at(5);
    assert_eq!(ids(&world), 0);
}

#[test]
fn retention_is_the_policys_or_seven_days() {
    let check = |policy: &str, kept_seconds: Option<u64>| {
        let mut world = World::new();
        let container = world.container(policy);
        world.create(&container, &body(1, "x")).unwrap();
        let begin = Lsn(world.db.tip().lsn.0 - 1);
        let all = |world: &World| versions(world, &container, &everything(), begin, 10);
        match kept_seconds {
            None => assert!(matches!(all(&world), Err(NotRetained::Off))),
            Some(seconds) => {
                world.at(seconds);
                assert_eq!(all(&world).unwrap().len(), 1);
                world.at(seconds + 1);
                assert!(matches!(all(&world), Err(NotRetained::TooOld { .. })), "{policy}");
                let newest = world.db.tip().lsn;
                assert_eq!(versions(&world, &container, &everything(), newest, 10).unwrap(), []);
            }
        }
    };
    check("", Some(7 * 86_400));
    check(r#""changeFeedPolicy":{"retentionDuration":10}"#, Some(600));
    check(r#""changeFeedPolicy":{"retentionDuration":0}"#, None);
}

#[test]
fn a_change_has_the_item_before_and_after_it_however_far_apart() {
    let mut world = World::new();
    let container = world.container("");
    world.create(&container, &body(1, "first")).unwrap();
    let begin = Lsn(world.db.tip().lsn.0 - 1);
    for number in 0..500 {
        world.upsert(&container, &body(4, &number.to_string()), ALWAYS).unwrap();
    }
    let place = target(&container, "1", "1");
    world.replace(&container, &place, &body(1, "second"), ALWAYS).unwrap();
    world.delete(&container, &place, ALWAYS).unwrap();
    let scope = FeedScope::Partition(place.epk);
    let of_one: Vec<Told> = versions(&world, &container, &scope, begin, 1).unwrap();
    let of_one: Vec<&Told> = of_one.iter().filter(|told| told.n == 1).collect();
    let text = |text: &Option<String>| {
        let value = Value::parse(text.as_deref().unwrap_or("{}")).unwrap();
        value.member("text").to_json()
    };
    let seen: Vec<_> = of_one
        .iter()
        .map(|told| (told.change, text(&told.current), text(&told.previous.clone().map(|(text, _)| text))))
        .collect();
    let none = Value::Undefined.to_json();
    let expected = [
        (Change::Create, "\"first\"".to_owned(), none.clone()),
        (Change::Replace, "\"second\"".to_owned(), "\"first\"".to_owned()),
        (Change::Delete, none, "\"second\"".to_owned()),
    ];
    assert_eq!(seen, expected);
    assert_eq!(of_one[1].previous.as_ref().unwrap().1, of_one[0].lsn);
    assert!(of_one[0].second >= START);
}

#[test]
fn the_feed_of_one_container_has_nothing_of_another() {
    let mut world = World::new();
    let (one, other) = (world.container(""), world.named_container("other", ""));
    world.create(&one, &body(1, "x")).unwrap();
    world.create(&other, &body(2, "x")).unwrap();
    assert_eq!(walk(&world, &one, &everything(), after(Lsn(0)), 10).len(), 1);
    assert_eq!(walk(&world, &other, &everything(), after(Lsn(0)), 10).len(), 1);
}
