//! Operations on one item: read, create, upsert, replace, patch, delete.
//!
//! ```text
//! request ── prepare: text, checks, hashes ──> admitted ── one transaction in the item's partition ──> outcome
//!     └────────────── again with the container as it is now, if that changed underneath ──┘
//! ```

use crate::condition::ConditionHost;
use crate::error::Error;
use crate::metering::{Charged, OperationError};
use crate::partition_key::PartitionKeyError;
use crate::scope::Scope;
use crate::scripts::triggers::TriggerNames;
use crate::store::Store;
use crate::throttle::Priority;
use bytes::Bytes;
use orrery_core::{ItemId, Lsn};
use orrery_documents::Stamp;
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::item::{
    self, Change, Directive, Effect, FeedScope, ItemError, ItemRow, Preconditions, PreparedItem, Target,
    Verdict,
};
use orrery_documents::patch::PatchRequest;
use orrery_keys::Epk;
use orrery_kv::Txn;
use orrery_value::{scan_value, utf8};
use std::sync::Arc;

/// A write of one item.
#[derive(Clone, Debug)]
pub struct ItemWrite {
    pub action: ItemAction,
    /// The partition named by the request, by default the item's own.
    pub partition: Option<Epk>,
    pub conditions: Preconditions,
    pub directive: Directive,
    pub triggers: Option<TriggerNames>,
    pub priority: Priority,
}

/// The operation; texts are JSON.
#[derive(Clone, Debug)]
pub enum ItemAction {
    Create { text: Bytes },
    Upsert { text: Bytes },
    Replace { id: ItemId, text: Bytes },
    Patch { id: ItemId, text: Bytes },
    Delete { id: ItemId },
}

/// A committed write.
#[derive(Debug)]
pub struct Written {
    pub container: Arc<Container>,
    pub epk: Epk,
    pub lsn: Lsn,
    /// The version written, or the one deleted.
    pub effect: Effect,
    /// The response as changed by a post-trigger.
    pub answer: Option<String>,
    pub script_log: String,
}

/// A stored item that a read found.
#[derive(Debug)]
pub struct Found {
    pub item: ItemRow,
    /// Whether the caller already has this version.
    pub is_same: bool,
    /// The snapshot that it was read from.
    pub lsn: Lsn,
}

/// A failed operation, and how far it got.
#[derive(Debug)]
pub struct Refused {
    pub error: Error,
    /// The partition that it reached.
    pub epk: Option<Epk>,
    pub script_log: String,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self { error, epk: None, script_log: String::new() }
    }
}

impl Refused {
    pub(crate) fn at(self, epk: &Epk) -> Self {
        Self { epk: Some(epk.clone()), ..self }
    }
}

impl Charged for Written {
    fn charge(&self) -> Charge {
        self.effect.charge
    }
}

impl Charged for Found {
    fn charge(&self) -> Charge {
        if self.is_same { Charge::not_modified() } else { Charge::point_read(self.item.text_length()) }
    }
}

impl Charged for Refused {
    fn charge(&self) -> Charge {
        self.error.charge()
    }
}

impl OperationError for Refused {
    fn error(&self) -> &Error {
        &self.error
    }
}

impl Store {
    /// Reads an item. `conditions` may name the version that the caller has or requires.
    pub async fn read_item(
        &self,
        container: &Container,
        target: &Target,
        conditions: Preconditions,
        priority: Priority,
    ) -> Result<Found, Refused> {
        let scope = FeedScope::Partition(target.epk.clone());
        let read = async {
            self.usage().touched(container.number(), target.epk.as_bytes());
            let snapshot = self.snapshot();
            let refused = |error: ItemError| Refused::from(Error::Item(error)).at(&target.epk);
            let found = item::read(&*snapshot, container, target, self.env().now()).map_err(Error::Engine)?;
            let item = found.ok_or_else(|| refused(ItemError::Missing))?;
            let is_same = match conditions.check(item.etag()) {
                Verdict::Holds => false,
                Verdict::Same => true,
                Verdict::Changed => return Err(refused(ItemError::Changed)),
            };
            Ok(Found { item, is_same, lsn: snapshot.lsn() })
        };
        self.metered(container, Some(&scope), priority, read).await
    }

    /// Writes an item, and returns when the write is durable.
    pub async fn write_item(
        &self,
        container: &Arc<Container>,
        request: &ItemWrite,
    ) -> Result<Written, Refused> {
        orrery_core::tour_step!();
        self.with_container(container, |container| self.try_write(container, request)).await
    }

    async fn try_write(&self, container: Arc<Container>, request: &ItemWrite) -> Result<Written, Refused> {
        let step = Step::of(&container, request)?;
        let scope = FeedScope::Partition(step.epk().clone());
        let write = async {
            match &request.triggers {
                Some(triggers) => self.write_with_triggers(&container, request, &step, triggers).await,
                None => self.write_alone(&container, request, &step).await.map_err(Refused::from),
            }
        };
        let written = self.metered(&container, Some(&scope), request.priority, write).await;
        let written = written.map_err(|refused| refused.at(step.epk()))?;
        self.note_write(&container, &step, &written.effect, request.triggers.is_some());
        let Done { effect, lsn, answer, script_log } = written;
        Ok(Written { epk: step.into_epk(), container, lsn, effect, answer, script_log })
    }

