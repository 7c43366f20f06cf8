//! The number of events per status, and this process's counters since its start (S2-92).

use super::containers::EVENTS;
use super::items;
use super::{Notifications, ServiceError};
use crate::records::Status;
use serde_json::{Map, Value, json};

impl Notifications {
    pub async fn stats(&self) -> Result<Value, ServiceError> {
        self.ensure().await?;
        let mut statuses = Map::new();
        for status in Status::ALL {
            let count = self.count_events("c.status = @status", &[("status", json!(status))]).await?;
            statuses.insert(status.name().to_owned(), count.into());
        }
        let dead = self.count_events("IS_STRING(c.deadLetteredAt)", &[]).await?;
        let counters = self.counters().all().into_iter().map(|(name, value)| (name.to_owned(), value.into()));
        Ok(json!({
            "events": statuses,
            "deadLettered": dead,
            "sinceStart": Value::Object(counters.collect()),
            "requestUnits": self.counters().charges(),
        }))
    }

    async fn count_events(&self, condition: &str, parameters: &[(&str, Value)]) -> Result<u64, ServiceError> {
        let query = items::query(format!("SELECT VALUE COUNT(1) FROM c WHERE {condition}"), parameters);
        Ok(items::count(self.documents(), EVENTS, None, query).await?)
    }
}
