//! The in-app centre: listed, counted, read, dismissed, watched.

use crate::fixture::{Fixture, like, of_type};
use crate::place::Place;
use orrery_notifications::limits;
use orrery_notifications::records::Category;
use orrery_notifications::service::containers::NOTIFICATIONS;
use orrery_notifications::service::{List, ServiceError};
use serde_json::json;

/// This many notifications, a second apart.
async fn with(place: &Place, count: usize) -> Fixture {
    let fixture = place.fixture().await;
    for at in 0..count {
        fixture.send(like("u", "Noor", &format!("post-{at}"), None)).await;
        fixture.settle().await;
        fixture.advance(1);
    }
    fixture
}

async fn targets(fixture: &Fixture, list: &List) -> Vec<String> {
    let listed = fixture.service.list("u", list).await.unwrap();
    listed.items.iter().map(|one| one.target_id.clone().unwrap()).collect()
}

/// S2-25: newest first, twenty per page, and pages do not shift when a new one arrives.
pub async fn pages_are_newest_first_and_stay_as_they_are_while_more_arrives(place: &Place) {
    let fixture = with(place, 25).await;
    let first = fixture.service.list("u", &List::default()).await.unwrap();
    assert_eq!(first.items.len(), 20);
    assert_eq!(first.items[0].target_id.as_deref(), Some("post-24"));
    fixture.send(like("u", "Noor", "post-new", None)).await;
    fixture.settle().await;
    let rest = List { continuation: first.continuation, ..List::default() };
    let rest = targets(&fixture, &rest).await;
    assert_eq!(rest, ["post-4", "post-3", "post-2", "post-1", "post-0"]);
}

pub async fn a_list_is_narrowed_by_category_and_by_what_is_unread(place: &Place) {
    let fixture = with(place, 2).await;
    fixture.send(of_type("u", "SECURITY_NEW_DEVICE", "u")).await;
    fixture.settle().await;
    let of = |category| List { category: Some(category), ..List::default() };
    assert_eq!(targets(&fixture, &of(Category::Security)).await, ["u"]);
    assert_eq!(targets(&fixture, &of(Category::News)).await, [""; 0]);
    let listed = fixture.service.list("u", &List::default()).await.unwrap();
    fixture.service.read("u", &listed.items[0].id, None).await.unwrap();
    let unread = List { unread: true, ..List::default() };
    assert_eq!(targets(&fixture, &unread).await, ["post-1", "post-0"]);
    for limit in [0, limits::NOTIFICATION_LIST_MAX + 1] {
        let list = List { limit: Some(limit), ..List::default() };
        let refused = fixture.service.list("u", &list).await.unwrap_err();
        assert!(matches!(refused, ServiceError::Invalid { member, .. } if member == "limit"));
    }
}

/// K7, S2-84.
pub async fn the_count_of_unread_is_that_of_the_list_whatever_is_marked(place: &Place) {
    let fixture = with(place, 6).await;
    let listed = fixture.service.list("u", &List::default()).await.unwrap().items;
    let unread = async |expected: u64| {
        let list = List { limit: Some(100), ..List::default() };
        let listed = fixture.service.list("u", &list).await.unwrap().items;
        assert_eq!(listed.iter().filter(|one| !one.read).count() as u64, expected);
        assert_eq!(fixture.service.unread_count("u").await.unwrap(), expected);
    };
    unread(6).await;
    fixture.service.read("u", &listed[0].id, None).await.unwrap();
    unread(5).await;
    fixture.service.dismiss("u", &listed[1].id, None).await.unwrap();
    unread(4).await;
    fixture.service.dismiss("u", &listed[0].id, None).await.unwrap();
    unread(4).await;
    let before = listed[4].created_at.clone();
    assert_eq!(fixture.service.read_all("u", Some(&before)).await.unwrap(), 2);
    unread(2).await;
    assert_eq!(fixture.service.read_all("u", None).await.unwrap(), 2);
    unread(0).await;
    assert_eq!(fixture.service.read_all("u", None).await.unwrap(), 0);
}

/// S2-21.
pub async fn a_mark_that_is_set_again_keeps_its_first_time(place: &Place) {
    let fixture = with(place, 1).await;
    let id = fixture.service.list("u", &List::default()).await.unwrap().items[0].id.clone();
    let first = fixture.service.read("u", &id, None).await.unwrap();
    fixture.advance(60);
    let again = fixture.service.read("u", &id, None).await.unwrap();
    assert_eq!((again.value.read_at, &again.etag), (first.value.read_at, &first.etag));
    let dismissed = fixture.service.dismiss("u", &id, None).await.unwrap();
    fixture.advance(60);
    assert_eq!(fixture.service.dismiss("u", &id, None).await.unwrap().value, dismissed.value);
    assert_eq!(fixture.told(NOTIFICATIONS, "u").await, ["notification.dismissed", "notification.read"]);
    // C-36: the thirty days do not restart.
    assert_eq!(dismissed.value.ttl, limits::NOTIFICATION_KEPT_SECONDS - 61);
}

