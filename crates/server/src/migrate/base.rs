//! What a unit was on each side when they last agreed; kept beside the target, for migrations with writes on both sides.
//!
//! Before one side is made like the other, the record says what will be agreed and every state on the way there. So after a
//! stop in the middle, what the migrator wrote itself is known from what others wrote.

use super::state::{STATE_CONTAINER, read_hash, write_hash};
use super::world::{Which, World};
use orrery_migration::{ItemKey, Sum, hash_of};
use orrery_value::Value;
use serde_json::{Value as Json, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    pub source: Sum,
    pub target: Sum,
    /// One side is being written, and may be anywhere between what it was and what it will be.
    pub pending: Option<Pending>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    pub to: Which,
    /// The sums of that side before and after each write.
    pub path: Vec<u128>,
}

/// Records of one migration are spread over as many partitions.
const PARTITIONS: u128 = 256;

impl Base {
    pub fn agreed(source: Sum, target: Sum) -> Self {
        Self { source, target, pending: None }
    }

    pub fn of(&self, which: Which) -> Sum {
        match which {
            Which::Source => self.source,
            Which::Target => self.target,
        }
    }
}

fn key(world: &World, unit: &ItemKey) -> (ItemKey, String) {
    let hash = hash_of(&unit.to_string());
    let migration = format!("{}#{}", world.plan.name, hash % PARTITIONS);
    let id = format!("base-{hash:032x}");
    (ItemKey::new(STATE_CONTAINER, &[Value::from(migration.as_str())], &id), migration)
}

pub async fn write(world: &World, unit: &ItemKey, base: &Base) -> Result<(), String> {
    let (key, migration) = key(world, unit);
    let side = |sum: &Sum| json!({"items": sum.items, "hash": write_hash(sum.hash)});
    let mut item = json!({
        "id": key.id, "migration": migration, "unit": unit.to_string(),
        "source": side(&base.source), "target": side(&base.target),
    });
    if let Some(pending) = &base.pending {
        let path: Vec<String> = pending.path.iter().map(|hash| write_hash(*hash)).collect();
        item["pending"] = json!({"to": pending.to.name(), "path": path});
    }
    world.database(Which::Target).upsert(&key, &Value::read(&item.to_string())).await.map(drop)
}

pub async fn read(world: &World, unit: &ItemKey) -> Result<Option<Base>, String> {
    let found = world.database(Which::Target).read(&key(world, unit).0).await?;
    let Some(found) = found else { return Ok(None) };
    let item: Json = serde_json::from_str(&found.item.to_json()).unwrap_or_default();
    parse(&item).map(Some).ok_or_else(|| format!("the record of {unit} in '{STATE_CONTAINER}' is not one"))
}

fn parse(item: &Json) -> Option<Base> {
    let side =
        |side: &Json| Some(Sum { items: side["items"].as_u64()?, hash: read_hash(side["hash"].as_str()?)? });
    let pending = match &item["pending"] {
        Json::Null => None,
        pending => {
            let path = pending["path"].as_array()?.iter().map(|hash| read_hash(hash.as_str()?));
            Some(Pending { to: Which::parse(pending["to"].as_str()?)?, path: path.collect::<Option<_>>()? })
        }
    };
    Some(Base { source: side(&item["source"])?, target: side(&item["target"])?, pending })
}
