//! Which path is whose.

use crate::blueprints::{self, NamedQueries};
use crate::keys::{self, AccountKeys};
use crate::monitor::{self, Watch};
use crate::{accounts, advice, clock, schemas};
use http::Method;
use http::request::Parts;
use hyper::body::Incoming;
use orrery_api_common::problem::{Kind, Problem};
use orrery_api_common::secrets::StorageAccounts;
use orrery_api_common::{Peer, read_body};
use orrery_api_cosmos::Cosmos;
use orrery_document_store::Store;
use serde_json::Value;
use std::sync::Arc;

pub const BODY_BYTES_MAX: usize = 64 * 1024;

/// What an endpoint says.
pub enum Said {
    Json(Value),
    Text { kind: &'static str, text: String },
}

/// What the routes work on. A cheap handle.
#[derive(Clone)]
pub struct Admin {
    pub store: Store,
    pub cosmos: Cosmos,
    pub watch: Watch,
    pub keys: Arc<dyn AccountKeys>,
    pub accounts: Arc<StorageAccounts>,
    pub queries: Arc<dyn NamedQueries>,
    /// Wakes what sleeps by the clock; called when the clock was moved.
    pub wake: Arc<dyn Fn() + Send + Sync>,
}

pub fn has(path: &str) -> bool {
    matches!(path, "/v1/clock" | "/v1/advice")
        || monitor::has(path)
        || blueprints::has(path)
        || schemas::has(path)
        || keys::are_about_credentials(path)
}

impl Admin {
    pub async fn handle(&self, head: &Parts, body: Incoming, peer: Peer) -> Result<Said, Problem> {
        let query = head.uri.query();
        match (&head.method, head.uri.path()) {
            (&Method::GET, "/v1/clock") => Ok(Said::Json(clock::show(self.store.env()))),
            (&Method::POST, "/v1/clock") => self.advance(body).await.map(Said::Json),
            (&Method::GET, "/v1/advice") => {
                advice::of(&self.cosmos, &self.watch, query).await.map(Said::Json)
            }
            (&Method::GET, path) if monitor::has(path) => monitor::answer(&self.watch, path, query).await,
            (_, path) if blueprints::has(path) => {
                blueprints::handle(&*self.queries, head).await.map(Said::Json)
            }
            (_, path) if schemas::has(path) => schemas::handle(&self.store, head, body).await.map(Said::Json),
            (_, path) if keys::has(path) => keys::handle(self, head, body, peer).await.map(Said::Json),
            (_, path) if accounts::has(path) => {
                accounts::handle(self, head, body, peer).await.map(Said::Json)
            }
            (_, path) if has(path) => Err(wrong_verb()),
            (_, path) => Err(nothing_at(path)),
        }
    }

    /// What comes after the clock was moved is measured from there on, so the look is over before the answer.
    async fn advance(&self, body: Incoming) -> Result<Value, Problem> {
        let body = read_body(body, BODY_BYTES_MAX).await;
        let body = body.map_err(|error| Problem::new(Kind::Invalid, error.to_string()))?;
        let shown = clock::advance(self.store.env(), &body)
            .map_err(|sentence| Problem::new(Kind::Invalid, sentence))?;
        let watch = self.watch.clone();
        drop(tokio::task::spawn_blocking(move || watch.look()).await);
        (self.wake)();
        Ok(shown)
    }
}

pub fn wrong_verb() -> Problem {
    Problem::new(Kind::Verb, "the verb is not allowed here")
}

pub fn nothing_at(path: &str) -> Problem {
    Problem::new(Kind::Missing, format!("there is nothing at {path}"))
}