pub async fn a_mark_with_an_old_tag_is_answered_with_what_is_there(place: &Place) {
    let fixture = with(place, 1).await;
    let id = fixture.service.list("u", &List::default()).await.unwrap().items[0].id.clone();
    let read = fixture.service.read("u", &id, None).await.unwrap();
    let refused = fixture.service.dismiss("u", &id, Some("\"old\"")).await.unwrap_err();
    let ServiceError::Changed { current, etag } = refused else { panic!("{refused:?}") };
    assert_eq!((&current["read"], &etag), (&json!(true), &read.etag));
    assert!(fixture.service.dismiss("u", &id, Some(&etag)).await.unwrap().value.dismissed);
    let missing = fixture.service.read("u", "nothing", None).await.unwrap_err();
    assert!(matches!(missing, ServiceError::Missing(_)));
    let foreign = fixture.service.read("somebody else", &id, None).await.unwrap_err();
    assert!(matches!(foreign, ServiceError::Missing(_)));
}

pub async fn a_watcher_sees_each_change_and_goes_on_where_it_was(place: &Place) {
    let fixture = with(place, 2).await;
    let cursor = fixture.service.now_cursor("u").await.unwrap();
    assert_eq!(fixture.service.changes("u", Some(&cursor)).await.unwrap().items, [json!(null); 0]);
    let mut watch = fixture.service.watch("u");
    watch.mark_unchanged();
    fixture.send(like("u", "Ilse", "post-9", None)).await;
    fixture.settle().await;
    assert!(watch.has_changed().unwrap());
    let seen = fixture.service.changes("u", Some(&cursor)).await.unwrap();
    assert_eq!(seen.items.len(), 1);
    assert_eq!(seen.items[0]["targetId"], "post-9");
    watch.mark_unchanged();
    let id = seen.items[0]["id"].as_str().unwrap();
    fixture.service.read("u", id, None).await.unwrap();
    assert!(watch.has_changed().unwrap());
    let more = fixture.service.changes("u", Some(&seen.cursor)).await.unwrap();
    assert_eq!((more.items.len(), &more.items[0]["read"]), (1, &json!(true)));
    let refused = fixture.service.changes("u", Some("no cursor")).await.unwrap_err();
    assert!(matches!(refused, ServiceError::Invalid { member, .. } if member == "Last-Event-ID"));
}

/// Preferences: defaults without an item, tags, merge.
pub async fn preferences_begin_with_the_defaults_and_change_under_their_tag(place: &Place) {
    let fixture = place.fixture().await;
    let defaults = fixture.service.preferences("u").await.unwrap();
    assert_eq!((defaults.etag.as_str(), defaults.value.timezone.as_str()), ("", "UTC"));
    assert!(defaults.value.categories.marketing, "C-44");
    let patch = json!({"categories": {"marketing": false}});
    let first = fixture.service.patch_preferences("u", &patch, None).await.unwrap();
    assert!(!first.value.categories.marketing && first.value.categories.social);
    let zone = json!({"timezone": "Asia/Kolkata"});
    let second = fixture.service.patch_preferences("u", &zone, Some(&first.etag)).await.unwrap();
    assert!(!second.value.categories.marketing, "what is left out stays");
    let refused = fixture.service.patch_preferences("u", &zone, Some(&first.etag)).await.unwrap_err();
    assert!(matches!(refused, ServiceError::Changed { etag, .. } if etag == second.etag));
    let all = fixture.service.put_preferences("u", &zone, Some("*")).await.unwrap();
    assert!(all.value.categories.marketing, "what is left out is as it is by default");
    for (body, named) in [
        (json!({"timezone": "Mars/Olympus"}), "timezone"),
        (json!({"quietHours": vec![true; 23]}), "quietHours"),
        (json!({"quietHours": vec![true; 25]}), "quietHours"),
        (json!({"categories": {"security": false}}), "categories.security"),
    ] {
        let refused = fixture.service.patch_preferences("u", &body, None).await.unwrap_err();
        assert!(matches!(&refused, ServiceError::Invalid { member, .. } if member == named), "{refused:?}");
    }
}

/// A continuation is valid only for its own list; anything else is the caller's error, whatever the store
/// calls it.
pub async fn a_continuation_that_is_none_is_refused_by_its_name(place: &Place) {
    let fixture = with(place, 3).await;
    let first = List { limit: Some(1), ..List::default() };
    let of_another = fixture.service.list("u", &first).await.unwrap().continuation.unwrap();
    let is_refused = |error: ServiceError| matches!(error, ServiceError::Invalid { member, .. } if member == "continuation");
    for continuation in ["", "nonsense", "e30", of_another.as_str()] {
        let continuation = Some(continuation.to_owned());
        let unread =
            List { unread: true, limit: Some(1), continuation: continuation.clone(), ..List::default() };
        assert!(is_refused(fixture.service.list("u", &unread).await.unwrap_err()), "{continuation:?}");
        let events = fixture.service.events(Some("u"), None, 1, continuation.clone()).await;
        assert!(is_refused(events.unwrap_err()), "{continuation:?}");
    }
}
