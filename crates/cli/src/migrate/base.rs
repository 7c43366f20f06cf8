//! The state of a unit on each side at their last agreement; stored beside the target, for migrations with writes on
//! both sides.
//!
//! Before one side is overwritten, the record contains the state to agree on and every intermediate state. So after an
//! interruption the migration's own writes are distinguishable from those of others.

use super::state::{STATE_CONTAINER, read_hash, save, write_hash};
use super::world::{Which, World};
use crate::client::Written;
use orrery_migration::{ItemKey, Sum, hash_of};
use orrery_value::Value;
use serde_json::{Value as Json, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    pub source: Sum,
    pub target: Sum,
    /// One side is being written, and may be in any intermediate state.
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

/// What is kept of a unit, as this process last read or wrote it.
pub struct Kept {
    pub base: Option<Base>,
    unit: ItemKey,
    tag: Option<String>,
}

impl Kept {
    pub async fn read(world: &World, unit: &ItemKey) -> Result<Self, String> {
        let Some(found) = world.database(Which::Target).read(&key(world, unit).0).await? else {
            return Ok(Self { base: None, unit: unit.clone(), tag: None });
        };
        let item: Json = serde_json::from_str(&found.item.to_json()).unwrap_or_default();
        let base = parse(&item)
            .ok_or_else(|| format!("the record of {unit} in '{STATE_CONTAINER}' is not understood"))?;
        Ok(Self { base: Some(base), unit: unit.clone(), tag: Some(found.etag) })
    }

    /// Writes it, unless somebody else did since: then the unit must be checked again.
    pub async fn write(&mut self, world: &World, base: &Base) -> Result<Written, String> {
        let (key, migration) = key(world, &self.unit);
        let mut item = to_json(base);
        item["migration"] = json!(migration);
        item["unit"] = json!(self.unit.to_string());
        match save(world, &key, item, self.tag.as_deref()).await? {
            None => Ok(Written::Changed),
            tag => {
                self.tag = tag;
                Ok(Written::Done)
            }
        }
    }
}

fn to_json(base: &Base) -> Json {
    let side = |sum: &Sum| json!({"items": sum.items, "hash": write_hash(sum.hash)});
    let mut item = json!({"source": side(&base.source), "target": side(&base.target)});
    if let Some(pending) = &base.pending {
        let path: Vec<String> = pending.path.iter().map(|hash| write_hash(*hash)).collect();
        item["pending"] = json!({"to": pending.to.name(), "path": path});
    }
    item
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let agreed = Base::agreed(Sum { items: 1, hash: u128::MAX }, Sum { items: 3, hash: 7 });
        let pending = Some(Pending { to: Which::Target, path: vec![1, u128::MAX] });
        for base in [Base { pending, ..agreed.clone() }, agreed] {
            assert_eq!(parse(&to_json(&base)), Some(base));
        }
        assert_eq!(parse(&json!({"source": {"items": 1}})), None);
    }
}
