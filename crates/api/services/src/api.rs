//! Handles a request: route, caller, rate, idempotency, handler, response.

use crate::body::ServiceBody;
use crate::caller::{Caller, Gate};
use crate::limits;
use crate::readiness::Readiness;
use crate::sse::Streams;
use crate::table::{Row, Table, Target};
use crate::{alias, decode, encode, errors, idempotency, openapi};
use bytes::Bytes;
use http::header::HeaderName;
use http::request::Parts;
use http::{HeaderValue, Request, Response};
use hyper::body::Incoming;
use orrery_api_common::problem::{Kind, Problem};
use orrery_api_common::{Stop, read_body};
use orrery_core::Env;
use orrery_kit::bucket::{Buckets, Taken};
use orrery_kit::service::{self, Alias, Handler, Route, Service, Shape, Who};
use serde_json::Value;
use std::sync::Arc;

pub struct Options {
    /// Requests per second of one caller.
    pub rate: u32,
}

/// A cheap handle.
#[derive(Clone)]
pub struct Api(Arc<Inner>);

struct Inner {
    services: Vec<Arc<dyn Service>>,
    table: Table,
    aliases: Vec<Alias>,
    description: Value,
    gate: Gate,
    env: Env,
    buckets: Buckets,
    streams: Streams,
}

impl Api {
    /// Streams end at `stop`.
    pub fn new(gate: Gate, env: Env, services: Vec<Arc<dyn Service>>, stop: Stop, options: &Options) -> Self {
        let mut rows: Vec<Row> = services.iter().flat_map(rows).collect();
        rows.extend(own_rows());
        let schemas = services.iter().flat_map(|service| service.schemas()).collect();
        Self(Arc::new(Inner {
            description: openapi::description(&rows, schemas),
            aliases: services.iter().flat_map(|service| service.aliases()).collect(),
            table: Table::new(rows),
            services,
            gate,
            env,
            buckets: Buckets::new(f64::from(options.rate), u64::from(options.rate)),
            streams: Streams::new(stop),
        }))
    }

    /// Whether a path belongs to a service; others are handled elsewhere.
    pub fn has(&self, path: &str) -> bool {
        alias::find(&self.0.aliases, path).is_some() || self.0.table.has(path)
    }

    pub fn services(&self) -> &[Arc<dyn Service>] {
        &self.0.services
    }

    /// The services' part of `/readyz`.
    pub fn readiness(&self) -> Readiness {
        Readiness::of(&self.0.services)
    }

    pub async fn handle(&self, request: Request<Incoming>) -> Response<ServiceBody> {
        let (head, body) = request.into_parts();
        let read = async { Ok(read_body(body, limits::SERVICE_BODY_BYTES_MAX).await?) };
        self.answer(&head, read).await
    }

    /// Variant for a body that was read.
    pub async fn handle_whole(&self, request: Request<Bytes>) -> Response<ServiceBody> {
        let (head, body) = request.into_parts();
        self.answer(&head, std::future::ready(Ok(body))).await
    }

    /// The body is read after authorization, and not at all if the caller is refused.
    async fn answer(
        &self,
        head: &Parts,
        body: impl Future<Output = Result<Bytes, Problem>>,
    ) -> Response<ServiceBody> {
        orrery_core::tour_step!();
        let mut taken = None;
        let answered = self.0.try_answer(head, body, &mut taken).await;
        let mut response = answered.unwrap_or_else(|problem| problem.into_response(head.uri.path()));
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
    ) -> Result<Response<ServiceBody>, Problem> {
        let caller = self.gate.admit(&head.headers, self.env.now()).await?;
        let path = alias::resolve(&self.aliases, head.uri.path(), &caller)?;
        let (row, in_path) = self.table.find(&head.method, &path)?;
        caller.check(row, &in_path)?;
        if row.route.who != Who::Everybody {
            check(*taken.insert(self.buckets.take(&caller.name(), self.env.now())))?;
        }
        let body = body.await?;
        let request = decode::request(head, in_path, body)?;
        let response = match &row.target {
            Target::Description => service::Response::ok(&self.description),
            Target::Page => service::Response::html(include_str!("page.html")),
            Target::Service(service, handler) => {
                self.call(&row.route, head, &caller, service, handler, request).await?
            }
        };
        encode::response(response, &self.streams).await
    }

    async fn call(
        &self,
        route: &Route,
        head: &Parts,
        caller: &Caller,
        service: &Arc<dyn Service>,
        handler: &Handler,
        mut request: service::Request,
    ) -> Result<service::Response, Problem> {
        Box::pin(service.stores().ensure()).await.map_err(errors::of_service)?;
        let Some(key) = request.idempotency_key.take() else {
            return handler(request).await.map_err(errors::of_service);
        };
        // Keys are per caller, since two callers may choose the same one.
        request.idempotency_key = Some(format!("{}\n{key}", caller.name()));
        if !route.takes_idempotency_key {
            return handler(request).await.map_err(errors::of_service);
        }
        let said = [route.id.as_bytes(), head.uri.path().as_bytes(), &request.body.clone()];
        let records = service.stores().idempotency();
        Box::pin(idempotency::once(records, &caller.name(), &key, &said, handler(request))).await
    }
}

fn rows(service: &Arc<dyn Service>) -> Vec<Row> {
    let row = |endpoint: service::Endpoint| Row {
        route: endpoint.route,
        tag: service.name(),
        target: Target::Service(service.clone(), endpoint.handler),
    };
    service.routes().into_iter().map(row).collect()
}

/// Routes that the API answers itself.
fn own_rows() -> [Row; 2] {
    let row = |target, path, id, summary, shape| Row {
        route: Route::get(path, id, summary, Who::Everybody).returns(200, shape),
        tag: "about",
        target,
    };
    [
        row(
            Target::Description,
            "/v1/openapi.json",
            "getDescription",
            "This description, as OpenAPI 3.1",
            Shape::Object,
        ),
        row(Target::Page, "/v1/docs", "getPage", "This description, for people", Shape::Html),
    ]
}

fn check(taken: Taken) -> Result<(), Problem> {
    if taken.allowed {
        return Ok(());
    }
    let detail = format!("{} requests a second are what one caller may make", taken.limit);
    Err(Problem::new(Kind::TooMany, detail).after(taken.retry_after))
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
