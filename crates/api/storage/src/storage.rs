//! What the ports of all storage services share: the accounts, who is believed, the clock. A cheap handle.

use crate::address::Addressing;
use crate::envelope::Envelope;
use crate::error::StorageError;
use crate::limits::SKEW_SECONDS_MAX;
use crate::request::StorageRequest;
use http::HeaderMap;
use http::request::Parts;
use orrery_api_common::Peer;
use orrery_api_common::bearer::{self, Bearers};
use orrery_api_common::secrets::StorageAccounts;
use orrery_catalog::storage::ServiceKind;
use orrery_core::Env;
use std::sync::Arc;
use std::time::Duration;

/// The roles that somebody was assigned, by the id in their tokens: names of data roles, and the scopes they are for.
pub type Assigned = Arc<dyn Fn(&str) -> Vec<bearer::Grant> + Send + Sync>;

pub struct Options {
    pub accounts: Arc<StorageAccounts>,
    pub env: Env,
    /// Whose bearer tokens are believed; none are taken without.
    pub bearers: Option<Arc<Bearers>>,
    /// For whom tokens may be beside Azure storage and its accounts.
    pub audiences: Vec<String>,
    /// Roles that are not in the tokens themselves.
    pub assigned: Option<Assigned>,
    /// How far the date of a signed request may be off the clock of `env`.
    pub skew_max: Duration,
    pub addressing: Addressing,
    /// The directory that a challenge sends clients to.
    pub tenant: String,
}

impl Options {
    pub fn new(accounts: Arc<StorageAccounts>, env: Env) -> Self {
        Self {
            accounts,
            env,
            bearers: None,
            audiences: Vec::new(),
            assigned: None,
            skew_max: Duration::from_secs(SKEW_SECONDS_MAX),
            addressing: Addressing::Both,
            tenant: "common".to_owned(),
        }
    }
}

#[derive(Clone)]
pub struct Storage(Arc<Options>);

impl Storage {
    pub fn new(options: Options) -> Self {
        Self(Arc::new(options))
    }

    /// The first step of every request: what its answer will say of it, whatever becomes of it.
    pub fn begin(&self, headers: &HeaderMap) -> Envelope {
        Envelope::new(&self.0.env, headers)
    }

    /// The second: which account it is about. The version is written to the envelope as soon as it is known.
    pub fn read(
        &self,
        service: ServiceKind,
        head: Parts,
        peer: Peer,
        envelope: &mut Envelope,
    ) -> Result<StorageRequest, StorageError> {
        StorageRequest::read(self, service, head, peer, envelope)
    }

    pub fn accounts(&self) -> &StorageAccounts {
        &self.0.accounts
    }

    pub fn env(&self) -> &Env {
        &self.0.env
    }

    pub(crate) fn addressing(&self) -> Addressing {
        self.0.addressing
    }

    pub(crate) fn options(&self) -> &Options {
        &self.0
    }
}
