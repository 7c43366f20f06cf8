//! A bulk request: each operation for itself.
//!
//! The operations of a partition go into one transaction, in their order; the transactions of all partitions are under
//! way at once, so that they share syncs. If a failure is to stop the rest, each run of operations on one partition
//! waits for the one before.
//!
//! A client sends what it believes to be of one range. Whether it still is does not matter here: an operation is done
//! wherever its partition is. A range that is not there any more is refused, so that the client learns of it.

use super::Asked;
use super::decode::Operation;
use super::join::{Running, join_all};
use super::outcome::{Outcome, reply};
use crate::failure::Failure;
use crate::handlers::items::{place, scope};
use crate::query::condition::ConditionHost;
use crate::reply::{Reply, ToValue as _};
use crate::request::Request;
use crate::{header, partition_key, session};
use orrery_core::{Lsn, limits};
use orrery_document_store::{Txn, WriteError};
use orrery_documents::batch::{Budget, Deps, OnRefusal, Step, independent};
use orrery_documents::catalog::Container;
use orrery_keys::Epk;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Operations on one partition, by their place in the request.
struct Group {
    epk: Epk,
    places: Vec<usize>,
    steps: Vec<Step>,
}

/// What became of a group, and its last commit. Fewer outcomes than steps: the rest was not tried.
struct Ended {
    outcomes: Vec<Outcome>,
    lsn: Lsn,
}

pub async fn run(
    asked: &Asked<'_>,
    request: &Request,
    operations: &[Operation<'_>],
) -> Result<Reply, Failure> {
    check_range(asked.container, request)?;
    let key = request.header_or_refuse(&header::PARTITION_KEY)?;
    let epk = key.map(|key| partition_key::point(asked.container, key)).transpose()?;
    let steps: Vec<_> = operations.iter().map(|operation| operation.step(asked, epk.as_ref())).collect();
    let partitions: BTreeSet<Epk> = steps.iter().flatten().map(|step| step.target.epk.clone()).collect();
    let budget = Budget::default();
    let (outcomes, lsn) = if request.is_true(&header::BATCH_CONTINUE_ON_ERROR) {
        at_once(asked, steps, &budget).await
    } else {
        until_refused(asked, steps, &budget).await
    };
    let lsn = lsn.max(asked.cosmos.store().durable_lsn());
    let reply = reply(asked.container, &outcomes);
    Ok(with_places(asked, reply, &partitions, lsn))
}

fn check_range(container: &Container, request: &Request) -> Result<(), Failure> {
    let id = request.header_or_refuse(&header::PARTITION_KEY_RANGE_ID)?.filter(|id| !id.is_empty());
    match id {
        Some(id) if id.parse().ok().and_then(|id| container.ranges().get(id)).is_none() => {
            Err(Failure::range_gone(id))
        }
        _ => Ok(()),
    }
}

/// A session token speaks of every range that was written to.
fn with_places(asked: &Asked<'_>, reply: Reply, partitions: &BTreeSet<Epk>, lsn: Lsn) -> Reply {
    let (cosmos, container) = (asked.cosmos, asked.container);
    let start = Epk::start();
    let first = partitions.first().unwrap_or(&start);
    let ranges: BTreeSet<u32> = partitions.iter().map(|epk| container.ranges().of(epk).id).collect();
    let reply = reply.headers(place(cosmos, container, first, lsn));
    if ranges.is_empty() {
        return reply;
    }
    let token = |range: &u32| session::token(cosmos, container, *range, lsn).0;
    let tokens: Vec<String> = ranges.iter().map(token).collect();
    reply.headers([(header::SESSION_TOKEN, tokens.join(",").to_value())])
}

/// Everything at once; partitions do not wait for each other.
async fn at_once(
    asked: &Asked<'_>,
    steps: Vec<Result<Step, Failure>>,
    budget: &Budget,
) -> (Vec<Outcome>, Lsn) {
    let mut outcomes: Vec<Option<Outcome>> = steps.iter().map(|step| refusal(step.as_ref())).collect();
    let groups = by_partition(steps);
    let running = groups.iter().map(|group| -> Running<'_, Ended> {
        Box::pin(write(asked, &group.epk, &group.steps, OnRefusal::GoOn, budget))
    });
    let mut lsn = Lsn(0);
    let ended = join_all(running.collect()).await;
    for (group, ended) in groups.iter().zip(ended) {
        lsn = lsn.max(ended.lsn);
        for (place, outcome) in group.places.iter().zip(ended.outcomes) {
            outcomes[*place] = Some(outcome);
        }
    }
    (outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(Outcome::dependent)).collect(), lsn)
}

