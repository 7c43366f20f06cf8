//! Names chosen by clients, validated once at the edge.

use crate::limits;

/// Why a name is invalid. Clients match on the second sentence, which is the service's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault}. Ensure to provide a unique non-empty string less than '{limit}' characters.")]
pub struct InvalidName {
    pub fault: NameFault,
    limit: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameFault {
    #[error("the id is empty")]
    Empty,
    #[error("the id is longer than {max} {unit}")]
    TooLong { max: usize, unit: &'static str },
    #[error("the id contains '{0}'; ids may not contain '/', '\\', '#' or '?'")]
    Character(char),
    #[error("the id ends with a space; remove it")]
    EndsWithSpace,
}

/// The permitted characters of a kind of name.
struct Rules {
    forbidden: &'static [char],
    may_end_with_space: bool,
    /// The limit in the service's words.
    limit: &'static str,
    check_length: fn(&str) -> Result<(), NameFault>,
}

impl Rules {
    fn check(&self, raw: &str) -> Result<(), InvalidName> {
        self.fault(raw).map_err(|fault| InvalidName { fault, limit: self.limit })
    }

    fn fault(&self, raw: &str) -> Result<(), NameFault> {
        if raw.is_empty() {
            return Err(NameFault::Empty);
        }
        (self.check_length)(raw)?;
        if let Some(bad) = raw.chars().find(|c| self.forbidden.contains(c)) {
            return Err(NameFault::Character(bad));
        }
        if raw.ends_with(' ') && !self.may_end_with_space {
            return Err(NameFault::EndsWithSpace);
        }
        Ok(())
    }
}

/// Names of everything except items.
const RESOURCE: Rules = Rules {
    forbidden: &['/', '\\', '#', '?'],
    may_end_with_space: false,
    limit: "255",
    check_length: at_most_255_chars,
};

/// Like the service, item ids may contain `?` and end in a space.
const ITEM: Rules = Rules {
    forbidden: &['/', '\\', '#'],
    may_end_with_space: true,
    limit: "1024",
    check_length: at_most_1023_bytes,
};

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $rules:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(String);

        impl $type {
            pub fn parse(raw: &str) -> Result<Self, InvalidName> {
                $rules.check(raw)?;
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
    DatabaseName, RESOURCE
);
name!(
    /// The name of a container: same rules as for a database.
    ContainerName, RESOURCE
);
name!(
    /// The id of a user, a permission, a script or a client encryption key: same rules as for a
    /// database's name.
    ChildName, RESOURCE
);
name!(
    /// The id of an item: 1 to 1023 bytes, none of `/ \ #`.
    ItemId, ITEM
);

fn at_most_255_chars(raw: &str) -> Result<(), NameFault> {
    let max = limits::NAME_CHARS_MAX;
    if raw.chars().count() > max { Err(NameFault::TooLong { max, unit: "characters" }) } else { Ok(()) }
}

fn at_most_1023_bytes(raw: &str) -> Result<(), NameFault> {
    let max = limits::ITEM_ID_BYTES_MAX;
    if raw.len() > max { Err(NameFault::TooLong { max, unit: "bytes" }) } else { Ok(()) }
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
        check("a ", false, true);
        check(" ", false, true);
        check(&"x".repeat(255), true, true);
        check(&"x".repeat(256), false, true);
        check(&"é".repeat(255), true, true);
        check(&"x".repeat(1023), false, true);
        check(&"x".repeat(1024), false, false);
    }

    #[test]
    fn a_refusal_ends_with_the_services_sentence() {
        let database = DatabaseName::parse("").expect_err("empty").to_string();
        let item = ItemId::parse("a/b").expect_err("a slash").to_string();
        let ending = |limit: &str| {
            format!("Ensure to provide a unique non-empty string less than '{limit}' characters.")
        };
        assert!(database.ends_with(&ending("255")), "{database}");
        assert!(item.ends_with(&ending("1024")), "{item}");
    }
}
