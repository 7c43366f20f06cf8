//! Recorded pushes, scripted responses, counters.

use crate::limits;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A cheap handle.
#[derive(Clone, Default)]
pub struct State(Arc<Mutex<Inner>>);

#[derive(Default)]
pub(crate) struct Inner {
    rules: Vec<(u64, Rule)>,
    rules_made: u64,
    received: VecDeque<Received>,
    counters: Counters,
    connections: HashMap<Platform, HashSet<SocketAddr>>,
    /// Issued bearer tokens, with their expiry in seconds.
    bearers: HashMap<String, u64>,
    provider_tokens: HashSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    Fcm,
    Apns,
    /// The token endpoint beside FCM.
    Oauth,
}

/// A scripted response to matching requests, a number of times or, without a number, always.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rule {
    #[serde(default)]
    pub r#match: Match,
    pub answer: Answer,
    #[serde(default)]
    pub times: Option<u64>,
}

/// All given members must match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Match {
    pub token: Option<String>,
    pub platform: Option<Platform>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Answer {
    pub status: u16,
    /// The provider's own name: UNREGISTERED, TooManyRequests.
    #[serde(default)]
    pub reason: Option<String>,
    /// Seconds.
    #[serde(default)]
    pub retry_after: Option<u64>,
}

/// One parsed push.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Received {
    pub platform: Platform,
    pub token: String,
    pub collapse_id: Option<String>,
    pub title: String,
    pub body: String,
    pub deeplink: Option<String>,
    pub priority: Option<String>,
    pub bytes: usize,
    /// The response.
    pub status: u16,
    /// Its sequence number.
    pub n: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counters {
    pub received: u64,
    pub delivered: u64,
    pub refused: u64,
    /// Issued bearer tokens.
    pub token_exchanges: u64,
    /// Distinct provider tokens received.
    pub provider_tokens: u64,
    pub fcm_connections: u64,
    pub apns_connections: u64,
}

impl State {
    pub fn add(&self, rule: Rule) -> Result<u64, String> {
        let mut inner = self.lock();
        if inner.rules.len() >= limits::PUSH_RULES_MAX {
            return Err(format!(
                "there are {} rules already; DELETE /control forgets them",
                limits::PUSH_RULES_MAX
            ));
        }
        inner.rules_made += 1;
        let id = inner.rules_made;
        inner.rules.push((id, rule));
        Ok(id)
    }

    /// Forgets rules and pushes; counters and tokens stay.
    pub fn clear(&self) {
        let mut inner = self.lock();
        inner.rules.clear();
        inner.received.clear();
    }

    /// Revokes all bearer tokens.
    pub fn forget_bearers(&self) {
        self.lock().bearers.clear();
    }

    pub fn received(&self) -> Vec<Received> {
        self.lock().received.iter().cloned().collect()
    }

    pub fn counters(&self) -> Counters {
        self.lock().counters
    }

    pub(crate) fn connected(&self, platform: Platform, from: SocketAddr) {
        let mut inner = self.lock();
        let seen = inner.connections.entry(platform).or_default();
        if seen.len() < limits::PUSH_RECEIVED_MAX && seen.insert(from) {
            match platform {
                Platform::Fcm | Platform::Oauth => inner.counters.fcm_connections += 1,
                Platform::Apns => inner.counters.apns_connections += 1,
            }
        }
    }

    /// Takes the first matching rule once.
    pub(crate) fn scripted(&self, platform: Platform, token: &str) -> Option<Answer> {
        let mut inner = self.lock();
        let fits = |rule: &Rule| {
            rule.r#match.token.as_deref().is_none_or(|wanted| wanted == token)
                && match rule.r#match.platform {
                    Some(wanted) => wanted == platform,
                    // Matches the token endpoint only by name.
                    None => platform != Platform::Oauth,
                }
        };
        let at = inner.rules.iter().position(|(_, rule)| fits(rule))?;
        let rule = &mut inner.rules[at].1;
        let answer = rule.answer.clone();
        let is_used_up = match &mut rule.times {
            None => false,
            Some(times) => {
                *times = times.saturating_sub(1);
                *times == 0
            }
        };
        if is_used_up {
            inner.rules.remove(at);
        }
        Some(answer)
    }

    pub(crate) fn record(&self, mut received: Received) {
        let mut inner = self.lock();
        inner.counters.received += 1;
        match received.status {
            200 => inner.counters.delivered += 1,
            _ => inner.counters.refused += 1,
        }
        received.n = inner.counters.received;
        if inner.received.len() >= limits::PUSH_RECEIVED_MAX {
            inner.received.pop_front();
        }
        inner.received.push_back(received);
    }

    pub(crate) fn give_bearer(&self, token: String, until: u64) {
        let mut inner = self.lock();
        inner.counters.token_exchanges += 1;
        inner.bearers.insert(token, until);
    }

    /// Its expiry, if it was issued.
    pub(crate) fn bearer(&self, token: &str) -> Option<u64> {
        self.lock().bearers.get(token).copied()
    }

    pub(crate) fn provider_token(&self, token: &str) {
        let mut inner = self.lock();
        if inner.provider_tokens.len() < limits::PUSH_RECEIVED_MAX
            && inner.provider_tokens.insert(token.to_owned())
        {
            inner.counters.provider_tokens += 1;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(json: &str) -> Rule {
        serde_json::from_str(json).expect("a rule")
    }

    #[test]
    fn rules_are_used_in_order_and_as_often_as_they_say() {
        let state = State::default();
        for json in [
            r#"{"match": {"token": "a"}, "answer": {"status": 410}, "times": 2}"#,
            r#"{"match": {"platform": "fcm"}, "answer": {"status": 503, "retryAfter": 120}}"#,
            r#"{"match": {"platform": "oauth"}, "answer": {"status": 500}, "times": 1}"#,
        ] {
            state.add(rule(json)).expect("room");
        }
        let status = |platform, token: &str| state.scripted(platform, token).map(|answer| answer.status);
        assert_eq!(status(Platform::Apns, "a"), Some(410));
        assert_eq!(status(Platform::Fcm, "a"), Some(410));
        assert_eq!(status(Platform::Fcm, "a"), Some(503));
        assert_eq!(status(Platform::Fcm, "b"), Some(503));
        assert_eq!(status(Platform::Apns, "a"), None);
        assert_eq!(status(Platform::Oauth, ""), Some(500));
        assert_eq!(status(Platform::Oauth, ""), None);
        state.clear();
        assert_eq!(status(Platform::Fcm, "b"), None);
    }

    #[test]
    fn a_rule_with_a_slip_of_the_pen_is_none() {
        for json in [
            r#"{"answer": {}}"#,
            r#"{"answer": {"status": 1}, "time": 2}"#,
            r#"{"match": {"platform": "sms"}}"#,
        ] {
            assert!(serde_json::from_str::<Rule>(json).is_err(), "{json}");
        }
    }
}