/// One run of operations on a partition after the other, up to the first refusal.
async fn until_refused(
    asked: &Asked<'_>,
    steps: Vec<Result<Step, Failure>>,
    budget: &Budget,
) -> (Vec<Outcome>, Lsn) {
    let (count, mut lsn) = (steps.len(), Lsn(0));
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(count);
    let unfit = steps.iter().position(Result::is_err);
    let last = unfit.and_then(|at| refusal(steps[at].as_ref()));
    let fit: Vec<Step> = steps.into_iter().map_while(Result::ok).collect();
    for run in fit.chunk_by(|a, b| a.target.epk == b.target.epk) {
        let ended = write(asked, &run[0].target.epk, run, OnRefusal::Stop, budget).await;
        lsn = lsn.max(ended.lsn);
        outcomes.extend(ended.outcomes);
        if outcomes.last().is_some_and(Outcome::is_failure) {
            break;
        }
    }
    if !outcomes.last().is_some_and(Outcome::is_failure) {
        outcomes.extend(last);
    }
    outcomes.resize_with(count, Outcome::dependent);
    (outcomes, lsn)
}

fn refusal(step: Result<&Step, &Failure>) -> Option<Outcome> {
    step.err().map(Outcome::failed)
}

fn by_partition(steps: Vec<Result<Step, Failure>>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut known: HashMap<Epk, usize> = HashMap::new();
    let fit = steps.into_iter().enumerate().filter_map(|(place, step)| Some((place, step.ok()?)));
    for (place, step) in fit {
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

/// Does the steps of one partition, in as many transactions as it takes.
async fn write(
    asked: &Asked<'_>,
    epk: &Epk,
    steps: &[Step],
    on_refusal: OnRefusal,
    budget: &Budget,
) -> Ended {
    let mut container = asked.container.clone();
    let (mut outcomes, mut lsn, mut tries) = (Vec::with_capacity(steps.len()), Lsn(0), 0);
    while outcomes.len() < steps.len() {
        let rest = &steps[outcomes.len()..];
        let body = |txn: &mut Txn<'_>| transaction(txn, asked, &container, rest, on_refusal, budget);
        let written = asked.cosmos.store().write(scope(&container, epk), body).await;
        tries += 1;
        match written {
            Ok(committed) => {
                lsn = committed.lsn;
                let each = rest.iter().zip(committed.value);
                outcomes.extend(each.map(|(step, outcome)| match outcome {
                    Ok(done) => Outcome::done(asked, step, done),
                    Err(error) => Outcome::failed(&error.into()),
                }));
            }
            Err(error) => match again(asked, &container, &error, tries) {
                Some(newer) => {
                    container = newer;
                    continue;
                }
                None => {
                    let failure = Failure::from(error);
                    outcomes.extend(rest.iter().map(|_| Outcome::failed(&failure)));
                }
            },
        }
        if on_refusal == OnRefusal::Stop && outcomes.last().is_some_and(Outcome::is_failure) {
            break;
        }
    }
    Ended { outcomes, lsn }
}

/// The container to try again with, if it came to be indexed in another way meanwhile. What other partitions of the
/// request have done stands, so it is not the request that is made again.
fn again<E>(
    asked: &Asked<'_>,
    container: &Container,
    error: &WriteError<E>,
    tries: usize,
) -> Option<Arc<Container>> {
    let may_be = matches!(error, WriteError::PreconditionFailed) && tries < limits::TRANSACTION_RETRIES_MAX;
    if may_be { asked.cosmos.as_it_is_now(container).ok().flatten() } else { None }
}

type Outcomes = Vec<Result<orrery_documents::batch::StepOutcome, orrery_documents::batch::StepError>>;

fn transaction(
    txn: &mut Txn<'_>,
    asked: &Asked<'_>,
    container: &Container,
    steps: &[Step],
    on_refusal: OnRefusal,
    budget: &Budget,
) -> Result<Outcomes, orrery_document_store::EngineError> {
    let store = asked.cosmos.store();
    let host = ConditionHost::new(store.env(), store.env().now());
    let ordinal = || store.next_ordinal();
    independent(txn, steps, on_refusal, Deps { container, ordinal: &ordinal, host: &host, budget })
}
