//! Paths to resources (wire guide §2 "URL decoding", §5).

use crate::failure::Failure;
use http::Uri;
use orrery_api_common::percent;
use orrery_documents::subresources::Kind;
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route<'a> {
    Account,
    Databases,
    Database {
        database: Cow<'a, str>,
    },
    Containers {
        database: Cow<'a, str>,
    },
    Container {
        database: Cow<'a, str>,
        container: Cow<'a, str>,
    },
    Items {
        database: Cow<'a, str>,
        container: Cow<'a, str>,
    },
    Item {
        database: Cow<'a, str>,
        container: Cow<'a, str>,
        id: Cow<'a, str>,
    },
    /// The request to delete all items of a partition.
    PartitionKeyDelete {
        database: Cow<'a, str>,
        container: Cow<'a, str>,
    },
    Ranges {
        database: Cow<'a, str>,
        container: Cow<'a, str>,
    },
    Offers,
    Offer {
        rid: Cow<'a, str>,
    },
    /// All users, permissions, scripts or client encryption keys of an owner.
    Subresources {
        owner: OwnerPath<'a>,
        kind: Kind,
    },
    Subresource {
        owner: OwnerPath<'a>,
        kind: Kind,
        id: Cow<'a, str>,
    },
    Conflicts {
        database: Cow<'a, str>,
        container: Cow<'a, str>,
    },
    Conflict {
        database: Cow<'a, str>,
        container: Cow<'a, str>,
        id: Cow<'a, str>,
    },
    /// A resource type of the protocol that is not supported.
    Other {
        kind: Cow<'a, str>,
    },
}

/// The owner of the subresources in a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnerPath<'a> {
    Database { database: Cow<'a, str> },
    Container { database: Cow<'a, str>, container: Cow<'a, str> },
    User { database: Cow<'a, str>, user: Cow<'a, str> },
}

/// A route, and the resource that its signature covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<'a> {
    pub route: Route<'a>,
    pub resource_type: Cow<'a, str>,
    /// The link as names; of a feed, its parent's.
    pub link: String,
}

const OTHERS: [&str; 2] = ["operations", "attachments"];

/// One more segment than the longest path of a resource; further ones never matter.
const SEGMENTS_MAX: usize = 7;

pub fn locate(uri: &Uri) -> Result<Located<'_>, Failure> {
    orrery_core::tour_step!();
    let mut segments = segments(uri.path())?;
    // JavaScript leaves a `?` in an item's id unencoded, and signs it as part of the id.
    if let (Some(query), 6) = (uri.query(), segments.len())
        && segments[4] == "docs"
    {
        let query = percent::decode_segment(query).map_err(|_| invalid_url())?;
        segments[5] = format!("{}?{query}", segments[5]).into();
    }
    let (resource_type, link) = signed(&segments);
    Ok(Located { route: route(&segments)?, resource_type, link })
}

fn invalid_url() -> Failure {
    Failure::bad_request("Request url is invalid.")
}

/// Decoded once, with `+` literal; leading slashes and one trailing slash are ignored.
fn segments(path: &str) -> Result<Vec<Cow<'_, str>>, Failure> {
    let path = path.trim_start_matches('/');
    let path = path.strip_suffix('/').unwrap_or(path);
    let mut segments = Vec::with_capacity(SEGMENTS_MAX);
    for segment in path.split('/').filter(|_| !path.is_empty()) {
        segments.push(percent::decode_segment(segment).map_err(|_| invalid_url())?);
    }
    Ok(segments)
}

