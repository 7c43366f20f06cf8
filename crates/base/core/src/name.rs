//! Names that clients choose, checked once where they come in.

use crate::limits;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidName {
    #[error("the id is empty; give it at least one character")]
    Empty,
    #[error("the id is longer than {max} {unit}")]
    TooLong { max: usize, unit: &'static str },
    #[error("the id contains '{0}'; ids may not contain '/', '\\', '#' or '?'")]
    Character(char),
    #[error("the id ends with a space; remove it")]
    EndsWithSpace,
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $forbidden:expr, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(String);

        impl $type {
            pub fn parse(raw: &str) -> Result<Self, InvalidName> {
                let check: fn(&str) -> Result<(), InvalidName> = $check;
                if raw.is_empty() {
                    return Err(InvalidName::Empty);
                }
                check(raw)?;
                if let Some(bad) = raw.chars().find(|c| $forbidden.contains(c)) {
                    return Err(InvalidName::Character(bad));
                }
                if raw.ends_with(' ') {
                    return Err(InvalidName::EndsWithSpace);
                }
                Ok(Self(raw.to_owned()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::borrow::Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

name!(
    /// The name of a database: 1 to 255 characters, none of `/ \ # ?`, not ending in a space.
    DatabaseName, ['/', '\\', '#', '?'], at_most_255_chars
);
name!(
    /// The name of a container: as a database's.
    ContainerName, ['/', '\\', '#', '?'], at_most_255_chars
);
name!(
    /// The id of a user, a permission, a script or a client encryption key: as a database's name.
    ChildName, ['/', '\\', '#', '?'], at_most_255_chars
);
name!(
    /// The id of an item: 1 to 1023 bytes, none of `/ \ #`. A `?` is allowed, as the service allows it.
    ItemId, ['/', '\\', '#'], at_most_1023_bytes
);

fn at_most_255_chars(raw: &str) -> Result<(), InvalidName> {
    let max = limits::NAME_CHARS_MAX;
    if raw.chars().count() > max { Err(InvalidName::TooLong { max, unit: "characters" }) } else { Ok(()) }
}

fn at_most_1023_bytes(raw: &str) -> Result<(), InvalidName> {
    let max = limits::ITEM_ID_BYTES_MAX;
    if raw.len() > max { Err(InvalidName::TooLong { max, unit: "bytes" }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, database: bool, item: bool) {
        assert_eq!(DatabaseName::parse(raw).is_ok(), database, "database {raw:?}");
        assert_eq!(ContainerName::parse(raw).is_ok(), database, "container {raw:?}");
        assert_eq!(ItemId::parse(raw).is_ok(), item, "item {raw:?}");
    }

    #[test]
    fn names_follow_the_services_rules() {
        check("a", true, true);
        check("東京 🚀", true, true);
        check(" leading space", true, true);
        check("100%", true, true);
        check("", false, false);
        check("a/b", false, false);
        check("a\\b", false, false);
        check("a#b", false, false);
        check("a?b", false, true);
        check("a ", false, false);
        check(&"x".repeat(255), true, true);
        check(&"x".repeat(256), false, true);
        check(&"é".repeat(255), true, true);
        check(&"x".repeat(1023), false, true);
        check(&"x".repeat(1024), false, false);
    }
}
