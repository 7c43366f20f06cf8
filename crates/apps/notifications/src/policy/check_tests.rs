//! Cases for requests.

use super::*;
use serde_json::json;

fn registry() -> Registry {
    Registry::of(&Policy::default()).expect("the seed's")
}

fn now() -> Timestamp {
    time::parse("2026-11-15T10:00:00Z").expect("a time")
}

fn like() -> Value {
    json!({ "userId": "u1", "eventType": "POST_LIKE",
        "payload": { "actorId": "a", "actorName": "Noor", "targetId": "p-1", "targetType": "post", "tone": "warm" } })
}

/// The request with one member changed; `null` removes it.
fn with(path: &str, value: Value) -> Value {
    let mut body = like();
    match path.split_once('.') {
        Some((outer, inner)) => body[outer][inner] = value,
        None => body[path] = value,
    }
    body
}

fn read(body: &Value) -> Result<Enqueue, Invalid> {
    enqueue(&registry(), body, now())
}

#[test]
fn a_whole_request_is_read() {
    let read = read(&with("dedupeKey", json!("POST_LIKE:p-1"))).expect("a request");
    assert_eq!(
        (read.users, &*read.event_type, read.category),
        (vec!["u1".to_owned()], "POST_LIKE", Category::Social)
    );
    assert_eq!(read.dedupe_key.as_deref(), Some("POST_LIKE:p-1"));
    assert_eq!(read.payload.actor_name.as_deref(), Some("Noor"));
    assert_eq!(read.payload.more.get("tone"), Some(&json!("warm")));
    assert_eq!(read.payload.more.len(), 1);
}

#[test]
fn errors_name_the_member() {
    let check = |path: &str, value: Value, member: &str, fragment: &str| {
        let invalid = read(&with(path, value.clone())).expect_err(path);
        assert_eq!(invalid.member, member, "{path} {value}: {invalid}");
        assert!(invalid.reason.contains(fragment), "{invalid}");
    };
    // S2-04, C-37.
    check("eventType", json!("POST_HATE"), "eventType", "POST_LIKE, POST_COMMENT");
    check("eventType", json!(7), "eventType", "text");
    check("eventType", Value::Null, "eventType", "missing");
    // S2-05.
    check("category", json!("NEWS"), "category", "SOCIAL");
    check("category", json!("LOUD"), "category", "SOCIAL");
    // S2-06.
    check("payload", Value::Null, "payload", "missing");
    check("payload", json!([1]), "payload", "object");
    check("payload.targetId", Value::Null, "payload.targetId", "missing");
    check("payload.targetId", json!(""), "payload.targetId", "empty");
    check("payload.targetId", json!("x".repeat(201)), "payload.targetId", "longer than 200");
    check("payload.targetType", json!("planet"), "payload.targetType", "post, comment or user");
    check("payload.targetType", Value::Null, "payload.targetType", "post, comment or user");
    check("payload.actorName", json!({}), "payload.actorName", "text");
    check("payload.snippet", json!(1), "payload.snippet", "text");
    check("payload.more", json!("x".repeat(9000)), "payload", "larger than 8192");
    check("userId", json!("a/b"), "userId", "'/'");
    check("userId", json!("a\nb"), "userId", "control");
    check("userId", json!(1), "userId", "text");
    check("userId", Value::Null, "userId", "missing");
    check("userIds", json!(["b"]), "userIds", "beside");
    check("dedupeKey", json!("k".repeat(257)), "dedupeKey", "longer");
    check("scheduledAt", json!("tomorrow"), "scheduledAt", "2026");
    check("scheduledAt", json!("2026-12-14T10:00:01Z"), "scheduledAt", "29 days");
    check("dedupkey", json!("k"), "dedupkey", "not known");
}

#[test]
fn aliases_and_a_right_category_are_taken() {
    let mut body = with("eventType", json!("POST_LIKED"));
    body["category"] = json!("SOCIAL");
    assert_eq!(read(&body).map(|read| read.event_type), Ok("POST_LIKE".to_owned()));
}

#[test]
fn a_snippet_is_cut() {
    // S2-81.
    let snippet = |length: usize| {
        let read = read(&with("payload.snippet", json!("ä".repeat(length)))).expect("a request");
        read.payload.snippet.map(|text| text.chars().count())
    };
    assert_eq!(snippet(140), Some(140));
    assert_eq!(snippet(500), Some(140));
    assert_eq!(read(&with("payload.snippet", Value::Null)).map(|read| read.payload.snippet), Ok(None));
}