fn route<'a>(segments: &[Cow<'a, str>]) -> Result<Route<'a>, Failure> {
    let mut names = [""; SEGMENTS_MAX];
    names.iter_mut().zip(segments).for_each(|(name, segment)| *name = segment);
    let own = |at: usize| segments[at].clone();
    Ok(match names[..segments.len().min(SEGMENTS_MAX)] {
        [] => Route::Account,
        ["dbs"] => Route::Databases,
        ["dbs", _] => Route::Database { database: own(1) },
        ["dbs", _, "colls"] => Route::Containers { database: own(1) },
        ["dbs", _, "colls", _] => Route::Container { database: own(1), container: own(3) },
        ["dbs", _, "colls", _, "docs"] => Route::Items { database: own(1), container: own(3) },
        ["dbs", _, "colls", _, "docs", _] => Route::Item { database: own(1), container: own(3), id: own(5) },
        ["dbs", _, "colls", _, "operations", "partitionkeydelete"] => {
            Route::PartitionKeyDelete { database: own(1), container: own(3) }
        }
        ["dbs", _, "colls", _, "pkranges"] => Route::Ranges { database: own(1), container: own(3) },
        ["dbs", _, "colls", _, "conflicts"] => Route::Conflicts { database: own(1), container: own(3) },
        ["dbs", _, "colls", _, "conflicts", _] => {
            Route::Conflict { database: own(1), container: own(3), id: own(5) }
        }
        ["dbs", _, "colls", _, "sprocs" | "triggers" | "udfs"]
        | ["dbs", _, "colls", _, "sprocs" | "triggers" | "udfs", _]
        | ["dbs", _, "users", _, "permissions"]
        | ["dbs", _, "users", _, "permissions", _] => children(segments, 4).ok_or_else(invalid_url)?,
        ["dbs", _, "users" | "clientencryptionkeys"] | ["dbs", _, "users" | "clientencryptionkeys", _] => {
            children(segments, 2).ok_or_else(invalid_url)?
        }
        ["offers"] => Route::Offers,
        ["offers", _] => Route::Offer { rid: own(1) },
        ["dbs", _, "colls", _, kind, ..] if OTHERS.contains(&kind) => Route::Other { kind: own(4) },
        ["dbs", _, kind, ..] if OTHERS.contains(&kind) => Route::Other { kind: own(2) },
        _ => return Err(invalid_url()),
    })
}

/// The route of subresources whose kind is the segment `at`.
fn children<'a>(segments: &[Cow<'a, str>], at: usize) -> Option<Route<'a>> {
    let kind = Kind::ALL.into_iter().find(|kind| kind.segment() == segments[at])?;
    let own = |at: usize| segments[at].clone();
    let owner = match kind {
        Kind::User | Kind::ClientEncryptionKey => OwnerPath::Database { database: own(1) },
        Kind::Permission => OwnerPath::User { database: own(1), user: own(3) },
        Kind::StoredProcedure | Kind::Trigger | Kind::UserDefinedFunction => {
            OwnerPath::Container { database: own(1), container: own(3) }
        }
    };
    Some(match segments.get(at + 1) {
        None => Route::Subresources { owner, kind },
        Some(id) => Route::Subresource { owner, kind, id: id.clone() },
    })
}

