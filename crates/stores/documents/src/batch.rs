//! Several operations in one request: a transactional batch, and a bulk request of independent operations.
//!
//! A batch is one transaction in one partition, all or nothing. In a bulk request the operations of a partition share a
//! transaction, in their order; the transactions of all partitions run concurrently and share syncs. If a failure must
//! stop the rest, each run of operations on one partition waits for the previous one.

use crate::condition::ConditionHost;
use crate::error::Error;
use crate::items::change_of;
use crate::join::{Running, join_all};
use crate::metering::Charged;
use crate::partition_key::{self, PartitionKeyError};
use crate::scope::Scope;
use crate::store::Store;
use crate::throttle::Priority;
use orrery_core::{ItemId, Lsn};
use orrery_documents::batch::{
    Action, Budget, Deps, FailedStep, OnRefusal, Step, StepError, StepOutcome, atomic, independent,
};
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::item::{self, Directive, FeedScope, ItemError, Preconditions, PreparedItem, Target};
use orrery_keys::Epk;
use orrery_kv::{Error as EngineError, Txn};
use orrery_txn::limits;
use orrery_txn::{Committed, WriteError};
use std::collections::HashMap;
use std::sync::Arc;

/// One operation of a request.
#[derive(Clone, Debug)]
pub struct BatchOperation<'t> {
    pub kind: OperationKind,
    pub id: Option<String>,
    /// The item or the patch, as scanned JSON.
    pub body: Option<&'t str>,
    pub conditions: Preconditions,
    /// The partition key as JSON text, if the operation names one.
    pub partition_key: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    Create,
    Upsert,
    Read,
    Replace,
    Delete,
    Patch,
}

/// The settings of all operations of a request.
#[derive(Clone, Copy, Debug)]
pub struct BatchRequest<'a> {
    pub operations: &'a [BatchOperation<'a>],
    /// The partition that the request names.
    pub partition: Option<&'a Epk>,
    /// The scope of the request, for throttling.
    pub scope: Option<&'a FeedScope>,
    pub directive: Directive,
    pub priority: Priority,
}

/// The outcome of each operation.
#[derive(Debug)]
pub struct BatchOutcome {
    pub container: Arc<Container>,
    pub outcomes: Vec<OperationOutcome>,
    /// The partitions of the operations, executed or not.
    pub partitions: Vec<Epk>,
    pub lsn: Lsn,
}

#[derive(Debug)]
pub enum OperationOutcome {
    Done(StepOutcome),
    Failed(Error),
    /// Not executed because another operation failed.
    NotTried,
}

impl Charged for BatchOutcome {
    fn charge(&self) -> Charge {
        self.outcomes.iter().map(OperationOutcome::charge).sum()
    }
}

impl OperationOutcome {
    pub fn charge(&self) -> Charge {
        match self {
            Self::Done(done) => done.charge(),
            Self::Failed(_) => Charge::refused(),
            Self::NotTried => Charge::not_tried(),
        }
    }

    fn is_failed(&self) -> bool {
        match self {
            Self::Failed(_) => true,
            Self::Done(_) | Self::NotTried => false,
        }
    }
}

/// Why a batch was not committed.
enum Stopped {
    At(FailedStep),
    /// All operations succeeded up to the first one that is malformed.
    Unfit,
}

impl Store {
    /// A transactional batch on the partition that the request names. A refused operation fails all others; an error
    /// that no operation caused fails the request.
    pub async fn batch(
        &self,
        container: &Arc<Container>,
        request: &BatchRequest<'_>,
    ) -> Result<BatchOutcome, Error> {
        let epk = request.partition.ok_or(PartitionKeyError::Missing)?;
        let scope = FeedScope::Partition(epk.clone());
        let run = self.with_container(container, |container| self.try_batch(container, request, epk));
        self.metered(container, Some(&scope), request.priority, run).await
    }

