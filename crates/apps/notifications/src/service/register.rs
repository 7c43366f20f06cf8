//! Registers a device: at most three are active, and the least recently seen one is evicted (S2-44, C-48).
//!
//! ```text
//! read     guard (its etag), then this device and the active ones
//! batch    guard if-match · device · each evicted device if-match · outbox
//! ```
//!
//! Two registrations of one user both write the guard with the etag that they read, so one of them has to
//! retry: four are never active at once (K3). The guard's `revokedAt` is false, neither null nor a time, so
//! no query of the seed finds it.

use super::containers::DEVICES;
use super::counters::Step;
use super::devices::active;
use super::items::{self, Tagged};
use super::outbox::{self, OutboxEvent};
use super::{Notifications, ServiceError, place_of};
use crate::limits;
use crate::policy::check::{self, Registration};
use crate::records::Device;
use orrery_kit::ports::documents::{StoreError, Write};
use orrery_kit::time;
use serde_json::{Value, json};
use std::time::Duration;

const GUARD: &str = "guard";

impl Notifications {
    /// Registers a device; one that registers again keeps its id and first-seen time (C-46).
    pub async fn register(&self, user: &str, body: &Value) -> Result<Tagged<Device>, ServiceError> {
        let wanted = check::registration(body)?;
        if wanted.device_id == GUARD || wanted.device_id.starts_with("outbox:") {
            let reason = "is a name that this service needs for itself; use a UUID".to_owned();
            return Err(ServiceError::Invalid { member: "deviceId".to_owned(), reason });
        }
        self.ensure().await?;
        let _turn = self.0.registering[place_of(user, self.0.registering.len())].lock().await;
        for attempt in 0..limits::NOTIFICATION_REGISTER_TRIES_MAX {
            let registered = self.try_register(user, &wanted).await;
            match registered {
                Ok(device) => {
                    self.refuse_erased(user, DEVICES).await?;
                    return Ok(device);
                }
                Err(StoreError::Changed | StoreError::Conflict | StoreError::Missing) => {
                    // Another process is registering for this user.
                    let millis = self.env().random_u64() % (5 * (attempt as u64 + 1));
                    tokio::time::sleep(Duration::from_millis(millis)).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(ServiceError::Busy { after: None })
    }

    async fn try_register(&self, user: &str, wanted: &Registration) -> Result<Tagged<Device>, StoreError> {
        let documents = self.documents();
        // The guard first: a later change by another registration is either seen below, or refused by
        // the guard's etag.
        let guard = documents.read(DEVICES, user, GUARD).await?;
        let (present, active) = tokio::try_join!(
            items::find::<Device>(documents, DEVICES, user, &wanted.device_id),
            active(documents, user),
        )?;
        let version =
            guard.as_ref().and_then(|guard| guard.value["version"].as_u64()).unwrap_or_default() + 1;
        let next = json!({
            "id": GUARD, "userId": user, "kind": "guard", "deviceId": GUARD, "revokedAt": false, "version": version,
        });
        let mut writes = vec![items::put(next, guard.as_ref().map_or("", |guard| &guard.etag))];
        let device = self.device(user, wanted, present.as_ref());
        writes.push(items::put(items::value(&device)?, present.as_ref().map_or("", |present| &present.etag)));
        let evicted = self.make_room(&device, active);
        for one in &evicted {
            writes.push(items::put(items::value(&one.value)?, &one.etag));
        }
        writes.push(self.registered(&device, &evicted, version));
        let items = documents.batch(DEVICES, user, writes).await?;
        self.counters().devices_revoked.add(evicted.len() as u64);
        let charge = items.iter().flatten().map(|item| item.charge).sum();
        self.counters().spent(Step::Register, charge);
        let item = items.into_iter().nth(1).flatten().ok_or(StoreError::Missing)?;
        Tagged::of(item)
    }

    fn device(&self, user: &str, wanted: &Registration, present: Option<&Tagged<Device>>) -> Device {
        let now = self.stamp();
        Device {
            id: wanted.device_id.clone(),
            user_id: user.to_owned(),
            device_id: wanted.device_id.clone(),
            push_token: wanted.push_token.clone(),
            platform: wanted.platform,
            label: wanted.label.clone(),
            created_at: present.map_or_else(|| now.clone(), |present| present.value.created_at.clone()),
            last_seen_at: now,
            revoked_at: None,
            revoke_reason: None,
        }
    }

    /// The devices to evict, the least recently seen; `active` has the newest first.
    fn make_room(&self, device: &Device, active: Vec<Tagged<Device>>) -> Vec<Tagged<Device>> {
        let mut others: Vec<_> = active.into_iter().filter(|other| other.value.id != device.id).collect();
        let kept = limits::NOTIFICATION_DEVICES_MAX - 1;
        let mut evicted = others.split_off(others.len().min(kept));
        for one in &mut evicted {
            one.value.revoked_at = Some(device.last_seen_at.clone());
            one.value.revoke_reason = Some("evicted".to_owned());
        }
        evicted
    }

    fn registered(&self, device: &Device, evicted: &[Tagged<Device>], version: u64) -> Write {
        let now = time::parse(&device.last_seen_at).unwrap_or_else(|| self.now());
        let of = |kind: &'static str, device: &Device| {
            let data =
                json!({"deviceId": device.id, "platform": device.platform, "reason": device.revoke_reason});
            OutboxEvent { kind, subject: device.id.clone(), at: now, data }
        };
        let mut published = vec![of("device.registered", device)];
        published.extend(evicted.iter().map(|one| of("device.revoked", &one.value)));
        let change = format!("{}:{}", device.id, self.env().guid());
        outbox::device_item(&device.user_id, &change, version, &published)
    }
}
