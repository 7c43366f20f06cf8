//! Reconciles a unit: makes it equal on both sides.
//!
//! ```text
//! read the target ─> read the source ─> what should be ─> write what differs, if the target is still as it was read
//! ```
//!
//! Correctness depends on the order: each write derives from a source read after the target, and is conditional on that
//! target; so an older source never overwrites the result of a newer one, whichever process runs this, and however
//! late. It is idempotent: a unit that is correct is not written. With writes on both sides, `agree` decides which side
//! is overwritten.

use super::agree::agree;
use super::units::{Items, Unit, hint_of, read_all, read_parts};
use super::world::{Which, World};
use crate::client::{Stored, Written};
use crate::limits;
use orrery_migration::{ItemKey, Migrated, Plan, Refusal, Role, Rule, Sum, content_hash};
use orrery_value::Value;
use std::collections::BTreeMap;

pub type Wanted = BTreeMap<ItemKey, Value>;

/// The current state of a unit, and its desired state in the target.
pub struct Seen {
    pub source: Items,
    pub target: Items,
    pub wanted: Result<Wanted, Refusal>,
    /// With writes on both sides: parts of each whose item is not there. They belong to no unit, as somebody may be about to write
    /// it, and item and parts are not read at one moment.
    pub orphans: (Items, Items),
}

impl Seen {
    pub fn is_same(&self) -> bool {
        self.wanted.as_ref().is_ok_and(|wanted| is_same(&self.target, wanted))
    }
}

pub async fn reconcile(world: &World, mut unit: Unit, origin: Which) -> Result<(), String> {
    let key = unit.source.clone();
    let _one_at_a_time = world.lock(&key).await;
    for _ in 0..limits::MIGRATION_TRIES_MAX {
        let seen = look(world, &mut unit).await?;
        let written = match &seen.wanted {
            Err(Refusal(why)) => Written::Refused(why.clone()),
            Ok(_) if world.is_both => agree(world, &unit, origin, &seen).await?,
            Ok(wanted) => {
                do_all(world, Which::Target, &writes(&unit, &seen.target, &seen.orphans.1, wanted)).await?
            }
        };
        match written {
            Written::Done => {
                world.take(&key);
                return Ok(());
            }
            Written::Changed => {}
            Written::Refused(why) => {
                world.refuse(&key, &why);
                return Ok(());
            }
        }
    }
    world.refuse(&key, "it changes faster than it can be followed, or breaks a unique key of the target");
    Ok(())
}

/// Whether a unit is equal on both sides at this moment.
pub async fn is_settled(world: &World, unit: &mut Unit) -> Result<bool, String> {
    Ok(look(world, unit).await?.is_same())
}

/// Reads the target, then the source. If the source maps to a location that was not read, restarts there.
async fn look(world: &World, unit: &mut Unit) -> Result<Seen, String> {
    for _ in 0..limits::MIGRATION_TRIES_MAX {
        let mut target = Items::new();
        for hint in &unit.hints {
            let rule = &world.plan.rules[hint.rule];
            target.extend(read_all(world, Which::Target, rule, &hint.key, Some(&hint.image)).await?);
        }
        let mut source = read_source(world, unit).await?;
        let mut orphans = (Items::new(), Items::new());
        if world.is_both && !source.contains_key(&unit.source) {
            orphans.0 = std::mem::take(&mut source);
        }
        if world.is_both && !target.keys().any(|key| unit.is_root(key)) {
            orphans.1 = std::mem::take(&mut target);
        }
        if let Some(wanted) = from_source(world, unit, &source)? {
            return Ok(Seen { source, target, wanted, orphans });
        }
    }
    let wanted = Err(Refusal("it moves faster than it can be followed".to_owned()));
    Ok(Seen { source: Items::new(), target: Items::new(), wanted, orphans: Default::default() })
}

async fn read_source(world: &World, unit: &Unit) -> Result<Items, String> {
    let root = world.database(Which::Source).read(&unit.source).await?;
    let mut items = Items::new();
    if let Some(root) = root {
        if let Role::Root(rule) = world.plan.role(&unit.source.container, &root.item) {
            items.extend(read_parts(world, Which::Source, rule, &root.item).await?);
        }
        items.insert(unit.source.clone(), root);
    } else if let Some((rule, image)) = &unit.source_image {
        items.extend(read_parts(world, Which::Source, &world.plan.rules[*rule], image).await?);
    }
    Ok(items)
}

/// The desired items of the target; `None` if one is at an unexpected location.
fn from_source(
    world: &World,
    unit: &mut Unit,
    source: &Items,
) -> Result<Option<Result<Wanted, Refusal>>, String> {
    let made = match made_of(&world.plan, &unit.source, source) {
        Ok(Some(made)) => made,
        Ok(None) => return Ok(Some(Ok(Wanted::new()))),
        Err(refusal) => return Ok(Some(Err(refusal))),
    };
    let (rule, made) = made;
    if unit.hint(hint_of(world, rule, made.root.clone())?) {
        return Ok(None);
    }
    Ok(Some(Ok(world.plan.placed(rule, made).into_iter().collect())))
}

/// The desired items of the source, if it is to equal the target.
pub fn from_target(world: &World, unit: &Unit, target: &Items) -> Result<Result<Wanted, Refusal>, String> {
    let plan = world.plan_from(Which::Target)?;
    let Some(root) = unit.hints.iter().map(|hint| &hint.key).find(|key| target.contains_key(*key)) else {
        return Ok(Ok(Wanted::new()));
    };
    let placed = |(rule, made)| plan.placed(rule, made).into_iter().collect();
    Ok(made_of(plan, root, target).map(|made| made.map(placed).unwrap_or_default()))
}

