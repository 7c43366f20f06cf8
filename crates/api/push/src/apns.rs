//! APNs: HTTP/2, a provider token, the `apns-` headers, reasons as Apple names them.

use crate::Shared;
use crate::identity::{TEAM_ID, TOPIC};
use crate::reply;
use crate::state::{Answer, Platform, Received};
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode, Version, header};
use hyper::body::Incoming;
use orrery_api_common::{Body, Peer, body as plain, read_body};
use orrery_core::{Env, limits};
use serde_json::{Value, json};

/// How much of a body is read, so that an oversized one is detected.
const BODY_BYTES_MAX: usize = 64 * 1024;
const TOKEN_SECONDS_MAX: u64 = 3_600;
const SKEW_SECONDS: u64 = 60;

pub async fn answer(shared: &Shared, request: Request<Incoming>, peer: Peer) -> Response<Body> {
    shared.state.connected(Platform::Apns, peer.addr);
    let (head, body) = request.into_parts();
    if head.version != Version::HTTP_2 {
        return refusal(505, "HTTP/2 only");
    }
    let Ok(body) = read_body(body, BODY_BYTES_MAX).await else { return refusal(413, "PayloadTooLarge") };
    if head.method != Method::POST {
        return refusal(405, "MethodNotAllowed");
    }
    let Some(device) = head.uri.path().strip_prefix("/3/device/") else { return refusal(404, "BadPath") };
    if let Err((status, why)) = authorized(shared, &head) {
        return refusal(status, why);
    }
    let scripted = shared.state.scripted(Platform::Apns, device);
    let response = match (wrong(&head, device, &body), scripted) {
        (Some((status, why)), _) => refusal(status, why),
        (None, Some(answer)) => scripted_refusal(&answer),
        (None, None) => taken(),
    };
    shared.state.record(received(&head, device, &body, response.status().as_u16()));
    response
}

fn received(head: &Parts, device: &str, body: &[u8], status: u16) -> Received {
    let payload: Value = serde_json::from_slice(body).unwrap_or_default();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let alert = &payload["aps"]["alert"];
    Received {
        platform: Platform::Apns,
        token: device.to_owned(),
        collapse_id: named(head, "apns-collapse-id").map(str::to_owned),
        title: text(&alert["title"]).unwrap_or_default(),
        body: text(&alert["body"]).unwrap_or_default(),
        deeplink: text(&payload["deeplink"]),
        priority: named(head, "apns-priority").map(str::to_owned),
        bytes: body.len(),
        status,
        n: 0,
    }
}

fn authorized(shared: &Shared, head: &Parts) -> Result<(), (u16, &'static str)> {
    let token = named(head, header::AUTHORIZATION.as_str()).and_then(|value| value.strip_prefix("bearer "));
    let token = token.ok_or((403, "MissingProviderToken"))?;
    let invalid = (403, "InvalidProviderToken");
    let claims = shared.identity.apns_claims(token).ok_or(invalid)?;
    let issued = claims["iat"].as_u64().filter(|_| claims["iss"] == TEAM_ID).ok_or(invalid)?;
    shared.state.provider_token(token);
    let Some(clock) = &shared.clock else { return Ok(()) };
    let now = clock.now().seconds();
    if issued > now + SKEW_SECONDS {
        return Err(invalid);
    }
    if now > issued + TOKEN_SECONDS_MAX { Err((403, "ExpiredProviderToken")) } else { Ok(()) }
}

/// Requests that APNs would refuse.
fn wrong(head: &Parts, device: &str, body: &[u8]) -> Option<(u16, &'static str)> {
    const TYPES: [&str; 8] = [
        "alert",
        "background",
        "complication",
        "controls",
        "fileprovider",
        "liveactivity",
        "location",
        "voip",
    ];
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.' | b'=');
    if device.is_empty() {
        return Some((400, "MissingDeviceToken"));
    }
    if !device.bytes().all(is_plain) {
        return Some((400, "BadDeviceToken"));
    }
    match named(head, "apns-topic") {
        None => return Some((400, "MissingTopic")),
        Some(TOPIC) => {}
        Some(_) => return Some((400, "TopicDisallowed")),
    }
    if !named(head, "apns-push-type").is_some_and(|kind| TYPES.contains(&kind)) {
        return Some((400, "InvalidPushType"));
    }
    if named(head, "apns-collapse-id").is_some_and(|id| id.len() > limits::PUSH_COLLAPSE_ID_BYTES_MAX) {
        return Some((400, "BadCollapseId"));
    }
    if named(head, "apns-expiration").is_some_and(|at| at.parse::<u64>().is_err()) {
        return Some((400, "BadExpirationDate"));
    }
    if !matches!(named(head, "apns-priority"), None | Some("1" | "5" | "10")) {
        return Some((400, "BadPriority"));
    }
    if body.is_empty() {
        return Some((400, "PayloadEmpty"));
    }
    (body.len() > limits::PUSH_PAYLOAD_BYTES_MAX).then_some((413, "PayloadTooLarge"))
}

fn named<'a>(head: &'a Parts, name: &str) -> Option<&'a str> {
    head.headers.get(name)?.to_str().ok()
}

fn taken() -> Response<Body> {
    let mut response = Response::new(plain(""));
    *response.status_mut() = StatusCode::OK;
    let id = Env::secret::<16>().ok().map(|random| random.map(|byte| format!("{byte:02X}")).concat());
    if let Some(id) = id.and_then(|id| HeaderValue::from_str(&id).ok()) {
        response.headers_mut().insert("apns-id", id);
    }
    response
}

fn scripted_refusal(answer: &Answer) -> Response<Body> {
    reply::retry_after(
        refusal(answer.status, answer.reason.as_deref().unwrap_or("Scripted")),
        answer.retry_after,
    )
}

fn refusal(status: u16, why: &str) -> Response<Body> {
    reply::json(status, &json!({ "reason": why }))
}
