//! FCM HTTP v1 and the token endpoint beside it.

use crate::Shared;
use crate::identity::{CLIENT_EMAIL, PROJECT};
use crate::reply;
use crate::state::{Answer, Platform, Received};
use http::{HeaderMap, Method, Request, Response, header};
use hyper::body::Incoming;
use orrery_api_common::{Body, Peer, percent, read_body};
use orrery_core::{Env, limits};
use serde_json::{Value, json};

const BODY_BYTES_MAX: usize = 64 * 1024;
const SCOPE: &str = "https://www.googleapis.com/auth/firebase.messaging";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// The lifetime of a bearer token, and the permitted clock skew.
const BEARER_SECONDS: u64 = 3_599;
const SKEW_SECONDS: u64 = 60;

pub async fn answer(shared: &Shared, request: Request<Incoming>, peer: Peer) -> Response<Body> {
    shared.state.connected(Platform::Fcm, peer.addr);
    let (head, body) = request.into_parts();
    let Ok(body) = read_body(body, BODY_BYTES_MAX).await else {
        return error(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit.", None, &[]);
    };
    let send = format!("/v1/projects/{PROJECT}/messages:send");
    match (&head.method, head.uri.path()) {
        (&Method::POST, "/token") => exchange(shared, &body),
        (&Method::POST, path) if path == send => message(shared, &head.headers, &body),
        (&Method::POST, path) if path.ends_with("/messages:send") => error(
            403,
            "PERMISSION_DENIED",
            "The caller does not have permission for this project.",
            None,
            &[],
        ),
        _ => error(404, "NOT_FOUND", "Requested entity was not found.", None, &[]),
    }
}

/// RFC 7523: exchanges a token signed by the service account for a bearer token.
fn exchange(shared: &Shared, body: &[u8]) -> Response<Body> {
    let refusal = |status, error: &str, why: &str| {
        reply::json(status, &json!({ "error": error, "error_description": why }))
    };
    if let Some(answer) = shared.state.scripted(Platform::Oauth, "") {
        let refused =
            refusal(answer.status, answer.reason.as_deref().unwrap_or("scripted"), "As it was asked for.");
        return reply::retry_after(refused, answer.retry_after);
    }
    let form = String::from_utf8_lossy(body);
    let member = |name: &str| {
        let found =
            form.split('&').filter_map(|pair| pair.split_once('=')).find(|(member, _)| *member == name);
        found
            .and_then(|(_, value)| Some(percent::decode_segment(&value.replace('+', " ")).ok()?.into_owned()))
    };
    if member("grant_type").as_deref() != Some(GRANT) {
        return refusal(400, "unsupported_grant_type", "Invalid grant_type.");
    }
    let assertion = member("assertion").unwrap_or_default();
    let claims = shared.identity.service_claims(&assertion);
    let Some(claims) = claims else { return refusal(400, "invalid_grant", "Invalid JWT Signature.") };
    if let Err(why) = check(&claims, shared) {
        return refusal(400, "invalid_grant", why);
    }
    let Ok(random) = Env::secret::<16>() else { return refusal(500, "internal_failure", "No randomness.") };
    let bearer = format!("ya29.{}", random.map(|byte| format!("{byte:02x}")).concat());
    let issued = claims["iat"].as_u64().unwrap_or_default();
    let now = shared.clock.as_ref().map_or(issued, |clock| clock.now().seconds());
    shared.state.give_bearer(bearer.clone(), now + BEARER_SECONDS);
    reply::json(200, &json!({ "access_token": bearer, "expires_in": BEARER_SECONDS, "token_type": "Bearer" }))
}

fn check(claims: &Value, shared: &Shared) -> Result<(), &'static str> {
    let (Some(issued), Some(ends)) = (claims["iat"].as_u64(), claims["exp"].as_u64()) else {
        return Err("Invalid JWT: iat and exp are required.");
    };
    if claims["iss"] != CLIENT_EMAIL {
        return Err("Invalid grant: account not found");
    }
    if claims["aud"] != *shared.identity.token_url {
        return Err("Invalid JWT: Failed audience check.");
    }
    if !claims["scope"].as_str().is_some_and(|scopes| scopes.split(' ').any(|scope| scope == SCOPE)) {
        return Err("Invalid OAuth scope or ID token audience provided.");
    }
    let is_short = ends > issued && ends - issued <= 3_600;
    let is_now = shared.clock.as_ref().is_none_or(|clock| {
        let now = clock.now().seconds();
        issued <= now + SKEW_SECONDS && now < ends + SKEW_SECONDS
    });
    if is_short && is_now {
        Ok(())
    } else {
        Err("Invalid JWT: Token must be a short-lived token (60 minutes).")
    }
}

