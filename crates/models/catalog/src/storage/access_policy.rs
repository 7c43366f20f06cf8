//! Stored access policies: what shared access signatures that name one are allowed, until the policy changes.

use crate::limits;
use orrery_core::Timestamp;
use serde::{Deserialize, Serialize};

/// What a policy leaves open, the signature must say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessPolicy {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<PolicyTime>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiry: Option<PolicyTime>,
    /// The letters of what it allows, as they were written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<String>,
}

/// A moment, and the text that it was written as, which clients get back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyTime {
    pub text: String,
    millis: u64,
}

impl PolicyTime {
    pub fn new(text: impl Into<String>, at: Timestamp) -> Self {
        Self { text: text.into(), millis: at.millis() }
    }

    pub fn at(&self) -> Timestamp {
        Timestamp::from_millis(self.millis)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedIdentifier {
    pub id: String,
    pub policy: AccessPolicy,
}

/// The policies of one table, queue or blob container: at most five, each with its own id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct SignedIdentifiers(Vec<SignedIdentifier>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessPolicyError {
    #[error("a resource has at most {} access policies", limits::ACCESS_POLICIES_MAX)]
    TooMany,
    #[error("the id of an access policy has 1 to {} characters", limits::ACCESS_POLICY_ID_CHARS_MAX)]
    IdLength,
    #[error("two access policies have the id '{0}'")]
    Duplicate(String),
}

impl SignedIdentifiers {
    pub fn new(policies: Vec<SignedIdentifier>) -> Result<Self, AccessPolicyError> {
        if policies.len() > limits::ACCESS_POLICIES_MAX {
            return Err(AccessPolicyError::TooMany);
        }
        for (at, policy) in policies.iter().enumerate() {
            if !(1..=limits::ACCESS_POLICY_ID_CHARS_MAX).contains(&policy.id.chars().count()) {
                return Err(AccessPolicyError::IdLength);
            }
            if policies[..at].iter().any(|earlier| earlier.id == policy.id) {
                return Err(AccessPolicyError::Duplicate(policy.id.clone()));
            }
        }
        Ok(Self(policies))
    }

    pub fn get(&self, id: &str) -> Option<&AccessPolicy> {
        self.0.iter().find(|policy| policy.id == id).map(|found| &found.policy)
    }

    pub fn iter(&self) -> impl Iterator<Item = &SignedIdentifier> {
        self.0.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de> Deserialize<'de> for SignedIdentifiers {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(Vec::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(id: &str) -> SignedIdentifier {
        SignedIdentifier { id: id.to_owned(), policy: AccessPolicy::default() }
    }

    #[test]
    fn a_resource_has_five_policies_with_different_ids() {
        let ids = |ids: &[&str]| SignedIdentifiers::new(ids.iter().map(|id| named(id)).collect());
        assert!(ids(&["a", "b", "c", "d", "e"]).is_ok());
        assert_eq!(ids(&["a", "b", "c", "d", "e", "f"]), Err(AccessPolicyError::TooMany));
        assert_eq!(ids(&["a", "a"]), Err(AccessPolicyError::Duplicate("a".into())));
        assert_eq!(ids(&[""]), Err(AccessPolicyError::IdLength));
        assert_eq!(ids(&["x".repeat(65).as_str()]), Err(AccessPolicyError::IdLength));
    }

    #[test]
    fn stored_policies_are_read_back() {
        let at = Timestamp::from_seconds(1_800_000_000);
        let policy = AccessPolicy {
            start: None,
            expiry: Some(PolicyTime::new("2027-01-15T08:00:00.0000000Z", at)),
            permission: Some("raud".into()),
        };
        let policies = SignedIdentifiers::new(vec![SignedIdentifier { id: "p".into(), policy }, named("q")]);
        let policies = policies.expect("two policies");
        let stored = serde_json::to_vec(&policies).expect("JSON");
        assert_eq!(serde_json::from_slice::<SignedIdentifiers>(&stored).expect("policies"), policies);
        assert_eq!(policies.get("p").and_then(|policy| policy.expiry.as_ref()).map(PolicyTime::at), Some(at));
    }
}
