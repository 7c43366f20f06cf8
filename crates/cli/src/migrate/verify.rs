//! Whether the target is what the source becomes: counts and sums of content, by partition and in all.
//!
//! ```text
//! sums by partition ──differ?──> sums by item, in those partitions ──differ?──> the items themselves
//! ```
//!
//! Each stage reads both sides once, and keeps only what its limit allows. Both sides may be written meanwhile, so a
//! difference is not believed before the items have been looked at together (`settle`).

use super::run::containers;
use super::units::{Unit, of_root, read_parts};
use super::world::{Which, World};
use crate::limits;
use orrery_migration::{ItemKey, Role, Shape, Sum, content_hash, hash_of};
use orrery_value::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// What the source becomes, and what the target has.
    pub expected: Sum,
    pub found: Sum,
    /// Partitions of the target that were compared; beyond a limit several count as one.
    pub partitions: usize,
    /// Items that no rule takes, and parts of items that are not there.
    pub left: u64,
    pub missing: BTreeMap<ItemKey, Unit>,
    pub different: BTreeMap<ItemKey, Unit>,
    pub extra: BTreeSet<ItemKey>,
    /// Items of the target that several items of the source would be.
    pub twice: BTreeSet<ItemKey>,
    /// There are more differences than are kept.
    pub has_more: bool,
    /// Items that differed, because they were just written, and were found to be the same afterwards.
    pub settled: usize,
}

impl Verdict {
    pub fn is_same(&self) -> bool {
        self.differences() == 0 && !self.has_more
    }

    pub fn differences(&self) -> usize {
        self.missing.len() + self.different.len() + self.extra.len() + self.twice.len()
    }
}

type Sums = HashMap<u64, Sum>;

pub async fn verify(world: &World) -> Result<Verdict, String> {
    let (mut wanted, mut found) = (Sums::new(), Sums::new());
    let left = each_wanted(world, |key, item, _| add(&mut wanted, partition(key), hash(key, item))).await?;
    each_found(world, |key, item| add(&mut found, partition(key), hash(key, item))).await?;
    let verdict = Verdict {
        expected: total(&wanted),
        found: total(&found),
        partitions: wanted.keys().chain(found.keys()).collect::<HashSet<_>>().len(),
        left,
        ..Verdict::default()
    };
    match unlike(&wanted, &found) {
        bad if bad.is_empty() => Ok(verdict),
        bad => differences(world, verdict, &bad).await,
    }
}

async fn differences(world: &World, mut verdict: Verdict, bad: &HashSet<u64>) -> Result<Verdict, String> {
    let (mut wanted, mut found) = (Sums::new(), Sums::new());
    let is_bad = |key: &ItemKey| bad.contains(&partition(key));
    each_wanted(world, |key, item, _| {
        if is_bad(key) {
            add(&mut wanted, bucket(key), hash(key, item));
        }
    })
    .await?;
    each_found(world, |key, item| {
        if is_bad(key) {
            add(&mut found, bucket(key), hash(key, item));
        }
    })
    .await?;
    let buckets = unlike(&wanted, &found);
    let is_bad = |key: &ItemKey| is_bad(key) && buckets.contains(&bucket(key));
    let (mut wanted, mut found) = (Smallest::default(), Smallest::default());
    each_wanted(world, |key, item, unit| {
        if is_bad(key) && !wanted.insert(key, || (content_hash(item), unit.clone())) {
            verdict.twice.insert(key.clone());
        }
    })
    .await?;
    each_found(world, |key, item| {
        if is_bad(key) {
            found.insert(key, || content_hash(item));
        }
    })
    .await?;
    compare(verdict, wanted, found)
}

fn compare(
    mut verdict: Verdict,
    wanted: Smallest<(u128, Unit)>,
    found: Smallest<u128>,
) -> Result<Verdict, String> {
    let end = [&wanted.end, &found.end].into_iter().flatten().min().cloned();
    let is_kept = |key: &ItemKey| end.as_ref().is_none_or(|end| key < end);
    verdict.has_more = end.is_some();
    verdict.extra = found.items.keys().filter(|key| !wanted.items.contains_key(*key)).cloned().collect();
    verdict.extra.retain(is_kept);
    verdict.twice.retain(is_kept);
    for (key, (hash, unit)) in wanted.items {
        match found.items.get(&key) {
            _ if !is_kept(&key) => {}
            Some(other) if *other == hash => {}
            Some(_) => {
                verdict.different.insert(key, unit);
            }
            None => {
                verdict.missing.insert(key, unit);
            }
        }
    }
    Ok(verdict)
}

/// As many items as may be kept, those with the smallest keys.
struct Smallest<T> {
    items: BTreeMap<ItemKey, T>,
    /// What is not smaller than this may not be among them.
    end: Option<ItemKey>,
}

impl<T> Default for Smallest<T> {
    fn default() -> Self {
        Self { items: BTreeMap::new(), end: None }
    }
}

impl<T> Smallest<T> {
    /// Whether the key is new.
    fn insert(&mut self, key: &ItemKey, item: impl FnOnce() -> T) -> bool {
        if self.end.as_ref().is_some_and(|end| key >= end) {
            return true;
        }
        let is_new = self.items.insert(key.clone(), item()).is_none();
        if self.items.len() > limits::MIGRATION_DIFFERENCES_MAX {
            self.end = self.items.pop_last().map(|(key, _)| key);
        }
        is_new
    }
}

