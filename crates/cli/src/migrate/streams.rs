//! One range of a container: copied from its first item, then followed to its newest change.

use super::changes::{Change, From, Page};
use super::reconcile::reconcile;
use super::state::{RangeState, Stage};
use super::units::{Unit, of_changes, of_root};
use super::world::{Which, World};
use crate::limits;
use orrery_core::limits::BATCH_OPERATIONS_MAX;
use orrery_migration::{ItemKey, Role, Shape};
use orrery_value::Value;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::task::JoinSet;

/// How a pass over a range ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Nothing is new; so many changes were seen.
    Idle {
        changes: u64,
    },
    Split,
    /// What changed while nobody looked is not known any more: copy again, and compare in the end.
    Forgotten,
}

/// Goes on until all is done that was there at some moment after the call. `mark` is where changes are followed from after the copy.
pub async fn drive(world: &Arc<World>, state: &mut RangeState, mark: Option<&str>) -> Result<Ended, String> {
    let (mut seen, mut head) = (0, None);
    loop {
        let (changes, position, is_end) = match next_page(world, state).await? {
            Page::Changes { changes, position, is_end } => (changes, position, is_end),
            Page::Split => return Ok(Ended::Split),
            Page::Forgotten => return Ok(Ended::Forgotten),
        };
        let is_followed = matches!(state.stage, Stage::Follow { .. });
        if is_followed && !is_end && head.is_none() {
            head = newest(world, state).await?;
        }
        let is_done = is_followed && (is_end || head.is_some_and(|head| number(&position) >= Some(head)));
        let count = changes.len() as u64;
        seen += count;
        let next = match &state.stage {
            Stage::Copy { .. } => {
                copy(world, &state.container, changes).await?;
                world.counts.copied.fetch_add(count, Ordering::Relaxed);
                if is_end { after_copy(position, mark) } else { Stage::Copy { position: Some(position) } }
            }
            Stage::Follow { has_deletes, .. } => {
                let units = of_changes(world, state.which, &state.container, &changes).await?;
                reconcile_all(world, units, state.which).await?;
                world.counts.followed.fetch_add(count, Ordering::Relaxed);
                Stage::Follow { position, has_deletes: *has_deletes }
            }
        };
        state.stage = next;
        // An idle range's position moves with the writes of others; without news it is worth a write now and then.
        if !is_done || count > 0 || state.is_stale() {
            state.save(world).await?;
        }
        if is_done {
            return Ok(Ended::Idle { changes: seen });
        }
    }
}

async fn next_page(world: &World, state: &RangeState) -> Result<Page, String> {
    let from = match &state.stage {
        Stage::Copy { position } => From::Items(position.as_deref()),
        Stage::Follow { position, has_deletes: true } => From::Versions(position.as_str()),
        Stage::Follow { position, has_deletes: false } => From::Items(Some(position.as_str())),
    };
    world.database(state.which).changes(&state.container, Some(&state.range), from).await
}

/// How much has not been followed yet, as far as one page goes; `None` if that is not known any more.
pub async fn waiting(world: &World, state: &RangeState) -> Result<Option<usize>, String> {
    Ok(match next_page(world, state).await? {
        Page::Changes { changes, .. } => Some(changes.len()),
        Page::Split | Page::Forgotten => None,
    })
}

/// Where the feed is now: whoever has come there has seen all that was there when this was asked.
async fn newest(world: &World, state: &RangeState) -> Result<Option<u64>, String> {
    let now = world.database(state.which).changes(&state.container, Some(&state.range), From::Now).await?;
    Ok(match now {
        Page::Changes { position, .. } => number(&position),
        Page::Split | Page::Forgotten => None,
    })
}

/// Positions are numbers of commits.
fn number(position: &str) -> Option<u64> {
    position.trim_matches('"').parse().ok()
}

/// Everything since the mark is followed, so that nothing falls between the copy and the changes.
fn after_copy(position: String, mark: Option<&str>) -> Stage {
    match mark {
        Some(mark) => Stage::Follow { position: mark.to_owned(), has_deletes: true },
        None => Stage::Follow { position, has_deletes: false },
    }
}

pub async fn reconcile_all(world: &Arc<World>, units: Vec<Unit>, origin: Which) -> Result<(), String> {
    each(world, units, |world, unit| async move {
        reconcile(&world, unit, origin).await?;
        Ok(None::<()>)
    })
    .await
    .map(drop)
}

/// Some work for each, several at a time; gives what it gives.
pub async fn each<T, R, F>(
    world: &Arc<World>,
    all: impl IntoIterator<Item = T>,
    work: impl Fn(Arc<World>, T) -> F,
) -> Result<Vec<R>, String>
where
    F: Future<Output = Result<Option<R>, String>> + Send + 'static,
    R: Send + 'static,
{
    let (mut running, mut given) = (JoinSet::new(), Vec::new());
    for one in all {
        if running.len() >= limits::MIGRATION_REQUESTS_MAX {
            given.extend(joined(running.join_next().await)?);
        }
        running.spawn(work(world.clone(), one));
    }
    while let Some(ended) = running.join_next().await {
        given.extend(joined(Some(ended))?);
    }
    Ok(given)
}

