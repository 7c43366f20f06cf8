//! The table of routes: the route of a request and its path parameters.

use http::Method;
use orrery_api_common::percent;
use orrery_api_common::problem::{Kind, Problem};
use orrery_core::ItemId;
use orrery_kit::service::{Handler, Route, Service};
use std::collections::BTreeSet;
use std::sync::Arc;

pub struct Row {
    pub route: Route,
    /// The service's name: its tag in the description and the prefix of its role names.
    pub tag: &'static str,
    pub target: Target,
}

/// The handler.
pub enum Target {
    Description,
    Page,
    Service(Arc<dyn Service>, Handler),
}

/// The values of the names in braces.
pub type InPath = Vec<(&'static str, String)>;

const USERS: &str = "/v1/users";

pub struct Table {
    rows: Vec<Row>,
    /// The prefixes of the services' paths, such as `/v1/users`: unknown paths below them are 404.
    roots: BTreeSet<String>,
}

impl Table {
    pub fn new(rows: Vec<Row>) -> Self {
        let of_services = rows.iter().filter(|row| matches!(row.target, Target::Service(..)));
        let own = |row: &Row| [root(row.route.path).to_owned(), format!("/v1/{}", row.tag), USERS.to_owned()];
        let roots = of_services.flat_map(own).collect();
        Self { rows, roots }
    }

    /// Whether a path is of a route, whatever its verb, or below a service's prefix.
    pub fn has(&self, path: &str) -> bool {
        self.roots.contains(root(path)) || self.rows.iter().any(|row| fits(row.route.path, path).is_some())
    }

    /// The route of a request with its path parameters; else 404, or 405 with the allowed verbs.
    pub fn find(&self, method: &Method, path: &str) -> Result<(&Row, InPath), Problem> {
        orrery_core::tour_step!();
        let mut allowed = Vec::new();
        for row in &self.rows {
            let Some(pieces) = fits(row.route.path, path) else { continue };
            if row.route.method == *method {
                return Ok((row, decoded(pieces)?));
            }
            allowed.push(row.route.method.as_str());
        }
        if allowed.is_empty() {
            let detail = format!("there is nothing at {path}; /v1/docs tells what there is");
            return Err(Problem::new(Kind::Missing, detail));
        }
        Err(Problem::verb(&allowed.join(", ")))
    }
}

/// The first two segments of a path.
fn root(path: &str) -> &str {
    let second = path.char_indices().filter(|(_, c)| *c == '/').nth(2);
    second.map_or(path, |(end, _)| &path[..end])
}

/// The segments of `path` at the pattern's braces, if it matches; none of them is empty.
fn fits<'a>(pattern: &'static str, path: &'a str) -> Option<Vec<(&'static str, &'a str)>> {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    let mut pieces = Vec::new();
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some(pieces),
            (Some(wanted), Some(given)) => match name(wanted) {
                Some(name) if !given.is_empty() => pieces.push((name, given)),
                None if wanted == given => {}
                _ => return None,
            },
            _ => return None,
        }
    }
}

/// The name in braces.
pub fn name(segment: &'static str) -> Option<&'static str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

fn decoded(pieces: Vec<(&'static str, &str)>) -> Result<InPath, Problem> {
    let decode = |(name, piece): (&'static str, &str)| match percent::decode_segment(piece) {
        // A path parameter is the id of an item, or a part of one.
        Ok(text) => match ItemId::parse(&text) {
            Ok(_) => Ok((name, text.into_owned())),
            Err(error) => Err(Problem::invalid(name, error.to_string())),
        },
        Err(error) => Err(Problem::invalid(name, error.to_string())),
    };
    pieces.into_iter().map(decode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_a_path_is_its_first_two_segments() {
        for (path, expected) in
            [("/v1/users/ann/devices", "/v1/users"), ("/v1/users", "/v1/users"), ("/", "/"), ("", "")]
        {
            assert_eq!(root(path), expected);
        }
    }

    #[test]
    fn a_path_fits_a_pattern_piece_by_piece() {
        assert_eq!(
            fits("/v1/users/{user}/devices", "/v1/users/a%20b/devices"),
            Some(vec![("user", "a%20b")])
        );
        for path in
            ["/v1/users//devices", "/v1/users/a", "/v1/users/a/devices/", "/v1/users/a/b/devices", "/"]
        {
            assert_eq!(fits("/v1/users/{user}/devices", path), None, "{path}");
        }
    }
}
