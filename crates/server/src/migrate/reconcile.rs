//! Makes a unit the same on both sides.
//!
//! ```text
//! read the target ─> read the source ─> what should be ─> write what differs, if the target is still as it was read
//! ```
//!
//! The order is what makes it right. What is written comes of a source that was read after the target, and only over that
//! target; so an older source never replaces what a newer one made, whoever runs this, and however late. It may be done
//! again at any time: a unit that is as it should be is not written.
//!
//! With writes on both sides, the state of each side at their last agreement is kept. Whichever side differs from it has changed; a
//! side that was written by us agrees with it, and so no write comes back as an echo. If both changed, the later one wins.

use super::account::Written;
use super::base::{self, Base};
use super::units::{Items, Unit, hint_of, read_all, read_parts};
use super::world::{Which, World};
use orrery_core::limits;
use orrery_migration::{ItemKey, Refusal, Role, Sum, content_hash};
use orrery_value::Value;
use std::collections::BTreeMap;

type Wanted = BTreeMap<ItemKey, Value>;

pub async fn reconcile(world: &World, mut unit: Unit, origin: Which) -> Result<(), String> {
    let key = unit.source.clone();
    let _one_at_a_time = world.lock(&key).await;
    for _ in 0..limits::MIGRATION_TRIES_MAX {
        match attempt(world, &mut unit, origin).await? {
            Written::Done => return Ok(()),
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

async fn attempt(world: &World, unit: &mut Unit, origin: Which) -> Result<Written, String> {
    let mut target = Items::new();
    for hint in &unit.hints {
        let rule = &world.plan.rules[hint.rule];
        target.extend(read_all(world, Which::Target, rule, &hint.key, Some(&hint.image)).await?);
    }
    let source = read_source(world, unit).await?;
    let wanted = match from_source(world, unit, &source)? {
        Ok(Some(wanted)) => wanted,
        // A place that the target was not read at: begin again there.
        Ok(None) => return Ok(Written::Changed),
        Err(Refusal(why)) => return Ok(Written::Refused(why)),
    };
    if !world.is_both {
        return converge(world, Which::Target, &target, &wanted).await;
    }
    agree(world, unit, origin, (&source, &target), wanted).await
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

/// What the target should have; `None` if that is at a place that was not thought of.
fn from_source(
    world: &World,
    unit: &mut Unit,
    source: &Items,
) -> Result<Result<Option<Wanted>, Refusal>, String> {
    let Some(root) = source.get(&unit.source) else { return Ok(Ok(Some(Wanted::new()))) };
    let Role::Root(rule) = world.plan.role(&unit.source.container, &root.item) else {
        return Ok(Ok(Some(Wanted::new())));
    };
    let parts: Vec<Value> =
        source.iter().filter(|(key, _)| **key != unit.source).map(|(_, part)| part.item.clone()).collect();
    let made = match rule.apply(&root.item, &parts) {
        Ok(made) => made,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if unit.hint(hint_of(world, rule, made.root.clone())?) {
        return Ok(Ok(None));
    }
    let children =
        rule.split().map(|split| world.container(Which::Target, &split.container)).and_then(Result::ok);
    let placed = made.placed(rule, world.container(Which::Target, &rule.to)?, children);
    Ok(Ok(Some(placed.into_iter().collect())))
}

/// The same from the target to the source.
fn from_target(world: &World, unit: &Unit, target: &Items) -> Result<Result<Wanted, Refusal>, String> {
    let plan = world.plan_from(Which::Target)?;
    let root = unit.hints.iter().find_map(|hint| target.get(&hint.key).map(|root| (&hint.key, root)));
    let Some((key, root)) = root else { return Ok(Ok(Wanted::new())) };
    let Role::Root(rule) = plan.role(&key.container, &root.item) else { return Ok(Ok(Wanted::new())) };
    let parts: Vec<Value> =
        target.iter().filter(|(at, _)| *at != key).map(|(_, part)| part.item.clone()).collect();
    let made = match rule.apply(&root.item, &parts) {
        Ok(made) => made,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let children =
        rule.split().map(|split| world.container(Which::Source, &split.container)).and_then(Result::ok);
    let placed = made.placed(rule, world.container(Which::Source, &rule.to)?, children);
    Ok(Ok(placed.into_iter().collect()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Forward,
    Back,
    Neither,
}

async fn agree(
    world: &World,
    unit: &Unit,
    origin: Which,
    (source, target): (&Items, &Items),
    wanted: Wanted,
) -> Result<Written, String> {
    let before = base::read(world, &unit.source).await?;
    let now = Base { source: sum(source), target: sum(target) };
    if is_same(target, &wanted) {
        if before.as_ref() != Some(&now) {
            base::write(world, &unit.source, &now).await?;
        }
        return Ok(Written::Done);
    }
    let newest = (newest(source), newest(target));
    let (written, after) = match direction(before.as_ref(), &now, newest, origin) {
        Direction::Neither => return Ok(Written::Done),
        Direction::Forward => {
            let after = Base { target: sum_of(&wanted), ..now };
            (converge(world, Which::Target, target, &wanted).await?, after)
        }
        Direction::Back => match from_target(world, unit, target)? {
            Err(Refusal(why)) => return Ok(Written::Refused(why)),
            Ok(wanted) => {
                let written = converge(world, Which::Source, source, &wanted).await?;
                if wanted.is_empty() && written == Written::Done {
                    // Parts whose item was deleted go after it.
                    let after = Base { source: Sum::default(), target: Sum::default() };
                    (converge(world, Which::Target, target, &wanted).await?, after)
                } else {
                    (written, Base { source: sum_of(&wanted), ..now })
                }
            }
        },
    };
    if written == Written::Done {
        base::write(world, &unit.source, &after).await?;
    }
    Ok(written)
}

/// Which side gives way. `newest` is when each was written last, in seconds; 0 if there is nothing.
fn direction(before: Option<&Base>, now: &Base, newest: (u64, u64), origin: Which) -> Direction {
    let Some(before) = before else {
        let is_new_in_target = origin == Which::Target && now.source.items == 0;
        return if is_new_in_target { Direction::Back } else { Direction::Forward };
    };
    match (before.source != now.source, before.target != now.target) {
        (false, false) => Direction::Neither,
        (true, false) => Direction::Forward,
        (false, true) => Direction::Back,
        (true, true) if newest.1 > newest.0 => Direction::Back,
        (true, true) => Direction::Forward,
    }
}

async fn converge(world: &World, which: Which, found: &Items, wanted: &Wanted) -> Result<Written, String> {
    let database = world.database(which);
    for (key, item) in wanted {
        let written = match found.get(key) {
            Some(known) if content_hash(&known.item) == content_hash(item) => continue,
            Some(known) => database.replace(key, item, &known.etag).await?,
            None => database.create(key, item).await?,
        };
        if written != Written::Done {
            return Ok(written);
        }
    }
    for (key, known) in found.iter().filter(|(key, _)| !wanted.contains_key(*key)) {
        let written = database.delete(key, &known.etag).await?;
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

fn sum(items: &Items) -> Sum {
    let mut sum = Sum::default();
    items.values().for_each(|stored| sum.add(content_hash(&stored.item)));
    sum
}

fn sum_of(wanted: &Wanted) -> Sum {
    let mut sum = Sum::default();
    wanted.values().for_each(|item| sum.add(content_hash(item)));
    sum
}

fn newest(items: &Items) -> u64 {
    let seconds = |item: &Value| item.member("_ts").to_json().parse::<u64>().unwrap_or_default();
    items.values().map(|stored| seconds(&stored.item)).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(source: u128, target: u128) -> Base {
        let sum = |hash| Sum { items: u64::from(hash != 0), hash };
        Base { source: sum(source), target: sum(target) }
    }

    fn check(before: Option<Base>, now: Base, newest: (u64, u64), origin: Which, expected: Direction) {
        assert_eq!(direction(before.as_ref(), &now, newest, origin), expected, "{before:?} {now:?}");
    }

    #[test]
    fn the_side_that_changed_since_the_last_agreement_is_followed() {
        let before = Some(base(1, 2));
        check(before.clone(), base(9, 2), (0, 5), Which::Target, Direction::Forward);
        check(before.clone(), base(1, 9), (5, 0), Which::Source, Direction::Back);
        check(before.clone(), base(0, 2), (0, 5), Which::Target, Direction::Forward);
        check(before.clone(), base(1, 0), (5, 0), Which::Source, Direction::Back);
        check(before, base(1, 2), (5, 9), Which::Target, Direction::Neither);
    }

    #[test]
    fn if_both_changed_the_later_one_wins_and_a_change_wins_over_a_deletion() {
        let before = Some(base(1, 2));
        check(before.clone(), base(8, 9), (5, 6), Which::Source, Direction::Back);
        check(before.clone(), base(8, 9), (6, 6), Which::Target, Direction::Forward);
        check(before.clone(), base(0, 9), (0, 6), Which::Source, Direction::Back);
        check(before, base(8, 0), (6, 0), Which::Target, Direction::Forward);
    }

    #[test]
    fn before_any_agreement_the_source_rules_but_over_what_only_the_target_has() {
        check(None, base(1, 2), (1, 9), Which::Target, Direction::Forward);
        check(None, base(0, 2), (0, 9), Which::Source, Direction::Forward);
        check(None, base(0, 2), (0, 9), Which::Target, Direction::Back);
    }
}