/// Odd number of segments: a feed, whose parent is signed. Even: the resource itself (wire guide §4.1).
fn signed<'a>(segments: &[Cow<'a, str>]) -> (Cow<'a, str>, String) {
    let kind = |at: usize| segments[at].clone();
    match segments.len() {
        0 => ("".into(), String::new()),
        2 if segments[0] == "offers" => (kind(0), segments[1].to_lowercase()),
        6 if segments[4] == "operations" => ("colls".into(), segments[..4].join("/")),
        odd if odd % 2 == 1 => (kind(odd - 1), segments[..odd - 1].join("/")),
        even => (kind(even - 2), segments.join("/")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(uri: &str, expected: Route<'_>, kind: &str, link: &str) {
        let uri = uri.parse().expect("a uri");
        let located = locate(&uri).expect("a route");
        assert_eq!((located.route, &*located.resource_type, located.link.as_str()), (expected, kind, link));
    }

    fn item(id: &str) -> Route<'_> {
        Route::Item { database: "d".into(), container: "c".into(), id: id.into() }
    }

    #[test]
    fn paths_become_routes_and_what_is_signed() {
        check("/", Route::Account, "", "");
        check("/dbs", Route::Databases, "dbs", "");
        check("/dbs/", Route::Databases, "dbs", "");
        check("//dbs/d/colls/", Route::Containers { database: "d".into() }, "colls", "dbs/d");
        check("/dbs/a%20b/", Route::Database { database: "a b".into() }, "dbs", "dbs/a b");
        check("/dbs/d/colls", Route::Containers { database: "d".into() }, "colls", "dbs/d");
        let items = Route::Items { database: "d".into(), container: "c".into() };
        check("/dbs/d/colls/c/docs/", items, "docs", "dbs/d/colls/c");
        check("/dbs/d/colls/c/docs/i", item("i"), "docs", "dbs/d/colls/c/docs/i");
        check("/offers/O8aB/", Route::Offer { rid: "O8aB".into() }, "offers", "o8ab");
        check(
            "/dbs/d/colls/c/operations/partitionkeydelete",
            Route::PartitionKeyDelete { database: "d".into(), container: "c".into() },
            "colls",
            "dbs/d/colls/c",
        );
        let container = || OwnerPath::Container { database: "d".into(), container: "c".into() };
        let sproc = Route::Subresource { owner: container(), kind: Kind::StoredProcedure, id: "s".into() };
        check("/dbs/d/colls/c/sprocs/s", sproc, "sprocs", "dbs/d/colls/c/sprocs/s");
        let triggers = Route::Subresources { owner: container(), kind: Kind::Trigger };
        check("/dbs/d/colls/c/triggers", triggers, "triggers", "dbs/d/colls/c");
        let user = OwnerPath::User { database: "d".into(), user: "u".into() };
        let permission = Route::Subresource { owner: user, kind: Kind::Permission, id: "p".into() };
        let link = "dbs/d/users/u/permissions/p";
        check(&format!("/{link}"), permission, "permissions", link);
        let database = OwnerPath::Database { database: "d".into() };
        let keys = Route::Subresources { owner: database, kind: Kind::ClientEncryptionKey };
        check("/dbs/d/clientencryptionkeys/", keys, "clientencryptionkeys", "dbs/d");
        let conflict = Route::Conflict { database: "d".into(), container: "c".into(), id: "x".into() };
        check("/dbs/d/colls/c/conflicts/x", conflict, "conflicts", "dbs/d/colls/c/conflicts/x");
    }

    #[test]
    fn odd_ids_are_decoded_once() {
        check("/dbs/d/colls/c/docs/a+b", item("a+b"), "docs", "dbs/d/colls/c/docs/a+b");
        check("/dbs/d/colls/c/docs/100%25", item("100%"), "docs", "dbs/d/colls/c/docs/100%");
        check("/dbs/d/colls/c/docs/a%2520b", item("a%20b"), "docs", "dbs/d/colls/c/docs/a%20b");
        check("/dbs/d/colls/c/docs/q?x", item("q?x"), "docs", "dbs/d/colls/c/docs/q?x");
        check("/dbs/d/colls/c/docs/%E6%9D%B1", item("東"), "docs", "dbs/d/colls/c/docs/東");
    }

    #[test]
    fn unknown_paths_are_bad_requests() {
        for path in [
            "/nothing",
            "/dbs/d/colls/c/nothing",
            "/dbs/d/permissions",
            "/dbs/d/sprocs/s",
            "/dbs/d/colls/c/users",
            "/dbs/d/users/u/permissions/p/q",
            "/dbs//colls/%FF",
            "/dbs/d/colls/c/docs/i/j",
            "/dbs/d/colls/c/docs/i/j/k/l",
        ] {
            let uri = path.parse().expect("a uri");
            let failure = locate(&uri).expect_err(path);
            assert_eq!(failure.status, 400, "{path}");
        }
    }
}
