//! The table of routes: everything that there is to know of an operation but what it does.
//!
//! Requests are matched against it and `/v1/openapi.json` is written from it, so that neither can say what the other does
//! not. It is generic over what names an operation; each service brings its rows.

use crate::problem::Problem;
use http::Method;
use orrery_api_common::percent;
use orrery_core::ItemId;

/// One operation.
#[derive(Clone, Debug)]
pub struct Route<O> {
    pub operation: O,
    pub method: Method,
    /// With parameters in braces: `/v1/users/{user}/devices`.
    pub path: &'static str,
    /// As generators of clients name their functions.
    pub id: &'static str,
    pub summary: &'static str,
    /// The service, which is the tag in the description and the beginning of its roles' names.
    pub service: &'static str,
    pub who: Who,
    pub query: &'static [Parameter],
    pub request: Option<Shape>,
    /// The status of success, and what it brings.
    pub success: (u16, Shape),
    pub takes_if_match: bool,
    pub takes_idempotency_key: bool,
}

/// Who may call it. A read-write key of the account may call everything, a read-only one what only reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Everybody,
    /// The user whom the path names by `{user}`, and the service's `admin`.
    Owner,
    /// Whoever has this role of the service, and its `admin`.
    Role(&'static str),
}

/// A parameter of the query string.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub about: &'static str,
    pub kind: ParameterKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    Text,
    Switch,
    Number { from: u64, to: u64 },
}

/// What a body looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A schema of the description, by its name.
    Named(&'static str),
    /// An array of such.
    Several(&'static str),
    /// `{"items": […], "continuation": …}` of such.
    Page(&'static str),
    /// `text/event-stream`, whose data are such.
    Events(&'static str),
    Html,
    /// Any JSON object.
    Object,
}

/// What the braces of a path stand for in a request.
pub type Named = Vec<(&'static str, String)>;

pub struct Table<O> {
    routes: Vec<Route<O>>,
}

impl<O> Table<O> {
    pub fn new(routes: Vec<Route<O>>) -> Self {
        Self { routes }
    }

    pub fn routes(&self) -> &[Route<O>] {
        &self.routes
    }

    /// Whether any route has this path, whatever its verb.
    pub fn has(&self, path: &str) -> bool {
        self.routes.iter().any(|route| fits(route.path, path).is_some())
    }

    /// The route of a request, with what its path names; else 404, or 405 with the verbs that there are.
    pub fn find(&self, method: &Method, path: &str) -> Result<(&Route<O>, Named), Problem> {
        let mut allowed = Vec::new();
        for route in &self.routes {
            let Some(pieces) = fits(route.path, path) else { continue };
            if route.method == *method {
                return Ok((route, decoded(pieces)?));
            }
            allowed.push(route.method.as_str());
        }
        if allowed.is_empty() {
            let detail = format!("there is nothing at {path}; /v1/docs tells what there is");
            return Err(Problem::new(crate::problem::Kind::Missing, detail));
        }
        Err(Problem::verb(&allowed.join(", ")))
    }
}

/// The pieces of `path` that stand where the pattern has braces, if it fits; none of them is empty.
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

fn decoded(pieces: Vec<(&'static str, &str)>) -> Result<Named, Problem> {
    let decode = |(name, piece): (&'static str, &str)| match percent::decode_segment(piece) {
        // What a path names is the id of an item, or a part of one.
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
