//! A transactional batch: one transaction of one partition, all or nothing.

use super::Asked;
use super::decode::Operation;
use super::outcome::{Outcome, reply};
use crate::failure::Failure;
use crate::handlers::items::{place, scope};
use crate::query::condition::ConditionHost;
use crate::reply::Reply;
use crate::request::Request;
use crate::{header, partition_key};
use orrery_document_store::{Committed, Txn, WriteError};
use orrery_documents::batch::{Budget, Deps, FailedStep, Step, StepError, StepOutcome, atomic};
use orrery_documents::item::ItemError;

/// Why a batch was not committed.
enum Stopped {
    At(FailedStep),
    /// All went well up to the first operation that cannot even be tried.
    Unfit,
}

pub async fn run(
    asked: &Asked<'_>,
    request: &Request,
    operations: &[Operation<'_>],
) -> Result<Reply, Failure> {
    let (cosmos, container) = (asked.cosmos, asked.container);
    let key = request.header_or_refuse(&header::PARTITION_KEY)?.ok_or_else(|| {
        Failure::partition_key(
            "A transactional batch needs its partition key in the header x-ms-documentdb-partitionkey.",
        )
    })?;
    let epk = partition_key::point(container, key)?;
    let (mut steps, mut unfit) = (Vec::with_capacity(operations.len()), None);
    for operation in operations {
        match operation.step(asked, Some(&epk)) {
            Ok(step) => steps.push(step),
            Err(failure) => {
                unfit = Some(failure);
                break;
            }
        }
    }
    let written = cosmos
        .store()
        .write(scope(container, &epk), |txn| {
            let done = batch(txn, asked, &steps).map_err(Stopped::At)?;
            if unfit.is_some() { Err(Stopped::Unfit) } else { Ok(done) }
        })
        .await;
    let (outcomes, lsn) = match written {
        Ok(Committed { value, lsn }) => {
            let each = steps.iter().zip(value);
            (each.map(|(step, done)| Outcome::done(asked, step, done)).collect(), lsn)
        }
        Err(error) => {
            let (index, failure) = culprit(error, steps.len(), unfit)?;
            (refused(operations.len(), index, &failure), cosmos.store().durable_lsn())
        }
    };
    Ok(reply(container, &outcomes).headers(place(asked.cosmos, container, &epk, lsn)))
}

fn batch(txn: &mut Txn<'_>, asked: &Asked<'_>, steps: &[Step]) -> Result<Vec<StepOutcome>, FailedStep> {
    let store = asked.cosmos.store();
    let host = ConditionHost::new(store.env(), store.env().now());
    let (ordinal, budget) = (|| store.next_ordinal(), Budget::default());
    let around = Deps { container: asked.container, ordinal: &ordinal, host: &host, budget: &budget };
    atomic(txn, steps, around)
}

/// The operation that is to blame, and what is wrong with it. What is no operation's fault fails the request.
fn culprit(
    error: WriteError<Stopped>,
    fit: usize,
    unfit: Option<Failure>,
) -> Result<(usize, Failure), Failure> {
    match error {
        WriteError::Model(Stopped::At(FailedStep {
            error: StepError::Item(ItemError::Store(error)),
            ..
        })) => Err(error.into()),
        WriteError::Model(Stopped::At(FailedStep { index, error })) => Ok((index, error.into())),
        WriteError::Model(Stopped::Unfit) => {
            Ok((fit, unfit.unwrap_or_else(|| Failure::internal("A batch was refused for nothing."))))
        }
        WriteError::PreconditionFailed => Err(WriteError::<ItemError>::PreconditionFailed.into()),
        WriteError::Busy => Err(WriteError::<ItemError>::Busy.into()),
        WriteError::Stopping => Err(WriteError::<ItemError>::Stopping.into()),
        WriteError::Engine(error) => Err(error.into()),
    }
}

fn refused(count: usize, culprit: usize, failure: &Failure) -> Vec<Outcome> {
    let outcome = |index| if index == culprit { Outcome::failed(failure) } else { Outcome::dependent() };
    (0..count).map(outcome).collect()
}