#[test]
fn up_to_fifty_users_are_notified_once_each() {
    let users = |list: Value| {
        let mut body = like();
        body["userId"] = Value::Null;
        body["userIds"] = list;
        read(&body).map(|read| read.users.len()).map_err(|invalid| invalid.member)
    };
    assert_eq!(users(json!(["a", "b", "a"])), Ok(2));
    assert_eq!(users((0..50).map(|n| format!("u{n}")).collect()), Ok(50));
    assert_eq!(users((0..51).map(|n| format!("u{n}")).collect()), Err("userIds".to_owned()));
    assert_eq!(users(json!([])), Err("userIds".to_owned()));
    assert_eq!(users(json!(["a", ""])), Err("userIds[1]".to_owned()));
}

#[test]
fn a_schedule_in_the_past_is_dropped() {
    let at = |text: &str| read(&with("scheduledAt", json!(text))).expect("a request").scheduled_at;
    assert_eq!(at("2026-11-15T10:00:00Z"), None);
    assert_eq!(at("2020-01-01T00:00:00Z"), None);
    assert_eq!(at("2026-11-15T12:00:00+01:00"), time::parse("2026-11-15T11:00:00Z"));
    assert_eq!(at("2026-12-14T10:00:00Z"), time::parse("2026-12-14T10:00:00Z"));
}

#[test]
fn only_given_settings_change() {
    let before = Settings::defaults(&Policy::default());
    let after =
        settings(&json!({ "timezone": "asia/kolkata", "categories": { "marketing": false } }), &before);
    let after = after.expect("settings");
    assert_eq!(
        (&*after.timezone, after.categories.marketing, after.categories.social),
        ("Asia/Kolkata", false, true)
    );
    assert_eq!(after.quiet_hours, before.quiet_hours);
    assert_eq!(settings(&json!({}), &after), Ok(after.clone()));
    // C-43: the seed's sample is valid input.
    let sample: Vec<bool> = (0..24).map(|hour| (7..22).contains(&hour)).collect();
    assert_eq!(
        settings(&json!({ "quietHours": sample }), &before).map(|after| after.quiet_hours),
        Ok(sample)
    );
}

#[test]
fn errors_in_settings_name_the_member() {
    let before = Settings::defaults(&Policy::default());
    let check = |body: Value, member: &str| {
        assert_eq!(
            settings(&body, &before).map_err(|invalid| invalid.member),
            Err(member.to_owned()),
            "{body}"
        );
    };
    check(json!([]), "body");
    check(json!({ "timezone": "Mars/Olympus" }), "timezone");
    check(json!({ "timezone": null }), "timezone");
    check(json!({ "quietHours": [true] }), "quietHours");
    check(json!({ "quietHours": vec![1; 24] }), "quietHours");
    check(json!({ "quietHours": vec![true; 25] }), "quietHours");
    check(json!({ "categories": { "security": false } }), "categories.security");
    check(json!({ "categories": { "gossip": true } }), "categories.gossip");
    check(json!({ "categories": { "news": "no" } }), "categories.news");
    check(json!({ "quiethours": [] }), "quiethours");
}

#[test]
fn devices_are_registered_without_showing_their_tokens() {
    let body = json!({ "deviceId": "d1", "pushToken": "abc:DEF-_", "platform": "fcm", "label": "Pixel" });
    let read = registration(&body).expect("a device");
    assert_eq!((&*read.device_id, &*read.push_token, &*read.label), ("d1", "abc:DEF-_", "Pixel"));
    let check = |member: &str, value: Value| {
        let mut body = body.clone();
        body[member] = value;
        let invalid = registration(&body).err().expect(member);
        assert_eq!(invalid.member, member);
        assert!(!invalid.reason.contains("secret"), "{invalid}");
    };
    check("deviceId", json!("a/b"));
    check("deviceId", Value::Null);
    check("pushToken", json!("secret token"));
    check("pushToken", json!("secret/../x"));
    check("pushToken", json!("s".repeat(5000)));
    check("pushToken", Value::Null);
    check("platform", json!("sms"));
    check("label", json!("l".repeat(101)));
    check("nickname", json!("x"));
}

#[test]
fn a_device_may_change_its_token_or_label_or_nothing() {
    let change = |body: Value| device_change(&body, Platform::Fcm).map_err(|invalid| invalid.member);
    assert!(change(json!({})).is_ok_and(|change| change == DeviceChange::default()));
    let both = change(json!({ "pushToken": "new", "label": "Desk" })).expect("a change");
    assert_eq!((both.push_token.as_deref(), both.label.as_deref()), (Some("new"), Some("Desk")));
    assert_eq!(change(json!({ "pushToken": "a b" })).err().as_deref(), Some("pushToken"));
    assert_eq!(change(json!({ "platform": "apns" })).err().as_deref(), Some("platform"));
}
