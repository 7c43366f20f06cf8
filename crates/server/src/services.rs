//! The services port: health and readiness; the administrative routes, which `api/admin` answers for; and the services
//! themselves, which `api/services` answers for.

use crate::blueprints::Blueprints;
use crate::caller::{self, Caller, Callers, Needs};
use crate::config::PortNumbers;
use crate::front_page;
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use orrery_api_admin::monitor::Watch;
use orrery_api_admin::{Admin, Said};
use orrery_api_common::problem::{Kind, Problem};
use orrery_api_common::secrets::AccountKeys;
use orrery_api_common::{Body, Peer};
use orrery_api_cosmos::Cosmos;
use orrery_api_services::{Api, Readiness, ServiceBody};
use orrery_document_store::Store;
use orrery_txn::Background;
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Clone)]
pub struct Services {
    pub store: Store,
    pub cosmos: Cosmos,
    pub background: Arc<Background>,
    pub keys: Arc<AccountKeys>,
    pub callers: Callers,
    pub ports: PortNumbers,
    pub blueprints: Arc<Blueprints>,
    pub watch: Watch,
    pub admin: Admin,
    /// The services that are switched on.
    pub api: Api,
}

impl Services {
    pub async fn handle(&self, request: Request<Incoming>, peer: Peer) -> Response<ServiceBody> {
        if let Some(problem) = wrong_content_type(request.method(), request.headers()) {
            return problem.into_response(request.uri().path());
        }
        if !self.api.has(request.uri().path()) {
            return self.handle_own(request, peer).await.map(ServiceBody::from);
        }
        let has_credential = orrery_api_services::shows_credential(request.headers());
        let response = self.api.handle(request).await;
        // Every route looks at the credential that is there, and says so if it opens nothing.
        if has_credential && response.status() != StatusCode::UNAUTHORIZED {
            peer.confirm();
        }
        response
    }

    async fn handle_own(&self, request: Request<Incoming>, peer: Peer) -> Response<Body> {
        let (head, body) = request.into_parts();
        let answered = self.try_answer(&head, body, peer).await;
        answered.unwrap_or_else(|problem| problem.into_response(head.uri.path()))
    }

    async fn try_answer(&self, head: &Parts, body: Incoming, peer: Peer) -> Result<Response<Body>, Problem> {
        if let Some(needs) = caller::needs(&head.method, head.uri.path()) {
            match self.callers.admit(head, needs).await? {
                Caller::Operator => {}
                Caller::Key(_) | Caller::Administrator { .. } => peer.confirm(),
            }
        }
        match (&head.method, head.uri.path()) {
            // The id is no secret; our own tools compare it with the one of the Cosmos DB endpoint.
            (&Method::GET, "/healthz") => {
                Ok(reply(&json!({ "status": "ok", "accountId": self.cosmos.account_id() })))
            }
            (&Method::GET, "/") => Ok(front_page::answer(&head.headers, self.ports)),
            (&Method::GET, "/readyz") => {
                self.readiness(self.callers.admit(head, Needs::Reading).await.is_ok())
            }
            (_, "/" | "/healthz" | "/readyz") => {
                Err(Problem::new(Kind::Verb, "the verb is not allowed here"))
            }
            (_, path) if orrery_api_admin::has(path) => match self.admin.handle(head, body, peer).await? {
                Said::Json(value) => Ok(reply(&value)),
                Said::Text { kind, text } => Ok(respond(kind, text)),
            },
            (_, path) => Err(Problem::new(Kind::Missing, format!("there is nothing at {path}"))),
        }
    }

    /// Ready: the last commit reached the disk, and the last round of background work went well. What a service's checks find
    /// makes it `degraded`, and ready all the same: requests are still answered. Details are for callers that may see them.
    fn readiness(&self, with_details: bool) -> Result<Response<Body>, Problem> {
        let trouble = self.store.commit_failure().map(|error| error.to_string());
        match trouble.or_else(|| self.background.trouble()) {
            None => {
                let lsn = self.store.durable_lsn().0;
                let Readiness { is_degraded, services } = self.api.readiness();
                let status = if is_degraded { "degraded" } else { "ready" };
                if !with_details {
                    return Ok(reply(&json!({ "status": status })));
                }
                Ok(reply(
                    &json!({ "status": status, "lsn": lsn, "alerts": self.watch.firing(), "services": services }),
                ))
            }
            Some(trouble) if with_details => Err(Problem::new(Kind::Unavailable, trouble)),
            Some(_) => Err(Problem::new(Kind::Unavailable, "the server cannot write; its log says why")),
        }
    }
}

/// A web page may post forms and plain text to any server without asking; JSON it may not, and the other verbs neither.
fn wrong_content_type(method: &Method, headers: &HeaderMap) -> Option<Problem> {
    if ![Method::POST, Method::PUT, Method::PATCH].contains(method) || is_json(headers) {
        return None;
    }
    let sentence = format!("a {method} wants the header Content-Type: application/json");
    Some(Problem::new(Kind::Other(StatusCode::UNSUPPORTED_MEDIA_TYPE), sentence))
}

/// `application/json` or one of its kin, such as `application/merge-patch+json`; parameters do not matter.
fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

fn reply(body: &Value) -> Response<Body> {
    respond("application/json", body.to_string())
}

fn respond(kind: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(orrery_api_common::body(body));
    response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static(kind));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_something_is_json() {
        let judged = |method: Method, kind: &'static str| {
            let mut headers = HeaderMap::new();
            if !kind.is_empty() {
                headers.insert(header::CONTENT_TYPE, http::HeaderValue::from_static(kind));
            }
            wrong_content_type(&method, &headers).map(|problem| problem.kind.status().as_u16())
        };
        for kind in ["application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json"] {
            assert_eq!(judged(Method::POST, kind), None, "{kind}");
        }
        for kind in
            ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/x+json"]
        {
            assert_eq!(judged(Method::POST, kind), Some(415), "{kind}");
            assert_eq!(judged(Method::PATCH, kind), Some(415), "{kind}");
            assert_eq!((judged(Method::GET, kind), judged(Method::DELETE, kind)), (None, None), "{kind}");
        }
    }
}