fn message(shared: &Shared, headers: &HeaderMap, body: &[u8]) -> Response<Body> {
    let bearer =
        headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let until = bearer.and_then(|bearer| shared.state.bearer(bearer));
    let is_over = |until: u64| shared.clock.as_ref().is_some_and(|clock| clock.now().seconds() >= until);
    if until.is_none_or(is_over) {
        let why = "Request had invalid authentication credentials. Expected OAuth 2 access token.";
        return error(401, "UNAUTHENTICATED", why, None, &[]);
    }
    let message: Value = serde_json::from_slice(body).unwrap_or_default();
    let message = &message["message"];
    let token = message["token"].as_str().unwrap_or_default().to_owned();
    let scripted = shared.state.scripted(Platform::Fcm, &token);
    let response = match (scripted, wrong(message, body.len())) {
        (_, Some(response)) => response,
        (Some(answer), None) => scripted_error(&answer),
        (None, None) => {
            let n = shared.state.counters().received;
            reply::json(200, &json!({ "name": format!("projects/{PROJECT}/messages/0:{n}") }))
        }
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    shared.state.record(Received {
        platform: Platform::Fcm,
        token,
        collapse_id: text(&message["android"]["collapse_key"]),
        title: text(&message["notification"]["title"]).unwrap_or_default(),
        body: text(&message["notification"]["body"]).unwrap_or_default(),
        deeplink: text(&message["data"]["deeplink"]),
        priority: text(&message["android"]["priority"]),
        bytes: body.len(),
        status: response.status().as_u16(),
        n: 0,
    });
    response
}

/// Requests that FCM would refuse.
fn wrong(message: &Value, length: usize) -> Option<Response<Body>> {
    let bad = |field: &str, why: &str| {
        Some(error(400, "INVALID_ARGUMENT", why, Some("INVALID_ARGUMENT"), &[(field, why)]))
    };
    const MEMBERS: [&str; 8] =
        ["name", "data", "notification", "android", "webpush", "apns", "fcm_options", "token"];
    let Some(members) = message.as_object() else { return bad("message", "Invalid JSON payload received.") };
    if let Some(name) = members.keys().find(|name| !MEMBERS.contains(&name.as_str())) {
        return bad(&format!("message.{name}"), "Invalid JSON payload received. Unknown name.");
    }
    if message["token"].as_str().is_none_or(str::is_empty) {
        return bad("message", "Recipient of the message is not set.");
    }
    if length > limits::PUSH_PAYLOAD_BYTES_MAX {
        return Some(error(400, "INVALID_ARGUMENT", "Request contains an invalid argument.", None, &[]));
    }
    let data = message["data"].as_object();
    if data.is_some_and(|data| data.values().any(|value| !value.is_string())) {
        return bad("message.data[0].value", "Invalid value at 'message.data[0].value' (TYPE_STRING)");
    }
    let android = &message["android"];
    if !matches!(android["priority"].as_str(), None | Some("HIGH" | "NORMAL")) {
        return bad("message.android.priority", "Invalid value at 'message.android.priority'");
    }
    let is_ttl = |ttl: &str| ttl.strip_suffix('s').is_some_and(|seconds| seconds.parse::<f64>().is_ok());
    if android["ttl"].as_str().is_some_and(|ttl| !is_ttl(ttl)) {
        return bad("message.android.ttl", "Invalid value at 'message.android.ttl'");
    }
    None
}

/// A scripted response in FCM's form. INVALID_ARGUMENT refers to the token, with FCM's detail for it.
fn scripted_error(answer: &Answer) -> Response<Body> {
    let canonical = match answer.status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    let violations: &[(&str, &str)] = match answer.reason.as_deref() {
        Some("INVALID_ARGUMENT") => &[("message.token", "Invalid registration token")],
        _ => &[],
    };
    let response =
        error(answer.status, canonical, "As it was asked for.", answer.reason.as_deref(), violations);
    reply::retry_after(response, answer.retry_after)
}

fn error(
    status: u16,
    canonical: &str,
    message: &str,
    code: Option<&str>,
    violations: &[(&str, &str)],
) -> Response<Body> {
    let mut details = Vec::new();
    if let Some(code) = code {
        details.push(
            json!({ "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": code }),
        );
    }
    if !violations.is_empty() {
        let fields = violations.iter().map(|(field, why)| json!({ "field": field, "description": why }));
        let fields: Vec<Value> = fields.collect();
        details
            .push(json!({ "@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": fields }));
    }
    let mut error = json!({ "code": status, "message": message, "status": canonical });
    if !details.is_empty() {
        error["details"] = json!(details);
    }
    reply::json(status, &json!({ "error": error }))
}
