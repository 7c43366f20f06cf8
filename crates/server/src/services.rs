//! The services port: health, readiness, the clock, what the advice on containers rests on, keys and roles, blueprints.

use crate::account_keys::AccountKeys;
use crate::background::Background;
use crate::blueprints::{self, Blueprints};
use crate::clock;
use crate::identity::endpoints;
use crate::report;
use http::{Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use orrery_api_common::{Body, Peer, read_body};
use orrery_api_cosmos::Cosmos;
use orrery_store::Store;
use serde_json::{Value, json};
use std::sync::Arc;

pub const BODY_BYTES_MAX: usize = 64 * 1024;

#[derive(Clone)]
pub struct Services {
    pub store: Store,
    pub cosmos: Cosmos,
    pub background: Arc<Background>,
    pub keys: Arc<AccountKeys>,
    pub blueprints: Arc<Blueprints>,
}

impl Services {
    pub async fn handle(&self, request: Request<Incoming>, peer: Peer) -> Response<Body> {
        let (head, body) = request.into_parts();
        match (&head.method, head.uri.path()) {
            (&Method::GET, "/healthz") => reply(StatusCode::OK, &json!({ "status": "ok" })),
            (&Method::GET, "/readyz") => self.readiness(),
            (&Method::GET, "/v1/clock") => reply(StatusCode::OK, &clock::show(self.store.env())),
            (&Method::POST, "/v1/clock") => match read_body(body, BODY_BYTES_MAX).await {
                Ok(body) => self.advance(&body),
                Err(error) => problem(StatusCode::BAD_REQUEST, &error.to_string()),
            },
            (&Method::GET, "/v1/advice") => match report::of(&self.cosmos, head.uri.query(), peer).await {
                Ok(report) => reply(StatusCode::OK, &report),
                Err((status, sentence)) => problem(status, &sentence),
            },
            (_, "/healthz" | "/readyz" | "/v1/clock" | "/v1/advice") => {
                problem(StatusCode::METHOD_NOT_ALLOWED, "the verb is not allowed here")
            }
            (_, path) if blueprints::has(path) => match blueprints::handle(self, &head, peer).await {
                Ok(shown) => reply(StatusCode::OK, &shown),
                Err((status, sentence)) => problem(status, &sentence),
            },
            (_, path) if endpoints::has(path) => match endpoints::handle(self, &head, body, peer).await {
                Ok(shown) => reply(StatusCode::OK, &shown),
                Err((status, sentence)) => problem(status, &sentence),
            },
            (_, path) => problem(StatusCode::NOT_FOUND, &format!("there is nothing at {path}")),
        }
    }

    /// Ready: the last commit reached the disk, and the last round of background work went well.
    fn readiness(&self) -> Response<Body> {
        let trouble = self.store.trouble().map(|error| error.to_string());
        match trouble.or_else(|| self.background.trouble()) {
            None => reply(StatusCode::OK, &json!({ "status": "ready", "lsn": self.store.durable_lsn().0 })),
            Some(trouble) => problem(StatusCode::SERVICE_UNAVAILABLE, &trouble),
        }
    }

    fn advance(&self, body: &[u8]) -> Response<Body> {
        match clock::advance(self.store.env(), body) {
            Ok(shown) => {
                self.background.wake();
                reply(StatusCode::OK, &shown)
            }
            Err(sentence) => problem(StatusCode::BAD_REQUEST, &sentence),
        }
    }
}

fn reply(status: StatusCode, body: &Value) -> Response<Body> {
    respond(status, "application/json", body)
}

fn problem(status: StatusCode, detail: &str) -> Response<Body> {
    let body = json!({ "title": status.canonical_reason(), "status": status.as_u16(), "detail": detail });
    respond(status, "application/problem+json", &body)
}

fn respond(status: StatusCode, kind: &'static str, body: &Value) -> Response<Body> {
    let mut response = Response::new(orrery_api_common::body(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static(kind));
    response
}
