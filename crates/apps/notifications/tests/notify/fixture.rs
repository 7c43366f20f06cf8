//! The service under test, with a clock that the test moves and scripted devices.

use crate::place::{Home, Place};
use orrery_core::{Env, Timestamp};
use orrery_kit::ports::documents::{Documents, Query};
use orrery_kit::time;
use orrery_notifications::dispatch::{Dispatcher, Fault, Options as Dispatching};
use orrery_notifications::policy::Policy;
use orrery_notifications::push::{Message, Outcome, Providers};
use orrery_notifications::records::{Device, Event, Status};
use orrery_notifications::service::containers::{EVENTS, NOTIFICATIONS};
use orrery_notifications::service::{Job, Notifications, Options};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A Sunday morning, which is not quiet by default.
pub const START: &str = "2026-11-15T10:00:00.000Z";

pub struct Fixture {
    pub env: Env,
    pub documents: Documents,
    pub phones: Phones,
    pub service: Notifications,
    home: Home,
}

type Answer = dyn Fn(&Device, &Message) -> Outcome + Send + std::marker::Sync;

/// All pushes that arrived, and the responses to the next ones.
#[derive(Clone)]
pub struct Phones(Arc<Mutex<Answers>>);

struct Answers {
    pushes: Vec<Push>,
    answer: Arc<Answer>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Push {
    pub device: String,
    pub collapse_id: String,
    pub title: String,
    pub at: Timestamp,
}

impl Phones {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(Answers {
            pushes: Vec::new(),
            answer: Arc::new(|_, _| Outcome::Delivered),
        })))
    }

    pub fn answer(&self, answer: impl Fn(&Device, &Message) -> Outcome + Send + std::marker::Sync + 'static) {
        self.0.lock().unwrap().answer = Arc::new(answer);
    }

    pub fn pushes(&self) -> Vec<Push> {
        self.0.lock().unwrap().pushes.clone()
    }

    fn providers(&self, env: &Env) -> Providers {
        let (phones, env) = (self.clone(), env.clone());
        Providers::scripted(Arc::new(move |device: &Device, message: &Message| {
            let answer = phones.0.lock().unwrap().answer.clone();
            let outcome = answer(device, message);
            if matches!(outcome, Outcome::Delivered) {
                phones.0.lock().unwrap().pushes.push(Push {
                    device: device.id.clone(),
                    collapse_id: message.collapse_id.clone(),
                    title: message.title.clone(),
                    at: env.now(),
                });
            }
            outcome
        }))
    }
}

impl Fixture {
    pub async fn make(place: &Place, start: &str) -> Self {
        let env = Env::seeded(time::parse(start).unwrap(), 7);
        let home = place.store(&env);
        let (documents, phones) = (home.open(), Phones::new());
        let service = made(&env, &documents, &phones, "worker-1");
        service.ensure().await.unwrap();
        Self { env, documents, phones, service, home }
    }

    /// Another process on the same store.
    pub async fn another(&self, worker: &str) -> Notifications {
        let service = self.on(self.home.open(), worker);
        service.ensure().await.unwrap();
        service
    }

    /// Variant with another connection to the store.
    pub fn on(&self, documents: Documents, worker: &str) -> Notifications {
        made(&self.env, &documents, &self.phones, worker)
    }

    /// After the store was restarted elsewhere.
    pub fn reopen(&mut self) {
        self.documents = self.home.open();
        self.service = self.on(self.documents.clone(), "worker-1");
    }

    pub fn home(&self) -> &Home {
        &self.home
    }

    pub fn advance(&self, seconds: u64) {
        self.advance_by(Duration::from_secs(seconds));
    }

    pub fn advance_to(&self, moment: &str) {
        let moment = time::parse(moment).unwrap();
        assert!(moment >= self.env.now(), "the clock goes forward");
        self.advance_by(moment.abs_diff(self.env.now()));
    }

    /// The service's clock and the store's.
    fn advance_by(&self, by: Duration) {
        self.env.advance(by).unwrap();
        self.home.advance(by);
    }

