//! A service in memory, and a way to ask it as anybody.

use bytes::Bytes;
use http::{HeaderMap, Method, Request};
use http_body_util::BodyExt as _;
use orrery_api_common::bearer::{Bearers, DevelopmentKey, Grant, Issuer, Mint};
use orrery_api_common::{Key, Keys, Stop};
use orrery_api_services::limits;
use orrery_api_services::{Api, Gate, Options, ServiceBody};
use orrery_core::{Env, Timestamp};
use orrery_document_store::Store;
use orrery_documents::spaces::SPACES;
use orrery_kit::ports::documents::{Documents, Embedded};
use orrery_kit::service::Service;
use orrery_kv::{MemoryEngine, Sync};
use orrery_notifications::dispatch;
use orrery_notifications::policy::Policy;
use orrery_notifications::push::Providers;
use orrery_notifications::service::{self, Job, Notifications};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

pub const KEY: &str = "cHJpbWFyeSBrZXkgb2YgdGhlIHRlc3Rz";
pub const READ_ONLY: &str = "cmVhZC1vbmx5IGtleSBvZiB0aGUgdGVzdHM=";
const AUDIENCE: &str = "https://cosmos.azure.com";
/// A Sunday in November, 10:00 UTC: no quiet hour.
pub const START: Timestamp = Timestamp::from_seconds(1_794_736_800);

pub struct World {
    pub api: Api,
    pub notifications: Notifications,
    pub env: Env,
    pub stop: Stop,
    pub documents: Documents,
    issuer: DevelopmentKey,
}

/// An answer, its body read.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// As whom.
#[derive(Clone, Debug)]
pub enum As {
    Nobody,
    Key(&'static str),
    User(&'static str, &'static [&'static str]),
}

pub const ADMIN: As = As::Key(KEY);

impl World {
    pub fn new() -> Self {
        Self::with_rate(limits::SERVICE_REQUESTS_PER_SECOND)
    }

    pub fn with_rate(rate: u32) -> Self {
        Self::with(rate, |_| Vec::new())
    }

    /// With another service beside the first, in the same database.
    pub fn with_another(make: impl FnOnce(Documents) -> Arc<dyn Service>) -> Self {
        Self::with(limits::SERVICE_REQUESTS_PER_SECOND, |documents| vec![make(documents)])
    }

    fn with(rate: u32, more: impl FnOnce(Documents) -> Vec<Arc<dyn Service>>) -> Self {
        let env = Env::seeded(START, 7);
        let store = Store::standalone(MemoryEngine::new(&SPACES), env.clone(), Sync::None).unwrap();
        let documents = Documents::Embedded(Embedded::new(store, "asora"));
        let options = service::Options {
            policy: Policy::default(),
            providers: Providers::pretending(),
            worker: "test".to_owned(),
            jobs: Job::defaults().unwrap(),
        };
        let notifications = Notifications::new(documents.clone(), env.clone(), options).unwrap();
        let issuer = DevelopmentKey::read(&DevelopmentKey::make().unwrap()).unwrap();
        let key = |text: &str| Key::parse(text).unwrap();
        let keys = Arc::new(Keys {
            primary: key(KEY),
            secondary: key("c2Vjb25kYXJ5"),
            primary_readonly: Some(key(READ_ONLY)),
            secondary_readonly: None,
            published: None,
        });
        let bearers = Bearers::new(vec![Issuer::development(&issuer)], vec![AUDIENCE.to_owned()]);
        let gate = Gate { keys: Box::new(move || keys.clone()), bearers: Some(Arc::new(bearers)) };
        let stop = Stop::new();
        let options = Options { rate };
        let mut services: Vec<Arc<dyn Service>> = vec![Arc::new(notifications.clone())];
        services.extend(more(documents.clone()));
        let api = Api::new(gate, env.clone(), services, stop.clone(), &options);
        Self { api, notifications, env, stop, documents, issuer }
    }

    pub fn token(&self, user: &str, roles: &[&str]) -> String {
        let grants = roles.iter().map(|role| Grant { role: (*role).to_owned(), scope: "/".to_owned() });
        let mint = Mint {
            principal: user.to_owned(),
            audience: AUDIENCE.to_owned(),
            grants: grants.collect(),
            lifetime: Duration::from_secs(3600),
        };
        self.issuer.mint(&mint, self.env.now()).unwrap()
    }

    pub async fn open(
        &self,
        who: &As,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> http::Response<ServiceBody> {
        let mut request = Request::builder().method(method).uri(path);
        match who {
            As::Nobody => {}
            As::Key(key) => request = request.header("x-api-key", *key),
            As::User(user, roles) => {
                request = request.header("authorization", format!("Bearer {}", self.token(user, roles)));
            }
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.api.handle_whole(request.body(Bytes::copy_from_slice(body.as_bytes())).unwrap()).await
    }

    pub async fn call(
        &self,
        who: &As,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let (head, body) = self.open(who, method, path, headers, body).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let body = serde_json::from_slice(&body).unwrap_or_else(|_| json!(String::from_utf8_lossy(&body)));
        Answer { status: head.status.as_u16(), headers: head.headers, body }
    }

    pub async fn get(&self, who: &As, path: &str) -> Answer {
        self.call(who, Method::GET, path, &[], "").await
    }

    pub async fn post(&self, who: &As, path: &str, body: &Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.call(who, Method::POST, path, &[], &body).await
    }

    /// Enqueues an event for a user and has it dispatched; its id.
    pub async fn notify(&self, user: &str, target: &str) -> String {
        let answer = self.post(&ADMIN, "/v1/notifications/events", &event(user, target)).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        self.dispatch().await;
        answer.body[0]["id"].as_str().unwrap().to_owned()
    }

    pub async fn dispatch(&self) {
        while dispatch::round(&self.notifications).await.unwrap() > 0 {}
    }
}

pub fn event(user: &str, target: &str) -> Value {
    json!({ "userId": user, "eventType": "POST_LIKE",
        "payload": { "targetId": target, "targetType": "post", "actorName": "Ann" } })
}
