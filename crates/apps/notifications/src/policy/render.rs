//! Renders a notification: title, body and deeplink of an event, or of several merged into one (S2-80).

use super::kinds::Known;
use crate::limits;
use crate::records::{Payload, TargetType};
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    pub title: String,
    pub body: String,
    pub deeplink: String,
}

/// Renders one event.
pub fn one(kind: &Known, payload: &Payload) -> Rendered {
    render(kind, payload, payload.actor_name.as_deref(), 1)
}

/// Renders `count` events, the newest of which has this payload; `actors` are the first ones.
pub fn many(kind: &Known, payload: &Payload, actors: &[String], count: u64) -> Rendered {
    let first = actors.first().map(String::as_str).or(payload.actor_name.as_deref());
    render(kind, payload, first, count.max(1))
}

fn render(kind: &Known, payload: &Payload, actor: Option<&str>, count: u64) -> Rendered {
    let value = |name: &str| match name {
        "actorName" => actor.map(str::to_owned),
        "actorId" => payload.actor_id.clone(),
        "targetId" => Some(payload.target_id.clone()),
        "targetType" => Some(target(payload.target_type).to_owned()),
        "snippet" => payload.snippet.clone(),
        "count" => Some(count.to_string()),
        "others" => Some(others(count)),
        _ => payload.more.get(name).and_then(text),
    };
    let title = if count > 1 { &kind.title_of_many } else { &kind.title };
    Rendered {
        title: cut(&one_line(&title.fill(value)), limits::NOTIFICATION_TITLE_CHARS_MAX),
        body: cut(&one_line(&kind.body.fill(value)), limits::NOTIFICATION_BODY_CHARS_MAX),
        deeplink: cut(
            &kind.deeplink.fill(|name| value(name).map(|part| encode(&part))),
            limits::NOTIFICATION_DEEPLINK_CHARS_MAX,
        ),
    }
}

fn others(count: u64) -> String {
    match count.saturating_sub(1) {
        1 => "1 other".to_owned(),
        more => format!("{more} others"),
    }
}

fn target(of: TargetType) -> &'static str {
    match of {
        TargetType::Post => "post",
        TargetType::Comment => "comment",
        TargetType::User => "user",
    }
}

