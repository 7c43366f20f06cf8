//! Interprets FCM responses.
//!
//! The status alone is ambiguous: 404 is a device that is gone, or a project that does not exist; 401 is our
//! bearer token, or an Apple key that Firebase lacks. The detail of type `FcmError` distinguishes them.

use crate::policy::render::cut;
use crate::push::outcome::Outcome;
use serde_json::Value;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Ended(Outcome),
    /// The bearer token is refused; a new one may be accepted.
    BearerRefused,
}

/// If FCM gives no wait after a quota is exhausted, its documentation does: a minute.
const QUOTA_AFTER: Duration = Duration::from_secs(60);

pub fn read(status: u16, after: Option<Duration>, body: &[u8]) -> Answer {
    if (200..300).contains(&status) {
        return Answer::Ended(Outcome::Delivered);
    }
    let error: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = &error["error"];
    let code = code(error);
    let said = said(status, code, error);
    let status_told = Some(status);
    let later =
        |after| Outcome::Later { after, reason: said.clone(), status: status_told, may_have_arrived: false };
    let misconfigured =
        |what: &str| Outcome::Misconfigured { reason: format!("{said}; {what}"), status: status_told };
    Answer::Ended(match (status, code) {
        (_, Some("UNREGISTERED")) => Outcome::Unregistered { reason: said, status: status_told },
        (401, Some("THIRD_PARTY_AUTH_ERROR")) => {
            misconfigured("give Firebase a valid APNs key or web push key for this project")
        }
        (401, _) => return Answer::BearerRefused,
        // The limit of this device alone; others do not wait for it.
        (403, Some("SENDER_ID_MISMATCH")) => {
            let what = "the device registered with another project";
            Outcome::Refused { reason: format!("{said}; {what}"), status: status_told }
        }
        (403, _) => {
            misconfigured("let the service account send messages, and switch the FCM API on for the project")
        }
        (404, _) => misconfigured("is projectId right?"),
        (429, _) => later(Some(after.unwrap_or(QUOTA_AFTER))),
        (500.., _) => later(after),
        _ => Outcome::Refused { reason: said, status: status_told },
    })
}

/// Reads FCM's own detail.
fn code(error: &Value) -> Option<&str> {
    let details = error["details"].as_array()?;
    let own = details.iter().find(|detail| {
        detail["@type"].as_str().is_some_and(|kind| kind.ends_with("google.firebase.fcm.v1.FcmError"))
    })?;
    own["errorCode"].as_str()
}

fn said(status: u16, code: Option<&str>, error: &Value) -> String {
    let code = code.or(error["status"].as_str()).unwrap_or_default();
    let message = error["message"].as_str().unwrap_or_default();
    let said = format!("FCM answers {status} {code}: {message}{}", violations(error));
    cut(said.trim_end_matches([':', ' ']), REASON_CHARS_MAX)
}

const REASON_CHARS_MAX: usize = 300;

/// The members that FCM rejects.
fn violations(error: &Value) -> String {
    let details = error["details"].as_array().map(Vec::as_slice).unwrap_or_default();
    let fields = details.iter().filter_map(|detail| detail["fieldViolations"].as_array()).flatten();
    let fields: Vec<&str> = fields.filter_map(|violation| violation["field"].as_str()).collect();
    if fields.is_empty() { String::new() } else { format!(" ({})", fields.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn error(status: u16, canonical: &str, code: Option<&str>) -> Vec<u8> {
        let details = code.map(|code| {
            json!([{ "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": code }])
        });
        json!({ "error": { "code": status, "message": "Said.", "status": canonical, "details": details } })
            .to_string()
            .into_bytes()
    }

    fn kind(answer: &Answer) -> &'static str {
        match answer {
            Answer::BearerRefused => "bearer",
            Answer::Ended(Outcome::Delivered) => "delivered",
            Answer::Ended(Outcome::Unregistered { .. }) => "unregistered",
            Answer::Ended(Outcome::Later { .. }) => "later",
            Answer::Ended(Outcome::Refused { .. }) => "refused",
            Answer::Ended(Outcome::Misconfigured { .. }) => "misconfigured",
        }
    }

    #[test]
    fn each_documented_error_has_its_meaning() {
        // S2-79, B-6.
        let check = |status, canonical: &str, code: Option<&str>, expected: &str| {
            let answer = read(status, None, &error(status, canonical, code));
            assert_eq!(kind(&answer), expected, "{status} {code:?}");
        };
        check(404, "NOT_FOUND", Some("UNREGISTERED"), "unregistered");
        check(404, "NOT_FOUND", None, "misconfigured");
        check(400, "INVALID_ARGUMENT", Some("INVALID_ARGUMENT"), "refused");
        check(400, "INVALID_ARGUMENT", None, "refused");
        check(403, "PERMISSION_DENIED", Some("SENDER_ID_MISMATCH"), "refused");
        check(403, "PERMISSION_DENIED", None, "misconfigured");
        check(429, "RESOURCE_EXHAUSTED", Some("QUOTA_EXCEEDED"), "later");
        check(503, "UNAVAILABLE", Some("UNAVAILABLE"), "later");
        check(500, "INTERNAL", Some("INTERNAL"), "later");
        check(401, "UNAUTHENTICATED", Some("THIRD_PARTY_AUTH_ERROR"), "misconfigured");
        check(401, "UNAUTHENTICATED", None, "bearer");
        check(418, "", None, "refused");
        assert_eq!(kind(&read(200, None, b"{}")), "delivered");
        assert_eq!(kind(&read(502, None, b"<html>")), "later");
        assert_eq!(kind(&read(400, None, b"<html>")), "refused");
    }

    #[test]
    fn the_providers_wait_is_used() {
        let after = |status, asked: Option<u64>| match read(status, asked.map(Duration::from_secs), b"") {
            Answer::Ended(Outcome::Later { after, .. }) => after.map(|after| after.as_secs()),
            other => panic!("{other:?}"),
        };
        assert_eq!(after(503, Some(120)), Some(120));
        assert_eq!(after(503, None), None);
        assert_eq!(after(429, None), Some(60));
        assert_eq!(after(429, Some(7)), Some(7));
    }

    #[test]
    fn a_refusal_names_the_invalid_members() {
        let body = json!({ "error": { "code": 400, "message": "Bad.", "status": "INVALID_ARGUMENT", "details": [
            { "@type": "type.googleapis.com/google.rpc.BadRequest",
              "fieldViolations": [{ "field": "message.token", "description": "Invalid registration token" }] },
            { "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": "INVALID_ARGUMENT" }] } });
        let answer = read(400, None, body.to_string().as_bytes());
        let Answer::Ended(Outcome::Refused { reason, status }) = answer else { panic!("{answer:?}") };
        assert_eq!((&*reason, status), ("FCM answers 400 INVALID_ARGUMENT: Bad. (message.token)", Some(400)));
    }
}
