//! The change feed.

use crate::fixture::{Fixture, ITEMS, item, query};
use orrery_kit::ports::documents::{Cursor, StoreError, Write};
use serde_json::Value;
use std::collections::HashMap;

/// All changes since the cursor, and the new cursor.
async fn all(
    fixture: &Fixture,
    partition: Option<&str>,
    since: Option<Cursor>,
    size: usize,
) -> (Vec<Value>, Cursor) {
    let (mut items, mut since) = (Vec::new(), since);
    loop {
        let page = fixture.documents.changes(ITEMS, partition, since.as_ref(), size).await.unwrap();
        items.extend(page.items);
        if !page.has_more {
            return (items, page.next);
        }
        since = Some(page.next);
    }
}

/// The numbers in order of arrival, by partition.
fn by_partition(items: &[Value]) -> HashMap<String, Vec<i64>> {
    let mut found: HashMap<String, Vec<i64>> = HashMap::new();
    for item in items {
        let (partition, n) = (item["pk"].as_str().unwrap(), item["n"].as_i64().unwrap());
        found.entry(partition.to_owned()).or_default().push(n);
    }
    found
}

/// One writer for each of eight partitions, while a reader follows.
pub async fn every_change_is_seen_once_and_in_order_within_its_partition(fixture: &Fixture) {
    let writers: Vec<_> = (0..8)
        .map(|partition| {
            let fixture = fixture.clone();
            tokio::spawn(async move {
                let partition = format!("p{partition}");
                for n in 0..25 {
                    fixture.create(&partition, &format!("i{n}"), n).await;
                }
            })
        })
        .collect();
    let (mut seen, mut since) = (Vec::new(), None);
    let mut is_over = false;
    while !is_over {
        is_over = writers.iter().all(tokio::task::JoinHandle::is_finished);
        let (items, next) = all(fixture, None, since, 10).await;
        seen.extend(items);
        since = Some(next);
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let found = by_partition(&seen);
    assert_eq!((found.len(), seen.len()), (8, 200));
    for (partition, numbers) in found {
        assert_eq!(numbers, (0..25).collect::<Vec<_>>(), "{partition}");
    }
    let one = seen.first().unwrap();
    let read = fixture.read(one["pk"].as_str().unwrap(), one["id"].as_str().unwrap()).await.unwrap();
    assert_eq!(*one, read.value, "an item of the feed is what a read gives");

    // A changed item appears again in its current version; a delete does not show.
    let replace = Write::Replace { item: item("p1", "i3", 100), if_match: None };
    fixture.write("p1", replace).await.unwrap();
    fixture.write("p2", Write::Delete { id: "i3".to_owned(), if_match: None }).await.unwrap();
    let (items, _) = all(fixture, None, since, 10).await;
    assert_eq!(by_partition(&items), HashMap::from([("p1".to_owned(), vec![100])]));
    let (items, _) = all(fixture, None, None, 7).await;
    assert_eq!(items.len(), 199, "each once, from the beginning");
}

pub async fn a_partition_has_a_feed_of_its_own(fixture: &Fixture) {
    for (partition, n) in [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2)] {
        fixture.create(partition, &format!("i{n}"), n).await;
    }
    let (items, next) = all(fixture, Some("a"), None, 1).await;
    assert_eq!(by_partition(&items), HashMap::from([("a".to_owned(), vec![0, 1, 2])]));
    fixture.create("b", "i3", 3).await;
    fixture.create("a", "i3", 3).await;
    let (items, _) = all(fixture, Some("a"), Some(next), 10).await;
    assert_eq!(by_partition(&items), HashMap::from([("a".to_owned(), vec![3])]));
}

pub async fn nothing_new_is_an_empty_page_with_a_cursor(fixture: &Fixture) {
    let (items, first) = all(fixture, None, None, 10).await;
    assert!(items.is_empty());
    let (items, second) = all(fixture, None, Some(first), 10).await;
    assert!(items.is_empty());
    fixture.create("p", "a", 1).await;
    let (items, third) = all(fixture, None, Some(second.clone()), 10).await;
    assert_eq!(items.len(), 1);
    let (items, _) = all(fixture, None, Some(second), 10).await;
    assert_eq!(items.len(), 1, "an older cursor shows it again");
    assert!(all(fixture, None, Some(third), 10).await.0.is_empty());
    assert_eq!(fixture.rows(None, query("SELECT * FROM c", 0)).await.len(), 1);
}

pub async fn a_foreign_cursor_is_refused(fixture: &Fixture) {
    for text in ["", "x", "0:0", "99999:1", "1:99999999999", "e30"] {
        let outcome = fixture.documents.changes(ITEMS, None, Some(&Cursor(text.to_owned())), 10).await;
        assert!(matches!(outcome, Err(StoreError::Refused { status: 400, .. })), "{text}: {outcome:?}");
    }
}

/// Skips existing items without reading them; later changes are seen, of one partition and of all.
pub async fn the_end_of_changes_shows_only_later_changes(fixture: &Fixture) {
    let nothing = fixture.documents.end_of_changes(ITEMS, None).await.unwrap();
    for partition in ["a", "b", "c"] {
        fixture.create(partition, "before", 0).await;
    }
    assert_eq!(all(fixture, None, Some(nothing), 10).await.0.len(), 3);
    let of_all = fixture.documents.end_of_changes(ITEMS, None).await.unwrap();
    let of_one = fixture.documents.end_of_changes(ITEMS, Some("a")).await.unwrap();
    assert!(all(fixture, None, Some(of_all.clone()), 10).await.0.is_empty());
    assert!(all(fixture, Some("a"), Some(of_one.clone()), 10).await.0.is_empty());
    for (partition, n) in [("a", 1), ("b", 2), ("c", 3)] {
        fixture.create(partition, "after", n).await;
    }
    let (items, _) = all(fixture, None, Some(of_all), 10).await;
    let expected = [("a", 1), ("b", 2), ("c", 3)].map(|(partition, n)| (partition.to_owned(), vec![n]));
    assert_eq!(by_partition(&items), HashMap::from(expected));
    let (items, _) = all(fixture, Some("a"), Some(of_one), 10).await;
    assert_eq!(by_partition(&items), HashMap::from([("a".to_owned(), vec![1])]));
    let outcome = fixture.documents.end_of_changes("nothing", None).await;
    assert!(matches!(outcome, Err(StoreError::Refused { status: 404, .. })), "{outcome:?}");
}