    async fn try_batch(
        &self,
        container: Arc<Container>,
        request: &BatchRequest<'_>,
        epk: &Epk,
    ) -> Result<BatchOutcome, Error> {
        let (mut steps, mut unfit) = (Vec::with_capacity(request.operations.len()), None);
        for operation in request.operations {
            match self.step(&container, request, operation) {
                Ok(step) => steps.push(step),
                Err(error) => {
                    unfit = Some(error);
                    break;
                }
            }
        }
        let body = |txn: &mut Txn<'_>| {
            let done = self.atomic(txn, &container, &steps).map_err(Stopped::At)?;
            if unfit.is_some() { Err(Stopped::Unfit) } else { Ok(done) }
        };
        let (outcomes, lsn) = match self.write(partition(&container, epk), body).await {
            Ok(Committed { value, lsn }) => (self.noted(&container, &steps, value), lsn),
            Err(error) => {
                let (index, error) = culprit(error, steps.len(), unfit)?;
                (refused(request.operations.len(), index, error), self.durable_lsn())
            }
        };
        Ok(BatchOutcome { container, outcomes, partitions: vec![epk.clone()], lsn })
    }

    fn atomic(
        &self,
        txn: &mut Txn<'_>,
        container: &Container,
        steps: &[Step],
    ) -> Result<Vec<StepOutcome>, FailedStep> {
        let host = ConditionHost::new(self.env(), self.env().now());
        let (ordinal, budget) = (|| self.next_ordinal(), Budget::default());
        atomic(txn, steps, Deps { container, ordinal: &ordinal, host: &host, budget: &budget })
    }

    /// A bulk request. The operations may be in different partitions.
    pub async fn bulk(
        &self,
        container: &Arc<Container>,
        request: &BatchRequest<'_>,
        on_refusal: OnRefusal,
    ) -> Result<BatchOutcome, Error> {
        let run = async {
            let step = |operation| self.step(container, request, operation);
            let steps: Vec<_> = request.operations.iter().map(step).collect();
            let mut partitions: Vec<Epk> =
                steps.iter().flatten().map(|step| step.target.epk.clone()).collect();
            partitions.sort();
            partitions.dedup();
            let budget = Budget::default();
            let (outcomes, lsn) = match on_refusal {
                OnRefusal::GoOn => self.at_once(container, steps, &budget).await,
                OnRefusal::Stop => self.until_refused(container, steps, &budget).await,
            };
            let lsn = lsn.max(self.durable_lsn());
            Ok(BatchOutcome { container: container.clone(), outcomes, partitions, lsn })
        };
        self.metered(container, request.scope, request.priority, run).await
    }

    /// All partitions concurrently.
    async fn at_once(
        &self,
        container: &Arc<Container>,
        steps: Vec<Result<Step, Error>>,
        budget: &Budget,
    ) -> (Vec<OperationOutcome>, Lsn) {
        let count = steps.len();
        let mut outcomes: Vec<OperationOutcome> = Vec::new();
        outcomes.resize_with(count, || OperationOutcome::NotTried);
        let mut fit = Vec::with_capacity(count);
        for (place, step) in steps.into_iter().enumerate() {
            match step {
                Ok(step) => fit.push((place, step)),
                Err(error) => outcomes[place] = OperationOutcome::Failed(error),
            }
        }
        let groups = by_partition(fit);
        let running = groups.iter().map(|group| -> Running<'_, Ended> {
            Box::pin(self.write_group(container, &group.epk, &group.steps, OnRefusal::GoOn, budget))
        });
        let mut lsn = Lsn(0);
        let ended = join_all(running.collect()).await;
        for (group, ended) in groups.iter().zip(ended) {
            lsn = lsn.max(ended.lsn);
            for (place, outcome) in group.places.iter().zip(ended.outcomes) {
                outcomes[*place] = outcome;
            }
        }
        (outcomes, lsn)
    }

    /// Run after run of operations on one partition, up to the first refusal.
    async fn until_refused(
        &self,
        container: &Arc<Container>,
        steps: Vec<Result<Step, Error>>,
        budget: &Budget,
    ) -> (Vec<OperationOutcome>, Lsn) {
        let (count, mut lsn) = (steps.len(), Lsn(0));
        let mut outcomes: Vec<OperationOutcome> = Vec::with_capacity(count);
        let (mut fit, mut unfit) = (Vec::with_capacity(count), None);
        for step in steps {
            match step {
                Ok(step) => fit.push(step),
                Err(error) => {
                    unfit = Some(error);
                    break;
                }
            }
        }
        for run in fit.chunk_by(|a, b| a.target.epk == b.target.epk) {
            let ended = self.write_group(container, &run[0].target.epk, run, OnRefusal::Stop, budget).await;
            lsn = lsn.max(ended.lsn);
            outcomes.extend(ended.outcomes);
            if outcomes.last().is_some_and(OperationOutcome::is_failed) {
                break;
            }
        }
        if !outcomes.last().is_some_and(OperationOutcome::is_failed) {
            outcomes.extend(unfit.map(OperationOutcome::Failed));
        }
        outcomes.resize_with(count, || OperationOutcome::NotTried);
        (outcomes, lsn)
    }

    /// Executes the steps of one partition, in as many transactions as needed. If the container was re-indexed
    /// meanwhile, retries the rest; what other partitions of the request have done stands.
    async fn write_group(
        &self,
        container: &Arc<Container>,
        epk: &Epk,
        steps: &[Step],
        on_refusal: OnRefusal,
        budget: &Budget,
    ) -> Ended {
        let mut container = container.clone();
        let (mut outcomes, mut lsn, mut tries) = (Vec::with_capacity(steps.len()), Lsn(0), 0);
        while outcomes.len() < steps.len() {
            let rest = &steps[outcomes.len()..];
            let body = |txn: &mut Txn<'_>| self.independent(txn, &container, rest, on_refusal, budget);
            let written = self.write_concurrently(partition(&container, epk), body).await;
            tries += 1;
            match written {
                Ok(committed) => {
                    lsn = committed.lsn;
                    for (step, outcome) in rest.iter().zip(committed.value) {
                        outcomes.push(match outcome {
                            Ok(done) => self.note(&container, step, done),
                            Err(error) => OperationOutcome::Failed(error.into()),
                        });
                    }
                }
                Err(error) => {
                    let may_retry = matches!(error, WriteError::PreconditionFailed)
                        && tries < limits::TRANSACTION_RETRIES_MAX;
                    let newer = if may_retry { self.current(&container).ok().flatten() } else { None };
                    match newer {
                        Some(newer) => {
                            container = newer;
                            continue;
                        }
                        None => {
                            outcomes.extend(rest.iter().map(|_| OperationOutcome::Failed(copy_of(&error))))
                        }
                    }
                }
            }
            if on_refusal == OnRefusal::Stop && outcomes.last().is_some_and(OperationOutcome::is_failed) {
                break;
            }
        }
        Ended { outcomes, lsn }
    }

    fn independent(
        &self,
        txn: &mut Txn<'_>,
        container: &Container,
        steps: &[Step],
        on_refusal: OnRefusal,
        budget: &Budget,
    ) -> Result<Vec<Result<StepOutcome, StepError>>, EngineError> {
        let host = ConditionHost::new(self.env(), self.env().now());
        let ordinal = || self.next_ordinal();
        independent(txn, steps, on_refusal, Deps { container, ordinal: &ordinal, host: &host, budget })
    }

    fn noted(&self, container: &Container, steps: &[Step], done: Vec<StepOutcome>) -> Vec<OperationOutcome> {
        steps.iter().zip(done).map(|(step, done)| self.note(container, step, done)).collect()
    }

    /// Records that an item was written or read.
    fn note(&self, container: &Container, step: &Step, done: StepOutcome) -> OperationOutcome {
        let (number, epk) = (container.number(), step.target.epk.as_bytes());
        match &done {
            StepOutcome::Written(effect) => {
                self.usage().wrote(number, epk, step.target.id.as_str(), effect.item.text_length());
            }
            StepOutcome::Read(_) | StepOutcome::NotModified(_) | StepOutcome::Deleted(_) => {
                self.usage().touched(number, epk)
            }
        }
        OperationOutcome::Done(done)
    }

    /// The step for an operation.
    fn step(
        &self,
        container: &Container,
        request: &BatchRequest<'_>,
        operation: &BatchOperation<'_>,
    ) -> Result<Step, Error> {
        let BatchOperation { kind, body, conditions, .. } = operation;
        let body = body.unwrap_or_default();
        let named = named_partition(container, request, operation)?;
        let with_item = |action: fn(PreparedItem) -> Action| {
            let item = item::prepare(container, body.as_bytes())?;
            if named.as_ref().is_some_and(|named| *named != item.epk) {
                return Err(Error::PartitionKey(PartitionKeyError::Other(
                    "PartitionKey extracted from document doesn't match the one specified in the header",
                )));
            }
            let target = Target { epk: item.epk.clone(), id: item.id.clone() };
            Ok((target, action(item.indexed(request.directive))))
        };
        let id = || ItemId::parse(operation.id.as_deref().unwrap_or_default());
        let target = || -> Result<Target, Error> {
            let epk = named.clone().ok_or(PartitionKeyError::Other(
                "The operation has no partition key: give it a 'partitionKey'.",
            ))?;
            Ok(Target { epk, id: id()? })
        };
        let (target, action) = match kind {
            OperationKind::Create => with_item(Action::Create)?,
            OperationKind::Upsert => with_item(Action::Upsert)?,
            OperationKind::Replace => {
                let (made, action) = with_item(Action::Replace)?;
                (Target { id: id()?, ..made }, action)
            }
            OperationKind::Read => (target()?, Action::Read),
            OperationKind::Delete => (target()?, Action::Delete),
            OperationKind::Patch => {
                let change = change_of(container, body, request.directive)?;
                (target()?, Action::Patch(Box::new(change)))
            }
        };
        Ok(Step { target, action, conditions: *conditions, stamp: self.stamp() })
    }
}

