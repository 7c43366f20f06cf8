//! The devices of a user: listed, updated by heartbeats, revoked.

use super::containers::DEVICES;
use super::items::{self, Tagged};
use super::outbox::{self, OutboxEvent};
use super::{Notifications, ServiceError};
use crate::limits;
use crate::policy::check;
use crate::records::Device;
use orrery_kit::ports::documents::{Documents, StoreError, Write};
use orrery_kit::time;
use serde_json::{Value, json};

/// Why a device was revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revoked {
    ByUser,
    /// A provider reported that its token is invalid.
    Invalid,
}

impl Revoked {
    fn reason(self) -> &'static str {
        match self {
            Self::ByUser => "user",
            Self::Invalid => "invalid",
        }
    }
}

/// The seed's query, plus devices without `revokedAt` (C-47), the most recently seen first.
pub(crate) async fn active(documents: &Documents, user: &str) -> Result<Vec<Tagged<Device>>, StoreError> {
    let text = "SELECT * FROM c WHERE c.userId = @userId AND (NOT IS_DEFINED(c.revokedAt) OR IS_NULL(c.revokedAt)) \
                ORDER BY c.lastSeenAt DESC";
    devices(documents, user, text).await
}

async fn devices(documents: &Documents, user: &str, text: &str) -> Result<Vec<Tagged<Device>>, StoreError> {
    let query = items::query(text, &[("userId", json!(user))]);
    let rows = items::rows(documents, DEVICES, Some(user), query, limits::NOTIFICATION_ROWS_MAX).await?;
    rows.iter().filter(|row| row.get("kind").is_none()).map(Tagged::of_row).collect()
}

impl Notifications {
    /// All devices including revoked ones, the most recently seen first.
    pub async fn devices(&self, user: &str) -> Result<Vec<Tagged<Device>>, ServiceError> {
        self.ensure().await?;
        let text =
            "SELECT * FROM c WHERE c.userId = @userId AND IS_DEFINED(c.platform) ORDER BY c.lastSeenAt DESC";
        Ok(devices(self.documents(), user, text).await?)
    }

    /// A heartbeat (S2-88), optionally with a new token or label (S2-45).
    pub async fn patch_device(
        &self,
        user: &str,
        id: &str,
        body: &Value,
        if_match: Option<&str>,
    ) -> Result<Tagged<Device>, ServiceError> {
        self.ensure().await?;
        for _ in 0..limits::NOTIFICATION_CHANGE_TRIES_MAX {
            let mut found = self.device_of(user, id).await?;
            if if_match.is_some_and(|wanted| wanted != found.etag && wanted != "*") {
                let current = Box::new(items::value(&found.value)?);
                return Err(ServiceError::Changed { current, etag: found.etag });
            }
            if found.value.revoked_at.is_some() {
                return Err(ServiceError::Conflict("The device was revoked; register it again.".to_owned()));
            }
            let change = check::device_change(body, found.value.platform)?;
            found.value.last_seen_at = self.stamp();
            found.value.push_token = change.push_token.unwrap_or(found.value.push_token);
            found.value.label = change.label.unwrap_or(found.value.label);
            let write = items::put(items::value(&found.value)?, &found.etag);
            match self.documents().write(DEVICES, user, write).await {
                Ok(Some(item)) => return Ok(Tagged::of(item)?),
                Ok(None) | Err(StoreError::Missing) => return Err(missing(id)),
                Err(StoreError::Changed) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(ServiceError::Busy { after: None })
    }

    /// Revokes a device until it registers again; a revoked one stays unchanged.
    pub async fn revoke(&self, user: &str, id: &str) -> Result<Tagged<Device>, ServiceError> {
        self.ensure().await?;
        self.revoke_for(user, id, Revoked::ByUser, None).await
    }

    /// If a token is given, only while the device still has it: a device that registered again
    /// meanwhile is left alone.
    pub(crate) async fn revoke_for(
        &self,
        user: &str,
        id: &str,
        why: Revoked,
        token: Option<&str>,
    ) -> Result<Tagged<Device>, ServiceError> {
        for _ in 0..limits::NOTIFICATION_CHANGE_TRIES_MAX {
            let mut found = self.device_of(user, id).await?;
            if found.value.revoked_at.is_some() || token.is_some_and(|token| token != found.value.push_token)
            {
                return Ok(found);
            }
            found.value.revoked_at = Some(self.stamp());
            found.value.revoke_reason = Some(why.reason().to_owned());
            let writes = self.revocation(&found)?;
            match self.documents().batch(DEVICES, user, writes).await {
                Ok(items) => {
                    self.counters().devices_revoked.one();
                    let item = items.into_iter().next().flatten().ok_or_else(|| missing(id))?;
                    return Ok(Tagged::of(item)?);
                }
                Err(StoreError::Changed) => {}
                Err(StoreError::Missing) => return Err(missing(id)),
                Err(error) => return Err(error.into()),
            }
        }
        Err(ServiceError::Busy { after: None })
    }

    fn revocation(&self, found: &Tagged<Device>) -> Result<Vec<Write>, StoreError> {
        let device = &found.value;
        let at = device.revoked_at.as_deref().and_then(time::parse).unwrap_or_else(|| self.now());
        let data =
            json!({"deviceId": device.id, "platform": device.platform, "reason": device.revoke_reason});
        let published = [OutboxEvent { kind: "device.revoked", subject: device.id.clone(), at, data }];
        let change = format!("{}:{}", device.id, self.env().guid());
        Ok(vec![
            items::put(items::value(device)?, &found.etag),
            outbox::device_item(&device.user_id, &change, 0, &published),
        ])
    }

    async fn device_of(&self, user: &str, id: &str) -> Result<Tagged<Device>, ServiceError> {
        let found = items::find(self.documents(), DEVICES, user, id).await?;
        found.ok_or_else(|| missing(id))
    }
}

fn missing(id: &str) -> ServiceError {
    ServiceError::Missing(format!("There is no device {id:?}; register it first."))
}
