//! The route table: everything about an operation, and its handler.
//!
//! The API matches requests against it and generates `/v1/openapi.json` from it, so the two cannot disagree.

use super::{BoxFuture, Request, Response, ServiceError};
use http::Method;
use std::sync::Arc;

/// One operation, as callers see it.
#[derive(Clone, Debug)]
pub struct Route {
    pub method: Method,
    /// With path parameters in braces: `/v1/users/{user}/devices`.
    pub path: &'static str,
    /// The operation's id, which client generators use as the function name.
    pub id: &'static str,
    pub summary: &'static str,
    pub who: Who,
    pub query: &'static [Parameter],
    pub request: Option<Shape>,
    /// Whether the body is optional.
    pub is_request_optional: bool,
    /// The status and body of a success.
    pub success: (u16, Shape),
    pub takes_if_match: bool,
    pub takes_idempotency_key: bool,
}

/// Who may call the operation. A read-write account key may call everything, a read-only key whatever only
/// reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Everybody,
    /// The user in the path parameter `{user}`, and the service's `admin`.
    Owner,
    /// Holders of this role of the service, and its `admin`.
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

/// The form of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A schema of the service, by name.
    Named(&'static str),
    /// An array of the schema.
    Several(&'static str),
    /// `{"items": […], "continuation": …}` with items of the schema.
    Page(&'static str),
    /// `text/event-stream`, with data of the schema.
    Events(&'static str),
    Html,
    /// Any JSON object.
    Object,
}

/// Requests under `prefix` are treated as requests under `path`, in which `{user}` is the caller. The first
/// matching alias applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    pub prefix: &'static str,
    pub path: &'static str,
}

pub type Handler = Arc<dyn Fn(Request) -> BoxFuture<'static, Result<Response, ServiceError>> + Send + Sync>;

/// A route and its handler.
#[derive(Clone)]
pub struct Endpoint {
    pub route: Route,
    pub handler: Handler,
}

impl Route {
    /// A route without parameters and bodies that responds 200 with an object.
    pub fn new(
        method: Method,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        who: Who,
    ) -> Self {
        Self {
            method,
            path,
            id,
            summary,
            who,
            query: &[],
            request: None,
            is_request_optional: false,
            success: (200, Shape::Object),
            takes_if_match: false,
            takes_idempotency_key: false,
        }
    }

    pub fn get(path: &'static str, id: &'static str, summary: &'static str, who: Who) -> Self {
        Self::new(Method::GET, path, id, summary, who)
    }

    pub fn post(path: &'static str, id: &'static str, summary: &'static str, who: Who) -> Self {
        Self::new(Method::POST, path, id, summary, who)
    }

    pub fn with_query(self, query: &'static [Parameter]) -> Self {
        Self { query, ..self }
    }

    /// Accepts this body.
    pub fn with_body(self, shape: Shape) -> Self {
        Self { request: Some(shape), ..self }
    }

    /// Accepts this body, optionally.
    pub fn with_optional_body(self, shape: Shape) -> Self {
        Self { request: Some(shape), is_request_optional: true, ..self }
    }

    pub fn returns(self, status: u16, shape: Shape) -> Self {
        Self { success: (status, shape), ..self }
    }

    /// Accepts `If-Match`.
    pub fn conditional(self) -> Self {
        Self { takes_if_match: true, ..self }
    }

    /// Accepts `Idempotency-Key`: the API answers a repeated request from the service's records.
    pub fn idempotent(self) -> Self {
        Self { takes_idempotency_key: true, ..self }
    }

    /// Combines the route with its handler, a function of the service (a cheap handle) and the request.
    pub fn to<S, F, R>(self, service: &S, handler: F) -> Endpoint
    where
        S: Clone + Send + Sync + 'static,
        F: Fn(S, Request) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Response, ServiceError>> + Send + 'static,
    {
        let service = service.clone();
        Endpoint { route: self, handler: Arc::new(move |request| boxed(&handler, service.clone(), request)) }
    }
}

/// Boxed, and built in its own frame: the futures of all handlers together would take a large part of a
/// thread's stack.
#[inline(never)]
fn boxed<S, F, R>(handler: &F, service: S, request: Request) -> BoxFuture<'static, R::Output>
where
    F: Fn(S, Request) -> R,
    R: Future + Send + 'static,
{
    Box::pin(handler(service, request))
}
