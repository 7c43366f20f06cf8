//! From a request to its answer.

use crate::alias;
use crate::asked::Asked;
use crate::body::ServiceBody;
use crate::caller::{Caller, Gate};
use crate::idempotent::{self, Memory};
use crate::notifications;
use crate::openapi;
use crate::problem::{Kind, Problem};
use crate::reply::{Content, Reply};
use crate::route::{Named, Route, Shape, Table, Who};
use crate::stream::Streams;
use bytes::Bytes;
use http::header::HeaderName;
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response};
use hyper::body::Incoming;
use orrery_api_common::{Stop, read_body};
use orrery_core::{Env, limits};
use orrery_kit::bucket::{Buckets, Taken};
use orrery_kit::ports::documents::Documents;
use orrery_notifications::service::Notifications;
use serde_json::Value;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Description,
    Page,
    Notifications(notifications::Operation),
}

pub struct Options {
    /// Requests a second that one caller may make.
    pub rate: u32,
}

/// A cheap handle.
#[derive(Clone)]
pub struct Api(Arc<Inner>);

struct Inner {
    table: Table<Operation>,
    description: Value,
    gate: Gate,
    env: Env,
    buckets: Buckets,
    notifications: Notifications,
    memory: Memory,
    streams: Streams,
}

impl Api {
    /// `documents` is where the services keep their own records; streams end with `stop`.
    pub fn new(
        gate: Gate,
        env: Env,
        documents: Documents,
        notifications: Notifications,
        stop: Stop,
        options: &Options,
    ) -> Self {
        let table = Table::new(routes());
        Self(Arc::new(Inner {
            description: openapi::description(&table, notifications::schemas::all()),
            table,
            gate,
            env,
            buckets: Buckets::new(f64::from(options.rate), u64::from(options.rate)),
            notifications,
            memory: Memory { documents, container: orrery_notifications::service::containers::SERVICE },
            streams: Streams::new(stop),
        }))
    }

    /// Whether a path is of a service, so that what is not can be answered by others.
    pub fn has(&self, path: &str) -> bool {
        ["/v1/notifications", "/v1/users"]
            .iter()
            .any(|root| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
            || alias::has(path)
            || self.0.table.has(path)
    }

    pub async fn handle(&self, request: Request<Incoming>) -> Response<ServiceBody> {
        let (head, body) = request.into_parts();
        let read = async { Ok(read_body(body, limits::SERVICE_BODY_BYTES_MAX).await?) };
        self.answer(&head, read).await
    }

    /// The same for a body that is there.
    pub async fn handle_whole(&self, request: Request<Bytes>) -> Response<ServiceBody> {
        let (head, body) = request.into_parts();
        self.answer(&head, std::future::ready(Ok(body))).await
    }

    /// The body is read after it is known who asks, and not at all for whom it is not for.
    async fn answer(
        &self,
        head: &Parts,
        body: impl Future<Output = Result<Bytes, Problem>>,
    ) -> Response<ServiceBody> {
        let mut taken = None;
        let answered = self.0.try_answer(head, body, &mut taken).await;
        let mut response = match answered {
            Ok(reply) => reply.into_response(),
            Err(problem) => problem.into_response(head.uri.path()),
        };
        if let Some(taken) = taken {
            tell(&mut response, &taken);
        }
        response
    }
}

impl Inner {
    async fn try_answer(
        &self,
        head: &Parts,
        body: impl Future<Output = Result<Bytes, Problem>>,
        taken: &mut Option<Taken>,
    ) -> Result<Reply, Problem> {
        let caller = self.gate.admit(&head.headers, self.env.now()).await?;
        let path = alias::resolve(head.uri.path(), &caller)?;
        let (route, named) = self.table.find(&head.method, &path)?;
        caller.check(route, &named)?;
        if route.who != Who::Everybody {
            check(*taken.insert(self.buckets.take(&caller.name(), self.env.now())))?;
        }
        let body = body.await?;
        self.run(route, head, &caller, named, body).await
    }

    async fn run(
        &self,
        route: &Route<Operation>,
        head: &Parts,
        caller: &Caller,
        named: Named,
        body: Bytes,
    ) -> Result<Reply, Problem> {
        let asked = Asked::new(head, named, body)?;
        let operation = match route.operation {
            Operation::Description => return Ok(Reply::ok(&self.description)),
            Operation::Page => return Ok(page()),
            Operation::Notifications(operation) => operation,
        };
        Box::pin(self.notifications.ensure()).await?;
        let within = notifications::Within {
            notifications: &self.notifications,
            streams: &self.streams,
            // Two callers may choose the same key.
            key: asked.idempotency_key.as_ref().map(|key| format!("{}\n{key}", caller.name())),
        };
        let work = notifications::run(&within, operation, &asked);
        match asked.idempotency_key.as_deref().filter(|_| route.takes_idempotency_key) {
            Some(key) => {
                let said = [route.id.as_bytes(), head.uri.path().as_bytes(), asked.body()];
                Box::pin(idempotent::once(&self.memory, &caller.name(), key, &said, work)).await
            }
            None => work.await,
        }
    }
}

fn check(taken: Taken) -> Result<(), Problem> {
    if taken.allowed {
        return Ok(());
    }
    let detail = format!("{} requests a second are what one caller may make", taken.limit);
    Err(Problem::new(Kind::TooMany, detail).after(taken.retry_after))
}

fn page() -> Reply {
    Reply { content: Content::Page(include_str!("page.html")), ..Reply::ok(()) }
}

/// Everything that there is, in the order in which it is described.
pub fn routes() -> Vec<Route<Operation>> {
    let about = |operation, path, id, summary, shape| Route {
        operation,
        method: Method::GET,
        path,
        id,
        summary,
        service: "about",
        who: Who::Everybody,
        query: &[],
        request: None,
        success: (200, shape),
        takes_if_match: false,
        takes_idempotency_key: false,
    };
    let mut routes = notifications::routes();
    routes.push(about(
        Operation::Description,
        "/v1/openapi.json",
        "getDescription",
        "This description, as OpenAPI 3.1",
        Shape::Object,
    ));
    routes.push(about(Operation::Page, "/v1/docs", "getPage", "This description, for people", Shape::Html));
    routes
}

fn tell(response: &mut Response<ServiceBody>, taken: &Taken) {
    let seconds = taken.reset_after.as_millis().div_ceil(1000) as u64;
    let headers = [
        ("x-ratelimit-limit", taken.limit),
        ("x-ratelimit-remaining", taken.remaining),
        ("x-ratelimit-reset", seconds),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from(value));
    }
}
