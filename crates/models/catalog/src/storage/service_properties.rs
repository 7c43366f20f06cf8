//! The properties of an account's blob, queue or table service: CORS rules, and settings that clients read back.
//!
//! Logging and metrics are kept and shown and have no effect: measurements are in `/metrics`.

use super::AccountName;
use crate::limits;
use crate::row::Row;
use orrery_kv::{Error, META, Read, Txn};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServiceKind {
    Blob = 1,
    Queue = 2,
    Table = 3,
}

impl ServiceKind {
    pub const ALL: [Self; 3] = [Self::Blob, Self::Queue, Self::Table];

    pub fn name(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Queue => "queue",
            Self::Table => "table",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceProperties {
    pub logging: Logging,
    pub hour_metrics: Metrics,
    pub minute_metrics: Metrics,
    pub cors: Vec<CorsRule>,
    /// The version of requests that name none; of the blob service alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_service_version: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logging {
    pub version: String,
    pub delete: bool,
    pub read: bool,
    pub write: bool,
    pub retention: Retention,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metrics {
    pub version: String,
    pub enabled: bool,
    /// There while metrics are enabled.
    pub include_apis: Option<bool>,
    pub retention: Retention,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// For how many days; not enabled without.
    pub days: Option<u16>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorsRule {
    pub allowed_origins: Vec<String>,
    pub allowed_methods: Vec<String>,
    pub allowed_headers: Vec<String>,
    pub exposed_headers: Vec<String>,
    pub max_age_seconds: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidProperties {
    #[error("a service has at most {} CORS rules", limits::CORS_RULES_MAX)]
    CorsRules,
    #[error("a CORS rule allows at least one origin and one method")]
    CorsRuleEmpty,
    #[error("a retention lasts 1 to {} days", limits::RETENTION_DAYS_MAX)]
    RetentionDays,
    #[error("IncludeAPIs is there if metrics are enabled, and only then")]
    IncludeApis,
}

impl Default for ServiceProperties {
    fn default() -> Self {
        let version = || "1.0".to_owned();
        let retention = Retention::default();
        let metrics = || Metrics { version: version(), enabled: false, include_apis: None, retention };
        Self {
            logging: Logging { version: version(), delete: false, read: false, write: false, retention },
            hour_metrics: metrics(),
            minute_metrics: metrics(),
            cors: Vec::new(),
            default_service_version: None,
        }
    }
}

impl ServiceProperties {
    pub fn check(&self) -> Result<(), InvalidProperties> {
        if self.cors.len() > limits::CORS_RULES_MAX {
            return Err(InvalidProperties::CorsRules);
        }
        if self.cors.iter().any(|rule| rule.allowed_origins.is_empty() || rule.allowed_methods.is_empty()) {
            return Err(InvalidProperties::CorsRuleEmpty);
        }
        let all_metrics = [&self.hour_metrics, &self.minute_metrics];
        if all_metrics.iter().any(|metrics| metrics.enabled != metrics.include_apis.is_some()) {
            return Err(InvalidProperties::IncludeApis);
        }
        let retentions = [self.logging.retention, self.hour_metrics.retention, self.minute_metrics.retention];
        let is_valid = |days: u16| (1..=limits::RETENTION_DAYS_MAX).contains(&days);
        if !retentions.iter().all(|retention| retention.days.is_none_or(is_valid)) {
            return Err(InvalidProperties::RetentionDays);
        }
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
struct Record {
    v: u32,
    #[serde(flatten)]
    properties: ServiceProperties,
}

const VERSION: u32 = 1;

/// The properties of a service; the defaults, if nobody set any.
pub fn load_service_properties(
    state: &dyn Read,
    account: &AccountName,
    service: ServiceKind,
) -> Result<ServiceProperties, Error> {
    let row = Row::ServiceProperties { service, account: account.as_str() };
    let Some(stored) = state.get(META, &row.key())? else { return Ok(ServiceProperties::default()) };
    let record: Record = serde_json::from_slice(&stored)
        .map_err(|error| Error::Corrupt(format!("a record of service properties: {error}")))?;
    if record.v != VERSION {
        return Err(Error::Corrupt(format!("a record of service properties has version {}", record.v)));
    }
    Ok(record.properties)
}

/// Replaces the properties of a service. In the catalog's scope.
pub fn save_service_properties(
    txn: &mut Txn<'_>,
    account: &AccountName,
    service: ServiceKind,
    properties: &ServiceProperties,
) {
    let record = Record { v: VERSION, properties: properties.clone() };
    let stored = serde_json::to_vec(&record).expect("a record of texts and numbers has a JSON form");
    let row = Row::ServiceProperties { service, account: account.as_str() };
    txn.put(META, row.key(), stored);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_within_the_limits_of_the_service() {
        let check = |change: fn(&mut ServiceProperties), expected: Result<(), InvalidProperties>| {
            let mut properties = ServiceProperties::default();
            change(&mut properties);
            assert_eq!(properties.check(), expected);
        };
        check(|_| {}, Ok(()));
        check(|all| all.cors = vec![CorsRule::default()], Err(InvalidProperties::CorsRuleEmpty));
        check(|all| all.cors = vec![CorsRule::default(); 6], Err(InvalidProperties::CorsRules));
        check(|all| all.hour_metrics.enabled = true, Err(InvalidProperties::IncludeApis));
        check(|all| all.hour_metrics.include_apis = Some(true), Err(InvalidProperties::IncludeApis));
        check(|all| all.logging.retention.days = Some(366), Err(InvalidProperties::RetentionDays));
        check(|all| all.logging.retention.days = Some(365), Ok(()));
    }
}