/// A member of the payload, if it is a string or a number.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Removes line breaks, other control characters, and characters that reverse the text direction: a name must
/// not look like another part of the notification.
fn one_line(text: &str) -> String {
    let is_unseen = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let shown: String = text.chars().map(|c| if is_unseen(c) { ' ' } else { c }).collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At most this many characters, ending in an ellipsis if cut.
pub fn cut(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let kept: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// A path segment: anything that is not plain is percent-encoded.
fn encode(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b':' | b'@') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Policy, Registry};
    use serde_json::json;

    fn payload(json: Value) -> Payload {
        serde_json::from_value(json).expect("a payload")
    }

    fn like() -> Payload {
        payload(
            json!({ "actorId": "user-2002", "actorName": "Noor", "targetId": "post-42", "targetType": "post",
            "snippet": "Morning on the pier" }),
        )
    }

    fn rendered(kind: &str, payload: &Payload) -> (String, String, String) {
        let registry = Registry::of(&Policy::default()).expect("the seed's");
        let Rendered { title, body, deeplink } = one(registry.find(kind).expect("known"), payload);
        (title, body, deeplink)
    }

    #[test]
    fn the_seeds_types_match_the_blueprints_examples() {
        // S2-18, S2-19.
        let check = |kind: &str, payload: Value, title: &str, body: &str, deeplink: &str| {
            let expected = (title.to_owned(), body.to_owned(), deeplink.to_owned());
            assert_eq!(rendered(kind, &self::payload(payload)), expected, "{kind}");
        };
        let of = |target: &str, id: &str| json!({ "targetId": id, "targetType": target });
        let by = |target: &str, id: &str| json!({ "actorId": "user-2004", "actorName": "Teo", "targetId": id, "targetType": target, "snippet": "Hm" });
        check("POST_LIKE", by("post", "p-1"), "Teo liked your post", "Hm", "asora://post/p-1");
        check("POST_COMMENT", by("post", "p-1"), "Teo commented on your post", "Hm", "asora://post/p-1");
        check("POST_SHARE", by("post", "p-1"), "Teo shared your post", "Hm", "asora://post/p-1");
        check(
            "COMMENT_REPLY",
            by("comment", "c-7"),
            "Teo replied to your comment",
            "Hm",
            "asora://comment/c-7",
        );
        check("FOLLOWER_NEW", by("user", "me"), "Teo follows you", "Hm", "asora://user/user-2004");
        check("FOLLOWER_NEW", of("user", "me"), "Someone follows you", "Say hello", "asora://user/me");
        check(
            "SAFETY_CONTENT_FLAGGED",
            of("post", "p"),
            "Your post was flagged",
            "We are looking into it",
            "asora://post/p",
        );
        check(
            "SAFETY_ACCOUNT_WARNING",
            of("user", "me"),
            "A warning about your account",
            "Please read our rules",
            "asora://user/me",
        );
        check(
            "SECURITY_NEW_DEVICE",
            json!({ "targetId": "me", "targetType": "user", "deviceLabel": "iPhone 15 Pro" }),
            "A new device signed in",
            "iPhone 15 Pro",
            "asora://user/me",
        );
        check(
            "SECURITY_PASSWORD_CHANGED",
            of("user", "me"),
            "Your password was changed",
            "If it was not you, lock your account",
            "asora://user/me",
        );
        check(
            "SECURITY_ACCOUNT_LOCKED",
            of("user", "me"),
            "Your account is locked",
            "Sign in to unlock it",
            "asora://user/me",
        );
        check(
            "NEWS_SYSTEM_UPDATE",
            of("user", "me"),
            "News from Asora",
            "See what is new",
            "asora://user/me",
        );
        check("MARKETING_PROMOTION", of("user", "me"), "Something for you", "Have a look", "asora://user/me");
    }

    #[test]
    fn several_events_render_as_one() {
        // S2-80, B-2.
        let registry = Registry::of(&Policy::default()).expect("the seed's");
        let title = |kind: &str, actors: &[&str], count| {
            let actors: Vec<String> = actors.iter().map(|name| (*name).to_owned()).collect();
            many(registry.find(kind).expect("known"), &like(), &actors, count).title
        };
        assert_eq!(title("POST_LIKE", &["A", "B"], 50), "A and 49 others liked your post");
        assert_eq!(title("POST_LIKE", &["A", "B"], 2), "A and 1 other liked your post");
        assert_eq!(title("POST_LIKE", &["A"], 1), "A liked your post");
        assert_eq!(title("POST_LIKE", &[], 3), "Noor and 2 others liked your post");
        assert_eq!(title("FOLLOWER_NEW", &["A"], 3), "A and 2 others follow you");
        assert_eq!(title("SECURITY_NEW_DEVICE", &["A"], 3), "A new device signed in");
        assert_eq!(title("SAFETY_CONTENT_FLAGGED", &[], 3), "Your post was flagged 3 times");
    }

    #[test]
    fn caller_input_cannot_escape_its_placeholder() {
        let mut evil = like();
        evil.actor_name = Some("Eve\r\n\u{202e}drow".to_owned());
        evil.target_id = "../user/1?x=#ä b".to_owned();
        let (title, _, deeplink) = rendered("POST_LIKE", &evil);
        assert_eq!(title, "Eve drow liked your post");
        assert_eq!(deeplink, "asora://post/..%2Fuser%2F1%3Fx%3D%23%C3%A4%20b");
        evil.actor_name = Some("n".repeat(10_000));
        let (title, ..) = rendered("POST_LIKE", &evil);
        assert_eq!(title.chars().count(), limits::NOTIFICATION_TITLE_CHARS_MAX);
        assert!(title.ends_with('…'));
    }

    #[test]
    fn a_cut_counts_characters() {
        let check = |text: &str, max, expected: &str| assert_eq!(cut(text, max), expected);
        check("abc", 3, "abc");
        check("abcd", 3, "ab…");
        check("äöüß", 3, "äö…");
        check("ab cd", 4, "ab…");
        check("", 0, "");
    }
}
