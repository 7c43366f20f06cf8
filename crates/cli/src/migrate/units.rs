//! A unit: an item of the source, with its parts if it has any, and what it becomes. Changes are told as the units
//! that they touch; what a unit should be is always found anew, from what is stored.

use super::changes::Change;
use super::world::{Which, World};
use crate::client::{Stored, stored};
use orrery_migration::{ItemKey, Migrated, Path, Role, Rule, Shape, Siblings};
use orrery_value::Value;
use serde_json::json;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub struct Unit {
    /// The item of the source, or the one that has parts.
    pub source: ItemKey,
    /// What it would be, if it is not there but its counterpart is.
    pub source_image: Option<(usize, Value)>,
    /// Where it may be in the target.
    pub hints: Vec<Hint>,
}

/// A place of the target, and how an item looks there as far as parts need it to be found.
#[derive(Clone, Debug)]
pub struct Hint {
    pub rule: usize,
    pub key: ItemKey,
    pub image: Value,
}

/// The items of a unit on one side.
pub type Items = BTreeMap<ItemKey, Stored>;

/// The units that changes touch, each once.
pub async fn of_changes(
    world: &World,
    which: Which,
    container: &str,
    changes: &[Change],
) -> Result<Vec<Unit>, String> {
    let mut found: BTreeMap<ItemKey, Unit> = BTreeMap::new();
    for change in changes {
        for image in [&change.previous, &change.current].into_iter().flatten() {
            let unit = match which {
                Which::Source => of_source(world, container, image)?,
                Which::Target => of_target(world, container, image).await?,
            };
            let Some(unit) = unit else { continue };
            match found.get_mut(&unit.source) {
                None => {
                    found.insert(unit.source.clone(), unit);
                }
                Some(known) => {
                    for hint in unit.hints {
                        known.hint(hint);
                    }
                    known.source_image = unit.source_image.or(known.source_image.take());
                }
            }
        }
    }
    Ok(found.into_values().collect())
}

impl Unit {
    /// Whether this is the item itself, on either side, and not a part of it.
    pub fn is_root(&self, key: &ItemKey) -> bool {
        *key == self.source || self.hints.iter().any(|hint| hint.key == *key)
    }

    /// Whether this place is new.
    pub fn hint(&mut self, hint: Hint) -> bool {
        let is_known = self.hints.iter().any(|known| known.key == hint.key && known.rule == hint.rule);
        if !is_known {
            self.hints.push(hint);
        }
        !is_known
    }
}

pub fn of_source(world: &World, container: &str, image: &Value) -> Result<Option<Unit>, String> {
    Ok(match world.plan.role(container, image) {
        Role::Left => None,
        Role::Child(rule) => {
            let parents = world.container(Which::Source, &rule.from)?;
            rule.parent_of(image, parents).map(|parent| Unit {
                source: ItemKey::new(&rule.from, &parent.partition, &parent.id),
                source_image: None,
                hints: Vec::new(),
            })
        }
        Role::Root(rule) => Some(of_root(world, rule, image, rule.apply(image, &[]).ok().as_ref())?),
    })
}

/// Of an item of the source that a rule takes, and of what it made of it, if it is not refused.
pub fn of_root(world: &World, rule: &Rule, item: &Value, made: Option<&Migrated>) -> Result<Unit, String> {
    let source = world.container(Which::Source, &rule.from)?.key_of(item);
    let hint = made.map(|made| hint_of(world, rule, made.root.clone())).transpose()?;
    Ok(Unit { source, source_image: None, hints: hint.into_iter().collect() })
}

pub fn hint_of(world: &World, rule: &Rule, image: Value) -> Result<Hint, String> {
    let at = world.plan.rules.iter().position(|known| known == rule).unwrap_or_default();
    Ok(Hint { rule: at, key: world.container(Which::Target, &rule.to)?.key_of(&image), image })
}

/// A part of the target whose item is not there belongs to no unit.
pub async fn of_target(world: &World, container: &str, image: &Value) -> Result<Option<Unit>, String> {
    let plan = world.plan_from(Which::Target)?;
    let (rule, image) = match plan.role(container, image) {
        Role::Left => return Ok(None),
        Role::Root(rule) => (rule, image.clone()),
        Role::Child(rule) => {
            let Some(parent) = rule.parent_of(image, world.container(Which::Target, &rule.from)?) else {
                return Ok(None);
            };
            let key = ItemKey::new(&rule.from, &parent.partition, &parent.id);
            match world.database(Which::Target).read(&key).await? {
                Some(root) => (rule, root.item),
                None => return Ok(None),
            }
        }
    };
    let key = world.container(Which::Target, &rule.from)?.key_of(&image);
    match rule.apply(&image, &[]) {
        Err(why) => {
            world.refuse(&key, &why.0);
            Ok(None)
        }
        Ok(made) => {
            world.take(&key);
            let at = plan.rules.iter().position(|known| known == rule).unwrap_or_default();
            let source = world.container(Which::Source, &rule.to)?.key_of(&made.root);
            let hints = vec![Hint { rule: at, key, image }];
            Ok(Some(Unit { source, source_image: Some((at, made.root)), hints }))
        }
    }
}

/// The item of a key, and the parts that belong to an item that looks like `image`.
pub async fn read_all(
    world: &World,
    which: Which,
    rule: &Rule,
    key: &ItemKey,
    image: Option<&Value>,
) -> Result<Items, String> {
    let root = world.database(which).read(key).await?;
    let image = root.as_ref().map(|root| root.item.clone()).or_else(|| image.cloned());
    let mut items: Items = root.map(|root| (key.clone(), root)).into_iter().collect();
    if let Some(image) = image {
        items.extend(read_parts(world, which, rule, &image).await?);
    }
    Ok(items)
}

/// The parts of an item, where the items of this side have any.
pub async fn read_parts(world: &World, which: Which, rule: &Rule, root: &Value) -> Result<Items, String> {
    let split = match (which, &rule.shape) {
        (Which::Source, Shape::Join(split)) | (Which::Target, Shape::Split(split)) => split,
        _ => return Ok(Items::new()),
    };
    let container = world.container(which, &split.container)?;
    let Some(siblings) = rule.children_of(root, container) else { return Ok(Items::new()) };
    let Siblings { shared, partition } = siblings;
    let partition = ItemKey::new(&container.name, &partition, "").partition;
    let filter = |(at, (path, _)): (usize, &(Path, Value))| format!("{} = @p{at}", path.in_query());
    let filter: Vec<String> = shared.iter().enumerate().map(filter).collect();
    let parameter = |(at, (_, value)): (usize, &(Path, Value))| {
        let value: serde_json::Value = serde_json::from_str(&value.to_json()).unwrap_or_default();
        json!({"name": format!("@p{at}"), "value": value})
    };
    let parameters: Vec<_> = shared.iter().enumerate().map(parameter).collect();
    let query =
        json!({"query": format!("SELECT * FROM c WHERE {}", filter.join(" AND ")), "parameters": parameters});
    let rows = world.database(which).query(&container.name, Some(&partition), query).await?;
    rows.into_iter().map(|row| Ok((container.key_of(&row), stored(row)?))).collect()
}