    pub async fn register(&self, user: &str, device: &str) {
        let body = json!({"deviceId": device, "pushToken": format!("token-{device}"), "platform": "fcm", "label": device});
        self.service.register(user, &body).await.unwrap();
    }

    /// Enqueues an event and returns its id.
    pub async fn send(&self, body: Value) -> String {
        let accepted = self.service.enqueue(&body, None).await.unwrap();
        assert_eq!(accepted.len(), 1);
        assert_eq!(accepted[0].status, "PENDING");
        accepted[0].id.clone().unwrap()
    }

    pub async fn like(&self, user: &str, actor: &str, key: Option<&str>) -> String {
        self.send(like(user, actor, "post-42", key)).await
    }

    /// Processes events until none is due.
    pub async fn settle(&self) {
        settle(&self.service).await;
    }

    pub async fn event(&self, user: &str, id: &str) -> Event {
        self.service.event(user, id).await.unwrap().value
    }

    pub async fn status(&self, user: &str, id: &str) -> (Status, Option<String>) {
        let event = self.event(user, id).await;
        (event.status, event.outcome)
    }

    pub async fn rows(&self, container: &str, user: Option<&str>, text: &str) -> Vec<Value> {
        let mut query = Query { text: text.to_owned(), items_max: 1000, ..Query::default() };
        let mut rows = Vec::new();
        loop {
            let page = self.documents.query(container, user, &query).await.unwrap();
            rows.extend(page.rows);
            query.continuation = page.continuation;
            if query.continuation.is_none() {
                return rows;
            }
        }
    }

    pub async fn notifications(&self, user: &str) -> Vec<Value> {
        self.rows(NOTIFICATIONS, Some(user), "SELECT * FROM c WHERE IS_DEFINED(c.title)").await
    }

    pub async fn events(&self, user: &str) -> Vec<Value> {
        self.rows(EVENTS, Some(user), "SELECT * FROM c WHERE IS_DEFINED(c.eventType)").await
    }

    /// The published events, by type.
    pub async fn told(&self, container: &str, user: &str) -> Vec<String> {
        let items = self.rows(container, Some(user), "SELECT * FROM c WHERE c.kind = 'outbox'").await;
        let mut told: Vec<String> = items
            .iter()
            .flat_map(|item| serde_json::from_str::<Vec<Value>>(item["events"].as_str().unwrap()).unwrap())
            .map(|event| event["type"].as_str().unwrap().to_owned())
            .collect();
        told.sort();
        told
    }
}

fn made(env: &Env, documents: &Documents, phones: &Phones, worker: &str) -> Notifications {
    let options = Options {
        policy: Policy::default(),
        providers: phones.providers(env),
        worker: worker.to_owned(),
        jobs: Job::defaults().unwrap(),
    };
    Notifications::new(documents.clone(), env.clone(), options).unwrap()
}

pub async fn settle(service: &Notifications) {
    let dispatcher = Dispatcher::new(service, Dispatching::default());
    for _ in 0..1_000 {
        if dispatcher.round().await.unwrap().processed == 0 {
            return;
        }
    }
    panic!("there is always more to do");
}

/// A dispatcher that crashes when it reaches `step` for the n-th time.
pub fn crashing(service: &Notifications, step: &str, at: usize) -> Dispatcher {
    let (step, reached) = (step.to_owned(), AtomicUsize::new(0));
    let fault =
        Fault(Arc::new(move |name: &str| name == step && reached.fetch_add(1, Ordering::SeqCst) + 1 == at));
    Dispatcher::new(service, Dispatching { fault: Some(fault), ..Dispatching::default() })
}

pub fn like(user: &str, actor: &str, target: &str, key: Option<&str>) -> Value {
    let mut body = json!({
        "userId": user, "eventType": "POST_LIKE",
        "payload": {"actorId": format!("id-{actor}"), "actorName": actor, "targetId": target, "targetType": "post"},
    });
    if let Some(key) = key {
        body["dedupeKey"] = key.into();
    }
    body
}

pub fn of_type(user: &str, event_type: &str, target: &str) -> Value {
    json!({"userId": user, "eventType": event_type, "payload": {"targetId": target, "targetType": "post"}})
}