/// Every item that the target should have, and the unit that it comes of. Gives the number of items that stay behind.
pub async fn each_wanted(
    world: &World,
    mut take: impl FnMut(&ItemKey, &Value, &Unit),
) -> Result<u64, String> {
    let (mut left, mut parts_taken) = (0, 0);
    let source = world.database(Which::Source);
    for (container, is_root) in containers(world, Which::Source)? {
        if !is_root {
            continue;
        }
        let mut pages = source.pages(&container);
        while let Some(items) = pages.next().await? {
            for item in &items {
                let Role::Root(rule) = world.plan.role(&container, item) else {
                    left += 1;
                    continue;
                };
                let parts = read_parts(world, Which::Source, rule, item).await?;
                parts_taken += parts.len() as u64;
                let parts: Vec<Value> = parts.into_values().map(|part| part.item).collect();
                let made = rule.apply(item, &parts).ok();
                let unit = of_root(world, rule, item, made.as_ref())?;
                match made {
                    // What is refused is wanted, and nothing in the target is like it.
                    None => take(&unit.source, item, &unit),
                    Some(made) => {
                        world.plan.placed(rule, made).iter().for_each(|(key, item)| take(key, item, &unit));
                    }
                }
            }
        }
    }
    Ok(left + parts(world).await?.saturating_sub(parts_taken))
}

/// All parts that the source has.
async fn parts(world: &World) -> Result<u64, String> {
    let joined = world.plan.rules.iter().filter_map(|rule| match &rule.shape {
        Shape::Join(split) => Some(&split.container),
        _ => None,
    });
    let mut parts = 0;
    for container in joined.collect::<BTreeSet<_>>() {
        parts += world.database(Which::Source).count(container).await?;
    }
    Ok(parts)
}

/// Every item of the target that may come of the source; what no rule gives is somebody else's.
async fn each_found(world: &World, mut take: impl FnMut(&ItemKey, &Value)) -> Result<(), String> {
    let roots = world.plan.rules.iter().map(|rule| &rule.to);
    let parts = world.plan.rules.iter().filter_map(|rule| match &rule.shape {
        Shape::Split(split) => Some(&split.container),
        _ => None,
    });
    let target = world.database(Which::Target);
    for name in roots.chain(parts).collect::<BTreeSet<_>>() {
        let container = world.container(Which::Target, name)?;
        let mut pages = target.pages(name);
        while let Some(items) = pages.next().await? {
            let ours = items.iter().filter(|item| world.plan.can_give(name, item));
            ours.for_each(|item| take(&container.key_of(item), item));
        }
    }
    Ok(())
}

fn add(sums: &mut Sums, group: u64, hash: u128) {
    sums.entry(group).or_default().add(hash);
}

fn total(sums: &Sums) -> Sum {
    sums.values().fold(Sum::default(), |mut sum, one| {
        sum.merge(*one);
        sum
    })
}

fn unlike(wanted: &Sums, found: &Sums) -> HashSet<u64> {
    let groups = wanted.keys().chain(found.keys()).copied();
    groups.filter(|group| wanted.get(group) != found.get(group)).collect()
}

fn partition(key: &ItemKey) -> u64 {
    (hash_of(&format!("{} {}", key.container, key.partition)) % u128::from(limits::MIGRATION_SUMS_MAX)) as u64
}

fn bucket(key: &ItemKey) -> u64 {
    (hash_of(&key.to_string()) % u128::from(limits::MIGRATION_SUMS_MAX)) as u64
}

fn hash(key: &ItemKey, item: &Value) -> u128 {
    hash_of(&format!("{key} {:032x}", content_hash(item)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: usize) -> ItemKey {
        ItemKey::new("c", &[Value::from("p")], &format!("{id:09}"))
    }

    #[test]
    fn of_too_many_differences_the_same_are_kept_on_both_sides() {
        let unit = |at| Unit { source: key(at), source_image: None, hints: Vec::new() };
        let many = limits::MIGRATION_DIFFERENCES_MAX + 10;
        let (mut wanted, mut found) = (Smallest::default(), Smallest::default());
        for at in (0..many).rev() {
            assert!(wanted.insert(&key(at), || (1, unit(at))));
        }
        // Half of them are there, and one is different.
        for at in (0..many).step_by(2) {
            found.insert(&key(at), || if at == 4 { 2 } else { 1 });
        }
        let verdict = compare(Verdict::default(), wanted, found).unwrap();
        assert!(verdict.has_more && !verdict.is_same());
        assert_eq!(verdict.missing.len(), limits::MIGRATION_DIFFERENCES_MAX / 2);
        assert_eq!(verdict.different.keys().collect::<Vec<_>>(), [&key(4)]);
        assert!(verdict.extra.is_empty());
    }

    #[test]
    fn an_item_that_two_would_be_is_seen() {
        let mut wanted = Smallest::default();
        assert!(wanted.insert(&key(1), || 1));
        assert!(!wanted.insert(&key(1), || 1));
    }
}
