//! The settings of a user: zone, quiet hours, categories. A user who never chose has the policy's defaults
//! and no item.

use super::containers::PREFERENCES;
use super::counters::Step;
use super::items::{self, Tagged};
use super::{Notifications, ServiceError, tombstone};
use crate::limits;
use crate::policy::check::{self, Settings};
use crate::records::Preferences;
use orrery_kit::ports::documents::StoreError;
use serde_json::Value;

impl Notifications {
    /// The etag is empty while the user has the defaults.
    pub async fn preferences(&self, user: &str) -> Result<Tagged<Preferences>, ServiceError> {
        self.ensure().await?;
        let found = items::find(self.documents(), PREFERENCES, user, user).await?;
        Ok(found.unwrap_or_else(|| Tagged {
            value: self.default_preferences(user),
            etag: String::new(),
            charge: 0.0,
        }))
    }

    /// Replaces all settings: missing members get their defaults.
    pub async fn put_preferences(
        &self,
        user: &str,
        body: &Value,
        if_match: Option<&str>,
    ) -> Result<Tagged<Preferences>, ServiceError> {
        self.change_preferences(user, body, if_match, |_| Settings::defaults(self.policy())).await
    }

    /// Changes some settings: missing members stay as they are.
    pub async fn patch_preferences(
        &self,
        user: &str,
        body: &Value,
        if_match: Option<&str>,
    ) -> Result<Tagged<Preferences>, ServiceError> {
        self.change_preferences(user, body, if_match, Settings::of).await
    }

    async fn change_preferences(
        &self,
        user: &str,
        body: &Value,
        if_match: Option<&str>,
        before: impl Fn(&Preferences) -> Settings,
    ) -> Result<Tagged<Preferences>, ServiceError> {
        for _ in 0..limits::NOTIFICATION_CHANGE_TRIES_MAX {
            let present = self.preferences(user).await?;
            let is_wanted = |tag: &str| tag == present.etag || (tag == "*" && !present.etag.is_empty());
            if if_match.is_some_and(|tag| !is_wanted(tag)) {
                let current = Box::new(items::value(&present.value)?);
                return Err(ServiceError::Changed { current, etag: present.etag });
            }
            let settings = check::settings(body, &before(&present.value))?;
            let write = items::put(items::value(&self.chosen(user, settings))?, &present.etag);
            match self.documents().write(PREFERENCES, user, write).await {
                Ok(item) => {
                    let item = item.ok_or(ServiceError::Busy { after: None })?;
                    self.counters().spent(Step::Preferences, item.charge);
                    self.refuse_erased(user, PREFERENCES).await?;
                    // Notifications waiting for the end of quiet hours are not recalled: they check
                    // again when it comes.
                    return Ok(Tagged::of(item)?);
                }
                Err(StoreError::Changed | StoreError::Conflict | StoreError::Missing) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(ServiceError::Busy { after: None })
    }

    fn chosen(&self, user: &str, settings: Settings) -> Preferences {
        Preferences {
            id: user.to_owned(),
            user_id: user.to_owned(),
            timezone: settings.timezone,
            quiet_hours: settings.quiet_hours,
            categories: settings.categories,
            updated_at: self.stamp(),
        }
    }

    pub(crate) fn default_preferences(&self, user: &str) -> Preferences {
        self.chosen(user, Settings::defaults(self.policy()))
    }

    /// Deletes the item just written if the user is erased. Checked after the write: either the erasure
    /// finds the item, or it began before this check.
    pub(super) async fn refuse_erased(&self, user: &str, container: &str) -> Result<(), ServiceError> {
        if !tombstone::is_erased(self.documents(), user).await? {
            return Ok(());
        }
        self.erase_all(container, user).await?;
        Err(ServiceError::Conflict("This user was erased; nothing is kept for them any more.".to_owned()))
    }
}
