//! The paths of the application that the seed comes from: `/api/notifications/…`, which names no user, because it is the
//! caller's own. Each is another spelling of a path under `/v1`.

use crate::caller::Caller;
use crate::problem::Problem;
use orrery_api_common::percent;
use std::borrow::Cow;

const ROOT: &str = "/api/notifications";

pub fn has(path: &str) -> bool {
    path.strip_prefix(ROOT).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The path that is meant.
pub fn resolve<'a>(path: &'a str, caller: &Caller) -> Result<Cow<'a, str>, Problem> {
    if !has(path) {
        return Ok(Cow::Borrowed(path));
    }
    let rest = &path[ROOT.len()..];
    if rest == "/events" || rest.starts_with("/events/") || rest == "/stats" {
        return Ok(Cow::Owned(format!("/v1/notifications{rest}")));
    }
    let Caller::User { id, .. } = caller else {
        let detail = "paths under /api/notifications are of the user whose bearer token comes with them; with a key, ask for /v1/users/{user}/…";
        return Err(Problem::unauthorized(detail));
    };
    let user = percent::encode_uri(id).replace('/', "%2F").replace('?', "%3F").replace('#', "%23");
    let own = ["/preferences", "/devices"].iter().any(|part| match rest.strip_prefix(part) {
        Some(rest) => rest.is_empty() || rest.starts_with('/'),
        None => false,
    });
    let between = if own { "" } else { "/notifications" };
    Ok(Cow::Owned(format!("/v1/users/{user}{between}{rest}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_alias_is_of_the_caller() {
        let caller = Caller::User { id: "a/b%2F é".to_owned(), roles: Vec::new() };
        let check = |path: &str, expected: &str| {
            assert_eq!(resolve(path, &caller).unwrap(), expected, "{path}");
        };
        check("/v1/users/x", "/v1/users/x");
        check("/api/notifications", "/v1/users/a%2Fb%252F%20%C3%A9/notifications");
        check("/api/notifications/7/read", "/v1/users/a%2Fb%252F%20%C3%A9/notifications/7/read");
        check("/api/notifications/preferences", "/v1/users/a%2Fb%252F%20%C3%A9/preferences");
        check("/api/notifications/devices/d/revoke", "/v1/users/a%2Fb%252F%20%C3%A9/devices/d/revoke");
        check("/api/notifications/events/7", "/v1/notifications/events/7");
        assert!(!has("/api/notificationsx"));
        assert!(resolve("/api/notifications", &Caller::Nobody).is_err());
    }
}
