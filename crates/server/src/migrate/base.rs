//! What a unit was on each side when they last agreed; kept beside the target, for migrations with writes on both sides.

use super::state::{STATE_CONTAINER, read_hash, write_hash};
use super::world::{Which, World};
use orrery_migration::{ItemKey, Sum, hash_of};
use orrery_value::Value;
use serde_json::json;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    pub source: Sum,
    pub target: Sum,
}

/// Records of one migration are spread over as many partitions.
const PARTITIONS: u128 = 256;

pub fn key(world: &World, unit: &ItemKey) -> (ItemKey, String) {
    let hash = hash_of(&unit.to_string());
    let migration = format!("{}#{}", world.plan.name, hash % PARTITIONS);
    let id = format!("base-{hash:032x}");
    (ItemKey::new(STATE_CONTAINER, &[Value::from(migration.as_str())], &id), migration)
}

pub fn record(world: &World, unit: &ItemKey, base: &Base) -> (ItemKey, Value) {
    let (key, migration) = key(world, unit);
    let side = |sum: &Sum| json!({"items": sum.items, "hash": write_hash(sum.hash)});
    let item = json!({
        "id": key.id, "migration": migration, "unit": unit.to_string(),
        "source": side(&base.source), "target": side(&base.target),
    });
    (key, Value::read(&item.to_string()))
}

pub async fn write(world: &World, unit: &ItemKey, base: &Base) -> Result<(), String> {
    let (key, item) = record(world, unit, base);
    world.database(Which::Target).upsert(&key, &item).await
}

pub async fn read(world: &World, unit: &ItemKey) -> Result<Option<Base>, String> {
    let found = world.database(Which::Target).read(&key(world, unit).0).await?;
    let side = |item: &Value| {
        let items = item.member("items").to_json().parse().ok()?;
        Some(Sum { items, hash: read_hash(item.member("hash"))? })
    };
    let base = |item: &Value| {
        Some(Base { source: side(item.member("source"))?, target: side(item.member("target"))? })
    };
    Ok(found.and_then(|stored| base(&stored.item)))
}