    pub(crate) async fn write_alone(
        &self,
        container: &Container,
        request: &ItemWrite,
        step: &Step,
    ) -> Result<Done, Error> {
        let stamp = self.stamp();
        let body = |txn: &mut Txn<'_>| self.apply(txn, container, step, request.conditions, stamp);
        let scope = Scope::Partition { container: container.number(), epk: step.epk().as_bytes() };
        let committed = self.write(scope, body).await?;
        Ok(Done { effect: committed.value, lsn: committed.lsn, answer: None, script_log: String::new() })
    }

    pub(crate) fn apply(
        &self,
        txn: &mut Txn<'_>,
        container: &Container,
        step: &Step,
        conditions: Preconditions,
        stamp: Stamp,
    ) -> Result<Effect, ItemError> {
        let ordinal = || self.next_ordinal();
        match step {
            Step::Create(item) => item::create(txn, container, item, stamp, ordinal),
            Step::Upsert(item) => item::upsert(txn, container, item, conditions, stamp, ordinal),
            Step::Replace(target, item) => item::replace(txn, container, target, item, conditions, stamp),
            Step::Patch(target, change) => {
                let host = ConditionHost::new(self.env(), stamp.now);
                item::patch(txn, container, target, change, conditions, stamp, &host)
            }
            Step::Delete(target) => item::delete(txn, container, target, conditions, stamp),
        }
    }

    /// Triggers may change the item, so only the partition of such a write is recorded.
    fn note_write(&self, container: &Container, step: &Step, effect: &Effect, has_triggers: bool) {
        let (number, epk) = (container.number(), step.epk().as_bytes());
        match step.id() {
            Some(id) if !has_triggers => {
                self.usage().wrote(number, epk, id.as_str(), effect.item.text_length());
            }
            _ => self.usage().touched(number, epk),
        }
    }
}

/// The result of a transaction.
pub(crate) struct Done {
    pub effect: Effect,
    pub lsn: Lsn,
    pub answer: Option<String>,
    pub script_log: String,
}

impl Charged for Done {
    fn charge(&self) -> Charge {
        self.effect.charge
    }
}

/// A write, prepared for the current version of its container.
pub(crate) enum Step {
    Create(PreparedItem),
    Upsert(PreparedItem),
    Replace(Target, PreparedItem),
    Patch(Target, Box<Change>),
    Delete(Target),
}

impl Step {
    fn of(container: &Container, request: &ItemWrite) -> Result<Self, Error> {
        let item = |text: &Bytes| -> Result<PreparedItem, Error> {
            let item = item::prepare(container, text)?.indexed(request.directive);
            if request.partition.as_ref().is_some_and(|named| *named != item.epk) {
                return Err(Error::PartitionKey(PartitionKeyError::Wrong(
                    "PartitionKey extracted from document doesn't match the one specified in the header"
                        .to_owned(),
                )));
            }
            Ok(item)
        };
        let target = |id: &ItemId| -> Result<Target, Error> {
            let epk = request.partition.clone().ok_or(PartitionKeyError::Missing)?;
            Ok(Target { epk, id: id.clone() })
        };
        Ok(match &request.action {
            ItemAction::Create { text } => Self::Create(item(text)?),
            ItemAction::Upsert { text } => Self::Upsert(item(text)?),
            ItemAction::Replace { id, text } => {
                let item = item(text)?;
                Self::Replace(Target { epk: item.epk.clone(), id: id.clone() }, item)
            }
            ItemAction::Patch { id, text } => {
                Self::Patch(target(id)?, Box::new(change(container, text, request.directive)?))
            }
            ItemAction::Delete { id } => Self::Delete(target(id)?),
        })
    }

    pub fn epk(&self) -> &Epk {
        match self {
            Self::Create(item) | Self::Upsert(item) => &item.epk,
            Self::Replace(target, _) | Self::Patch(target, _) | Self::Delete(target) => &target.epk,
        }
    }

    fn into_epk(self) -> Epk {
        match self {
            Self::Create(item) | Self::Upsert(item) => item.epk,
            Self::Replace(target, _) | Self::Patch(target, _) | Self::Delete(target) => target.epk,
        }
    }

    /// The id of the written item; none after a delete.
    fn id(&self) -> Option<&ItemId> {
        match self {
            Self::Create(item) | Self::Upsert(item) => Some(&item.id),
            Self::Replace(target, _) | Self::Patch(target, _) => Some(&target.id),
            Self::Delete(_) => None,
        }
    }
}

fn change(container: &Container, text: &[u8], directive: Directive) -> Result<Change, Error> {
    let invalid = |error: orrery_value::JsonError| Error::Invalid(format!("The body is not JSON: {error}."));
    scan_value(text).map_err(invalid)?;
    change_of(container, utf8(text).map_err(invalid)?, directive)
}

/// A patch from scanned text.
pub(crate) fn change_of(container: &Container, text: &str, directive: Directive) -> Result<Change, Error> {
    let request = PatchRequest::parse(text).map_err(ItemError::from)?;
    Ok(Change::new(container, request, directive)?)
}
