//! Access state of the account: its keys, token issuers and roles.

use super::resource_token::ResourceTokens;
use arc_swap::ArcSwap;
use orrery_api_common::Keys;
use orrery_api_common::bearer::Bearers;
use std::sync::{Arc, OnceLock};

pub struct Access {
    keys: ArcSwap<Keys>,
    pub(super) resource_tokens: ResourceTokens,
    bearers: OnceLock<Arc<Bearers>>,
}

impl Access {
    pub fn new(keys: Keys, secret: &[u8; 32]) -> Self {
        Self {
            keys: ArcSwap::from_pointee(keys),
            resource_tokens: ResourceTokens::new(secret),
            bearers: OnceLock::new(),
        }
    }

    /// The current account keys.
    pub fn keys(&self) -> Arc<Keys> {
        self.keys.load_full()
    }

    /// Replaces the account keys, with immediate effect.
    pub fn change_keys(&self, keys: Keys) {
        self.keys.store(Arc::new(keys));
    }

    /// Accepts bearer tokens of these issuers; set once, before the first request.
    pub fn take_bearers(&self, bearers: impl Into<Arc<Bearers>>) {
        let _ = self.bearers.set(bearers.into());
    }

    pub(super) fn bearers(&self) -> Option<&Bearers> {
        self.bearers.get().map(|bearers| &**bearers)
    }
}
