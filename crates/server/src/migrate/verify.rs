//! Whether the target is what the source becomes: counts and sums of content, by partition and in all.
//!
//! First both sides are read once and only sums are kept. If they agree, that is all. If not, they are read again and the items of
//! the partitions that differ are compared one by one.

use super::streams::reconcile_all;
use super::units::{Unit, of_source, of_target, read_parts};
use super::world::{Which, World};
use orrery_core::limits;
use orrery_migration::{ItemKey, Role, Sum, content_hash, hash_of};
use orrery_value::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    pub source: Sum,
    pub target: Sum,
    /// Groups of partitions that were compared.
    pub partitions: usize,
    pub missing: Vec<ItemKey>,
    pub extra: Vec<ItemKey>,
    pub different: Vec<ItemKey>,
}

impl Verdict {
    pub fn is_same(&self) -> bool {
        self.missing.is_empty()
            && self.extra.is_empty()
            && self.different.is_empty()
            && self.source == self.target
    }
}

type Sums = HashMap<u64, Sum>;

pub async fn verify(world: &Arc<World>) -> Result<Verdict, String> {
    let (mut wanted, mut found) = (Sums::new(), Sums::new());
    each_wanted(world, |key, item, _| wanted.entry(group(key)).or_default().add(hash(key, item))).await?;
    each_found(world, |key, item| found.entry(group(key)).or_default().add(hash(key, item))).await?;
    let groups: HashSet<u64> = wanted.keys().chain(found.keys()).copied().collect();
    let bad: HashSet<u64> =
        groups.iter().copied().filter(|group| wanted.get(group) != found.get(group)).collect();
    let total = |sums: &Sums| {
        sums.values().fold(Sum::default(), |mut sum, one| {
            sum.merge(*one);
            sum
        })
    };
    let verdict = Verdict {
        source: total(&wanted),
        target: total(&found),
        partitions: groups.len(),
        ..Verdict::default()
    };
    if bad.is_empty() { Ok(verdict) } else { differences(world, verdict, &bad).await }
}

async fn differences(
    world: &Arc<World>,
    mut verdict: Verdict,
    bad: &HashSet<u64>,
) -> Result<Verdict, String> {
    let (mut wanted, mut found) = (BTreeMap::new(), BTreeMap::new());
    each_wanted(world, |key, item, _| {
        if bad.contains(&group(key)) {
            wanted.insert(key.clone(), content_hash(item));
        }
    })
    .await?;
    each_found(world, |key, item| {
        if bad.contains(&group(key)) {
            found.insert(key.clone(), content_hash(item));
        }
    })
    .await?;
    for (key, hash) in &wanted {
        match found.get(key) {
            None => verdict.missing.push(key.clone()),
            Some(other) if other != hash => verdict.different.push(key.clone()),
            Some(_) => {}
        }
    }
    verdict.extra.extend(found.into_keys().filter(|key| !wanted.contains_key(key)));
    if verdict.missing.is_empty() && verdict.extra.is_empty() && verdict.different.is_empty() {
        // They came to agree while they were compared; or two items of the source want to be the same one.
        verdict.target = verdict.source;
        verdict.extra.extend(twice(world).await?);
    }
    Ok(verdict)
}

/// Items of the target that several items of the source would be.
async fn twice(world: &Arc<World>) -> Result<Vec<ItemKey>, String> {
    let (mut seen, mut twice) = (HashSet::new(), Vec::new());
    each_wanted(world, |key, _, _| {
        if !seen.insert(hash_of(&key.to_string())) && twice.len() < limits::MIGRATION_NAMED_MAX {
            twice.push(key.clone());
        }
    })
    .await?;
    Ok(twice)
}

/// Looks at every unit that differs, once more.
pub async fn mend(world: &Arc<World>, verdict: &Verdict) -> Result<(), String> {
    let wrong: HashSet<&ItemKey> = verdict.missing.iter().chain(&verdict.different).collect();
    let mut units: BTreeMap<ItemKey, Unit> = BTreeMap::new();
    each_wanted(world, |key, _, unit| {
        if wrong.contains(key) {
            units.entry(unit.source.clone()).or_insert_with(|| unit.clone());
        }
    })
    .await?;
    reconcile_all(world, units.into_values().collect(), Which::Source).await?;
    if world.reversed.is_none() {
        return Ok(());
    }
    let mut units: BTreeMap<ItemKey, Unit> = BTreeMap::new();
    for key in &verdict.extra {
        if let Some(found) = world.database(Which::Target).read(key).await?
            && let Some(unit) = of_target(world, &key.container, &found.item).await?
        {
            units.insert(unit.source.clone(), unit);
        }
    }
    reconcile_all(world, units.into_values().collect(), Which::Source).await
}

/// Every item that the target should have, and the unit that it comes of.
async fn each_wanted(
    world: &Arc<World>,
    mut take: impl FnMut(&ItemKey, &Value, &Unit),
) -> Result<(), String> {
    for (container, is_root) in super::run::containers(world, Which::Source)? {
        if !is_root {
            continue;
        }
        let mut continuation = None;
        loop {
            let (items, next) = world.database(Which::Source).page(&container, continuation).await?;
            for item in &items {
                let Role::Root(rule) = world.plan.role(&container, item) else { continue };
                let Some(unit) = of_source(world, &container, item)? else { continue };
                let parts = read_parts(world, Which::Source, rule, item).await?;
                let parts: Vec<Value> = parts.into_values().map(|part| part.item).collect();
                match rule.apply(item, &parts) {
                    // What is refused is wanted, and nothing in the target is like it.
                    Err(_) => take(&unit.source, item, &unit),
                    Ok(made) => {
                        let children =
                            rule.split().and_then(|split| world.plan.target.container(&split.container));
                        let root = world.container(Which::Target, &rule.to)?;
                        made.placed(rule, root, children)
                            .iter()
                            .for_each(|(key, item)| take(key, item, &unit));
                    }
                }
            }
            continuation = next;
            if continuation.is_none() {
                break;
            }
        }
    }
    Ok(())
}

async fn each_found(world: &World, mut take: impl FnMut(&ItemKey, &Value)) -> Result<(), String> {
    let roots = world.plan.rules.iter().map(|rule| rule.to.clone());
    let parts = world.plan.rules.iter().filter_map(|rule| rule.split().map(|split| split.container.clone()));
    let parts = parts.filter(|name| world.plan.target.container(name).is_some());
    for name in roots.chain(parts).collect::<BTreeSet<String>>() {
        let container = world.container(Which::Target, &name)?;
        let mut continuation = None;
        loop {
            let (items, next) = world.database(Which::Target).page(&name, continuation).await?;
            items.iter().for_each(|item| take(&container.key_of(item), item));
            continuation = next;
            if continuation.is_none() {
                break;
            }
        }
    }
    Ok(())
}

fn group(key: &ItemKey) -> u64 {
    (hash_of(&format!("{} {}", key.container, key.partition)) % u128::from(limits::MIGRATION_SUMS_MAX)) as u64
}

fn hash(key: &ItemKey, item: &Value) -> u128 {
    hash_of(&format!("{key} {:032x}", content_hash(item)))
}
