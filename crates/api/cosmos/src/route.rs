//! Paths to resources (wire guide §2 "URL decoding", §5).

use crate::failure::Failure;
use http::Uri;
use orrery_api_common::percent;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    Account,
    Databases,
    Database {
        database: String,
    },
    Containers {
        database: String,
    },
    Container {
        database: String,
        container: String,
    },
    Items {
        database: String,
        container: String,
    },
    Item {
        database: String,
        container: String,
        id: String,
    },
    Ranges {
        database: String,
        container: String,
    },
    Offers,
    Offer {
        rid: String,
    },
    /// A resource of the protocol that is not here yet, by its type.
    Other {
        kind: String,
    },
}

/// A route, and what its signature covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    pub route: Route,
    pub resource_type: String,
    /// The link as names; of a feed, its parent's.
    pub link: String,
}

const OTHERS: [&str; 9] = [
    "sprocs",
    "triggers",
    "udfs",
    "conflicts",
    "users",
    "permissions",
    "clientencryptionkeys",
    "operations",
    "attachments",
];

pub fn locate(uri: &Uri) -> Result<Located, Failure> {
    let mut segments = segments(uri.path())?;
    // JavaScript leaves a `?` of an item's id as it is, and signs it as part of the id.
    if let (Some(query), ["dbs", _, "colls", _, "docs", _]) = (uri.query(), &strs(&segments)[..]) {
        let query = percent::decode_segment(query).map_err(|_| invalid_url())?;
        let id = segments.last_mut().ok_or_else(invalid_url)?;
        id.push('?');
        id.push_str(&query);
    }
    let segments = strs(&segments);
    let route = route(&segments)?;
    let (resource_type, link) = signed(&segments);
    Ok(Located { route, resource_type, link })
}

fn strs(segments: &[String]) -> Vec<&str> {
    segments.iter().map(String::as_str).collect()
}

fn invalid_url() -> Failure {
    Failure::bad_request("Request url is invalid.")
}

/// Decoded once, `+` as it is, one trailing slash ignored.
fn segments(path: &str) -> Result<Vec<String>, Failure> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() {
        return Ok(Vec::new());
    }
    let decoded = path.split('/').map(|part| percent::decode_segment(part).map(|part| part.into_owned()));
    decoded.collect::<Result<_, _>>().map_err(|_| invalid_url())
}

fn route(segments: &[&str]) -> Result<Route, Failure> {
    let own = |text: &&str| (*text).to_owned();
    Ok(match segments {
        [] => Route::Account,
        ["dbs"] => Route::Databases,
        ["dbs", d] => Route::Database { database: own(d) },
        ["dbs", d, "colls"] => Route::Containers { database: own(d) },
        ["dbs", d, "colls", c] => Route::Container { database: own(d), container: own(c) },
        ["dbs", d, "colls", c, "docs"] => Route::Items { database: own(d), container: own(c) },
        ["dbs", d, "colls", c, "docs", id] => {
            Route::Item { database: own(d), container: own(c), id: own(id) }
        }
        ["dbs", d, "colls", c, "pkranges"] => Route::Ranges { database: own(d), container: own(c) },
        ["offers"] => Route::Offers,
        ["offers", rid] => Route::Offer { rid: own(rid) },
        ["dbs", _, "colls", _, kind, ..] | ["dbs", _, kind, ..] if OTHERS.contains(kind) => {
            Route::Other { kind: own(kind) }
        }
        _ => return Err(invalid_url()),
    })
}

/// Odd number of segments: a feed, whose parent is signed. Even: the resource itself (wire guide §4.1).
fn signed(segments: &[&str]) -> (String, String) {
    match segments {
        [] => (String::new(), String::new()),
        ["offers", rid] => ("offers".to_owned(), rid.to_lowercase()),
        ["dbs", d, "colls", c, "operations", _] => ("colls".to_owned(), format!("dbs/{d}/colls/{c}")),
        [parent @ .., kind] if segments.len() % 2 == 1 => ((*kind).to_owned(), parent.join("/")),
        [.., kind, _] => ((*kind).to_owned(), segments.join("/")),
        [only] => ((*only).to_owned(), String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(uri: &str, expected: Route, kind: &str, link: &str) {
        let located = locate(&uri.parse().expect("a uri")).expect("a route");
        assert_eq!(
            (located.route, located.resource_type.as_str(), located.link.as_str()),
            (expected, kind, link)
        );
    }

    fn item(id: &str) -> Route {
        Route::Item { database: "d".into(), container: "c".into(), id: id.into() }
    }

    #[test]
    fn paths_become_routes_and_what_is_signed() {
        check("/", Route::Account, "", "");
        check("/dbs", Route::Databases, "dbs", "");
        check("/dbs/", Route::Databases, "dbs", "");
        check("/dbs/a%20b/", Route::Database { database: "a b".into() }, "dbs", "dbs/a b");
        check("/dbs/d/colls", Route::Containers { database: "d".into() }, "colls", "dbs/d");
        let items = Route::Items { database: "d".into(), container: "c".into() };
        check("/dbs/d/colls/c/docs/", items, "docs", "dbs/d/colls/c");
        check("/dbs/d/colls/c/docs/i", item("i"), "docs", "dbs/d/colls/c/docs/i");
        check("/offers/O8aB/", Route::Offer { rid: "O8aB".into() }, "offers", "o8ab");
        check(
            "/dbs/d/colls/c/operations/partitionkeydelete",
            Route::Other { kind: "operations".into() },
            "colls",
            "dbs/d/colls/c",
        );
        check(
            "/dbs/d/colls/c/sprocs/s",
            Route::Other { kind: "sprocs".into() },
            "sprocs",
            "dbs/d/colls/c/sprocs/s",
        );
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
        for path in ["/nothing", "/dbs/d/colls/c/nothing", "/dbs//colls/%FF", "/dbs/d/colls/c/docs/i/j"] {
            let failure = locate(&path.parse().expect("a uri")).expect_err(path);
            assert_eq!(failure.status, 400, "{path}");
        }
    }
}
