//! To what a role applies: `/`, `/dbs/d` or `/dbs/d/colls/c`, and everything in it.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    Account,
    Database(String),
    Container(String, String),
}

impl Scope {
    pub fn parse(text: &str) -> Option<Self> {
        let segments: Vec<&str> = text.strip_prefix('/')?.trim_end_matches('/').split('/').collect();
        match segments[..] {
            [""] => Some(Self::Account),
            ["dbs", database] if !database.is_empty() => Some(Self::Database(database.to_owned())),
            ["dbs", database, "colls", container] if !database.is_empty() && !container.is_empty() => {
                Some(Self::Container(database.to_owned(), container.to_owned()))
            }
            _ => None,
        }
    }

    /// Whether what is meant lies in this.
    pub fn covers(&self, meant: &Self) -> bool {
        match (self, meant) {
            (Self::Account, _) => true,
            (Self::Database(ours), Self::Database(theirs) | Self::Container(theirs, _)) => ours == theirs,
            (Self::Container(..), Self::Container(..)) => self == meant,
            (Self::Database(_), Self::Account) | (Self::Container(..), Self::Account | Self::Database(_)) => {
                false
            }
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account => f.write_str("/"),
            Self::Database(database) => write!(f, "/dbs/{database}"),
            Self::Container(database, container) => write!(f, "/dbs/{database}/colls/{container}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_covers_itself_and_what_is_in_it() {
        let scopes = ["/", "/dbs/a", "/dbs/b", "/dbs/a/colls/x", "/dbs/a/colls/y", "/dbs/b/colls/x"];
        let covers = |outer: &str| {
            let outer = Scope::parse(outer).unwrap();
            let inner = scopes.iter().filter(|inner| outer.covers(&Scope::parse(inner).unwrap()));
            inner.copied().collect::<Vec<_>>()
        };
        assert_eq!(covers("/"), scopes);
        assert_eq!(covers("/dbs/a"), ["/dbs/a", "/dbs/a/colls/x", "/dbs/a/colls/y"]);
        assert_eq!(covers("/dbs/a/colls/x/"), ["/dbs/a/colls/x"]);
        for scope in scopes {
            assert_eq!(Scope::parse(scope).unwrap().to_string(), scope);
        }
    }

    #[test]
    fn other_texts_are_no_scopes() {
        for text in
            ["", "dbs/a", "/dbs", "/dbs/", "/colls/x", "/dbs/a/colls", "/dbs/a/docs/x", "/dbs//colls/x"]
        {
            assert_eq!(Scope::parse(text), None, "{text}");
        }
    }
}
