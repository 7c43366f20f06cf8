//! Re-checks the differences found by a comparison: one unit at a time, source and target together.
//!
//! Under writes, two long scans never agree. A unit that is equal at one moment after the comparison is correct, since
//! later writes to it are followed.

use super::reconcile::is_settled;
use super::run::Run;
use super::streams::{each, reconcile_all};
use super::units::{Unit, of_target};
use super::verify::{Verdict, each_wanted, verify};
use super::world::{Which, World};
use crate::client::Written;
use crate::limits;
use orrery_migration::{ItemKey, Role, Rule, Shape};
use orrery_value::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(200);

/// Compares, and waits a little for whoever follows changes.
pub async fn compared(world: &Arc<World>) -> Result<Verdict, String> {
    let mut verdict = verify(world).await?;
    for _ in 0..limits::MIGRATION_ROUNDS_MAX {
        if verdict.differences() == 0 {
            break;
        }
        recheck(world, &mut verdict).await?;
        tokio::time::sleep(PAUSE).await;
    }
    Ok(verdict)
}

/// Compares, and repairs differences. `prune` also deletes items that only the target has.
pub async fn mended(world: &Arc<World>, run: &mut Run, prune: bool) -> Result<Verdict, String> {
    let mut verdict = verify(world).await?;
    for _ in 0..limits::MIGRATION_ROUNDS_MAX {
        if verdict.is_same() {
            break;
        }
        run.round().await?;
        mend(world, &verdict, prune).await?;
        recheck(world, &mut verdict).await?;
        // Those beyond the limit, and those that came while the others were mended.
        if verdict.has_more || !verdict.twice.is_empty() {
            verdict = verify(world).await?;
        }
    }
    Ok(verdict)
}

async fn mend(world: &Arc<World>, verdict: &Verdict, prune: bool) -> Result<(), String> {
    let wrong = verdict.missing.values().chain(verdict.different.values());
    let units: BTreeMap<&ItemKey, &Unit> = wrong.map(|unit| (&unit.source, unit)).collect();
    reconcile_all(world, units.into_values().cloned().collect(), Which::Source).await?;
    if world.is_both {
        let mut units = BTreeMap::new();
        for key in &verdict.extra {
            if let Some(unit) = unit_there(world, key).await? {
                units.insert(unit.source.clone(), unit);
            }
        }
        return reconcile_all(world, units.into_values().collect(), Which::Target).await;
    }
    if prune { self::prune(world, &verdict.extra).await } else { Ok(()) }
}

/// Deletes items of the target that the source does not account for. They are read first and the source afterwards, so what is
/// deleted was not wanted at a time when it was as it is.
async fn prune(world: &World, extra: &BTreeSet<ItemKey>) -> Result<(), String> {
    let target = world.database(Which::Target);
    let mut found = BTreeMap::new();
    for key in extra {
        if let Some(stored) = target.read(key).await?
            && can_come_back(world, key, &stored.item)
        {
            found.insert(key.clone(), stored.etag);
        }
    }
    each_wanted(world, |key, _, _| {
        found.remove(key);
    })
    .await?;
    for (key, etag) in found {
        if let Written::Refused(why) = target.delete(&key, &etag).await? {
            world.refuse(&key, &why);
        }
    }
    Ok(())
}

/// Whether the item may be a copy: what no rule gives, or what the way back refuses, never came of the source.
fn can_come_back(world: &World, key: &ItemKey, item: &Value) -> bool {
    let role = world.reversed.as_ref().map(|plan| plan.role(&key.container, item));
    world.plan.can_give(&key.container, item)
        && !matches!(role, Some(Role::Root(rule)) if rule.apply(item, &[]).is_err())
}

/// Takes out of the verdict what is the same now.
async fn recheck(world: &Arc<World>, verdict: &mut Verdict) -> Result<(), String> {
    let before = verdict.differences();
    for list in [&mut verdict.missing, &mut verdict.different] {
        let same = each(world, std::mem::take(list), |world, (key, mut unit)| async move {
            let is_settled = is_settled(&world, &mut unit).await?;
            Ok((!is_settled).then_some((key, unit)))
        });
        list.extend(same.await?);
    }
    let extra = each(world, std::mem::take(&mut verdict.extra), |world, key| async move {
        let is_extra = is_extra(&world, &key).await?;
        Ok(is_extra.then_some(key))
    });
    verdict.extra = extra.await?.into_iter().collect();
    verdict.settled += before - verdict.differences();
    Ok(())
}

async fn is_extra(world: &World, key: &ItemKey) -> Result<bool, String> {
    match world.database(Which::Target).read(key).await? {
        Some(found) if world.plan.can_give(&key.container, &found.item) => {}
        _ => return Ok(false),
    }
    match unit_there(world, key).await? {
        Some(mut unit) => Ok(!is_settled(world, &mut unit).await?),
        // With writes on both sides, a part without its item belongs to nobody and is left alone.
        None => Ok(!(world.is_both && is_part(world, key))),
    }
}

fn is_part(world: &World, key: &ItemKey) -> bool {
    let part = |rule: &Rule| matches!(&rule.shape, Shape::Split(split) if split.container == key.container);
    world.plan.rules.iter().any(part)
}

/// The unit that an item of the target belongs to, if the plan has a way back to it.
async fn unit_there(world: &World, key: &ItemKey) -> Result<Option<Unit>, String> {
    if world.reversed.is_none() {
        return Ok(None);
    }
    match world.database(Which::Target).read(key).await? {
        Some(found) => of_target(world, &key.container, &found.item).await,
        None => Ok(None),
    }
}