fn joined<R>(
    ended: Option<Result<Result<Option<R>, String>, tokio::task::JoinError>>,
) -> Result<Option<R>, String> {
    match ended {
        None => Ok(None),
        Some(Ok(outcome)) => outcome,
        Some(Err(error)) => Err(format!("a part of the migration failed: {error}")),
    }
}

/// An item of the source and what is made of it.
struct Copied {
    unit: Unit,
    made: Vec<(ItemKey, Value)>,
}

/// Creates what a page becomes, in bulk. What is there already, what has parts to gather, and with writes on both sides everything, is
/// looked at one by one.
async fn copy(world: &Arc<World>, container: &str, changes: Vec<Change>) -> Result<(), String> {
    let (mut quick, mut slow) = (Vec::new(), Vec::new());
    for item in changes.into_iter().filter_map(|change| change.current) {
        let Role::Root(rule) = world.plan.role(container, &item) else { continue };
        let made = rule.apply(&item, &[]).ok();
        let unit = of_root(world, rule, &item, made.as_ref())?;
        match (&rule.shape, made) {
            (Shape::Join(_), _) | (_, None) => slow.push(unit),
            (_, Some(made)) => quick.push(Copied { unit, made: world.plan.placed(rule, made) }),
        }
    }
    let failed = create_all(world, &quick).await?;
    let is_slow = |copied: &Copied| world.is_both || copied.made.iter().any(|(key, _)| failed.contains(key));
    slow.extend(quick.into_iter().filter(is_slow).map(|copied| copied.unit));
    reconcile_all(world, slow, Which::Source).await
}

/// The keys of what was not created.
async fn create_all(world: &Arc<World>, copied: &[Copied]) -> Result<HashSet<ItemKey>, String> {
    let items = copied.iter().flat_map(|copied| copied.made.iter().cloned()).collect();
    let failed =
        each(world, chunks(items), |world, chunk| async move { create_chunk(&world, chunk).await.map(Some) });
    Ok(failed.await?.into_iter().flatten().collect())
}

async fn create_chunk(world: &World, chunk: Vec<(ItemKey, Value)>) -> Result<Vec<ItemKey>, String> {
    let Some((first, _)) = chunk.first() else { return Ok(Vec::new()) };
    let is_made = world.database(Which::Target).create_many(&first.container, &chunk).await?;
    Ok(chunk.iter().zip(is_made).filter(|(_, is_made)| !is_made).map(|((key, _), _)| key.clone()).collect())
}

/// As many as one request takes, of one container.
fn chunks(items: Vec<(ItemKey, Value)>) -> Vec<Vec<(ItemKey, Value)>> {
    let mut open: BTreeMap<String, (usize, Vec<(ItemKey, Value)>)> = BTreeMap::new();
    let mut full = Vec::new();
    for (key, item) in items {
        let size = item.to_json().len();
        let (bytes, chunk) = open.entry(key.container.clone()).or_default();
        let is_full = *bytes + size > limits::MIGRATION_BULK_BYTES_MAX || chunk.len() == BATCH_OPERATIONS_MAX;
        if is_full && !chunk.is_empty() {
            full.push(std::mem::take(chunk));
            *bytes = 0;
        }
        *bytes += size;
        chunk.push((key, item));
    }
    full.extend(open.into_values().map(|(_, chunk)| chunk));
    full
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_of_one_container_and_within_the_limits_of_a_request() {
        let item = |container: &str, at: usize, size: usize| {
            let key = ItemKey::new(container, &[Value::from("p")], &at.to_string());
            (key, Value::from("x".repeat(size)))
        };
        let small = (0..250).map(|at| item(if at % 2 == 0 { "a" } else { "b" }, at, 10));
        let large = (0..3).map(|at| item("c", at, limits::MIGRATION_BULK_BYTES_MAX * 2 / 3));
        let chunks = chunks(small.chain(large).collect());
        assert_eq!(chunks.iter().map(Vec::len).sum::<usize>(), 253);
        assert_eq!(chunks.len(), 2 + 2 + 3);
        for chunk in &chunks {
            assert!(chunk.len() <= BATCH_OPERATIONS_MAX);
            assert!(chunk.iter().all(|(key, _)| key.container == chunk[0].0.container));
        }
    }

    #[test]
    fn a_position_is_the_number_of_a_commit() {
        assert_eq!(number("\"17\""), Some(17));
        assert_eq!(number("a token of somebody else"), None);
    }

    #[test]
    fn after_the_copy_changes_are_followed_from_the_mark_if_there_is_one() {
        let follow =
            |position: &str, has_deletes| Stage::Follow { position: position.to_owned(), has_deletes };
        assert_eq!(after_copy("9".to_owned(), Some("3")), follow("3", true));
        assert_eq!(after_copy("9".to_owned(), None), follow("9", false));
    }
}
