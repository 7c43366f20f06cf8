//! What the service knows of who may do what.

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

    /// The keys that open the account now.
    pub fn keys(&self) -> Arc<Keys> {
        self.keys.load_full()
    }

    /// From now on these keys open the account, and no others.
    pub fn change_keys(&self, keys: Keys) {
        self.keys.store(Arc::new(keys));
    }

    /// Takes bearer tokens of these issuers; said once, before the first request.
    pub fn take_bearers(&self, bearers: impl Into<Arc<Bearers>>) {
        let _ = self.bearers.set(bearers.into());
    }

    pub(super) fn bearers(&self) -> Option<&Bearers> {
        self.bearers.get().map(|bearers| &**bearers)
    }
}