/// The partition named by the operation or the request, which must agree.
fn named_partition(
    container: &Container,
    request: &BatchRequest<'_>,
    operation: &BatchOperation<'_>,
) -> Result<Option<Epk>, Error> {
    let own = operation.partition_key.as_deref();
    let own = own.map(|key| partition_key::point(container, key)).transpose()?;
    match (own, request.partition) {
        (Some(own), Some(epk)) if own != *epk => Err(Error::PartitionKey(PartitionKeyError::Other(
            "The operation names another partition key than the batch.",
        ))),
        (own, epk) => Ok(own.or_else(|| epk.cloned())),
    }
}

/// Operations on one partition, by their index in the request.
struct Group {
    epk: Epk,
    places: Vec<usize>,
    steps: Vec<Step>,
}

/// The outcomes of a group, and its last commit. With fewer outcomes than steps, the rest was not executed.
struct Ended {
    outcomes: Vec<OperationOutcome>,
    lsn: Lsn,
}

fn by_partition(steps: Vec<(usize, Step)>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut known: HashMap<Epk, usize> = HashMap::new();
    for (place, step) in steps {
        let epk = &step.target.epk;
        let at = *known.entry(epk.clone()).or_insert_with(|| {
            groups.push(Group { epk: epk.clone(), places: Vec::new(), steps: Vec::new() });
            groups.len() - 1
        });
        groups[at].places.push(place);
        groups[at].steps.push(step);
    }
    groups
}

