//! The pushed message, fitted to the providers' limit of 4 KiB.

use crate::records::Category;
use orrery_core::limits;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The same for every attempt, so that a device shows one notification (K6).
    pub collapse_id: String,
    pub notification_id: String,
    pub event_type: String,
    pub category: Category,
    pub title: String,
    pub body: String,
    pub deeplink: String,
}

impl Message {
    /// Whether it justifies waking the device.
    pub fn is_pressing(&self) -> bool {
        match self.category {
            Category::Social | Category::Safety | Category::Security => true,
            Category::News | Category::Marketing => false,
        }
    }

    /// The collapse id as a header value: a long or unusual one is replaced by its hash.
    pub fn short_collapse_id(&self) -> String {
        let is_plain = |byte: u8| byte.is_ascii_graphic();
        if (1..=limits::PUSH_COLLAPSE_ID_BYTES_MAX).contains(&self.collapse_id.len())
            && self.collapse_id.bytes().all(is_plain)
        {
            return self.collapse_id.clone();
        }
        let hash = Sha256::digest(self.collapse_id.as_bytes());
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The JSON that `write` makes of title and body, shortening the body, and then the title, as far as
/// necessary.
pub fn fitted(title: &str, body: &str, bytes_max: usize, write: impl Fn(&str, &str) -> Value) -> Value {
    let is_fitting = |title: &str, body: &str| write(title, body).to_string().len() <= bytes_max;
    if is_fitting(title, body) {
        return write(title, body);
    }
    let body = longest(body, |body| is_fitting(title, body));
    let title = longest(title, |title| is_fitting(title, &body));
    write(&title, &body)
}

/// The longest prefix that fits, ending in an ellipsis; `None` if none does. `fits` must be monotonic.
fn longest(text: &str, is_fitting: impl Fn(&str) -> bool) -> String {
    if is_fitting(text) {
        return text.to_owned();
    }
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let beginning = |count: usize| match ends.get(count) {
        Some(0) | None => String::new(),
        Some(end) => format!("{}…", text[..*end].trim_end()),
    };
    let fitting = ends.iter().enumerate().map(|(count, _)| count).collect::<Vec<_>>();
    let count = fitting.partition_point(|count| is_fitting(&beginning(*count)));
    beginning(count.saturating_sub(1))
}

#[cfg(test)]
pub fn example() -> Message {
    Message {
        collapse_id: "7b1f0a52-6a0e-4a3c-9a55-0d3a4f1c0001".to_owned(),
        notification_id: "7b1f0a52-6a0e-4a3c-9a55-0d3a4f1c0001".to_owned(),
        event_type: "POST_LIKE".to_owned(),
        category: Category::Social,
        title: "Noor liked your post".to_owned(),
        body: "Morning on the pier".to_owned(),
        deeplink: "asora://post/post-42".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_body_is_shortened_until_it_fits_and_not_further() {
        for text in ["word ".repeat(2000), "ä".repeat(5000), "\"\\\n".repeat(3000), "👩‍👩‍👧".repeat(900)]
        {
            let value = fitted("title", &text, 4096, |title, body| json!({ "t": title, "b": body }));
            let length = value.to_string().len();
            assert!((4060..=4096).contains(&length), "{length}");
            assert_eq!(value["t"], "title");
            assert!(value["b"].as_str().is_some_and(|body| body.ends_with('…')));
        }
    }

    #[test]
    fn a_title_is_shortened_only_when_no_body_is_left() {
        let value = fitted(&"t".repeat(5000), "body", 100, |title, body| json!({ "t": title, "b": body }));
        assert_eq!(value["b"], "");
        assert!(value["t"].as_str().is_some_and(|title| title.len() > 50 && title.ends_with('…')));
        let value = fitted("title", "body", 100, |title, body| json!({ "t": title, "b": body }));
        assert_eq!(value, json!({ "t": "title", "b": "body" }));
    }

    #[test]
    fn a_collapse_id_is_always_64_bytes_at_most_and_the_same() {
        let id = |collapse_id: &str| {
            Message { collapse_id: collapse_id.to_owned(), ..example() }.short_collapse_id()
        };
        assert_eq!(id("n-1"), "n-1");
        assert_eq!(id(&"x".repeat(64)), "x".repeat(64));
        for long in ["x".repeat(65), "ä".to_owned(), "a b".to_owned(), String::new()] {
            assert_eq!(id(&long).len(), 64);
            assert_eq!(id(&long), id(&long));
        }
        assert_ne!(id(&"x".repeat(65)), id(&"x".repeat(66)));
    }
}
