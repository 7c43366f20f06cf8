//! Locations of data: `database`, `database/container` or `database/container/item`.

use std::fmt;

/// A path into the account. Names never contain a slash, so nothing needs escaping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    Account,
    Database { database: String },
    Container { database: String, container: String },
    Item { database: String, container: String, id: String },
}

impl Location {
    pub fn parse(text: &str) -> Result<Self, String> {
        let trimmed = text.trim_matches('/');
        let parts: Vec<&str> = trimmed.split('/').collect();
        if parts.len() > 1 && parts.iter().any(|part| part.is_empty()) {
            return Err(format!("'{text}' has an empty name between two slashes"));
        }
        match parts.as_slice() {
            [""] => Ok(Self::Account),
            [database] => Ok(Self::Database { database: (*database).to_owned() }),
            [database, container] => {
                Ok(Self::Container { database: (*database).to_owned(), container: (*container).to_owned() })
            }
            [database, container, id] => Ok(Self::Item {
                database: (*database).to_owned(),
                container: (*container).to_owned(),
                id: (*id).to_owned(),
            }),
            _ => Err(format!("'{text}' has too many parts; the longest form is database/container/item")),
        }
    }

    /// The names of a container, for verbs that work on nothing else.
    pub fn container(&self) -> Result<(&str, &str), String> {
        match self {
            Self::Container { database, container } => Ok((database, container)),
            other => Err(format!("'{other}' is not a container; write database/container")),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account => f.write_str("/"),
            Self::Database { database } => f.write_str(database),
            Self::Container { database, container } => write!(f, "{database}/{container}"),
            Self::Item { database, container, id } => write!(f, "{database}/{container}/{id}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_an_account_a_database_a_container_or_an_item() {
        for (text, shown) in [
            ("", "/"),
            ("/", "/"),
            ("shop", "shop"),
            ("/shop/", "shop"),
            ("shop/orders", "shop/orders"),
            ("shop/orders/7", "shop/orders/7"),
        ] {
            assert_eq!(Location::parse(text).map(|location| location.to_string()), Ok(shown.to_owned()));
        }
    }

    #[test]
    fn empty_names_and_long_paths_are_refused() {
        for (text, fragment) in [("shop//7", "empty name"), ("a/b/c/d", "too many parts")] {
            assert!(Location::parse(text).is_err_and(|sentence| sentence.contains(fragment)), "{text}");
        }
        let database = Location::parse("shop").expect("a database");
        assert!(database.container().is_err_and(|sentence| sentence.contains("not a container")));
    }
}
