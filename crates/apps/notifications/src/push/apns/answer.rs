//! Interprets APNs responses: the reason in the body decides, or the status if the reason is unknown.

use crate::policy::render::cut;
use crate::push::outcome::Outcome;
use serde_json::Value;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Ended(Outcome),
    /// The provider token is too old; a new one may be accepted.
    TokenExpired,
}

/// APNs limits new provider tokens to one in twenty minutes.
const TOKENS_AFTER: Duration = Duration::from_secs(20 * 60);

pub fn read(status: u16, after: Option<Duration>, body: &[u8]) -> Answer {
    if status == 200 {
        return Answer::Ended(Outcome::Delivered);
    }
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let why = body["reason"].as_str().unwrap_or_default();
    let said = cut(format!("APNs answers {status} {why}").trim_end(), 200);
    let status_told = Some(status);
    let later =
        |after| Outcome::Later { after, reason: said.clone(), status: status_told, may_have_arrived: false };
    let misconfigured =
        |what: &str| Outcome::Misconfigured { reason: format!("{said}; {what}"), status: status_told };
    Answer::Ended(match (status, why) {
        (_, "ExpiredProviderToken") => return Answer::TokenExpired,
        (410, _) | (_, "Unregistered" | "ExpiredToken") => {
            Outcome::Unregistered { reason: said, status: status_told }
        }
        // Tokens of the other environment get this response too: confusing the two must not revoke
        // every device.
        (_, "BadDeviceToken" | "DeviceTokenNotForTopic") => {
            let what = "is the device's token of this app, and of this environment?";
            Outcome::Refused { reason: format!("{said}; {what}"), status: status_told }
        }
        (_, "TooManyProviderTokenUpdates") => later(Some(after.unwrap_or(TOKENS_AFTER))),
        (_, "IdleTimeout") | (429 | 500.., _) => later(after),
        (_, "BadTopic" | "MissingTopic" | "TopicDisallowed") => {
            misconfigured("is apns.topic the app's bundle id?")
        }
        (403, _) => misconfigured(
            "are apns.keyFile, keyId and teamId those of one key, and is it for this environment?",
        ),
        (404 | 405, _) => misconfigured("is apns.baseUrl right?"),
        _ => Outcome::Refused { reason: said, status: status_told },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(answer: &Answer) -> &'static str {
        match answer {
            Answer::TokenExpired => "expired",
            Answer::Ended(Outcome::Delivered) => "delivered",
            Answer::Ended(Outcome::Unregistered { .. }) => "unregistered",
            Answer::Ended(Outcome::Later { .. }) => "later",
            Answer::Ended(Outcome::Refused { .. }) => "refused",
            Answer::Ended(Outcome::Misconfigured { .. }) => "misconfigured",
        }
    }

    #[test]
    fn each_documented_reason_has_its_meaning() {
        // S2-79.
        let check = |status, why: &str, expected: &str| {
            let body = format!(r#"{{"reason": "{why}"}}"#);
            assert_eq!(kind(&read(status, None, body.as_bytes())), expected, "{status} {why}");
        };
        check(200, "", "delivered");
        check(410, "Unregistered", "unregistered");
        check(410, "ExpiredToken", "unregistered");
        // The other environment's tokens get this response: no device is revoked for it.
        check(400, "BadDeviceToken", "refused");
        check(400, "DeviceTokenNotForTopic", "refused");
        check(403, "ExpiredProviderToken", "expired");
        check(400, "TopicDisallowed", "misconfigured");
        check(400, "BadTopic", "misconfigured");
        check(400, "MissingTopic", "misconfigured");
        for why in [
            "InvalidProviderToken",
            "MissingProviderToken",
            "BadCertificate",
            "BadCertificateEnvironment",
            "Forbidden",
            "UnrelatedKeyIdInToken",
            "BadEnvironmentKeyIdInToken",
        ] {
            check(403, why, "misconfigured");
        }
        for why in [
            "BadCollapseId",
            "BadExpirationDate",
            "BadMessageId",
            "BadPriority",
            "DuplicateHeaders",
            "InvalidPushType",
            "MissingDeviceToken",
            "PayloadEmpty",
        ] {
            check(400, why, "refused");
        }
        check(400, "IdleTimeout", "later");
        check(404, "BadPath", "misconfigured");
        check(405, "MethodNotAllowed", "misconfigured");
        check(413, "PayloadTooLarge", "refused");
        check(429, "TooManyRequests", "later");
        check(429, "TooManyProviderTokenUpdates", "later");
        check(500, "InternalServerError", "later");
        check(503, "ServiceUnavailable", "later");
        check(503, "Shutdown", "later");
        assert_eq!(kind(&read(502, None, b"<html>")), "later");
        assert_eq!(kind(&read(410, None, b"")), "unregistered");
    }

    #[test]
    fn the_providers_wait_is_used() {
        let after =
            |body: &str, asked: Option<u64>| match read(429, asked.map(Duration::from_secs), body.as_bytes())
            {
                Answer::Ended(Outcome::Later { after, .. }) => after.map(|after| after.as_secs()),
                other => panic!("{other:?}"),
            };
        assert_eq!(after(r#"{"reason": "TooManyRequests"}"#, Some(120)), Some(120));
        assert_eq!(after(r#"{"reason": "TooManyRequests"}"#, None), None);
        assert_eq!(after(r#"{"reason": "TooManyProviderTokenUpdates"}"#, None), Some(1200));
    }
}