/// The items that a plan makes of a unit; `None` if it accepts none of them.
fn made_of<'a>(
    plan: &'a Plan,
    root: &ItemKey,
    items: &Items,
) -> Result<Option<(&'a Rule, Migrated)>, Refusal> {
    let Some(found) = items.get(root) else { return Ok(None) };
    let Role::Root(rule) = plan.role(&root.container, &found.item) else { return Ok(None) };
    let parts = items.iter().filter(|(key, _)| *key != root).map(|(_, part)| part.item.clone());
    Ok(Some((rule, rule.apply(&found.item, &parts.collect::<Vec<Value>>())?)))
}

/// One write towards the desired state, on the condition that the item is unchanged.
pub enum Write<'a> {
    Create(&'a ItemKey, &'a Value),
    Replace(&'a ItemKey, &'a Value, &'a Stored),
    Delete(&'a ItemKey, &'a Stored),
}

/// What differs is written, then what should not be there is deleted. The item is written before its parts and deleted after
/// them, so that none of ours is left alone.
pub fn writes<'a>(unit: &Unit, found: &'a Items, orphans: &'a Items, wanted: &'a Wanted) -> Vec<Write<'a>> {
    let put = |(key, item): (&'a ItemKey, &'a Value)| match found.get(key).or_else(|| orphans.get(key)) {
        None => Some(Write::Create(key, item)),
        Some(known) if content_hash(&known.item) == content_hash(item) => None,
        Some(known) => Some(Write::Replace(key, item, known)),
    };
    let over = found.iter().filter(|(key, _)| !wanted.contains_key(*key));
    let (roots, parts): (Vec<_>, Vec<_>) = over.partition(|(key, _)| unit.is_root(key));
    let over = parts.into_iter().chain(roots);
    let (first, then): (Vec<_>, Vec<_>) = wanted.iter().partition(|(key, _)| unit.is_root(key));
    let puts = first.into_iter().chain(then).filter_map(put);
    puts.chain(over.map(|(key, known)| Write::Delete(key, known))).collect()
}

/// The sums of a side before and after each of these writes. Parts that were alone are its own once their item is there.
pub fn path(found: &Items, orphans: &Items, writes: &[Write<'_>]) -> Vec<u128> {
    let mut path = vec![sum(found).hash];
    let mut now = path[0].wrapping_add(sum(orphans).hash);
    for write in writes {
        let (gone, come) = match write {
            Write::Create(_, item) => (0, content_hash(item)),
            Write::Replace(_, item, known) => (content_hash(&known.item), content_hash(item)),
            Write::Delete(_, known) => (content_hash(&known.item), 0),
        };
        now = now.wrapping_sub(gone).wrapping_add(come);
        path.push(now);
    }
    path
}

/// Executes them in order until one fails.
pub async fn do_all(world: &World, which: Which, writes: &[Write<'_>]) -> Result<Written, String> {
    let database = world.database(which);
    for write in writes {
        let written = match write {
            Write::Create(key, item) => database.create(key, item).await?,
            Write::Replace(key, item, known) => database.replace(key, item, &known.etag).await?,
            Write::Delete(key, known) => database.delete(key, &known.etag).await?,
        };
        if written != Written::Done {
            return Ok(written);
        }
    }
    Ok(Written::Done)
}

fn is_same(found: &Items, wanted: &Wanted) -> bool {
    let same = |(key, item): (&ItemKey, &Value)| {
        found.get(key).is_some_and(|known| content_hash(&known.item) == content_hash(item))
    };
    found.len() == wanted.len() && wanted.iter().all(same)
}

fn added(hashes: impl Iterator<Item = u128>) -> Sum {
    let mut sum = Sum::default();
    hashes.for_each(|hash| sum.add(hash));
    sum
}

pub fn sum(items: &Items) -> Sum {
    added(items.values().map(|stored| content_hash(&stored.item)))
}

pub fn sum_of(wanted: &Wanted) -> Sum {
    added(wanted.values().map(content_hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_over_every_write_to_what_is_wanted() {
        let value = |text: &str| Value::parse(text).unwrap();
        let key = |id: &str| ItemKey::new("c", &[Value::from("p")], id);
        let stored = |text: &str| Stored { item: value(text), etag: "e".to_owned() };
        let found = Items::from([
            (key("a"), stored(r#"{"id":"a","_ts":1}"#)),
            (key("b"), stored(r#"{"id":"b","v":1}"#)),
            (key("c"), stored(r#"{"id":"c"}"#)),
        ]);
        let wanted = Wanted::from([
            (key("a"), value(r#"{"id":"a"}"#)),
            (key("b"), value(r#"{"id":"b","v":2}"#)),
            (key("d"), value(r#"{"id":"d"}"#)),
        ]);
        let unit = Unit { source: key("a"), source_image: None, hints: Vec::new() };
        let nothing = Items::new();
        let writes = writes(&unit, &found, &nothing, &wanted);
        assert_eq!(writes.len(), 3, "what is as it should be is not written");
        let path = path(&found, &nothing, &writes);
        assert_eq!((path.len(), path[0], path[3]), (4, sum(&found).hash, sum_of(&wanted).hash));
    }
}
