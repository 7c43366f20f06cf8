//! The index tags of a blob: up to ten keys, each with a value.

use crate::limits;
use serde::{Deserialize, Serialize};

/// In the order of the keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct TagSet(Vec<(String, String)>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTags {
    #[error("a blob has at most {} tags", limits::TAGS_MAX)]
    TooMany,
    #[error("the key of a tag has 1 to {} characters", limits::TAG_KEY_CHARS_MAX)]
    KeyLength,
    #[error("the value of a tag has at most {} characters", limits::TAG_VALUE_CHARS_MAX)]
    ValueLength,
    #[error("a tag has letters, digits, spaces and '+ - . / : = _' alone")]
    Characters,
    #[error("the tag '{0}' is there twice")]
    Duplicate(String),
}

impl TagSet {
    pub fn new(tags: impl IntoIterator<Item = (String, String)>) -> Result<Self, InvalidTags> {
        let mut found: Vec<(String, String)> = Vec::new();
        for (key, value) in tags {
            if found.len() == limits::TAGS_MAX {
                return Err(InvalidTags::TooMany);
            }
            check(&key, &value)?;
            match found.binary_search_by(|(known, _)| known.as_str().cmp(&key)) {
                Ok(_) => return Err(InvalidTags::Duplicate(key)),
                Err(at) => found.insert(at, (key, value)),
            }
        }
        Ok(Self(found))
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        let at = self.0.binary_search_by(|(known, _)| known.as_str().cmp(key)).ok()?;
        Some(&self.0[at].1)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de> Deserialize<'de> for TagSet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(Vec::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

fn check(key: &str, value: &str) -> Result<(), InvalidTags> {
    if !(1..=limits::TAG_KEY_CHARS_MAX).contains(&key.chars().count()) {
        return Err(InvalidTags::KeyLength);
    }
    if value.chars().count() > limits::TAG_VALUE_CHARS_MAX {
        return Err(InvalidTags::ValueLength);
    }
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b" +-./:=_".contains(&byte);
    if key.bytes().chain(value.bytes()).all(is_allowed) { Ok(()) } else { Err(InvalidTags::Characters) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(pairs: &[(&str, &str)]) -> Result<TagSet, InvalidTags> {
        TagSet::new(pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn tags_are_within_the_limits_of_the_service() {
        let check = |pairs: &[(&str, &str)], expected: Option<InvalidTags>| {
            assert_eq!(tags(pairs).err(), expected, "{pairs:?}");
        };
        check(&[("tenant", "t 1"), ("a+-./:=_", "+-./:=_")], None);
        check(&[("status", "")], None);
        check(&[("", "a")], Some(InvalidTags::KeyLength));
        check(&[(&"k".repeat(128), &"v".repeat(256))], None);
        check(&[(&"k".repeat(129), "v")], Some(InvalidTags::KeyLength));
        check(&[("k", &"v".repeat(257))], Some(InvalidTags::ValueLength));
        check(&[("k", "é")], Some(InvalidTags::Characters));
        check(&[("k&", "v")], Some(InvalidTags::Characters));
        check(&[("k", "1"), ("k", "2")], Some(InvalidTags::Duplicate("k".to_owned())));
        check(&[("k", "1"), ("K", "2")], None);
        let keys: Vec<String> = (0..11).map(|number| format!("k{number}")).collect();
        let eleven: Vec<(&str, &str)> = keys.iter().map(|key| (key.as_str(), "v")).collect();
        check(&eleven[..10], None);
        check(&eleven, Some(InvalidTags::TooMany));
    }

    #[test]
    fn tags_are_in_the_order_of_their_keys() {
        let set = tags(&[("b", "2"), ("a", "1")]).expect("two tags");
        assert_eq!(set.iter().collect::<Vec<_>>(), [("a", "1"), ("b", "2")]);
        assert_eq!((set.get("b"), set.get("c")), (Some("2"), None));
    }
}
