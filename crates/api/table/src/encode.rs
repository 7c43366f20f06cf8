//! From the result of an operation to its answer.

use crate::head::Head;
use crate::json::{self, Answer, Shown};
use crate::reply::{self, Reply};
use http::StatusCode;
use orrery_tables::{Entity, EntityOperation, EntityRow, Ticks, Written};

/// Where entities are, as the client addressed it.
#[derive(Clone, Copy, Debug)]
pub struct Addressed<'a> {
    pub base_url: &'a str,
    pub account: &'a str,
    pub table: &'a str,
}

impl Addressed<'_> {
    /// A write that was done.
    pub fn written(&self, head: &Head, operation: &EntityOperation, written: &Written) -> Reply {
        let reply = match (operation, written.timestamp) {
            (EntityOperation::Insert(entity), Some(at)) => self.inserted(head, entity, at),
            _ => Reply::new(StatusCode::NO_CONTENT),
        };
        match written.timestamp {
            Some(at) => reply.etag(at),
            None => reply,
        }
    }

    fn inserted(&self, head: &Head, entity: &Entity, at: Ticks) -> Reply {
        let key = entity.key();
        let (partition_key, row_key) = (key.partition_key.as_str(), key.row_key.as_str());
        let place = reply::entity_url(self.base_url, self.table, partition_key, row_key);
        let shown = Shown { partition_key, row_key, timestamp: at, properties: entity.properties() };
        Reply::created(head, &place, || json::entity(&self.answer(head, None), self.table, &shown))
    }

    /// An entity that was read.
    pub fn entity(&self, head: &Head, select: Option<&[String]>, row: &EntityRow) -> Reply {
        let (partition_key, row_key) = (row.partition_key(), row.row_key());
        let shown = Shown {
            partition_key: &partition_key,
            row_key: &row_key,
            timestamp: row.timestamp(),
            properties: row.properties(),
        };
        let body = json::entity(&self.answer(head, select), self.table, &shown);
        Reply::json(head.level, body).etag(row.timestamp())
    }

    pub fn answer<'a>(&'a self, head: &Head, select: Option<&'a [String]>) -> Answer<'a> {
        Answer { level: head.level, base_url: self.base_url, account: self.account, select }
    }
}
