//! The control port, on which a test scripts failures and reads what was received.
//!
//! ```text
//! POST   /control                 {"match": {"token"|"platform"}, "answer": {"status", "reason", "retryAfter"}, "times"}
//! DELETE /control                 forgets rules and pushes
//! GET    /control/received        what came; ?token= for one device
//! POST   /control/forget-bearers  as if all bearer tokens had been revoked
//! ```

use crate::state::{Received, Rule};
use crate::{Shared, reply};
use http::{Method, Request, Response};
use hyper::body::Incoming;
use orrery_api_common::{Body, percent, read_body};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const BODY_BYTES_MAX: usize = 64 * 1024;

pub async fn answer(shared: &Shared, request: Request<Incoming>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let state = &shared.state;
    match (&head.method, head.uri.path()) {
        (&Method::POST, "/control") => {
            let Ok(body) = read_body(body, BODY_BYTES_MAX).await else {
                return problem(413, "the rule is too large");
            };
            match serde_json::from_slice::<Rule>(&body) {
                Err(error) => problem(400, &format!("this is no rule: {error}")),
                Ok(rule) if !(200..600).contains(&rule.answer.status) => {
                    problem(400, "answer.status is not from 200 to 599")
                }
                Ok(rule) if rule.times == Some(0) => problem(400, "times is 0; leave it out for always"),
                Ok(rule) => match state.add(rule) {
                    Ok(id) => reply::json(201, &json!({ "id": id })),
                    Err(sentence) => problem(409, &sentence),
                },
            }
        }
        (&Method::DELETE, "/control") => {
            state.clear();
            reply::json(200, &json!({}))
        }
        (&Method::POST, "/control/forget-bearers") => {
            state.forget_bearers();
            reply::json(200, &json!({}))
        }
        (&Method::GET, "/control/received") => {
            let token = token_of(head.uri.query());
            let received = state.received();
            let received =
                received.into_iter().filter(|one| token.as_ref().is_none_or(|token| one.token == *token));
            let mut shown = show(received.collect());
            shown["counters"] = json!(state.counters());
            reply::json(200, &shown)
        }
        (_, path) => problem(404, &format!("there is no {} {path} here", head.method)),
    }
}

fn token_of(query: Option<&str>) -> Option<String> {
    let token = query?.split('&').find_map(|pair| pair.strip_prefix("token="))?;
    Some(percent::decode_segment(token).ok()?.into_owned())
}

fn show(received: Vec<Received>) -> Value {
    let mut by_token: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for one in &received {
        let counts = by_token.entry(&one.token).or_default();
        counts.0 += 1;
        counts.1 += u64::from(one.status == 200);
    }
    let by_token: BTreeMap<&str, Value> = by_token
        .into_iter()
        .map(|(token, (count, delivered))| (token, json!({ "count": count, "delivered": delivered })))
        .collect();
    let delivered = received.iter().filter(|one| one.status == 200).count();
    json!({ "count": received.len(), "delivered": delivered, "byToken": by_token, "pushes": received })
}

fn problem(status: u16, detail: &str) -> Response<Body> {
    reply::json(status, &json!({ "status": status, "detail": detail }))
}
