//! The in-app centre: the notifications that a user has not dismissed, newest first, and the unread count.
//!
//! Both use the same condition, so the count is that of the unread entries in the list (K7, S2-84).

use super::containers::NOTIFICATIONS;
use super::counters::Step;
use super::items;
use super::{Notifications, ServiceError};
use crate::limits;
use crate::records::{Category, Notification};
use serde_json::{Value, json};

#[derive(Clone, Debug, Default)]
pub struct List {
    pub category: Option<Category>,
    /// Only what is unread.
    pub unread: bool,
    /// 20 if it is not given.
    pub limit: Option<usize>,
    pub continuation: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Listed {
    pub items: Vec<Notification>,
    pub continuation: Option<String>,
}

impl Notifications {
    /// The seed's query (S2-25), with optional filters.
    pub async fn list(&self, user: &str, list: &List) -> Result<Listed, ServiceError> {
        self.ensure().await?;
        let limit = list.limit.unwrap_or(limits::NOTIFICATION_LIST_DEFAULT);
        if !(1..=limits::NOTIFICATION_LIST_MAX).contains(&limit) {
            let reason = format!("has to be from 1 to {}", limits::NOTIFICATION_LIST_MAX);
            return Err(ServiceError::Invalid { member: "limit".to_owned(), reason });
        }
        let category = list.category.map_or("", |_| " AND c.category = @category");
        let unread = if list.unread { " AND c.read = false" } else { "" };
        let text = format!(
            "SELECT * FROM c WHERE c.userId = @userId AND c.dismissed = false{category}{unread} \
             ORDER BY c.createdAt DESC"
        );
        let mut parameters: Vec<(&str, Value)> = vec![("userId", json!(user))];
        parameters.extend(list.category.map(|category| ("category", json!(category))));
        let mut query = items::query(text, &parameters);
        query.items_max = limit;
        query.continuation = list.continuation.clone();
        let page = self.documents().query(NOTIFICATIONS, Some(user), &query).await;
        let page = page.map_err(|error| ServiceError::of_page(error, query.continuation.as_deref()))?;
        self.counters().spent(Step::List, page.charge);
        let items = page.rows.into_iter().map(items::record).collect::<Result<_, _>>()?;
        Ok(Listed { items, continuation: page.continuation })
    }

    /// The seed's query (S2-24).
    pub async fn unread_count(&self, user: &str) -> Result<u64, ServiceError> {
        self.ensure().await?;
        let text = "SELECT VALUE COUNT(1) FROM c WHERE c.userId = @userId AND c.read = false AND c.dismissed = false";
        let query = items::query(text, &[("userId", json!(user))]);
        Ok(items::count(self.documents(), NOTIFICATIONS, Some(user), query).await?)
    }
}