fn partition<'a>(container: &Container, epk: &'a Epk) -> Scope<'a> {
    Scope::Partition { container: container.number(), epk: epk.as_bytes() }
}

/// Copies the error of a transaction, for each of its operations.
fn copy_of(error: &WriteError<EngineError>) -> Error {
    match error {
        WriteError::Model(error) | WriteError::Engine(error) => Error::Engine(error.clone()),
        WriteError::PreconditionFailed => Error::ContainerGone,
        WriteError::Busy => Error::Busy,
        WriteError::Stopping => Error::Stopping,
    }
}

/// The operation at fault, and its error. An error that no operation caused fails the request.
fn culprit(error: WriteError<Stopped>, fit: usize, unfit: Option<Error>) -> Result<(usize, Error), Error> {
    match error {
        WriteError::Model(Stopped::At(FailedStep {
            error: StepError::Item(ItemError::Store(error)),
            ..
        })) => Err(error.into()),
        WriteError::Model(Stopped::At(FailedStep { index, error })) => Ok((index, error.into())),
        WriteError::Model(Stopped::Unfit) => {
            Ok((fit, unfit.unwrap_or(Error::Internal("A batch was refused for nothing."))))
        }
        WriteError::PreconditionFailed => Err(Error::ContainerGone),
        WriteError::Busy => Err(Error::Busy),
        WriteError::Stopping => Err(Error::Stopping),
        WriteError::Engine(error) => Err(error.into()),
    }
}

fn refused(count: usize, culprit: usize, error: Error) -> Vec<OperationOutcome> {
    let mut outcomes: Vec<OperationOutcome> = Vec::new();
    outcomes.resize_with(count, || OperationOutcome::NotTried);
    outcomes[culprit] = OperationOutcome::Failed(error);
    outcomes
}
